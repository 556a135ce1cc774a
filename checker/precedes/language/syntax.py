"""The syntax tree of a `.prec` file, before names are resolved and sorts are inferred.

Nodes are frozen and compare by structure. Their place in the text, `span`, is not compared, so
`parse(print(tree)) == tree`. The three unions `Statement`, `Formula` and `Term` are closed. `Name.sort` is
empty until `sorts` infers it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Final

from precedes.core.diagnostics import Span
from precedes.core.execution import EventKind
from precedes.core.formula import Attribute, AttributeSort, Carrier
from precedes.core.verdict import Verdict

NOWHERE: Final = Span(0, 0, 0)


class Sort(Enum):
    """What a term stands for. Times, durations and plain numbers are kept apart."""

    ENTITY = "entity"
    MESSAGE = "message"
    LOG = "log"
    EVENT = "event"
    TIME = "time"
    DURATION = "duration"
    NUMBER = "number"
    TEXT = "text"
    DELIVERY = "delivery"
    DELIVERIES = "deliveries"
    GROUP = "group"
    VIEW = "view"
    VIEWS = "views"
    RELATION = "relation"


# ---- terms -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, an entity or a message. A quoted name is never a variable."""

    text: str
    quoted: bool = False
    span: Span = field(default=NOWHERE, compare=False)
    sort: Sort | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Place:
    """An entity by its place in the cluster, from 1."""

    number: int
    span: Span = field(default=NOWHERE, compare=False)


Reference = Name | Place


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as written, with the unit written after it (`ns us ms s min`) or none."""

    value: Fraction
    unit: str | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Bound:
    """`delta` or `epsilon` of the execution."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)


class LogKind(Enum):
    """Which log of an entity: what it sent, what it delivered, every delivery that it made, what views it installed, or
    its whole history.
    """

    SL = "SL"
    RL = "RL"
    DL = "DL"
    VL = "VL"
    H = "H"


@dataclass(frozen=True, slots=True)
class EntityLog:
    """`RL[i]`, `SL[i]`, `SL[i, j]`, `DL[i]`, `VL[i]`; `RL1` is `RL[1]`."""

    kind: LogKind
    entity: Term
    to: Term | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Apply:
    """A built-in function of terms, `sender(p)`, or an attribute of a message or delivery, `key(p)`.

    `attribute` is empty until `sorts` finds what is declared.
    """

    function: str
    arguments: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)
    attribute: Attribute | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class At:
    """`L[h]`: the message at a place of a log, from 1."""

    log: Term
    place: Term
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Slice:
    """`L[..h]`, `L[h..]`, `L[g..h]`: part of a log, both ends included (1994, §2.2)."""

    log: Term
    start: Term | None
    stop: Term | None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Shared:
    """`L & M`: the messages that are in each of two logs or more; stands after `in` only."""

    parts: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class EntitySet:
    """`{E1, E2}`; stands after `in` only."""

    members: tuple[Reference, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Relation:
    """`p, q: body`: a relation between two messages; an argument of a predicate, and nothing else."""

    first: Name
    second: Name
    body: Formula
    span: Span = field(default=NOWHERE, compare=False)


class Operator(Enum):
    """The operators of arithmetic."""

    PLUS = "+"
    MINUS = "-"
    TIMES = "*"
    OVER = "/"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left operator right`."""

    operator: Operator
    left: Term
    right: Term
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Negative:
    """`-term`."""

    term: Term
    span: Span = field(default=NOWHERE, compare=False)


Term = (
    Name
    | Place
    | Quantity
    | Bound
    | EntityLog
    | Apply
    | At
    | Slice
    | Shared
    | EntitySet
    | Relation
    | Arithmetic
    | Negative
)

# ---- formulas ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Truth:
    """`true` or `false`."""

    value: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Undetermined:
    """`undetermined "why"`: a statement that cannot be judged yet."""

    why: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A predicate, a service or a built-in relation by name; `arguments` is None where none are written."""

    name: str
    arguments: tuple[Term, ...] | None = None
    span: Span = field(default=NOWHERE, compare=False)


class Comparator(Enum):
    """How two terms compare."""

    LESS = "<"
    AT_MOST = "<="
    EQUAL = "="
    DIFFERENT = "!="
    MORE = ">"
    AT_LEAST = ">="


@dataclass(frozen=True, slots=True)
class Compare:
    """`left comparator right`; `=` and `!=` speak of entities and messages too."""

    comparator: Comparator
    left: Term
    right: Term
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Member:
    """`element in collection`."""

    element: Term
    collection: Term
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Precedes:
    """`first <[log] second`."""

    first: Term
    log: Term
    second: Term
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class HappensBefore:
    """`first ~> second`, of messages (their sends) or of events."""

    first: Term
    second: Term
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """`not body`."""

    body: Formula
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class And:
    """`a and b and ...`, two parts or more."""

    parts: tuple[Formula, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Or:
    """`a or b or ...`, two parts or more."""

    parts: tuple[Formula, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Implies:
    """`left implies right`; groups to the right."""

    left: Formula
    right: Formula
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Iff:
    """`left iff right`; groups to the left."""

    left: Formula
    right: Formula
    span: Span = field(default=NOWHERE, compare=False)


class Quantifier(Enum):
    """For every, or for some."""

    FORALL = "forall"
    EXISTS = "exists"


@dataclass(frozen=True, slots=True)
class Quantified:
    """`forall p, q in L & M.

    Body`; each variable ranges over the collection. The body reaches as far right as it can.
    """

    quantifier: Quantifier
    variables: tuple[Name, ...]
    range: Term | None
    body: Formula
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class InMode:
    """`quiescent body`, `always body`: the body asked where nothing is in flight, or in every state."""

    quiescent: bool
    body: Formula
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Acyclic:
    """`acyclic(p, q: body)`: the relation between messages p and q has no cycle."""

    first: Name
    second: Name
    body: Formula
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Per:
    """`body per key`, `body per (topic, partition)`: the body asked of the messages of each value.

    `attributes` is empty until `sorts` finds what is declared.
    """

    body: Formula
    names: tuple[Name, ...]
    span: Span = field(default=NOWHERE, compare=False)
    attributes: tuple[Attribute, ...] = field(default=(), compare=False)


Formula = (
    Truth
    | Undetermined
    | Call
    | Compare
    | Member
    | Precedes
    | HappensBefore
    | Not
    | And
    | Or
    | Implies
    | Iff
    | Quantified
    | InMode
    | Acyclic
    | Per
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A formula, asked of the entities after `among` where there are any."""

    formula: Formula
    among: tuple[Reference, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


# ---- statements --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScenarioHead:
    """`scenario name "title" source "where from"`: begins a scenario."""

    name: Name
    title: str | None = None
    source: str | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Cluster:
    """`cluster E1 E2`: the entities, in the order by which they are numbered."""

    entities: tuple[Name, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Group:
    """`group billing: E1 E2`: entities that take messages for one another."""

    name: Name
    members: tuple[Reference, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Destinations:
    """`{2, E3, group:billing}`, or the papers' `_{23}` and `_{\\{23\\}}` (`digits`), where every digit is a place."""

    members: tuple[Reference, ...]
    digits: bool = False
    groups: tuple[Name, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Carried:
    """`key=k1` in the brackets after a message."""

    attribute: Name
    value: Name | Quantity
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """A message in a log: `a`, `!a{2}@1`, `arrive(a)`, `q^2(6)`, `a{2}[key=k1]`.

    `event` is None in SL and RL, whose kind says what happened. `sender` and `sequence` are what stands after
    `^`.
    """

    event: EventKind | None
    message: Name
    sender: Reference | None = None
    sequence: int | None = None
    destinations: Destinations | None = None
    time: Quantity | None = None
    carried: tuple[Carried, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Change:
    """`crash`, `recover`, `local`, `view{1, 2}` or `view v1{1, 2}` in a history."""

    event: EventKind
    members: Destinations | None = None
    time: Quantity | None = None
    view: Name | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Mark:
    """`||`: what follows it is the failure point (1994, Figure 6)."""

    span: Span = field(default=NOWHERE, compare=False)


LogItem = Entry | Change | Mark


@dataclass(frozen=True, slots=True)
class Log:
    """`RL1: < a b ]`; a log by name is `RL[Pi]: < a b ]`."""

    kind: LogKind
    owner: Reference
    items: tuple[LogItem, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Set:
    """`delta 10`, `epsilon 1ms`."""

    bound: str
    value: Quantity
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Expect:
    """`expect FORMULA`, `expect not FORMULA`, `expect unknown FORMULA`."""

    expected: Verdict
    sentence: Sentence
    span: Span = field(default=NOWHERE, compare=False)


class DefinitionKind(Enum):
    """Services differ from predicates in name only: they are what a communication system promises."""

    PREDICATE = "predicate"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a definition, its sort where it is written."""

    name: Name
    sort: Sort | None = None


@dataclass(frozen=True, slots=True)
class Definition:
    """`predicate name(L: log) "meaning" source "citation" := FORMULA`."""

    kind: DefinitionKind
    name: Name
    parameters: tuple[Parameter, ...]
    title: str | None
    source: str | None
    body: Formula
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class AttributeDeclaration:
    """`attribute key of message: text`, `attribute attempt of event: number`."""

    name: Name
    sort: AttributeSort
    carrier: Carrier = Carrier.MESSAGE
    span: Span = field(default=NOWHERE, compare=False)


class QuestionKind(Enum):
    """A claim must be proved, a refuted formula must have a counterexample, a found one an example."""

    CLAIM = "claim"
    REFUTE = "refute"
    FIND = "find"


class Counted(Enum):
    """What the size of a search counts."""

    ENTITIES = "entities"
    MESSAGES = "messages"


@dataclass(frozen=True, slots=True)
class Size:
    """`entities = 2`, `messages <= 2`."""

    counted: Counted
    exactly: bool
    number: int
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Question:
    """`claim FORMULA`, `refute FORMULA`, `find FORMULA with entities = 2`."""

    kind: QuestionKind
    sentence: Sentence
    sizes: tuple[Size, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


Statement = ScenarioHead | Cluster | Group | Log | Set | Expect | Definition | AttributeDeclaration | Question


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The statements of a file, in their order. A scenario reaches from its head to the next head; definitions and
    questions may stand between its statements and belong to the file."""

    statements: tuple[Statement, ...]
    path: str | None = field(default=None, compare=False)
    lines: tuple[str, ...] = field(default=(), compare=False, repr=False)
