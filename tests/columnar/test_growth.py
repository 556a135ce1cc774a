"""How the work grows with an execution: the steps of the loops are counted, for seconds depend on the machine.

Each name of the library and of the profiles is judged on executions of two sizes, one four times the other, as plain
Python. A step is a line that runs in a kernel, in the runtime or in a generated loop.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from types import FrameType
from typing import Any

import numpy as np
import pytest

from precedes.core.columns import Batch
from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.core.formula import Attribute, AttributeSort, Formula, Requirement
from precedes.core.transposition import batch_of
from precedes.core.verdict import FALSE, Reason
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.columnar.compiler import formula_compiler
from precedes.engines.columnar.compiler.formula_compiler import compile_formula
from precedes.engines.columnar.execution_source import BatchSource
from precedes.engines.columnar.fast_path import row_group, screen
from precedes.engines.columnar.fast_path.coded_rows import CodedRows
from precedes.engines.columnar.fast_path.screen import can_screen
from precedes.language.library import profile_library, standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import plan
from precedes.logic.premises import premise
from precedes.traces import Notices, TraceOptions, write_executions
from precedes.traces.layout.columnar_file import ColumnarFile, layout_of
from precedes.traces.layout.conversion import convert
from precedes.traces.sources import source_of
from tests.sampling import one_in

TIMES = 4
MOST = 5.5
"""So many times the steps at four times the rows: about linear times the logarithm."""

LOOPS = ("<precedes formula>", "columnar/kernels", "columnar/runtime", "columnar/fast_path")
"""Where what is counted is: in paths of modules, and where generated loops are said to be."""

ATTRIBUTES = {
    name: Attribute(name, AttributeSort.TEXT) for name in ("key", "topic", "partition", "channel", "session")
} | {"position": Attribute("position", AttributeSort.NUMBER)}


def in_one_order(
    entities: int, messages: int, to: int, *, violated: bool = False, crashes: bool = False
) -> Execution:
    """Entities take turns to send, and deliver and accept in the order of sending what is addressed to them.

    Each message goes to `to` entities. Views follow each other; the first entity may crash halfway through. If
    `violated` the last entity delivers the two messages in the middle the other way round.
    """
    names = [f"E{k:03}" for k in range(entities)]
    events: dict[str, list[Event]] = {name: [] for name in names}
    table: dict[str, Message] = {}
    gone: set[str] = set()
    for k in range(messages):
        if k % 20 == 0:
            members = tuple(name for name in names if name not in gone)
            for name in members:
                events[name].append(Event(EventKind.VIEW, view=str(k), members=members))
        if crashes and k == messages // 2:
            events[names[0]].append(Event(EventKind.CRASH))
            gone.add(names[0])
        sender = next(one for one in (names[k % entities], names[1]) if one not in gone)
        to_whom = frozenset(names[(k * 7 + j) % entities] for j in range(to))
        message = f"m{k:06}"
        attributes = {at: f"{k % 5}" for at in ATTRIBUTES.values() if at.sort is AttributeSort.TEXT}
        table[message] = Message(
            message, sender, to_whom, attributes=attributes | {ATTRIBUTES["position"]: k}
        )
        events[sender].append(Event(EventKind.SEND, message, k * 10))
        for name in sorted(to_whom - gone):
            events[name] += [Event(EventKind.DELIVER, message, k * 10 + 1), Event(EventKind.ACK, message)]
    if violated:
        last = events[names[-1]]
        places = [place for place, event in enumerate(last) if event.kind is EventKind.DELIVER]
        one, other = places[len(places) // 2 : len(places) // 2 + 2]
        last[one], last[other] = last[other], last[one]
    histories = tuple(History(name, tuple(events[name])) for name in names)
    groups = {f"g{k}": frozenset(names[k::2]) for k in range(2)}
    return Execution("x", histories, table, delta=1_000_000, groups=groups)


SHAPES: dict[str, Callable[[int], Execution]] = {
    "few entities": lambda times: in_one_order(4, 40 * times, 4),
    "a crash": lambda times: in_one_order(4, 40 * times, 4, crashes=True),
    "one violation": lambda times: in_one_order(4, 40 * times, 4, violated=True),
    "single destinations": lambda times: in_one_order(6, 120 * times, 1),
    "some destinations": lambda times: in_one_order(8, 60 * times, 3),
}
"""Executions by how many times as large they are; the entities stay."""


@cache
def batch(shape: str, times: int) -> Batch:
    return batch_of([SHAPES[shape](times)])


def names() -> Iterator[Requirement]:
    """The names of the library and of the profiles that need no arguments."""
    for library in (standard_library(), profile_library()):
        for name in library:
            with suppress(PrecedesError):
                yield requirement(name, library)


def formulas() -> dict[str, Formula]:
    """Each formula that the names come to, by the first of these."""
    found: dict[Formula, str] = {}
    for name in names():
        asked = plan([name])
        for number in asked.needed(complete=True):
            found.setdefault(asked.steps[number].formula, name.name)
    return {f"{name} {number}": formula for number, (formula, name) in enumerate(found.items())}


FORMULAS = formulas()


def premises() -> dict[str, Formula]:
    """The premises that `infer` looks for, each once, by the first name without parts that has it."""
    found: dict[Formula, str] = {}
    for name, leaf in plan(list(names())).leaves.items():
        found.setdefault(premise(leaf.formula), name)
    return {name: formula for formula, name in found.items()}


PREMISES = premises()


def steps(asked: Formula, judged: Batch, *, sought: bool = False) -> int:
    """How many lines run in the loops that judge a formula, or that look whether it may be true."""
    required = [Requirement("asked", asked)]
    prepared = plan([], sought=required) if sought else plan(required)
    return lines(lambda: scan(judged, prepared, jit=False))


def lines(action: Callable[[], object]) -> int:
    """How many lines run in the loops of kernels, of the runtime, of the screen and of formulas."""
    count = 0

    def inside(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return inside

    def entered(frame: FrameType, event: str, _: Any) -> Any:
        path = frame.f_code.co_filename
        return inside if any(part in path for part in LOOPS) else None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("chunk", one_in(4, range(12)))
def test_every_name_is_near_linear(chunk: int) -> None:
    for name, formula in list(FORMULAS.items())[chunk::12]:
        for shape in SHAPES:
            small, large = (steps(formula, batch(shape, times)) for times in (1, TIMES))
            assert large <= MOST * small + 100, (name, shape, small, large)


@pytest.fixture(scope="module")
def laid(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], ColumnarFile]:
    """The executions as columnar files, by shape and size."""
    folder = tmp_path_factory.mktemp("growth")

    @cache
    def made(shape: str, times: int) -> ColumnarFile:
        source, target = folder / f"{shape} {times}.jsonl", folder / f"{shape} {times}.parquet"
        write_executions([replace(SHAPES[shape](times), groups={})], source)
        convert([source], target, Notices())
        layout = layout_of(source_of(str(target)).asked(tuple(ATTRIBUTES.values())))
        assert layout is not None
        return ColumnarFile(layout)

    return made


def in_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """What machine code does, as plain Python, in which numbers of rows have room to be shifted."""

    def plain(*given: Any) -> Any:
        return function(*(widened(one) if isinstance(one, CodedRows) else one for one in given))

    return plain


def widened(rows: CodedRows) -> CodedRows:
    return CodedRows(*(column.astype(np.int64) for column in rows))


SCREENED = {
    frozenset(step.screened for step in asked.steps): (each.name, asked)
    for each in names()
    if can_screen(asked := plan([each]))
}
"""The names that may be screened, of those that come to the same the last one."""


@pytest.mark.parametrize("chunk", one_in(24, range(24)))
def test_the_screen_is_near_linear(chunk: int, laid: Callable[[str, int], ColumnarFile]) -> None:
    assert len(SCREENED) > 40
    with pytest.MonkeyPatch.context() as patched:
        for module in (screen, row_group):
            patched.setattr(module, "machine_code", in_python)
        for name, asked in list(SCREENED.values())[chunk::24]:
            options = TraceOptions(attributes=asked.attributes, parted=asked.parted, delta=1_000_000)
            decided = screen.Screen(asked, options, row_group.TIMES).decided
            # Where times run backwards, nothing is screened.
            for shape in SHAPES.keys() - {"one violation"}:
                # All of them have more messages than a set has room for.
                files = [laid(shape, times) for times in (2, 2 * TIMES)]
                small, large = (lines(partial(decided, file, 0, Notices())) for file in files)
                assert 1_000 < large <= MOST * small, (name, shape, small, large)


@pytest.mark.parametrize("chunk", one_in(2, range(6)))
def test_every_premise_is_near_linear(chunk: int) -> None:
    for name, formula in list(PREMISES.items())[chunk::6]:
        for shape in SHAPES:
            small, large = (steps(formula, batch(shape, times), sought=True) for times in (1, TIMES))
            assert large <= MOST * small + 100, (name, shape, small, large)


@pytest.mark.parametrize(
    "text",
    [
        "order_equivalent per key",
        "bounded_disorder(0)",
        "bounded_disorder(2) per key",
        "generic_order(p, q: key(p) = key(q) and topic(p) = topic(q))",
    ],
)
def test_what_has_a_parameter_is_near_linear(text: str) -> None:
    asked = requirement(text, standard_library()).formula
    for shape in SHAPES:
        small, large = (steps(asked, batch(shape, times)) for times in (1, TIMES))
        assert 1_000 < large <= MOST * small, (shape, small, large)


def test_any_relation_is_near_linear_where_there_is_one_order() -> None:
    """Where all messages are in one order, no pair of them is looked at."""
    asked = requirement("generic_order(p, q: position(p) != position(q) + 1)", standard_library()).formula
    for shape in SHAPES.keys() - {"one violation"}:
        small, large = (steps(asked, batch(shape, times)) for times in (1, TIMES))
        assert 1_000 < large <= MOST * small, (shape, small, large)


LONG = "exists p, q: sender(p) = sender(q) and q <[SL[sender(p)]] p and p <[SL[sender(p)]] q"


def test_what_takes_long_to_find_may_be_true() -> None:
    """Nobody goes through all pairs of many messages: what was not found to be false may be true."""
    asked = requirement(LONG, standard_library()).formula
    program = compile_formula(asked, sought=True)
    source = BatchSource(batch("few entities", 1))
    values, _ = program.run(source, False)
    assert values.tolist() == [FALSE]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(formula_compiler, "SEEKING_STEPS", 50)
        values, _ = program.run(source, False)
    assert values.tolist() == [Reason.NOT_DECIDED]


def test_pairs_of_messages_are_seen() -> None:
    """What is counted tells a square from a line."""
    text = "forall p, q: sender(p) = sender(q) implies (p = q or not p = q)"
    asked = requirement(text, standard_library()).formula
    small, large = (steps(asked, batch("few entities", times)) for times in (1, TIMES))
    assert large > 10 * small


@pytest.mark.parametrize(
    "text",
    [
        "forall p, q: sender(p) = sender(q) implies (p = q or not p = q)",
        "forall i: forall d, e in DL[i]: nth(d) = nth(e) or not message(d) = message(e)",
        "forall i, j: forall p, q in RL[i] & SL[j]: p = q or p <[RL[i]] q or q <[RL[i]] p",
    ],
)
def test_an_estimate_grows_as_the_steps_do(text: str) -> None:
    asked = compile_formula(requirement(text, standard_library()).formula)
    estimated = [float(asked.steps(BatchSource(batch("few entities", times)))[0]) for times in (1, TIMES)]
    ran = [steps(asked.formula, batch("few entities", times)) for times in (1, TIMES)]
    assert 1 < ran[0] / estimated[0] < 5
    assert 1 < ran[1] / estimated[1] < 5
