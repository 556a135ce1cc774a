"""The value of a formula on one execution, node by node as `precedes.core.formula` defines it.

This defines the meaning of formulas. The other engines are tested or proved equal to it. Two shortcuts make
it faster. Each node becomes, once, a function of the current bindings, which change in place. And a
quantifier over a log visits only the messages of that log, because all others are outside its range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, assert_never

from precedes.core.execution import Execution
from precedes.core.formula import (
    TRUTH,
    Acknowledged,
    Acyclic,
    AddressedTo,
    And,
    Attribute,
    Comparison,
    DeliveredAt,
    DeliveredBefore,
    DeliveryVariable,
    EntityNamed,
    EntityTerm,
    EntityVariable,
    Exists,
    FailureLine,
    Faulty,
    Forall,
    Formula,
    GroupVariable,
    HappensBefore,
    Iff,
    Implies,
    InFlight,
    InLog,
    Installs,
    InstallsAgain,
    InstallsBefore,
    IsDestination,
    IsMember,
    LogTerm,
    MessageVariable,
    Not,
    Or,
    Per,
    Precedes,
    Quiescent,
    Repeated,
    SameDelivery,
    SameEntity,
    SameGroup,
    SameMessage,
    SamePart,
    SameText,
    SameView,
    Sender,
    SendLog,
    Sent,
    Truth,
    Undetermined,
    Variable,
    ViewVariable,
)
from precedes.core.verdict import FALSE, TRUE, Reason, conjunction, disjunction, negation
from precedes.engines.reference.atoms import Atoms, Judgement
from precedes.engines.reference.incomplete_atoms import IncompleteAtoms
from precedes.engines.reference.interleavings import possible_interleavings
from precedes.engines.reference.recorded import Delivery, Recorded, record
from precedes.engines.reference.relations import has_cycle, reasons_of_cycles
from precedes.engines.reference.terms import Terms
from precedes.logic.completion import opened
from precedes.logic.parts import of_its_own, written_out
from precedes.logic.senders import without_sends


def evaluate(formula: Formula, execution: Execution) -> int:
    """The value of a closed formula: TRUE, FALSE or reasons (`precedes.core.verdict`).

    Where it is unknown for want of an interleaving and there are few, each is judged: what holds in all of
    them holds, what fails in all of them fails.
    """
    formula = judged(formula, execution)
    value = Evaluator(execution).value(formula)
    agreed = agreed_interleaving(formula, execution, value)
    return value if agreed is None else agreed[0]


def judged(formula: Formula, execution: Execution) -> Formula:
    """The formula as it is judged on the execution: without sends where it is not known who sent a message, and opened
    where the execution is incomplete.
    """
    if execution.doubt & Reason.SEND_NOT_LOGGED:
        formula = without_sends(formula)
    return formula if execution.complete else opened(formula)


def agreed_interleaving(formula: Formula, execution: Execution, value: int) -> tuple[int, Execution] | None:
    """The value on which all possible interleavings agree, and the first of them; None where there is no such
    value."""
    if value in (TRUE, FALSE) or not value & Reason.INTERLEAVING:
        return None
    possible = possible_interleavings(execution)
    if not possible:
        return None
    agreed = Evaluator(possible[0]).value(formula)
    if agreed not in (TRUE, FALSE) or any(
        Evaluator(other).value(formula) != agreed for other in possible[1:]
    ):
        return None
    return agreed, possible[0]


class Evaluator:
    """The values of formulas on one execution. `met` has the kinds of variables that had something in their range."""

    def __init__(self, execution: Execution) -> None:
        self.recorded: Recorded = record(execution)
        self.terms = Terms(self.recorded)
        self.met: set[type[Variable]] = set()
        self._atoms = Atoms(self.terms) if execution.complete else IncompleteAtoms(self.terms)
        # An opened formula speaks of what is certainly in a range.
        self._certain = not execution.complete
        self._parts: dict[int, tuple[Per, Formula]] = {}
        self._judgements: dict[int, tuple[Formula, Judgement]] = {}

    def value(self, formula: Formula) -> int:
        """The value of a formula under the current bindings; on an incomplete execution, of an opened one."""
        return self._judgement(formula)()

    def _judgement(self, formula: Formula) -> Judgement:
        """The judgement of a node of the tree, made once. The node is kept, so that no other takes its id."""
        if id(formula) not in self._judgements:
            self._judgements[id(formula)] = (formula, self._made(formula))
        return self._judgements[id(formula)][1]

    def _made(self, formula: Formula) -> Judgement:
        match formula:
            case Not(body):
                judged = self._judgement(body)
                return lambda: negation(judged())
            case And(parts):
                return _all([self._judgement(part) for part in parts])
            case Or(parts):
                return _any([self._judgement(part) for part in parts])
            case Implies(left, right):
                return _implication(self._judgement(left), self._judgement(right))
            case Iff(left, right):
                return _equivalence(self._judgement(left), self._judgement(right))
            case Forall(variable, extent, body):
                return self._forall(variable, extent, body)
            case Exists(variable, extent, body):
                return self._exists(variable, extent, body)
            case Acyclic(first, second, body):
                return lambda: self._acyclic(first, second, body)
            case Per():
                return self._judgement(self._written_out(formula))
            case (
                Precedes() | InLog() | HappensBefore() | IsDestination() | Comparison() | Sent() | Repeated()
                | SameEntity() | SameMessage() | SameText() | SamePart()
                | Faulty() | Truth() | Undetermined() | FailureLine() | Quiescent() | DeliveredAt() | DeliveredBefore()
                | SameDelivery() | InFlight() | Acknowledged() | IsMember() | AddressedTo() | SameGroup() | Installs()
                | InstallsBefore() | InstallsAgain() | SameView()
            ):  # fmt: skip
                return self._atoms.judgement(formula)
            case _:
                assert_never(formula)

    def _written_out(self, per: Per) -> Formula:
        """What it means; the same tree each time, so that it is judged by the same functions."""
        if id(per) not in self._parts:
            self._parts[id(per)] = (per, written_out(per))
        return self._parts[id(per)][1]

    # ---- binders -------------------------------------------------------------------------------------------

    def has_unknown_domain(self, variable: Variable) -> bool:
        """Whether nobody knows what the variable can stand for: a view, where some have no id."""
        return isinstance(variable, ViewVariable) and self.recorded.execution.views_unknown

    def _forall(self, variable: Variable, extent: Formula, body: Formula) -> Judgement:
        if self.has_unknown_domain(variable):
            return lambda: Reason.NO_VIEWS
        instances, judged = self._instances(variable, extent, body), self._judgement(body)

        def judge() -> int:
            value = TRUE
            for inside in instances():
                value = conjunction(value, disjunction(negation(inside), judged()))
                if value == FALSE:
                    break
            return value

        return judge

    def _exists(self, variable: Variable, extent: Formula, body: Formula) -> Judgement:
        if self.has_unknown_domain(variable):
            return lambda: Reason.NO_VIEWS
        instances, judged = self._instances(variable, extent, body), self._judgement(body)

        def judge() -> int:
            value = FALSE
            for inside in instances():
                value = disjunction(value, conjunction(inside, judged()))
                if value == TRUE:
                    break
            return value

        return judge

    def instances(self, variable: Variable, extent: Formula, body: Formula) -> Iterator[int]:
        """Bind the variable to each thing that is in its range, or may be, in order; yields the range's
        value. Of things of which the body says the same it may be the first only.

        A binding stands until the next is asked for; a caller that stops half way drops the iterator, which
        ends it.
        """
        return self._instances(variable, extent, body)()

    def _instances(self, variable: Variable, extent: Formula, body: Formula) -> Callable[[], Iterator[int]]:
        bindings = self._bindings(variable)
        met, kind = self.met, type(variable)
        candidates = self._candidates(variable, extent, body)
        judged = self._judgement(extent)
        name = variable.name

        def bind() -> Iterator[int]:
            hidden = bindings.get(name)
            try:
                for candidate in candidates():
                    bindings[name] = candidate
                    inside = judged()
                    if inside == TRUE or (inside != FALSE and not self._certain):
                        met.add(kind)
                        yield inside
            finally:
                _restore(bindings, name, hidden)

        return bind

    def _bindings(self, variable: Variable) -> dict[str, Any]:
        match variable:
            case EntityVariable():
                return self.terms.entities
            case MessageVariable():
                return self.terms.messages
            case DeliveryVariable():
                return self.terms.deliveries
            case GroupVariable():
                return self.terms.groups
            case ViewVariable():
                return self.terms.views
            case _:
                assert_never(variable)

    @contextmanager
    def bound(self, variable: Variable, value: str) -> Iterator[None]:
        """Have the variable stand for a value, and for what it stood for before in the end."""
        bindings = self._bindings(variable)
        hidden = bindings.get(variable.name)
        bindings[variable.name] = value
        try:
            yield
        finally:
            _restore(bindings, variable.name, hidden)

    def _candidates(self, variable: Variable, extent: Formula, body: Formula) -> Callable[[], Sequence[Any]]:
        """What can be in a range: all that there is of the sort, or the fewest messages or deliveries that a conjunct
        leaves.
        """
        execution = self.recorded.execution
        match variable:
            case EntityVariable():
                return lambda: execution.entities
            case GroupVariable():
                return lambda: execution.named_groups
            case ViewVariable():
                return lambda: () if self.has_unknown_domain(variable) else tuple(execution.views)
            case DeliveryVariable():
                return self._deliveries(variable, extent)
            case MessageVariable():
                return self._messages(variable, extent, body)
            case _:
                assert_never(variable)

    def _deliveries(self, variable: DeliveryVariable, extent: Formula) -> Callable[[], Sequence[Delivery]]:
        conjuncts = extent.parts if isinstance(extent, And) else (extent,)
        for part in conjuncts:
            if (
                isinstance(part, DeliveredAt)
                and part.delivery == variable
                and isinstance(part.entity, EntityVariable | EntityNamed)
            ):
                owner, by_entity = self.terms.entity_reader(part.entity), self.recorded.deliveries_of
                return lambda: by_entity.get(owner() or "", ())
        return lambda: self.recorded.deliveries

    def _messages(
        self, variable: MessageVariable, extent: Formula, body: Formula
    ) -> Callable[[], Sequence[str]]:
        attributes = of_its_own(variable, extent, body)
        if attributes:
            chosen = self._one_of_each_part(attributes)
            return lambda: chosen
        conjuncts = extent.parts if isinstance(extent, And) else (extent,)
        logs = [
            self._log_reader(part.log)
            for part in conjuncts
            if isinstance(part, InLog)
            and part.message == variable
            and not _depends(part.log.entity, variable)
        ]
        if not logs:
            return lambda: self.recorded.messages
        return logs[0] if len(logs) == 1 else lambda: min((log() for log in logs), key=len)

    def _one_of_each_part(self, attributes: tuple[Attribute, ...]) -> Sequence[str]:
        """The first message of every part; what is asked of a part says nothing else of the one that it is named by."""
        found: dict[tuple[str | int, ...], str] = {}
        for message in self.recorded.messages:
            values = self.terms.values(message, attributes)
            if values is not None:
                found.setdefault(values, message)
        return tuple(found.values())

    def _log_reader(self, log: LogTerm) -> Callable[[], Sequence[str]]:
        """Reads the messages of a log in order; of a send log to some entity, of all that it is a part of."""
        owner = self.terms.entity_reader(log.entity)
        sent_by, delivered = self.recorded.sent_by, self.recorded.delivered

        def read() -> Sequence[str]:
            here = owner()
            if here is None:
                return ()
            return sent_by[here] if isinstance(log, SendLog) else delivered[here]

        return read

    def _acyclic(self, first: MessageVariable, second: MessageVariable, body: Formula) -> int:
        certain, open_edges = self.related(first, second, body)
        if has_cycle(certain):
            return FALSE
        return reasons_of_cycles(certain, open_edges)

    def related(
        self, first: MessageVariable, second: MessageVariable, body: Formula
    ) -> tuple[dict[str, list[str]], dict[tuple[str, str], int]]:
        """The relation that `body` is between messages: who is related to whom, and why pairs may be."""
        certain: dict[str, list[str]] = {message: [] for message in self.recorded.messages}
        open_edges: dict[tuple[str, str], int] = {}
        judged = self._judgement(body)
        for _ in self.instances(first, TRUTH, body):
            for _ in self.instances(second, TRUTH, body):
                pair = (self.terms.messages[first.name], self.terms.messages[second.name])
                value = judged()
                if value == TRUE:
                    certain[pair[0]].append(pair[1])
                elif value != FALSE:
                    open_edges[pair] = value
        return certain, open_edges


def _all(parts: Sequence[Judgement]) -> Judgement:
    def judge() -> int:
        value = TRUE
        for part in parts:
            value = conjunction(value, part())
            if value == FALSE:
                break
        return value

    return judge


def _any(parts: Sequence[Judgement]) -> Judgement:
    def judge() -> int:
        value = FALSE
        for part in parts:
            value = disjunction(value, part())
            if value == TRUE:
                break
        return value

    return judge


def _implication(left: Judgement, right: Judgement) -> Judgement:
    def judge() -> int:
        premise = negation(left())
        return premise if premise == TRUE else disjunction(premise, right())

    return judge


def _equivalence(left: Judgement, right: Judgement) -> Judgement:
    def judge() -> int:
        there, back = left(), right()
        return conjunction(disjunction(negation(there), back), disjunction(negation(back), there))

    return judge


def _restore(bindings: dict[str, Any], name: str, hidden: Any) -> None:
    if hidden is None:
        bindings.pop(name, None)
    else:
        bindings[name] = hidden


def _depends(entity: EntityTerm, variable: Variable) -> bool:
    """Whether an entity term mentions a message variable."""
    return isinstance(entity, Sender) and entity.message == variable
