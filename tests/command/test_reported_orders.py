"""Orders that users of brokers and of replicated systems reported as wrong: keys, repeats, acknowledgements, positions,
messages that interfere, groups and views. Every engine is right about them, and so is the definition.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from precedes.core.transposition import execution_of
from precedes.core.verdict import verdict
from precedes.engines.reference import evaluate
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import plan
from precedes.traces import Notices, TraceOptions, read_batches
from precedes.traces.stated_groups import given_groups
from tests.command.running import precedes
from tests.command.test_evidence import Case, required, row, written
from tests.sampling import on_engines

TABLE = (
    row("table", "send", "r1", 0, dest=["sink"], key="k1"),
    row("table", "send", "r2", 1, dest=["sink"], key="k2"),
    row("table", "send", "r3", 2, dest=["sink"], key="k1"),
)


def worker(*steps: str) -> tuple[str, ...]:
    """Three messages to a worker, and what it does: `d1` delivers m1, `a1` acknowledges it, `n1` gives it back."""
    kinds = {"d": "deliver", "a": "ack", "n": "nack"}
    sends = (row("app", "send", f"m{n}", n, dest=["worker"], position=n) for n in (1, 2, 3))
    does = (row("worker", kinds[step[0]], f"m{step[1]}", n) for n, step in enumerate(steps))
    return (*sends, *does)


COMMUTING = tuple(
    row(entity, event, message, seq, key=key)
    for entity, seq, event, message, key in (
        ("R0", 0, "send", "x", "a"),
        ("R1", 0, "send", "y", "b"),
        ("R0", 1, "deliver", "x", "a"),
        ("R0", 2, "deliver", "y", "b"),
        ("R1", 1, "deliver", "y", "b"),
        ("R1", 2, "deliver", "x", "a"),
    )
)
GROUP = "--groups"
"""Stands in the options of a case for a file of the groups below."""
MEMBERS = {"billing": ["c1", "c2"]}


def consumers(**more: Any) -> tuple[str, ...]:
    """Two consumers of one topic. The second was given the first's partition, and begins behind what the first has
    told to the broker, and not behind what it delivered.
    """
    sends = (row("topic", "send", f"o{n}", n, dest=["c1", "c2"]) for n in range(1, 7))
    first = (row("c1", "deliver", f"o{n}", n, **more) for n in range(1, 5))
    second = (row("c2", "deliver", f"o{n}", n, **more) for n in range(3, 7))
    return (*sends, *first, *second)


def views(entity: str, *installed: tuple[str, str], first: int = 0) -> tuple[str, ...]:
    """Installations of an entity: of each view the id, and the members as one letter each."""
    return tuple(
        row(entity, "view", None, first + n, view=view, members=list(members))
        for n, (view, members) in enumerate(installed)
    )


LATE_JOINER = views("x", ("1", "x"), ("3", "xyz"), ("2", "xy"))
REPLICAS = (
    *views("A", ("k", "ABC")),
    row("A", "crash", None, 1),
    *views("B", ("k", "ABC")),
    row("B", "send", "m", 1, dest=["B", "C"]),
    *views("B", ("k+1", "ABCD"), ("k+2", "BCD"), first=2),
    row("B", "deliver", "m", 4),
    *views("C", ("k", "ABC"), ("k+1'", "BCD")),
    row("C", "deliver", "m", 2),
)
"""B goes on by a view that C does not install, and what was sent before is delivered in views that differ."""

INTERFERE = "generic_order(p, q: key(p) = key(q))"

CASES = {
    "another key comes first": Case(
        (*TABLE, *(row("sink", "deliver", m, n) for n, m in enumerate(("r1", "r3", "r2")))),
        {"SP": "violated", "SP per key": "holds", "ST per key": "holds"},
    ),
    "the same key comes first": Case(
        (*TABLE, *(row("sink", "deliver", m, n) for n, m in enumerate(("r3", "r2", "r1")))),
        {"SP": "violated", "SP per key": "violated"},
    ),
    "a queue returns messages in another order": Case(
        worker("d1", "d2", "d3", "d2", "d3", "d1"),
        {
            "order_preserving": "holds",
            "every_delivery_in_order": "violated",
            "repeats_in_place": "violated",
            "only_in_flight_repeats": "unknown",
            "ordered_until_acknowledged": "unknown",
        },
    ),
    "a queue waits for acknowledgements": Case(
        worker("d1", "d1", "a1", "d2", "a2", "d3", "a3"),
        {
            "every_delivery_in_order": "holds",
            "repeats_in_place": "holds",
            "only_in_flight_repeats": "holds",
            "ordered_until_acknowledged": "holds",
        },
    ),
    "a queue does not wait": Case(
        worker("d1", "d2", "a2", "a1", "d3", "a3"),
        {"every_delivery_in_order": "holds", "ordered_until_acknowledged": "violated"},
    ),
    "what was returned comes again": Case(
        worker("d1", "n1", "d2", "d1", "a1", "a2"),
        {"only_in_flight_repeats": "violated", "every_delivery_in_order": "violated"},
    ),
    "what is in flight comes again": Case(
        worker("d1", "d2", "d3", "d3"), {"repeats_in_place": "holds", "every_delivery_in_order": "holds"}
    ),
    "what is in flight comes again, out of its place": Case(
        worker("d1", "d2", "d3", "d2", "d3"),
        {"repeats_in_place": "violated", "every_delivery_in_order": "violated"},
    ),
    "a reader goes back": Case(
        worker("d1", "d2", "d1", "d2", "d3"),
        {"positions_never_go_back": "violated", "one_position_one_message": "holds", "SP": "holds"},
    ),
    "a position is used twice": Case(
        (
            row("app", "send", "a", 0, dest=["worker"], position=7),
            *worker(),
            row("b", "send", "c", 0, position=7),
        ),
        {"positions_never_go_back": "holds", "one_position_one_message": "violated"},
    ),
    "messages that do not interfere": Case(
        COMMUTING, {"order_equivalent": "violated", INTERFERE: "holds", "generic_order(p, q: false)": "holds"}
    ),
    "messages that interfere": Case(
        COMMUTING, {"generic_order(p, q: key(p) = key(q) or sender(p) != sender(q))": "violated"}
    ),
    "a group takes messages twice, by a file of groups": Case(
        consumers(), {"once_per_group": "violated", "kept_by_groups": "holds"}, (GROUP,)
    ),
    "a group takes messages twice, by a column": Case(
        consumers(group="billing"), {"once_per_group": "violated", "kept_by_groups": "holds"}
    ),
    "a view is installed after a later one": Case(
        LATE_JOINER, {"local_monotonicity": "violated", "one_view_order": "holds", "self_inclusion": "holds"}
    ),
    "a message is delivered after its view, in two": Case(
        REPLICAS,
        {
            "same_view_delivery": "violated",
            "sending_view_delivery": "violated",
            "virtual_synchrony": "holds",
            "one_view_order": "holds",
            "self_inclusion": "holds",
            "initial_view_event": "holds",
            "local_monotonicity": "unknown",
        },
    ),
    "a view comes back": Case(
        (*views("a", ("{a}", "a"), ("{a, b}", "ab"), ("{a}", "a")), *views("b", ("{a, b}", "ab"))),
        {"one_view_order": "violated", "local_monotonicity": "violated", "self_inclusion": "holds"},
    ),
}


def options(case: Case, folder: Path) -> list[str]:
    """The options of a case, with the file of groups that they mean."""
    path = folder / "groups.json"
    path.write_text(json.dumps(MEMBERS), encoding="utf-8")
    return [word for option in case.options for word in ([GROUP, str(path)] if option == GROUP else [option])]


@pytest.mark.parametrize(("engine", "case"), on_engines(4, CASES.values(), CASES))
def test_every_engine_is_right(engine: str, case: Case, tmp_path: Path) -> None:
    path = written(case, tmp_path)
    given = (*required(case), *options(case, tmp_path))
    ended = precedes("verify", path, *given, "--engine", engine, "--format", "json")
    counts = json.loads(ended.out)["predicates"]
    assert {name: next(v for v, n in counts[name].items() if n) for name in case.verdicts} == case.verdicts


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_a_columnar_file_says_the_same(case: Case, tmp_path: Path) -> None:
    laid = tmp_path / "laid.parquet"
    assert precedes("convert", written(case, tmp_path), "-o", laid).code == 0
    given = (*required(case), *options(case, tmp_path))
    counts = json.loads(precedes("verify", laid, *given, "--format", "json").out)["predicates"]
    assert {name: next(v for v, n in counts[name].items() if n) for name in case.verdicts} == case.verdicts


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_the_definition_says_the_same(case: Case, tmp_path: Path) -> None:
    asked = [requirement(name, standard_library(), "--require") for name in case.verdicts]
    groups = given_groups(MEMBERS if GROUP in case.options else None)
    read = TraceOptions(attributes=plan(asked).attributes, groups=groups)
    for batch in read_batches([written(case, tmp_path)], read, Notices()):
        execution = execution_of(batch, 0)
        found = {each.name: verdict(evaluate(each.formula, execution)).value for each in asked}
        assert list(found.values()) == list(case.verdicts.values())
