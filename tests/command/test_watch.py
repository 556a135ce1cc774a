"""`precedes watch`: what open executions have come to, row by row, and at the end the report of `verify`."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from precedes.core.diagnostics import PrecedesError
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


def about(entity: str, seq: int, event: str, message: str) -> bytes:
    dest = {"dest": ["B"]} if event == "send" else {}
    row = {"execution": "r", "entity": entity, "seq": seq, "event": event, "message": message, **dest}
    return json.dumps(row).encode() + b"\n"


SENT = [about("A", 1, "send", "m"), about("A", 2, "send", "n")]
TURNED = [*SENT, about("B", 5, "deliver", "n"), about("B", 6, "deliver", "m")]
LATE = about("B", 2, "deliver", "m")


@pytest.mark.parametrize("names", [("order_preserving",), ("order_preserving", "agreement")])
def test_a_row_that_would_take_a_violation_back_is_refused(names: tuple[str, ...]) -> None:
    """Whether the rows of its execution are there still, or were given up."""
    executions = opened(*names)
    changes = [change for line in TURNED for change in executions.add(line)]
    assert ("order_preserving", Standing.VIOLATED) in {(each.predicate, each.standing) for each in changes}
    with pytest.raises(PrecedesError) as caught:
        executions.add(about("A", 3, "send", "o") + LATE)
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.path, problem.row) == ("T029", "<stdin>", 6)
    assert "entity B about m with `seq` 6, by which execution r was judged" in problem.message


@pytest.mark.parametrize(
    "late",
    [
        pytest.param(about("B", 2, "deliver", "o"), id="another message"),
        pytest.param(about("C", 2, "deliver", "m"), id="another entity"),
        pytest.param(about("B", 2, "ack", "m"), id="another event"),
        pytest.param(about("B", 7, "deliver", "m"), id="a later delivery"),
        pytest.param(TURNED[3], id="the same row"),
    ],
)
def test_a_row_that_takes_nothing_back_may_come_late(late: bytes) -> None:
    executions = opened("order_preserving", "agreement")
    for line in TURNED:
        executions.add(line)
    changes = executions.add(late)
    assert not any(change.predicate == "order_preserving" for change in changes)


def test_a_row_may_come_late_where_nothing_is_violated() -> None:
    """Also in the piece by which something would be violated without it."""
    executions = opened("order_preserving")
    for lines in ([*SENT, TURNED[2]], [TURNED[3], LATE]):
        told = standing(executions.add(b"".join(lines)))
    assert told == {}
    executions = opened("order_preserving")
    for line in (*SENT, TURNED[3], LATE, TURNED[2]):
        told = standing(executions.add(line)) or told
    assert told == {"order_preserving": "satisfied so far"}


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 150), marks=pytest.mark.slow)])
def test_rows_in_any_order_take_nothing_back(seeds: range, tmp_path: Path) -> None:
    refused = kept = 0
    for seed in seeds:
        choices = Seeded(seed)
        write_executions([execution(choices, TRACES)], tmp_path / "x.jsonl")
        lines = (tmp_path / "x.jsonl").read_bytes().splitlines(keepends=True)
        random.Random(seed).shuffle(lines)
        executions, ever = opened(*NAMES), set[str]()
        try:
            for line in lines:
                found = executions.add(line)
                ever |= {each.predicate for each in found if each.standing is Standing.VIOLATED}
        except PrecedesError:
            refused += 1
            continue
        kept += bool(ever)
        last = ended(tmp_path / "x.jsonl")
        assert {last[name] for name in ever} <= {Standing.VIOLATED, Standing.UNKNOWN}, seed
    assert kept
    assert refused or len(seeds) < 100


def test_a_late_row_ends_the_command(piped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_lines_of", lambda _stream, _every: iter([*TURNED, LATE]))
    watched = precedes("watch", "-", "--require", "order_preserving")
    assert watched.code == 2
    assert "r: order_preserving is violated" in watched.out
    assert "holds" not in watched.out
    assert "row 5: T029 " in watched.err


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


@pytest.mark.parametrize("every", ["inf", "nan"])
def test_a_pause_is_finite(every: str) -> None:
    told: Ended = precedes("watch", "-", "--require", "ST", "--every", every)
    assert (told.code, f"U001 --every is {every}" in told.err) == (2, True), told


def test_a_pause_may_be_longer_than_a_queue_waits(piped: Path) -> None:
    assert precedes("watch", "-", "--require", "agreement", "--every", "1e300").code == 0


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
