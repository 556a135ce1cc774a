"""What formulas mean, node by node over what the oracle reads: `F per key` by cutting the execution into parts.

The engines write `F per key` out with quantifiers. Here a part is the set of its messages, and F is asked as if there
were no others: a log has those of its messages only, a quantifier ranges over them, and another message does not exist.
Happens-before, clocks and times are those of the whole. True, False, or None for unknown, without reasons. Only
complete, possible executions in which every send was logged, with epsilon 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import TypeVar, assert_never

from precedes.core import formula as f
from precedes.core.execution import EventKind, Execution
from precedes.core.traversal import walk
from tests.oracle.conversion import run_of
from tests.oracle.oracle import Causality, Run, named_groups, number_of

Value = bool | None
T = TypeVar("T")


class _Absent(Enum):
    NOTHING = "there is no such thing"


NOTHING = _Absent.NOTHING


def asked(formula: f.Formula, execution: Execution) -> Value:
    """What the formula is on the execution."""
    run = run_of(execution)
    return _Whole(run, Causality(run), execution).value(formula, frozenset(execution.messages), {})


def answerable(formula: f.Formula, execution: Execution) -> bool:
    """Whether this module may be asked. Without arrivals, what is asked of them is unknown of anything."""
    messages = execution.messages.values()
    arrivals = any(
        event.kind is EventKind.ARRIVE for history in execution.histories for event in history.events
    )
    if not arrivals and any(isinstance(node, f.ArrivalEvent) for node in walk(formula)):
        return False
    if not execution.complete or execution.epsilon or execution.doubt or execution.marks:
        return False
    if any(history.doubt or not history.interleaved for history in execution.histories):
        return False
    if any(not m.logged and m.sender is not None for m in messages):
        return False
    run = run_of(execution)
    sent = {m: time for history in run.histories for what, m, time in history if what == "send"}
    received = [
        (time, sent.get(m))
        for history in run.histories
        for what, m, time in history
        if what in ("deliver", "arrive")
    ]
    if any(time is not None and since is not None and time < since for time, since in received):
        return False
    return Causality(run).possible


Env = dict[f.Variable, str | int]


@dataclass
class _Whole:
    run: Run
    causality: Causality
    execution: Execution
    divided: bool = False

    def value(self, formula: f.Formula, only: frozenset[str], env: Env) -> Value:
        """The formula of the part that has only these messages."""
        match formula:
            case f.Not(body):
                return _not(self.value(body, only, env))
            case f.And(parts):
                return _every(self.value(part, only, env) for part in parts)
            case f.Or(parts):
                return _some(self.value(part, only, env) for part in parts)
            case f.Implies(left, right):
                return _some((_not(self.value(left, only, env)), self.value(right, only, env)))
            case f.Iff(left, right):
                one, other = self.value(left, only, env), self.value(right, only, env)
                return None if one is None or other is None else one is other
            case f.Forall(f.ViewVariable()) | f.Exists(f.ViewVariable()) if self.run.unviewed:
                return None
            case f.Forall(variable, extent, body):
                return _every(
                    _some((_not(self.value(extent, only, here)), self.value(body, only, here)))
                    for here in self._bindings(variable, only, env)
                )
            case f.Exists(variable, extent, body):
                return _some(
                    _every((self.value(extent, only, here), self.value(body, only, here)))
                    for here in self._bindings(variable, only, env)
                )
            case f.Acyclic(first, second, body):
                return self._acyclic(first, second, body, only, env)
            case f.Per(attributes, body):
                return self._per(attributes, body, only, env)
            case _:
                return _Part(self, only, env).atom(formula)

    def _bindings(self, variable: f.Variable, only: frozenset[str], env: Env) -> Iterable[Env]:
        return ({**env, variable: thing} for thing in self._things(variable, only))

    def _things(self, variable: f.Variable, only: frozenset[str]) -> Iterable[str | int]:
        match variable:
            case f.EntityVariable():
                return range(self.run.n)
            case f.MessageVariable():
                return sorted(only)
            case f.GroupVariable():
                return sorted(named_groups(self.run))
            case f.ViewVariable():
                return sorted(self.run.members)
            case _:
                raise AssertionError(f"{variable} is not asked here")

    def _acyclic(
        self,
        first: f.MessageVariable,
        second: f.MessageVariable,
        body: f.Formula,
        only: frozenset[str],
        env: Env,
    ) -> Value:
        related = {
            (one, other): self.value(body, only, {**env, first: one, second: other})
            for one in only
            for other in only
        }
        if _cycle(only, lambda one, other: related[one, other] is True):
            return False
        return None if _cycle(only, lambda one, other: related[one, other] is not False) else True

    def _per(
        self, attributes: tuple[f.Attribute, ...], body: f.Formula, only: frozenset[str], env: Env
    ) -> Value:
        parts: dict[tuple[str | int, ...], set[str]] = {}
        for message in only:
            carried = self.run.carried[message]
            if all(attribute.name in carried for attribute in attributes):
                parts.setdefault(tuple(carried[a.name] for a in attributes), set()).add(message)
        if only and not parts:
            return None
        within = replace(self, divided=True)
        return _every(within.value(body, frozenset(part), env) for part in parts.values())


@dataclass
class _Part:
    whole: _Whole
    only: frozenset[str]
    env: Env

    def atom(self, atom: f.Formula) -> Value:
        """An atom about something that does not exist is false."""
        match atom:
            case f.Truth(value):
                return value
            case f.Undetermined() | f.FailureLine():
                return None
            case f.Quiescent():
                return True
            case f.InLog(message, log):
                return self._known(lambda: self._in_log(self.message(message), log), message, log)
            case f.Precedes(first, second, log):
                return self._known(lambda: self._precedes(first, second, log), first, second, log)
            case f.Repeated(message, log):
                if isinstance(log, f.SendLog):
                    return False
                return self._known(
                    lambda: self.whole.run.received[self.number(log.entity)].count(self.message(message)) > 1,
                    message,
                    log,
                )
            case f.Sent(message):
                return self._known(lambda: self.message(message) in self._senders(), message)
            case f.IsDestination(entity, message):
                return self._known(
                    lambda: self._destined(self.number(entity), self.message(message)), entity, message
                )
            case f.SameEntity(left, right):
                return self._known(lambda: self.number(left) == self.number(right), left, right)
            case f.SameMessage(left_message, right_message):
                return self._known(
                    lambda: self.message(left_message) == self.message(right_message),
                    left_message,
                    right_message,
                )
            case f.Faulty(entity):
                return self._known(lambda: self.number(entity) in self.whole.run.crashed, entity)
            case (
                f.IsMember()
                | f.AddressedTo()
                | f.SameGroup()
                | f.Installs()
                | f.InstallsBefore()
                | f.InstallsAgain()
                | f.SameView()
            ):
                return self._of_membership(atom)
            case f.SameText(left_text, right_text):
                return self._compared(self.text(left_text), self.text(right_text), lambda a, b: a == b)
            case f.HappensBefore(one, other):
                before = self.whole.causality.before
                return self._compared(self.event(one), self.event(other), before)
            case f.Comparison(relation, one_number, other_number):
                return self._compared(
                    self.amount(one_number), self.amount(other_number), lambda a, b: _related(relation, a, b)
                )
            case _:
                raise AssertionError(f"{atom} is no atom of the language")

    # ---- entities, messages, logs

    def message(self, term: f.MessageTerm) -> str:
        name = term.name if isinstance(term, f.MessageNamed) else self.env[term]
        assert isinstance(name, str)
        return name

    def number(self, term: f.EntityTerm) -> int:
        match term:
            case f.EntityVariable():
                found = self.env[term]
                assert isinstance(found, int)
                return found
            case f.EntityNamed(name):
                return self.whole.execution.entities.index(name)
            case f.Sender(message):
                return self._senders()[self.message(message)]
            case _:
                assert_never(term)

    def _senders(self) -> dict[str, int]:
        return {m: i for i, log in enumerate(self.whole.run.sl) for m in log}

    def exists(self, *terms: f.MessageTerm | f.EntityTerm | f.LogTerm) -> bool:
        for node in (node for term in terms for node in walk(term)):
            if isinstance(node, f.MessageTerm) and self.message(node) not in self.only:
                return False
            if isinstance(node, f.EntityNamed) and node.name not in self.whole.execution.entities:
                return False
            if isinstance(node, f.Sender) and self.message(node.message) not in self._senders():
                return False
        return True

    def log(self, term: f.LogTerm) -> list[str]:
        run = self.whole.run
        if isinstance(term, f.ReceiptLog):
            return [m for m in run.rl[self.number(term.entity)] if m in self.only]
        sent = [m for m in run.sl[self.number(term.entity)] if m in self.only]
        return (
            sent
            if term.to is None
            else [m for m in sent if self._destined(self.number(term.to), m) is not False]
        )

    def _destined(self, entity: int, message: str) -> Value:
        """Unknown of a member of a group that the message is addressed to."""
        if entity in self.whole.run.to.get(message, ()):
            return True
        return None if entity in self.whole.run.chosen(message) else False

    def _in_log(self, message: str, log: f.LogTerm) -> Value:
        """Of what was sent to an entity, `log` has what may have been."""
        if message not in self.log(log):
            return False
        if isinstance(log, f.ReceiptLog) or log.to is None:
            return True
        return self._destined(self.number(log.to), message)

    def _precedes(self, first: f.MessageTerm, second: f.MessageTerm, log: f.LogTerm) -> Value:
        one, other, messages = self.message(first), self.message(second), self.log(log)
        if one not in messages or other not in messages[messages.index(one) + 1 :]:
            return False
        return _every((self._in_log(one, log), self._in_log(other, log)))

    def _known(self, say: Callable[[], Value], *terms: f.MessageTerm | f.EntityTerm | f.LogTerm) -> Value:
        return say() if self.exists(*terms) else False

    # ---- groups and views

    def _of_membership(self, atom: f.Formula) -> Value:
        run = self.whole.run
        match atom:
            case f.AddressedTo(message, group):
                return self._with_group(
                    group, lambda g: self.exists(message) and g in run.to_groups[self.message(message)]
                )
            case f.SameGroup(left, right):
                return self._with_group(left, lambda g: self._with_group(right, lambda h: g == h))
            case f.IsMember(entity, f.GroupVariable() | f.GroupNamed() as group):
                return self._with_group(
                    group, lambda g: self.exists(entity) and self.number(entity) in run.groups[g]
                )
            case _ if run.unviewed:
                return False if self._elsewhere(atom) else None
            case f.IsMember(entity, view):
                return self._with_view(
                    view, lambda v: self.exists(entity) and self.number(entity) in run.members[v]
                )
            case f.Installs(entity, view):
                return self._with_view(
                    view, lambda v: self.exists(entity) and v in run.vl[self.number(entity)]
                )
            case f.InstallsAgain(entity, view):
                return self._with_view(
                    view,
                    lambda v: self.exists(entity) and run.installed[self.number(entity)].count(v) > 1,
                )
            case f.InstallsBefore(first, second, entity):
                return self._with_view(
                    first,
                    lambda v: self._with_view(
                        second, lambda w: self.exists(entity) and self._installs_before(v, w, entity)
                    ),
                )
            case f.SameView(first, second):
                return self._with_view(first, lambda v: self._with_view(second, lambda w: v == w))
            case _:
                raise AssertionError(f"{atom} says nothing of groups and views")

    def _elsewhere(self, atom: f.Formula | f.ViewTerm) -> bool:
        """Whether it is asked of a part and speaks of a message that is not in it."""
        named = {self.message(node) for node in walk(atom) if isinstance(node, f.MessageTerm)}
        return self.whole.divided and not self.only.issuperset(named)

    def _installs_before(self, first: str, second: str, entity: f.EntityTerm) -> bool:
        log = self.whole.run.vl[self.number(entity)]
        return first in log and second in log[log.index(first) + 1 :]

    def _with_group(self, term: f.GroupTerm, say: Callable[[str], Value]) -> Value:
        found = term.name if isinstance(term, f.GroupNamed) else self.env[term]
        assert isinstance(found, str)
        return say(found) if found in self.whole.run.groups else False

    def _with_view(self, term: f.ViewTerm, say: Callable[[str], Value]) -> Value:
        found = self._view(term)
        return say(found) if found in self.whole.run.members else False

    def _view(self, term: f.ViewTerm) -> str:
        """Its id; empty where there is none."""
        if not isinstance(term, f.ViewOf):
            found = term.name if isinstance(term, f.ViewNamed) else self.env[term]
            assert isinstance(found, str)
            return found
        assert not isinstance(term.event, f.DeliveryVariable | f.DeliveryNamed)
        event = self.event(term.event)
        if isinstance(event, _Absent):
            return ""
        assert event is not None
        i, k = self.whole.causality.events[event]
        before = [v for what, v, _ in self.whole.run.histories[i][:k] if what == "view"]
        return before[-1] if before else ""

    def _view_number(self, term: f.ViewTerm) -> Fraction | _Absent | None:
        if self.whole.run.unviewed:
            return NOTHING if self._elsewhere(term) else None
        view = self._view(term)
        if view not in self.whole.run.members:
            return NOTHING
        number = number_of(view)
        return None if number is None else Fraction(number)

    # ---- what may be unknown

    def _compared(
        self, left: T | _Absent | None, right: T | _Absent | None, say: Callable[[T, T], bool]
    ) -> Value:
        if isinstance(left, _Absent) or isinstance(right, _Absent):
            return False
        return None if left is None or right is None else say(left, right)

    def text(self, term: f.TextTerm) -> str | _Absent | None:
        if isinstance(term, f.Text):
            return term.value
        found = self._carried(term.attribute, term.message)
        assert not isinstance(found, int)
        return found

    def _carried(self, attribute: f.Attribute, message: f.MessageTerm) -> str | int | _Absent | None:
        if not self.exists(message):
            return NOTHING
        return self.whole.run.carried[self.message(message)].get(attribute.name)

    def event(self, term: f.EventTerm) -> int | _Absent | None:
        causality = self.whole.causality
        if not self.exists(term.message) or (
            not isinstance(term, f.SendEvent) and not self.exists(term.entity)
        ):
            return NOTHING
        message = self.message(term.message)
        if isinstance(term, f.SendEvent):
            return causality.send.get(message, NOTHING)
        here = self.number(term.entity)
        if isinstance(term, f.DeliveryEvent):
            return causality.receipt.get((message, here), NOTHING)
        arrival = "deliver" if self.whole.execution.delivery is EventKind.ARRIVE else "arrive"
        for number, (i, k) in enumerate(causality.events):
            if i == here and self.whole.run.histories[i][k][:2] == (arrival, message):
                return number
        return NOTHING

    def amount(self, term: f.NumberTerm) -> Fraction | _Absent | None:
        run = self.whole.run
        match term:
            case f.Constant(value):
                return value
            case f.Delta():
                return None if run.delta is None else Fraction(run.delta)
            case f.Epsilon():
                return Fraction(0)
            case f.Position(message, log):
                if not self.exists(message, log) or self.message(message) not in self.log(log):
                    return NOTHING
                return self._counted(log, self.log(log).index(self.message(message)) + 1)
            case f.Size(log):
                return self._counted(log, len(self.log(log))) if self.exists(log) else NOTHING
            case f.AttributeOf(attribute, message):
                found = self._carried(attribute, message)
                assert not isinstance(found, str)
                return Fraction(found) if isinstance(found, int) else found
            case f.ViewNumber(view):
                return self._view_number(view)
            case f.TimeOf(event):
                return self._of_event(event, lambda i, k: run.histories[i][k][2])
            case f.RecordedClock(event, entity):
                if not self.exists(entity):
                    return NOTHING
                of = self.number(entity)
                return self._of_event(
                    event, lambda i, k: None if run.clocks[i][k] is None else run.clocks[i][k][of]
                )
            case f.VectorTime(event, entity):
                return self._vector_time(event, entity)
            case f.Sum(left, right):
                return self._combined(left, right, lambda a, b: a + b)
            case f.Difference(left, right):
                return self._combined(left, right, lambda a, b: a - b)
            case f.Scaled(factor, scaled):
                return self._combined(f.Constant(factor, f.Dimension.NUMBER), scaled, lambda a, b: a * b)
            case _:
                assert_never(term)

    def _counted(self, log: f.LogTerm, places: int) -> Fraction | None:
        """So many places, if a group chooses of nothing that the sender sent, in this part or in another, whether it is
        in the log.
        """
        if isinstance(log, f.ReceiptLog) or log.to is None:
            return Fraction(places)
        to, sent = self.number(log.to), self.whole.run.sl[self.number(log.entity)]
        return None if any(self._destined(to, m) is None for m in sent) else Fraction(places)

    def _of_event(
        self, term: f.EventTerm, read: Callable[[int, int], float | None]
    ) -> Fraction | _Absent | None:
        event = self.event(term)
        if event is None or isinstance(event, _Absent):
            return event
        found = read(*self.whole.causality.events[event])
        return None if found is None else Fraction(found)

    def _vector_time(self, term: f.EventTerm, entity: f.EntityTerm) -> Fraction | _Absent | None:
        event = self.event(term)
        if not self.exists(entity):
            return NOTHING
        if event is None or isinstance(event, _Absent):
            return event
        causality = self.whole.causality
        return Fraction(
            sum(
                i == self.number(entity)
                and self.whole.run.histories[i][k][0] in ("send", "deliver", "local")
                and (number == event or causality.before(number, event))
                for number, (i, k) in enumerate(causality.events)
            )
        )

    def _combined(
        self, left: f.NumberTerm, right: f.NumberTerm, combine: Callable[[Fraction, Fraction], Fraction]
    ) -> Fraction | _Absent | None:
        one, other = self.amount(left), self.amount(right)
        if isinstance(one, _Absent) or isinstance(other, _Absent):
            return NOTHING
        return None if one is None or other is None else combine(one, other)


def _related(relation: f.Relation, left: Fraction, right: Fraction) -> bool:
    match relation:
        case f.Relation.LESS:
            return left < right
        case f.Relation.AT_MOST:
            return left <= right
        case f.Relation.EQUAL:
            return left == right
        case _:
            assert_never(relation)


def _not(value: Value) -> Value:
    return None if value is None else not value


def _every(values: Iterable[Value]) -> Value:
    found = list(values)
    return False if False in found else None if None in found else True


def _some(values: Iterable[Value]) -> Value:
    return _not(_every(map(_not, values)))


def _cycle(messages: Iterable[str], related: Callable[[str, str], bool]) -> bool:
    """By taking away messages that nothing is related to, until there are none or each has one before it."""
    left = set(messages)
    while left:
        first = {m for m in left if not any(related(other, m) for other in left)}
        if not first:
            return True
        left -= first
    return False
