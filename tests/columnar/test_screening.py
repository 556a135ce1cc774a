"""The screen: whoever passes it satisfies all that it looks at, by the kernels that it spares."""

from __future__ import annotations

import gc
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from weakref import ref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.workload import Workload, write
from precedes.core.execution import EventKind, Execution, History
from precedes.core.formula import Not, Requirement
from precedes.core.transposition import execution_of
from precedes.core.verdict import TRUE
from precedes.engines.columnar.batch_scan import scan_source
from precedes.engines.columnar.fast_path.group_reader import places
from precedes.engines.columnar.fast_path.row_group import RowGroup, row_group
from precedes.engines.columnar.fast_path.screen import can_screen, screened
from precedes.engines.columnar.fast_path.screen_kernels import CAUSAL, SCREENED
from precedes.engines.columnar.fast_path.view_screen import ASKED
from precedes.engines.columnar.kernels.claimed_positions import POSITION_KERNELS
from precedes.engines.columnar.kernels.every_delivery import DELIVERY_KERNELS
from precedes.engines.reference import evaluate
from precedes.engines.scan.partials import judge, with_fine
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import Plan, plan
from precedes.logic.recognition import DEFINITIONS
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import TRACES, Shape, execution
from precedes.traces import Notices, TraceOptions, write_executions
from precedes.traces.layout.columnar_file import ColumnarFile, layout_of
from precedes.traces.layout.conversion import convert
from precedes.traces.sources import source_of
from tests.sampling import one_in
from tests.strategies.drawn import executions


def required(*names: str) -> Plan:
    return plan([Requirement(name, DEFINITIONS[name], ()) for name in sorted(names)])


EVERYTHING = required(*SCREENED | CAUSAL)


def names_of(group: RowGroup) -> list[str]:
    names: list[str] = group.names(np.arange(group.executions)).tolist()
    return names


def opened(path: Path) -> ColumnarFile:
    layout = layout_of(source_of(str(path)))
    assert layout is not None
    return ColumnarFile(layout)


@given(
    st.sampled_from([TRACES, replace(TRACES, acknowledgements=True)]).flatmap(
        lambda shape: st.lists(executions(shape), min_size=1, max_size=6)
    ),
    st.sampled_from([EventKind.DELIVER, EventKind.ARRIVE]),
    st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_who_is_fine_satisfies_everything(
    tmp_path_factory: pytest.TempPathFactory,
    given_: list[Execution],
    delivery: EventKind,
    bits: bool,
) -> None:
    folder = tmp_path_factory.mktemp("screen")
    write_executions([replace(e, name=f"x{k}") for k, e in enumerate(given_)], folder / "t.jsonl")
    convert([folder / "t.jsonl"], folder / "t.parquet", Notices())
    options = TraceOptions(delivery=delivery)
    with closing(opened(folder / "t.parquet")) as file:
        for number, group in enumerate(file.layout.groups):
            if not group.regular or group.named or group.listed:
                continue
            every = row_group(file, number, options, ())
            values = scan_source(every, EVERYTHING).values
            fine, others = screened(file, number, options, EVERYTHING, bits=bits)
            left = set(names_of(others))
            passed = [x for x, name in enumerate(names_of(every)) if name not in left]
            assert fine.executions == len(passed)
            assert (values[passed] == TRUE).all()
            whole, result = judge(every, EVERYTHING, 9)
            part, _ = judge(others, EVERYTHING, 9)
            assert with_fine(part, fine) == whole
            assert result.values.shape[0] == len(passed) + len(left)


@pytest.mark.parametrize("messages", [8, 70])
@pytest.mark.parametrize("name", sorted(SCREENED | CAUSAL))
def test_who_violates_is_not_fine_and_few_others_are_not(tmp_path: Path, name: str, messages: int) -> None:
    workload = Workload(300, messages=messages, violations=0.1, seed=3)
    write(workload, str(tmp_path / "w.parquet"))
    convert([tmp_path / "w.parquet"], tmp_path / "t.parquet", Notices())
    with closing(opened(tmp_path / "t.parquet")) as file:
        fine, others = screened(file, 0, TraceOptions(), required(name))
    assert {int(x.removeprefix("x")) for x in names_of(others)} == set(workload.violating.tolist())
    assert fine.executions == 300 - len(workload.violating)
    assert fine.messages == messages * fine.executions
    assert fine.events == sum(group.rows for group in file.layout.groups) - others.columns(()).events


def test_nothing_of_a_judged_row_group_stays_in_memory(tmp_path: Path) -> None:
    write(Workload(30, violations=0.3, seed=3), str(tmp_path / "w.parquet"))
    convert([tmp_path / "w.parquet"], tmp_path / "t.parquet", Notices())
    with closing(opened(tmp_path / "t.parquet")) as file:
        group = row_group(file, 0, TraceOptions(), ())
        judge(group, EVERYTHING, 9)
        column = ref(group.columns(("delivered",)).delivered)
        gc.disable()
        try:
            del group
            assert column() is None
        finally:
            gc.enable()


def in_views(seed: int) -> list[Execution]:
    """An execution with views and without groups, and the same of which some events are left out."""
    shape = Shape(entities=3, messages=4, odd=seed % 4 == 0, evidence=False, membership=True)
    drawn = execution(Seeded(seed), shape)
    messages = {name: replace(one, groups=frozenset()) for name, one in drawn.messages.items()}
    whole = replace(drawn, messages=messages, groups={}, complete=True)
    lacking = [
        History(one.entity, tuple(event for k, event in enumerate(one.events) if (seed * 7 + k * 5) % 11))
        for one in whole.histories
    ]
    return [whole, replace(whole, histories=tuple(lacking))]


@pytest.mark.parametrize("chunk", one_in(8, range(16)))
def test_who_is_fine_satisfies_what_is_asked_of_views(tmp_path: Path, chunk: int) -> None:
    given_ = [one for seed in range(chunk * 30, chunk * 30 + 30) for one in in_views(seed)]
    write_executions([replace(one, name=f"x{k:03}") for k, one in enumerate(given_)], tmp_path / "t.jsonl")
    # What is strange in one execution keeps the screen from its whole row group.
    convert([tmp_path / "t.jsonl"], tmp_path / "t.parquet", Notices(), row_group=1)
    passed, surely = Counter[str](), Counter[str]()
    with closing(opened(tmp_path / "t.parquet")) as file:
        for number, group in enumerate(file.layout.groups):
            if not group.regular or group.named or group.listed:
                continue
            every = row_group(file, number, TraceOptions(), ())
            names = names_of(every)
            ((batch, places),) = every.whole(range(every.executions))
            for name in ASKED:
                asked = required(name)
                assert can_screen(asked)
                _, others = screened(file, number, TraceOptions(), asked)
                for x in set(range(every.executions)) - {names.index(left) for left in names_of(others)}:
                    one = execution_of(batch, places[x])
                    assert evaluate(DEFINITIONS[name], one) == TRUE, (name, one)
                    passed[name] += 1
            _, others = screened(file, number, TraceOptions(), required(*ASKED))
            left = [names.index(name) for name in names_of(others)]
            for name in ASKED:
                for x in np.array(left)[others.surely(name)].tolist() if left else ():
                    one = execution_of(batch, places[x])
                    assert evaluate(DEFINITIONS[name], one) == TRUE, (name, one)
                    surely[name] += 1
            whole = scan_source(every, required(*ASKED)).values
            assert (scan_source(others, required(*ASKED)).values == whole[left]).all()
    assert surely.keys() >= {"one_view_order", "self_inclusion"}, surely
    assert all(passed[name] for name in ASKED), passed


def test_what_may_be_screened() -> None:
    def named(*texts: str) -> Plan:
        return plan([requirement(text, standard_library()) for text in texts])

    assert can_screen(named("ST", "causal_order"))
    assert can_screen(named("forall L: order_preserving(L)"))
    assert can_screen(named("bounded_disorder(2)", "generic_order(p, q: key(p) = key(q))"))
    assert can_screen(named("generic_order(p, q: exists r: sent(r) and p != q)"))
    assert not can_screen(named("order_equivalent per key"))
    assert not can_screen(named("ST", "deadline"))
    assert not any(can_screen(named("ST", name)) for name in (*DELIVERY_KERNELS, *POSITION_KERNELS))
    assert not can_screen(named("not acyclic_order"))
    assert not can_screen(named("forall p: exists i: p in RL[i]"))
    assert not can_screen(plan([Requirement("n", Not(DEFINITIONS["acyclic_order"]), ())]))


def test_stretches_of_rows() -> None:
    starts, stops = np.array([3, 7, 9]), np.array([5, 7, 12])
    assert places(starts, stops).tolist() == [3, 4, 9, 10, 11]
    nothing = np.zeros(0, np.int64)
    assert places(nothing, nothing).tolist() == []


@pytest.mark.parametrize(("executions", "by_machine"), [(20, False), (1_200, True)])
def test_who_is_left_of_a_large_row_group_is_judged_by_machine_code(
    tmp_path: Path, executions: int, by_machine: bool
) -> None:
    """Few rows are left of each row group, and of a thousand row groups many."""
    write(Workload(executions, messages=8, violations=0.1, seed=3), str(tmp_path / "t.parquet"))
    convert([tmp_path / "t.parquet"], tmp_path / "laid.parquet", Notices())
    with closing(opened(tmp_path / "laid.parquet")) as file:
        _, others = screened(file, 0, TraceOptions(), required("order_equivalent"))
        assert 0 < others.executions < executions
        assert others.by_machine == by_machine
