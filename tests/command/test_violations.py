"""`verify --all-violations`: every offender, counted and listed, whichever engine finds them and however rows come."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.command.running import Ended, precedes
from tests.command.test_verify import ENGINES, rows

MESSAGES = ("a", "b", "c", "d", "e")
REVERSED = rows(
    *(f"1 A send {m} B,C" for m in MESSAGES),
    *(f"1 B deliver {m}" for m in MESSAGES),
    *(f"1 C deliver {m}" for m in reversed(MESSAGES)),
)
"""Every two of five messages in opposite orders at B and C."""
KEPT = rows(
    "2 A send a B,C", "2 A send b B,C", "2 B deliver a", "2 B deliver b", "2 C deliver a", "2 C deliver b"
)
LOGS = {"A": "ab", "B": "bc", "C": "ca", "D": "xy", "E": "yx"}
CYCLES = rows(*(f"3 {entity} deliver {m}" for entity, log in LOGS.items() for m in log))
"""A cycle of three messages, and one of two."""


def verify(path: Path, *arguments: object) -> Ended:
    return precedes("verify", path, "--all-violations", *arguments)


def listed(folder: Path, text: str, *arguments: object) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of verdicts.parquet and of violations.parquet."""
    path = folder / "trace.jsonl"
    path.write_text(text, encoding="utf-8")
    ended = verify(path, "--out", folder / "out", *arguments)
    assert ended.code == 1, ended
    return tuple(
        pq.read_table(folder / "out" / f"{name}.parquet").to_pylist() for name in ("verdicts", "violations")
    )  # type: ignore[return-value]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_pair_is_counted_and_the_first_are_listed(tmp_path: Path, engine: str) -> None:
    required = ("--require", "order_equivalent", "--max-violations", 4, "--engine", engine)
    verdicts, violations = listed(tmp_path, REVERSED + KEPT, *required)
    assert [(row["execution"], row["verdict"], row["count"]) for row in verdicts] == [("1", "violated", 10)]
    assert len(violations) == 4
    assert {frozenset(row["messages"]) for row in violations} < set(map(frozenset, combinations(MESSAGES, 2)))
    for row in violations:
        assert (row["execution"], row["predicate"]) == ("1", "order_equivalent")
        assert sorted(row["entities"]) == ["B", "C"]
        events = {(event["event"], event["entity"], event["message"]) for event in row["events"]}
        one, other = row["messages"]
        assert events == {
            (*at, m) for at in (("send", "A"), ("deliver", "B"), ("deliver", "C")) for m in (one, other)
        }
        for event in row["events"]:
            assert event["file"] == str(tmp_path / "trace.jsonl")
            line = json.loads((tmp_path / "trace.jsonl").read_text().splitlines()[event["row"] - 1])
            assert all(line[name] == event[name] for name in ("event", "entity", "message"))


def test_without_it_nothing_is_claimed_of_how_many(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(REVERSED + KEPT, encoding="utf-8")
    precedes("verify", path, "--require", "order_equivalent", "--out", tmp_path / "out", "--all-verdicts")
    verdicts = pq.read_table(tmp_path / "out/verdicts.parquet").to_pylist()
    assert [(row["verdict"], row["count"]) for row in verdicts] == [("violated", None), ("holds", 0)]
    assert not (tmp_path / "out/violations.parquet").exists()


def test_a_service_has_those_of_its_parts(tmp_path: Path) -> None:
    verdicts, violations = listed(tmp_path, REVERSED, "--require", "ST", "--max-violations", 100)
    counts = {row["predicate"]: row["count"] for row in verdicts}
    # C delivers A's messages in the wrong order, each pair; and B and C each pair in different ones.
    assert counts == {
        "ST": 20,
        "SP": 10,
        "selectively_correct": 10,
        "order_preserving": 10,
        "order_equivalent": 10,
    }
    assert {row["predicate"] for row in violations} == {"order_preserving", "order_equivalent"}
    assert len(violations) == 20


def test_the_text_and_the_json(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(REVERSED, encoding="utf-8")
    ended = verify(path, "--require", "order_equivalent", "--max-violations", 2)
    assert "\n  10 offenders here:\n    B, C: a, b (" in ended.out
    assert f"({path}: rows 1, 2, 6, 7, 14, 15)\n" in ended.out
    assert "\n    and 8 more here\n" in ended.out
    document = json.loads(verify(path, "--require", "order_equivalent", "--format", "json").out)
    (violation,) = document["violations"]
    offenders = violation["offenders"]
    assert (offenders["count"], offenders["at_least"], len(offenders["first"])) == (10, 10, 10)
    assert offenders["first"][0]["messages"] == ["a", "b"]
    assert (
        "offenders" not in precedes("verify", path, "--require", "order_equivalent", "--format", "json").out
    )


def test_a_cycle_of_every_component(tmp_path: Path) -> None:
    verdicts, violations = listed(tmp_path, CYCLES, "--require", "acyclic_order")
    assert [row["count"] for row in verdicts] == [2]
    assert [sorted(row["messages"]) for row in violations] == [["a", "b", "c"], ["x", "y"]]
    assert [sorted(row["entities"]) for row in violations] == [["A", "B", "C"], ["D", "E"]]


def test_of_a_formula_of_ones_own(tmp_path: Path) -> None:
    required = 'forall i: forall p in RL[i]: exists q in RL[i]: p <[RL[i]] q or q = p and i = "A"'
    verdicts, violations = listed(tmp_path, REVERSED, "--require", required)
    # The last delivery of each entity has nothing after it.
    assert sorted((row["entities"], row["messages"]) for row in violations) == [
        (["B"], ["e"]),
        (["C"], ["a"]),
    ]
    assert [row["count"] for row in verdicts] == [2]
    whole = "exists p: p in RL[sender(p)]"
    _, violations = listed(tmp_path, REVERSED, "--require", whole)
    assert [(row["entities"], row["messages"]) for row in violations] == [([], [])]


@pytest.mark.parametrize(
    "engine",
    [
        "local",
        pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.xdist_group("spark"), pytest.mark.slow]),
    ],
)
def test_laid_out_and_large_executions(tmp_path: Path, engine: str) -> None:
    size = 6_000
    lines = [f"big A send m{k:05} B" for k in range(size)]
    # One message comes a thousand places late: it is out of order with a thousand others.
    order = [*range(1, 1_001), 0, *range(1_001, size)]
    lines += [f"big B deliver m{k:05}" for k in order]
    small = [
        f"s{x} {line.removeprefix('2 ')}"
        for x in range(2_000)
        for line in ("A send a B", "A send b B", "B deliver b", "B deliver a")
    ]
    path = tmp_path / "trace.jsonl"
    path.write_text(rows(*lines, *small), encoding="utf-8")
    assert precedes("convert", path, "-o", tmp_path / "trace.parquet").code == 0
    found = []
    for trace in (path, tmp_path / "trace.parquet"):
        out = tmp_path / trace.suffix.lstrip(".")
        arguments = ("--require", "order_preserving", "--out", out, "--max-violations", 3, "--engine", engine)
        assert verify(trace, *arguments).code == 1
        found.append(
            [pq.read_table(out / f"{name}.parquet").to_pylist() for name in ("verdicts", "violations")]
        )
    laid_out = pq.read_table(tmp_path / "trace.parquet", columns=["event", "entity", "message"]).to_pylist()
    for row in (*found[1][1][:9], found[1][1][-1]):
        for event in row["events"]:
            assert laid_out[event["row"] - 1] == {
                name: event[name] for name in ("event", "entity", "message")
            }
    for tables in found:
        for row in tables[1]:
            for event in row["events"]:
                del event["row"], event["file"]
    assert found[0] == found[1]
    verdicts, violations = found[0]
    assert {row["execution"]: row["count"] for row in verdicts} == {"big": 1_000} | {
        f"s{x}": 1 for x in range(2_000)
    }
    assert len(violations) == 3 + 2_000
    assert all(set(row["messages"]) == {"a", "b"} for row in violations[3:])
