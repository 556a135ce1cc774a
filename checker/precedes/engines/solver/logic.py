"""The only module that imports Z3: propositions and linear sums that fold constants, and a solver with a
deadline.

Z3 has no type annotations. Outside this module its expressions are opaque `Symbol`s. A proposition is a
`Symbol` or a Python truth value. Whatever can be decided without Z3 is decided without it, because a formula
over five messages consists mostly of constants.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Final, Protocol, Self, cast

import z3

from precedes.core.formula import Relation


class Symbol(Protocol):
    """An expression of Z3."""

    def get_id(self) -> int:
        """A number that is the expression's alone while it is referred to."""
        ...


_POLL: Final = 0.05
"""Seconds between two looks at Z3's memory."""

Proposition = bool | Symbol
Element = int | Symbol
Function = Callable[..., Symbol]


class Sort(Enum):
    """What a quantifier ranges over."""

    ENTITY = "entity"
    MESSAGE = "message"
    DELIVERY = "delivery"
    GROUP = "group"
    VIEW = "view"


# ---- propositions --------------------------------------------------------------------------------------


def negated(body: Proposition) -> Proposition:
    """`not body`."""
    if isinstance(body, bool):
        return not body
    inner: Any = body
    context = z3.main_ctx()
    return cast(Symbol, z3.BoolRef(z3.Z3_mk_not(context.ref(), inner.as_ast()), context))


def both(*parts: Proposition) -> Proposition:
    """The conjunction; true of nothing."""
    return every(parts)


def either(*parts: Proposition) -> Proposition:
    """The disjunction; false of nothing."""
    return some(parts)


def every(parts: Iterable[Proposition]) -> Proposition:
    """The conjunction; stops at the first part that is false."""
    kept: list[Symbol] = []
    for part in parts:
        if part is False:
            return False
        if part is not True:
            kept.append(part)
    if not kept:
        return True
    return kept[0] if len(kept) == 1 else _joined(z3.Z3_mk_and, kept)


def some(parts: Iterable[Proposition]) -> Proposition:
    """The disjunction; stops at the first part that is true."""
    kept: list[Symbol] = []
    for part in parts:
        if part is True:
            return True
        if part is not False:
            kept.append(part)
    if not kept:
        return False
    return kept[0] if len(kept) == 1 else _joined(z3.Z3_mk_or, kept)


def _joined(make: Any, parts: Sequence[Symbol]) -> Symbol:
    """z3.And and z3.Or, without their search for the sorts of their arguments: most of the time of a large
    translation.
    """
    context = z3.main_ctx()
    arguments = (z3.Ast * len(parts))(*(cast(Any, part).as_ast() for part in parts))
    return cast(Symbol, z3.BoolRef(make(context.ref(), len(parts), arguments), context))


def implied(premise: Proposition, conclusion: Proposition) -> Proposition:
    """`premise implies conclusion`."""
    return either(negated(premise), conclusion)


def equivalent(left: Proposition, right: Proposition) -> Proposition:
    """`left iff right`."""
    if isinstance(left, bool):
        return right if left else negated(right)
    if isinstance(right, bool):
        return left if right else negated(left)
    one: Any = left
    return cast(Symbol, one == right)


def at_most(parts: Sequence[Proposition], bound: int) -> Proposition:
    """No more than `bound` of the parts are true."""
    bound -= sum(part is True for part in parts)
    symbols = [part for part in parts if not isinstance(part, bool)]
    if bound < 0:
        return False
    if len(symbols) <= bound:
        return True
    return cast(Symbol, z3.PbLe([(symbol, 1) for symbol in symbols], bound))


# ---- symbols -------------------------------------------------------------------------------------------


def boolean(name: str) -> Symbol:
    """A proposition that is free."""
    return cast(Symbol, z3.Bool(name))


def integer(name: str) -> Symbol:
    """An integer that is free."""
    return cast(Symbol, z3.Int(name))


ENTITY_SORT: Any = z3.DeclareSort("Entity")
MESSAGE_SORT: Any = z3.DeclareSort("Message")
DELIVERY_SORT: Any = z3.DeclareSort("Delivery")
GROUP_SORT: Any = z3.DeclareSort("Group")
VIEW_SORT: Any = z3.DeclareSort("View")
_SORTS: Mapping[Sort, Any] = {
    Sort.ENTITY: ENTITY_SORT,
    Sort.MESSAGE: MESSAGE_SORT,
    Sort.DELIVERY: DELIVERY_SORT,
    Sort.GROUP: GROUP_SORT,
    Sort.VIEW: VIEW_SORT,
}


def constant(name: str, sort: Sort) -> Symbol:
    """An element of an uninterpreted sort; also a variable for `quantified`."""
    return cast(Symbol, z3.Const(name, _SORTS[sort]))


def relation(name: str, *sorts: Sort) -> Function:
    """An uninterpreted relation; a free proposition where there are no sorts."""
    return _function(name, sorts, z3.BoolSort())


def mapping(name: str, target: Sort, *sources: Sort) -> Function:
    """An uninterpreted function between the sorts."""
    return _function(name, sources, _SORTS[target])


def measure(name: str, sorts: Sequence[Sort], whole: bool) -> Function:
    """An uninterpreted function to the integers or to the reals."""
    return _function(name, sorts, z3.IntSort() if whole else z3.RealSort())


def _function(name: str, sorts: Sequence[Sort], result: Any) -> Function:
    if not sorts:
        symbol = z3.Const(name, result)
        return lambda: cast(Symbol, symbol)
    return cast(Function, z3.Function(name, *(_SORTS[sort] for sort in sorts), result))


def sort_of(element: Symbol) -> Sort:
    """The uninterpreted sort of an element."""
    inner: Any = element
    return next(sort for sort, found in _SORTS.items() if inner.sort() == found)


def same(left: Element, right: Element) -> Proposition:
    """The two elements are one."""
    if isinstance(left, int) or isinstance(right, int):
        return left == right
    if left.get_id() == right.get_id():
        return True
    one: Any = left
    return cast(Symbol, one == right)


def quantified(universal: bool, variables: Sequence[Symbol], body: Proposition) -> Proposition:
    """`for all variables: body`, or `for some`."""
    if isinstance(body, bool) or not variables:
        return body
    return cast(Symbol, (z3.ForAll if universal else z3.Exists)(list(variables), body))


# ---- linear sums ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Linear:
    """`offset` and a sum of symbols with factors: all the arithmetic that the core has."""

    offset: Fraction
    parts: tuple[tuple[Fraction, Symbol], ...] = ()

    def plus(self, other: Linear) -> Linear:
        """The sum of the two."""
        return Linear(self.offset + other.offset, self.parts + other.parts)

    def times(self, factor: Fraction) -> Linear:
        """Every part scaled."""
        if factor == 0:
            return Linear(Fraction(0))
        return Linear(self.offset * factor, tuple((factor * own, symbol) for own, symbol in self.parts))

    def minus(self, other: Linear) -> Linear:
        """The difference of the two."""
        return self.plus(other.times(Fraction(-1)))


def number(symbol: Symbol) -> Linear:
    """A symbol as a sum."""
    return Linear(Fraction(0), ((Fraction(1), symbol),))


def count(parts: Iterable[Proposition]) -> Linear:
    """How many of the parts are true."""
    certain = 0
    open_parts: list[tuple[Fraction, Symbol]] = []
    for part in parts:
        if isinstance(part, bool):
            certain += part
        else:
            open_parts.append((Fraction(1), cast(Symbol, z3.If(cast(Any, part), z3.IntVal(1), z3.IntVal(0)))))
    return Linear(Fraction(certain), tuple(open_parts))


def compared(left: Linear, how: Relation, right: Linear) -> Proposition:
    """`left how right`, with whole factors."""
    difference = left.minus(right)
    scale = math.lcm(difference.offset.denominator, *(factor.denominator for factor, _ in difference.parts))
    bound = int(-difference.offset * scale)
    if not difference.parts:
        return {Relation.LESS: bound > 0, Relation.AT_MOST: bound >= 0, Relation.EQUAL: bound == 0}[how]
    total: Any = z3.Sum([int(factor * scale) * cast(Any, symbol) for factor, symbol in difference.parts])
    match how:
        case Relation.LESS:
            return cast(Symbol, total < bound)
        case Relation.AT_MOST:
            return cast(Symbol, total <= bound)
        case Relation.EQUAL:
            return cast(Symbol, total == bound)


# ---- solving -------------------------------------------------------------------------------------------


class Outcome(Enum):
    """What a check came to."""

    SATISFIABLE = "sat"
    UNSATISFIABLE = "unsat"
    UNKNOWN = "unknown"


class OutOfMemory(Exception):
    """Z3 met the bound on its memory."""


class Watch:
    """Interrupts Z3 where it takes more than so many megabytes; a context manager, around all that is asked.

    Z3's own limits are no help: the one on the process makes it crash in the middle of a call, that on a
    solver is not kept by every one.
    """

    def __init__(self, megabytes: int) -> None:
        self._limit = megabytes * 2**20
        self._over = threading.Event()
        self._exceeded = False
        self.context: Any = z3.main_ctx()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="precedes-memory", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def check(self) -> None:
        """OutOfMemory where there is too much of it now, or was when Z3 was interrupted."""
        if self._exceeded or z3.Z3_get_estimated_alloc_size() > self._limit:
            raise OutOfMemory

    def _run(self) -> None:
        while not self._over.wait(_POLL):
            if z3.Z3_get_estimated_alloc_size() > self._limit:
                self._exceeded = True
                self.context.interrupt()


def consistent(parts: Iterable[Proposition], effort: int, seconds: float, watch: Watch) -> Outcome:
    """Whether the parts, which may have quantifiers, can all hold; unknown where Z3 does not find out with so
        much effort in so many seconds.

    `effort` is Z3's own count of what it did, so that the answer is the same on a slow machine. The question
    goes to a fresh context, as text: what Z3 does depends on what it did before in the same one. OutOfMemory;
    KeyboardInterrupt.
    """
    collected: Any = z3.Solver()
    for part in parts:
        if part is False:
            return Outcome.UNSATISFIABLE
        if part is not True:
            collected.add(part)
    watch.context = z3.Context()
    solver: Any = z3.Solver(ctx=watch.context)
    solver.from_string(collected.sexpr())
    solver.set("rlimit", effort)
    return _checked(solver, watch, seconds)


def _checked(solver: Any, watch: Watch, seconds: float, *assumptions: Any) -> Outcome:
    watch.check()
    solver.set("timeout", max(1, min(int(seconds * 1000), 2**31 - 1)))
    try:
        result = solver.check(*assumptions)
        reason = solver.reason_unknown() if result == z3.unknown else ""
    except z3.Z3Exception as error:
        result, reason = z3.unknown, str(error)
    if result == z3.sat:
        return Outcome.SATISFIABLE
    if result == z3.unsat:
        return Outcome.UNSATISFIABLE
    watch.check()
    # Z3 catches Ctrl-C while it works.
    if "interrupted" in reason:
        raise KeyboardInterrupt
    if not any(
        word in reason for word in ("timeout", "canceled", "resource", "incomplete", "quantifiers", "unknown")
    ):
        raise RuntimeError(f"Z3 failed: {reason}")
    return Outcome.UNKNOWN


class Solver:
    """A set of propositions to satisfy. `propositional` promises that they hold no numbers."""

    def __init__(self, propositional: bool, watch: Watch) -> None:
        self._watch = watch
        watch.context = z3.main_ctx()
        self._solver: Any = z3.SolverFor("QF_FD") if propositional else z3.Solver()
        self._model: Any = None

    def add(self, proposition: Proposition) -> None:
        """One more that must hold."""
        if proposition is not True:
            self._solver.add(cast(Any, z3.BoolVal(False) if proposition is False else proposition))

    def check(self, seconds: float, *assumptions: Proposition) -> Outcome:
        """Whether all can hold, under the assumptions. OutOfMemory; KeyboardInterrupt."""
        if any(assumption is False for assumption in assumptions):
            return Outcome.UNSATISFIABLE
        outcome = _checked(self._solver, self._watch, seconds, *(a for a in assumptions if a is not True))
        if outcome is Outcome.SATISFIABLE:
            self._model = self._solver.model()
        return outcome

    def push(self) -> None:
        """Open a scope: what is added from here on goes with it."""
        self._solver.push()

    def pop(self) -> None:
        """Close the innermost scope."""
        self._solver.pop()

    def holds(self, proposition: Proposition) -> bool:
        """Whether a proposition is true in the solution found last."""
        if isinstance(proposition, bool):
            return proposition
        return bool(z3.is_true(self._model.eval(proposition, model_completion=True)))

    def whole(self, symbol: Symbol) -> int:
        """The value of an integer in the solution found last."""
        return int(self._model.eval(symbol, model_completion=True).as_long())
