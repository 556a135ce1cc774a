"""The screen: whoever passes it satisfies all that it looks at, by the kernels that it spares."""

from __future__ import annotations

import gc
import json
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
from precedes.core.formula import Attribute, Not, Per, Requirement
from precedes.core.transposition import execution_of
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.columnar.batch_scan import scan_source
from precedes.engines.columnar.fast_path.attribute_screen import IN_FLIGHT, POSITIONED
from precedes.engines.columnar.fast_path.group_reader import places
from precedes.engines.columnar.fast_path.row_group import TIMES, RowGroup, row_group
from precedes.engines.columnar.fast_path.screen import ALL, Decided, Screen, Shown, can_screen
from precedes.engines.columnar.fast_path.screen_kernels import CAUSAL, SCREENED
from precedes.engines.columnar.fast_path.view_screen import ASKED
from precedes.engines.reference import evaluate
from precedes.engines.scan.partials import judge, with_decided
from precedes.engines.scan.row_groups import GroupJudge
from precedes.language.library import profile_library, standard_library
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
from tests.strategies.attributes import KEY, POSITION, TOPIC, carrying
from tests.strategies.drawn import executions


def required(*names: str) -> Plan:
    return plan([Requirement(name, DEFINITIONS[name], ()) for name in sorted(names)])


EVERYTHING = required(*SCREENED | CAUSAL)


def names_of(group: RowGroup) -> list[str]:
    names: list[str] = group.names(np.arange(group.executions)).tolist()
    return names


def screened(file: ColumnarFile, asked: Plan, *, shown: Shown = ALL) -> tuple[Decided, RowGroup]:
    """What is decided of the first row group, and the others."""
    options = TraceOptions(attributes=asked.attributes, parted=asked.parted)
    return Screen(asked, options, TIMES).decided(file, 0, Notices(), shown)


def opened(path: Path) -> ColumnarFile:
    layout = layout_of(source_of(str(path)).asked((KEY, POSITION, TOPIC)))
    assert layout is not None
    return ColumnarFile(layout)


@given(
    st.sampled_from([TRACES, replace(TRACES, acknowledgements=True)]).flatmap(
        lambda shape: st.lists(executions(shape), min_size=1, max_size=6)
    ),
    st.sampled_from([EventKind.DELIVER, EventKind.ARRIVE]),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
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
            screen = Screen(EVERYTHING, options, TIMES, bits=bits)
            decided, others = screen.decided(file, number, Notices())
            left = set(names_of(others))
            passed = [x for x, name in enumerate(names_of(every)) if name not in left]
            assert decided.executions == len(passed)
            assert (values[passed] == TRUE).all()
            whole, result = judge(every, EVERYTHING, 9)
            part, _ = judge(others, EVERYTHING, 9)
            assert with_decided(part, decided) == whole
            assert result.values.shape[0] == len(passed) + len(left)


@pytest.mark.parametrize("messages", [8, 70])
@pytest.mark.parametrize("name", one_in(6, sorted(SCREENED | CAUSAL)))
def test_who_violates_is_not_fine_and_few_others_are_not(tmp_path: Path, name: str, messages: int) -> None:
    workload = Workload(300, messages=messages, violations=0.1, seed=3)
    write(workload, str(tmp_path / "w.parquet"))
    convert([tmp_path / "w.parquet"], tmp_path / "t.parquet", Notices())
    with closing(opened(tmp_path / "t.parquet")) as file:
        decided, others = screened(file, required(name))
    assert {int(x.removeprefix("x")) for x in names_of(others)} == set(workload.violating.tolist())
    assert decided.executions == 300 - len(workload.violating)
    assert decided.messages == messages * decided.executions
    assert decided.events == sum(group.rows for group in file.layout.groups) - others.columns(()).events


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


def regular(folder: Path, given_: list[Execution]) -> Path:
    """A columnar file with one row group, of those executions in which nothing is strange."""
    named = [replace(one, name=f"x{k:03}") for k, one in enumerate(given_)]
    write_executions(named, folder / "all.jsonl")
    convert([folder / "all.jsonl"], folder / "all.parquet", Notices(), row_group=1)
    with closing(opened(folder / "all.parquet")) as file:
        kept = {
            group.first
            for group in file.layout.groups
            if group.regular and not (group.named or group.listed or group.to_groups)
        }
    write_executions([one for one in named if one.name in kept], folder / "t.jsonl")
    convert([folder / "t.jsonl"], folder / "t.parquet", Notices())
    return folder / "t.parquet"


def carrying_much(seed: int) -> Execution:
    """An execution whose messages carry something, and are accepted in some executions."""
    shape = replace(TRACES, evidence=False, odd=seed % 3 == 0, acknowledgements=seed % 2 == 0, messages=6)
    choices = Seeded(seed)
    return replace(carrying(choices, execution(choices, shape)), complete=True)


NAMES = {*SCREENED, *CAUSAL, *ASKED, *POSITIONED, IN_FLIGHT}
VALUES = ("satisfied", "violated", "unknown")


@pytest.fixture(scope="module", params=one_in(2, [range(20), range(20, 220)], ["few", "many"]))
def laid(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], bool]:
    """Files of executions with views and of such whose messages carry something, and whether they have many."""
    seeds: range = request.param
    with_views = [one for seed in seeds for one in in_views(seed)]
    others = [carrying_much(seed) for seed in (*seeds, *range(1_000, 1_000 + len(seeds)))]
    made = [regular(tmp_path_factory.mktemp("decided"), given_) for given_ in (with_views, others)]
    return made, len(seeds) > 20


@pytest.mark.parametrize("per", [(), (KEY,), (POSITION,), (KEY, TOPIC)], ids=str)
def test_what_is_decided_is_so(laid: tuple[list[Path], bool], per: tuple[Attribute, ...]) -> None:
    files, many = laid
    found = Counter[tuple[str, str]]()
    asked = {name: Per(per, DEFINITIONS[name]) if per else DEFINITIONS[name] for name in sorted(NAMES)}
    plans = {name: plan([Requirement(name, formula, ())]) for name, formula in asked.items()}
    assert {name for name, one in plans.items() if not can_screen(one)} == (ASKED.keys() if per else set())
    for path in files:
        with closing(opened(path)) as file:
            every = row_group(file, 0, TraceOptions(attributes=(KEY, POSITION, TOPIC)), ())
            ((batch, numbers),) = every.whole(range(every.executions))
            judged = {name: execution_of(batch, numbers[x]) for x, name in enumerate(names_of(every))}
            for name, formula in asked.items():
                if per and name in ASKED:
                    continue
                decided, others = screened(file, plans[name], shown=(0, 0))
                rest = sorted(judged.keys() - set(names_of(others)))
                values = [value_of(evaluate(formula, judged[x])) for x in rest]
                assert decided.counts == (tuple(map(values.count, VALUES)),), name
                found += Counter((name, value) for value in values)
    satisfied = NAMES - (ASKED.keys() if per else set()) - ({IN_FLIGHT} if len(per) > 1 else set())
    assert all(found[name, "satisfied"] for name in satisfied), found
    if many and not per:
        assert all(found[name, "violated"] for name in (*ASKED, *POSITIONED)), found
        assert all(found[name, "unknown"] for name in ("local_monotonicity", IN_FLIGHT, *POSITIONED)), found


def value_of(value: int) -> str:
    return "unknown" if value > TRUE else "satisfied" if value == TRUE else "violated"


TOGETHER = (
    ("extended_virtual_synchrony",),
    ("corosync_cpg_views", "local_monotonicity"),
    ("etcd_watch_revisions", "monotonic_reads"),
    ("ST per key", "kafka_partition", "delta_causal_order"),
    ("sqs_fifo_one_by_one", "validity"),
)


@pytest.mark.parametrize("texts", TOGETHER, ids=" ".join)
def test_a_report_is_the_same_with_a_screen_and_without(tmp_path: Path, texts: tuple[str, ...]) -> None:
    asked = plan([requirement(text, profile_library()) for text in texts])
    assert can_screen(asked)
    given_ = [one for seed in range(25) for one in in_views(seed)] if asked.of_views else []
    options = TraceOptions(attributes=asked.attributes, parted=asked.parted)
    path = regular(tmp_path, given_ or list(map(carrying_much, range(50))))
    for wanted in ((0, 0), (2, 1), (99, 99)):
        told = [Notices() for _ in range(3)]
        with closing(opened(path)) as file, pytest.MonkeyPatch.context() as patched:
            patched.setattr("precedes.engines.columnar.fast_path.screen._AT_ONCE", 1 + wanted[0])
            plain, _ = GroupJudge(asked, options, every=True).judge(file, 0, wanted, told[0])
            part, few = GroupJudge(asked, options, every=False, counted=True).judge(file, 0, wanted, told[1])
            same, more = GroupJudge(asked, options, every=False).judge(file, 0, wanted, told[2])
        assert part == same == plain
        assert told[0].all() == told[1].all() == told[2].all()
        assert few.values.shape[0] <= more.values.shape[0] < plain.executions


def test_what_may_be_screened() -> None:
    def named(*texts: str) -> Plan:
        return plan([requirement(text, standard_library()) for text in texts])

    assert can_screen(named("ST", "causal_order"))
    assert can_screen(named("forall L: order_preserving(L)"))
    assert can_screen(named("bounded_disorder(2)", "generic_order(p, q: key(p) = key(q))"))
    assert can_screen(named("generic_order(p, q: exists r: sent(r) and p != q)"))
    assert can_screen(named("ST per key", "positions_never_go_back", "local_monotonicity"))
    assert not can_screen(named("bounded_disorder(2) per key"))
    assert not can_screen(named("self_inclusion per key"))
    assert not can_screen(named("ST", "deadline"))
    assert not can_screen(named("not acyclic_order"))
    assert not can_screen(named("forall p: exists i: p in RL[i]"))
    assert not can_screen(named('forall i: forall p in RL[i]: p = "m1" implies sent(p)'))
    assert not can_screen(plan([Requirement("n", Not(DEFINITIONS["acyclic_order"]), ())]))


@pytest.mark.parametrize("swapped", [False, True])
def test_a_cluster_larger_than_a_set_is_left(tmp_path: Path, swapped: bool) -> None:
    """Where all messages go to everybody, no list of destinations says how large a cluster is."""
    names = [f"E{k:02}" for k in range(70)]
    rows = [{"entity": "E00", "event": "send", "message": m} for m in "mn"]
    rows += [{"entity": name, "event": "deliver", "message": m} for name in names for m in "mn"]
    rows[-2:] = reversed(rows[-2:]) if swapped else rows[-2:]
    (tmp_path / "t.jsonl").write_text("\n".join(json.dumps({"execution": "x", **row}) for row in rows))
    convert([tmp_path / "t.jsonl"], tmp_path / "t.parquet", Notices())
    asked = required("order_equivalent", "causal_order")
    with closing(opened(tmp_path / "t.parquet")) as file:
        for bits in (False, True):
            decided, others = Screen(asked, TraceOptions(), TIMES, bits=bits).decided(file, 0, Notices())
            assert (decided.executions, others.executions) == (0, 1)
        assert (scan_source(others, asked).values[0] == (FALSE if swapped else TRUE)).all()


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
        _, others = screened(file, required("order_equivalent"))
        assert 0 < others.executions < executions
        assert others.by_machine == by_machine
