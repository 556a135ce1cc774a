"""The core formula: the one closed tree that every engine reads.

The language's sugar (named predicates, log variables, `top(L)`, prefixes, several variables in one
quantifier) is gone here: `lowering` wrote it out. What is left are entities and messages, the logs of
entities, events, numbers, the atoms below, the connectives and the quantifiers. Nodes are frozen and compare
by structure. This module needs nothing but the standard library, so that a formula can be sent to a Spark
worker that has no parser.

Meaning (three-valued, see `precedes.core.verdict`):

- An atom about a message, event or position that does not exist is false: `Precedes(p, q, L)` unless both are in L,
  `Comparison` over the time of a delivery that did not happen or the sender of a message that nobody sent.
- A message whose sender is known but whose send was not logged is in `SL` of that sender; its order there, its
  destinations and the time of its send are unknown (`SEND_NOT_LOGGED`), and so is whether it is in `SL[i, j]`.
- `Forall(x, range, body)` is "for all x: range implies body", `Exists(x, range, body)` "range and body for some x".
- `HappensBefore` is irreflexive; on an impossible execution, one in which it has a cycle, it is unknown (`CYCLE`).
- A `Comparison` with a time in it is unknown (`EPSILON`) where the two sides are closer than epsilon.
- An attribute that was not recorded for a message is unknown (`NO_ATTRIBUTE`) where its value is asked for. `SamePart`
  asks for no value: it is false where an attribute is missing.
- An attribute of events is asked of deliveries, and each has a value of its own, or none (`NO_ATTRIBUTE`).
- A delivery is one event of the execution's kind of delivery: a message that an entity delivers twice has two. A
  delivery of an entity is in `DL` of that entity. `InFlight` and `Acknowledged` are unknown
  (`NO_ACKNOWLEDGEMENT`) where no `ack` and no `nack` is recorded in the whole execution.
- A group is a set of entities that take messages for one another. It is known from the start who is in it. A message
  that is addressed to a group is owed by one of its members: `IsDestination` is unknown (`GROUP_CHOOSES`) for each of
  these, but for those that the message is addressed to by name.
- A view is a set of entities that entities install while they run. Two views are one exactly if their ids are equal.
  The view of an event is the last one that its entity installed before it; where there is none, it is undefined, and
  what is said of it is false. `InstallsBefore` looks at the first installation of each view. Where no view is
  installed in the whole execution, or one without an id, whatever is said of views is unknown (`NO_VIEWS`), a
  quantifier over views, too.
- The number of a view is the whole number that its id is written as (`precedes.core.execution.view_number`). Of a view
  with another id it is unknown (`NO_VIEW_NUMBER`).
- Views and groups are those of the whole in every part.
- `Per(attributes, body)` asks the body of each part of the execution, and the parts are the messages that have the
  same values of all these attributes. Entities, `~>`, clocks and times stay those of the whole. A message without one
  of the attributes is in no part. Where there are messages and no part, it is unknown (`NO_ATTRIBUTE`).
- `Quiescent` is true of every execution that is judged as a completed one: of traces, scenarios and what the solver
  looks at. Exploring judges executions on the way too; there it is true where nothing can happen any more (see
  `precedes.core.mode`).

An execution may be incomplete: rows may be missing. A formula is true of it only if it is true in every completion,
and false only if it is false in every one; otherwise it is unknown (`INCOMPLETE`, ADR 0013). A completion adds rows
anywhere, of recorded and of other messages and entities, and removes none; the first event of a kind about a message
at an entity stays the first. What is impossible is no completion. So on an incomplete execution:

- A message that is recorded to be sent, in a log or in it twice, and an event that is recorded to happen before
  another, are so in every completion. What is not recorded is unknown, but for what would contradict the record: a
  message has one sender, and nothing happens before itself.
- The order of two messages in a log stays as recorded. If only one of them is recorded there, it is unknown, unless
  the other was sent after this one was delivered there.
- An installation that is recorded happened, and two of one entity keep their order. There may be others in between, so
  the view of an event is never certain. Who is in a recorded view is known of recorded entities, and the number of a
  recorded view is known.
- The groups of an entity are said once. Where none was recorded, the row that says them may be missing.
- Positions, sizes and vector times are at least what is recorded. Times and clocks of unrecorded events are unknown.
- Quantifiers range over unrecorded messages, entities, groups and views, too (`precedes.logic.completion`). What
  follows from formulas that are asked together is judged with them (`precedes.logic.lemmas`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from precedes.core.verdict import Reason

# ---- terms ----


class AttributeSort(Enum):
    """What the values of an attribute are. Texts can be equal or not; the others have an order, too."""

    TEXT = "text"
    NUMBER = "number"
    TIME = "time"
    DURATION = "duration"


class Carrier(Enum):
    """What has a value of an attribute: a message one for good, an event one of its own."""

    MESSAGE = "message"
    EVENT = "event"


@dataclass(frozen=True, slots=True)
class Attribute:
    """Something that messages or events carry, as it is declared: `attribute key of message: text`."""

    name: str
    sort: AttributeSort
    carrier: Carrier = Carrier.MESSAGE


@dataclass(frozen=True, slots=True)
class EntityVariable:
    """An entity bound by a quantifier."""

    name: str


@dataclass(frozen=True, slots=True)
class EntityNamed:
    """An entity of the execution by name; an atom about a name that is not in the cluster is false."""

    name: str


@dataclass(frozen=True, slots=True)
class Sender:
    """The entity that sent a message; undefined where nobody did."""

    message: MessageTerm


@dataclass(frozen=True, slots=True)
class MessageVariable:
    """A message bound by a quantifier."""

    name: str


@dataclass(frozen=True, slots=True)
class MessageNamed:
    """A message of the execution by name."""

    name: str


@dataclass(frozen=True, slots=True)
class DeliveryVariable:
    """A delivery bound by a quantifier."""

    name: str


@dataclass(frozen=True, slots=True)
class DeliveryNamed:
    """The `nth` delivery of a message at an entity, from 1."""

    message: str
    entity: str
    nth: int


@dataclass(frozen=True, slots=True)
class MessageOf:
    """The message of a delivery."""

    delivery: DeliveryTerm

    @property
    def name(self) -> str:
        """The name of the message; of a delivery that a variable stands for, that of the variable."""
        return self.delivery.message if isinstance(self.delivery, DeliveryNamed) else self.delivery.name


@dataclass(frozen=True, slots=True)
class ReceiverOf:
    """The entity at which a delivery happened."""

    delivery: DeliveryTerm


@dataclass(frozen=True, slots=True)
class GroupVariable:
    """A group bound by a quantifier."""

    name: str


@dataclass(frozen=True, slots=True)
class GroupNamed:
    """A group of the execution by name."""

    name: str


@dataclass(frozen=True, slots=True)
class ViewVariable:
    """A view bound by a quantifier."""

    name: str


@dataclass(frozen=True, slots=True)
class ViewNamed:
    """A view of the execution by its id."""

    name: str


@dataclass(frozen=True, slots=True)
class ViewOf:
    """The view in which an event happened: the last one that its entity installed before it."""

    event: EventTerm | DeliveryTerm


EntityTerm = EntityVariable | EntityNamed | Sender | ReceiverOf
MessageTerm = MessageVariable | MessageNamed | MessageOf
DeliveryTerm = DeliveryVariable | DeliveryNamed
GroupTerm = GroupVariable | GroupNamed
ViewTerm = ViewVariable | ViewNamed | ViewOf


@dataclass(frozen=True, slots=True)
class SendLog:
    """`SL[entity]`, or `SL[entity, to]`: the sub-log of what was sent to `to` (1994, §2.2)."""

    entity: EntityTerm
    to: EntityTerm | None = None


@dataclass(frozen=True, slots=True)
class ReceiptLog:
    """`RL[entity]`: what the entity delivered, each message at its first delivery."""

    entity: EntityTerm


LogTerm = SendLog | ReceiptLog


@dataclass(frozen=True, slots=True)
class SendEvent:
    """The send of a message."""

    message: MessageTerm


@dataclass(frozen=True, slots=True)
class DeliveryEvent:
    """The first delivery of a message at an entity."""

    message: MessageTerm
    entity: EntityTerm


@dataclass(frozen=True, slots=True)
class ArrivalEvent:
    """The first arrival of a message at an entity, where arrivals are recorded."""

    message: MessageTerm
    entity: EntityTerm


EventTerm = SendEvent | DeliveryEvent | ArrivalEvent


class Dimension(Enum):
    """What a number measures. Times differ by durations; neither mixes with plain numbers."""

    TIME = "time"
    DURATION = "duration"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, or a time or duration in nanoseconds."""

    value: Fraction
    dimension: Dimension


@dataclass(frozen=True, slots=True)
class Delta:
    """The execution's delta, a duration; unknown (`NO_DELTA`) where none is given."""


@dataclass(frozen=True, slots=True)
class Epsilon:
    """The execution's epsilon, a duration."""


@dataclass(frozen=True, slots=True)
class TimeOf:
    """When an event happened; unknown (`NO_TIME`) where that was not recorded."""

    event: EventTerm


@dataclass(frozen=True, slots=True)
class Part:
    """The part of an execution that `message` is in: the messages with the same values of these attributes."""

    attributes: tuple[Attribute, ...]
    message: MessageTerm


@dataclass(frozen=True, slots=True)
class Position:
    """The place of a message in a log, from 1; undefined where it is not in it. With a part, only the messages of the
    part are counted, and the message must be one of them.
    """

    message: MessageTerm
    log: LogTerm
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class Size:
    """How many messages are in a log; with a part, how many of the part."""

    log: LogTerm
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class Nth:
    """Which delivery of its message at its entity a delivery is: 1 for the first."""

    delivery: DeliveryTerm


@dataclass(frozen=True, slots=True)
class DeliveryTime:
    """When a delivery happened; unknown (`NO_TIME`) where that was not recorded."""

    delivery: DeliveryTerm


@dataclass(frozen=True, slots=True)
class DeliveryPosition:
    """The place of a delivery in `DL[entity]`, from 1; undefined where it is not in it. With a part, only the
    deliveries of messages of the part are counted, and its message must be one of them.
    """

    delivery: DeliveryTerm
    entity: EntityTerm
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class DeliveryAttribute:
    """The value of an attribute of a delivery: a number, or a time or duration in nanoseconds."""

    attribute: Attribute
    delivery: DeliveryTerm


@dataclass(frozen=True, slots=True)
class AttributeOf:
    """The value of an attribute of a message: a number, or a time or duration in nanoseconds. Undefined for a message
    that does not exist.
    """

    attribute: Attribute
    message: MessageTerm


@dataclass(frozen=True, slots=True)
class ViewNumber:
    """The whole number that the id of a view is; undefined where there is no such view."""

    view: ViewTerm


@dataclass(frozen=True, slots=True)
class RecordedClock:
    """The component for `entity` of the clock recorded with an event; an absent component is 0, an absent
    clock unknown.
    """

    event: EventTerm
    entity: EntityTerm


@dataclass(frozen=True, slots=True)
class VectorTime:
    """The number of sends, deliveries and local events of `entity` that happen before the event or are it: |C(e)[i]|
    of the CMD paper, Lemma 2, which has no local events.
    """

    event: EventTerm
    entity: EntityTerm


@dataclass(frozen=True, slots=True)
class Sum:
    """`left + right`."""

    left: NumberTerm
    right: NumberTerm


@dataclass(frozen=True, slots=True)
class Difference:
    """`left - right`."""

    left: NumberTerm
    right: NumberTerm


@dataclass(frozen=True, slots=True)
class Scaled:
    """`factor * term`: arithmetic stays linear."""

    factor: Fraction
    term: NumberTerm


NumberTerm = (
    Constant
    | Delta
    | Epsilon
    | TimeOf
    | Position
    | Size
    | RecordedClock
    | VectorTime
    | Nth
    | DeliveryTime
    | DeliveryPosition
    | DeliveryAttribute
    | AttributeOf
    | ViewNumber
    | Sum
    | Difference
    | Scaled
)


@dataclass(frozen=True, slots=True)
class Text:
    """A text as written."""

    value: str


@dataclass(frozen=True, slots=True)
class TextOf:
    """The text of an attribute of a message; undefined for a message that does not exist."""

    attribute: Attribute
    message: MessageTerm


@dataclass(frozen=True, slots=True)
class DeliveryText:
    """The text of an attribute of a delivery."""

    attribute: Attribute
    delivery: DeliveryTerm


TextTerm = Text | TextOf | DeliveryText

# ---- atoms ----


@dataclass(frozen=True, slots=True)
class Truth:
    """True or false."""

    value: bool


@dataclass(frozen=True, slots=True)
class Undetermined:
    """A statement that is always unknown, for this reason.

    This version cannot judge it, or it is about what was not recorded.
    """

    why: str
    reason: Reason = Reason.NOT_DECIDED


@dataclass(frozen=True, slots=True)
class InLog:
    """The message is in the log."""

    message: MessageTerm
    log: LogTerm


@dataclass(frozen=True, slots=True)
class Precedes:
    """`first <[log] second`: both are in the log and `first` comes first."""

    first: MessageTerm
    second: MessageTerm
    log: LogTerm


@dataclass(frozen=True, slots=True)
class Repeated:
    """The message occurs in the log more than once. The one atom that repeats concern."""

    message: MessageTerm
    log: LogTerm


@dataclass(frozen=True, slots=True)
class Sent:
    """Somebody sent the message, whether or not the send itself was logged."""

    message: MessageTerm


@dataclass(frozen=True, slots=True)
class IsDestination:
    """The entity is a destination of the message; false for a message that nobody sent."""

    entity: EntityTerm
    message: MessageTerm


@dataclass(frozen=True, slots=True)
class SameEntity:
    """The two terms are one entity."""

    left: EntityTerm
    right: EntityTerm


@dataclass(frozen=True, slots=True)
class SameMessage:
    """The two terms are one message."""

    left: MessageTerm
    right: MessageTerm


@dataclass(frozen=True, slots=True)
class SameText:
    """The two texts are equal."""

    left: TextTerm
    right: TextTerm


@dataclass(frozen=True, slots=True)
class SamePart:
    """The message is in the part: both messages exist, have all its attributes, and the values are equal."""

    message: MessageTerm
    part: Part


@dataclass(frozen=True, slots=True)
class DeliveredAt:
    """The delivery is in `DL[entity]`."""

    delivery: DeliveryTerm
    entity: EntityTerm


@dataclass(frozen=True, slots=True)
class DeliveredBefore:
    """`first <[DL[entity]] second`: both are deliveries of the entity, and `first` comes first."""

    first: DeliveryTerm
    second: DeliveryTerm
    entity: EntityTerm


@dataclass(frozen=True, slots=True)
class SameDelivery:
    """The two terms are one delivery."""

    left: DeliveryTerm
    right: DeliveryTerm


@dataclass(frozen=True, slots=True)
class InFlight:
    """`delivery` comes before the delivery `at` of the same entity, and in between the entity neither accepted its
    message (`ack`) nor gave it back (`nack`).
    """

    delivery: DeliveryTerm
    at: DeliveryTerm


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The entity accepted the message: an `ack` is recorded there."""

    message: MessageTerm
    entity: EntityTerm


@dataclass(frozen=True, slots=True)
class Faulty:
    """The last crash of the entity is not followed by a recovery. Entities that are not faulty are the correct ones of
    Hadzilacos and Toueg (1994).
    """

    entity: EntityTerm


@dataclass(frozen=True, slots=True)
class IsMember:
    """The entity is in the group or in the view."""

    entity: EntityTerm
    members_of: GroupTerm | ViewTerm


@dataclass(frozen=True, slots=True)
class AddressedTo:
    """The message is addressed to the group by the group's name; false for a message that nobody sent."""

    message: MessageTerm
    group: GroupTerm


@dataclass(frozen=True, slots=True)
class SameGroup:
    """The two terms are one group."""

    left: GroupTerm
    right: GroupTerm


@dataclass(frozen=True, slots=True)
class Installs:
    """The view is in `VL[entity]`: the entity installs it."""

    entity: EntityTerm
    view: ViewTerm


@dataclass(frozen=True, slots=True)
class InstallsBefore:
    """`first <[VL[entity]] second`: the entity installs both, and `first` comes first."""

    first: ViewTerm
    second: ViewTerm
    entity: EntityTerm


@dataclass(frozen=True, slots=True)
class InstallsAgain:
    """The entity installs the view more than once."""

    entity: EntityTerm
    view: ViewTerm


@dataclass(frozen=True, slots=True)
class SameView:
    """The two terms are one view."""

    left: ViewTerm
    right: ViewTerm


@dataclass(frozen=True, slots=True)
class HappensBefore:
    """`first ~> second` between events: the least relation of Δ-causal paper, Definition 1 (irreflexive)."""

    first: EventTerm
    second: EventTerm


class Relation(Enum):
    """How two numbers compare. The language's `>`, `>=`, `!=` are written with these."""

    LESS = "<"
    AT_MOST = "<="
    EQUAL = "="


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left relation right`; `dimension` is that of both sides."""

    relation: Relation
    left: NumberTerm
    right: NumberTerm
    dimension: Dimension


@dataclass(frozen=True, slots=True)
class FailureLine:
    """The failure marks stand where the procedure of 1994, §4.1 puts them; unknown where there are none."""


@dataclass(frozen=True, slots=True)
class Quiescent:
    """Nothing is in flight: nothing more happens in this execution."""


MembershipAtom = IsMember | AddressedTo | SameGroup | Installs | InstallsBefore | InstallsAgain | SameView
"""What is said of groups and views."""

Atom = (
    Truth
    | Undetermined
    | InLog
    | Precedes
    | Repeated
    | Sent
    | IsDestination
    | SameEntity
    | SameMessage
    | SameText
    | SamePart
    | DeliveredAt
    | DeliveredBefore
    | SameDelivery
    | InFlight
    | Acknowledged
    | Faulty
    | MembershipAtom
    | HappensBefore
    | Comparison
    | FailureLine
    | Quiescent
)

# ---- connectives and binders ----


@dataclass(frozen=True, slots=True)
class Not:
    """Kleene's not."""

    body: Formula


@dataclass(frozen=True, slots=True)
class And:
    """Kleene's and, over two parts or more."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Kleene's or, over two parts or more."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Implies:
    """`not left or right`."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Iff:
    """`left implies right`, and back."""

    left: Formula
    right: Formula


Variable = EntityVariable | MessageVariable | DeliveryVariable | GroupVariable | ViewVariable


@dataclass(frozen=True, slots=True)
class Forall:
    """Every entity, message, delivery, group or view of the execution in the range satisfies the body."""

    variable: Variable
    range: Formula
    body: Formula


@dataclass(frozen=True, slots=True)
class Exists:
    """Some entity, message, delivery, group or view of the execution in the range satisfies the body."""

    variable: Variable
    range: Formula
    body: Formula


@dataclass(frozen=True, slots=True)
class Acyclic:
    """The relation that `body` is between messages has no cycle (a message related to itself is one)."""

    first: MessageVariable
    second: MessageVariable
    body: Formula


@dataclass(frozen=True, slots=True)
class Per:
    """The body asked of each part that the values of the attributes make; at least one attribute."""

    attributes: tuple[Attribute, ...]
    body: Formula


Formula = Atom | Not | And | Or | Implies | Iff | Forall | Exists | Acyclic | Per

TRUTH = Truth(True)
FALSEHOOD = Truth(False)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A formula under the name that reports call it by.

    Attributes:
        name: The name.
        formula: What it means.
        parts: The closed named predicates whose conjunction the formula is (`ST` is `selectively_correct` and
            `order_equivalent`); empty if the definition is no such conjunction. A report names the requirement and
            every part below it.
    """

    name: str
    formula: Formula
    parts: tuple[Requirement, ...] = ()


def conjunction(*parts: Formula) -> Formula:
    """The conjunction of any number of formulas, flat and without `true`."""
    flat: list[Formula] = []
    for part in parts:
        if isinstance(part, And):
            flat.extend(part.parts)
        elif part != TRUTH:
            flat.append(part)
    if not flat:
        return TRUTH
    return flat[0] if len(flat) == 1 else And(tuple(flat))
