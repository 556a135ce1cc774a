"""`precedes watch`: what open executions have come to, row by row, and at the end the report of `verify`."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from precedes.engines.scan.standings import Standing
from precedes.jobs import watch as watching
from precedes.jobs.verify import Question
from precedes.jobs.watch import Change, OpenExecutions
from precedes.testing.choices import Choices, Seeded, pick
from precedes.testing.random_executions import TRACES, execution
from precedes.traces import write_executions
from tests.command.documents import ROOT, File, blocks, commands, steps
from tests.command.running import Ended, precedes

ROWS = [
    {"entity": "A", "seq": 0, "event": "send", "message": "a", "dest": ["B", "C"]},
    {"entity": "D", "seq": 0, "event": "send", "message": "d", "dest": ["B", "C"]},
    {"entity": "B", "seq": 0, "event": "deliver", "message": "a"},
    {"entity": "B", "seq": 1, "event": "deliver", "message": "d"},
    {"entity": "C", "seq": 0, "event": "deliver", "message": "d"},
    {"entity": "C", "seq": 1, "event": "deliver", "message": "a"},
]
LINES = [json.dumps({"execution": "x", **row}).encode() + b"\n" for row in ROWS]
"""B and C deliver two messages in different orders."""


def opened(*required: str) -> OpenExecutions:
    question = Question(("-",), required)
    plan = question.plan()
    return OpenExecutions(plan, question.options())


def standing(changes: list[Change]) -> dict[str, str]:
    return {change.predicate: change.standing.value for change in changes}


def test_what_is_owed_and_what_is_violated_for_good() -> None:
    executions = opened("selectively_information_preserving", "order_equivalent")
    owed, order = "selectively_information_preserving", "order_equivalent"
    told = [standing(executions.add(line)) for line in LINES]
    assert told == [
        {owed: "owed", order: "satisfied so far"},
        {},
        {},
        {},
        {},
        {owed: "satisfied so far", order: "violated"},
    ]


def test_a_violation_shows_its_witness_at_once_and_gives_up_its_rows() -> None:
    executions = opened("order_equivalent")
    (change,) = executions.add(b"".join(LINES))
    assert json.loads(change.witness or "") == {"entities": ["B", "C"], "messages": ["a", "d"]}
    assert [len(table) for table in executions._rows] == [0]
    assert executions.add(LINES[0].replace(b'"a"', b'"e"').replace(b": 0", b": 1")) == []


def interleaved(choices: Choices, text: bytes) -> list[bytes]:
    """The lines of a trace in some order in which those of an entity stay in theirs."""
    waiting: dict[str, list[bytes]] = {}
    for line in text.splitlines(keepends=True):
        waiting.setdefault(json.loads(line)["entity"], []).append(line)
    found = []
    while waiting:
        entity = pick(choices, sorted(waiting))
        found.append(waiting[entity].pop(0))
        if not waiting[entity]:
            del waiting[entity]
    return found


NAMES = (
    "order_preserving",
    "order_equivalent",
    "causal_order",
    "acyclic_order",
    "fifo_delivery",
    "agreement",
    "selectively_information_preserving",
    "no_duplication",
    "every_delivery_in_order",
)


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 80), marks=pytest.mark.slow)])
def test_what_is_violated_for_good_never_holds_in_the_end(seeds: range, tmp_path: Path) -> None:
    violated = 0
    for seed in seeds:
        choices = Seeded(seed)
        write_executions([execution(choices, TRACES)], tmp_path / "x.jsonl")
        executions, last, ever = opened(*NAMES), dict[str, Standing](), set[str]()
        for line in interleaved(choices, (tmp_path / "x.jsonl").read_bytes()):
            for change in executions.add(line):
                # Nothing is taken back, unless rows contradict each other.
                assert change.predicate not in ever or change.standing is Standing.UNKNOWN, (seed, change)
                last[change.predicate] = change.standing
                ever |= {change.predicate} if change.standing is Standing.VIOLATED else set()
        violated += len(ever)
        assert ended(tmp_path / "x.jsonl") == last, seed
    assert violated or len(seeds) < 10


def ended(path: Path) -> dict[str, Standing]:
    """What the whole execution comes to, read in the order of the file."""
    executions = opened(*NAMES)
    return {change.predicate: change.standing for change in executions.add(path.read_bytes())}


@pytest.fixture
def piped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that is standard input."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"".join(LINES))
    with path.open() as rows:
        monkeypatch.setattr(sys, "stdin", rows)
        yield path


def without_seconds(text: str) -> str:
    return re.sub(r'[\d.]+ s\)|"seconds": [\d.]+', "", text)


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_report_at_the_end_is_that_of_verify(piped: Path, form: str) -> None:
    asked = ("--require", "ST", "--require", "causal_order", "--format", form)
    watched = precedes("watch", "-", *asked)
    assert watched.code == 1
    sys.stdin.seek(0)
    verified = precedes("verify", "-", *asked)
    report = without_seconds(verified.out)
    live = without_seconds(watched.out).removesuffix(report)
    assert live + report == without_seconds(watched.out)
    if form == "text":
        assert live == "x: order_equivalent is violated (entities B, C; messages a, d)\n"
    else:
        assert {json.loads(line)["standing"] for line in live.splitlines()} == {
            "satisfied so far",
            "violated",
        }


def test_the_page_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "docs/how-to/live.md"
    (written,) = (step for step in steps(page) if isinstance(step, File))
    (block,) = (one for one in blocks(page) if "precedes watch - " in one.body)
    ((command, shown),) = commands(block)
    path = tmp_path / written.name
    path.write_text(written.text, encoding="utf-8")
    with path.open() as rows:
        monkeypatch.setattr(sys, "stdin", rows)
        _, _, piped_to = command.partition(" | ")
        watched = precedes(*shlex.split(piped_to)[1:])
    assert watched.code == 1
    assert watched.out.startswith(shown)
    assert shown.startswith("order-1: ")


def test_a_row_that_cannot_be_read_is_named_as_verify_names_it(piped: Path) -> None:
    piped.write_bytes(b"".join([*LINES, b"{\n"]))
    watched = precedes("watch", "-", "--require", "ST")
    sys.stdin.seek(0)
    verified = precedes("verify", "-", "--require", "ST")
    assert (watched.code, watched.err) == (verified.code, verified.err)
    assert "row 7" in watched.err


def test_only_a_pipe_is_watched() -> None:
    told: Ended = precedes("watch", "trace.jsonl", "--require", "ST")
    assert (told.code, "tail -f FILE | precedes watch -" in told.err) == (2, True)


def test_rows_are_judged_as_they_come() -> None:
    """The violation is told while the pipe is still open."""
    reading, writing = os.pipe()
    told, seen = threading.Event(), list[Change]()

    def tell(changes: Sequence[Change]) -> None:
        seen.extend(changes)
        if any(change.standing is Standing.VIOLATED for change in changes):
            told.set()

    def write() -> None:
        with os.fdopen(writing, "wb", buffering=0) as pipe:
            for line in LINES:
                pipe.write(line[:10])
                pipe.write(line[10:])
            told.wait(60)

    writer = threading.Thread(target=write)
    writer.start()
    with os.fdopen(reading, "rb") as stream:
        report, _ = watching.watch(stream, Question(("-",), ("order_equivalent",)), tell, 0)
    writer.join()
    assert told.is_set()
    assert report.counts["order_equivalent"].violated == 1
