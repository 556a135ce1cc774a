"""`precedes infer --against`: what a baseline kept and a trace does not keep, and since when."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import precedes as face
from precedes.core.columns import MISSING_TIME
from precedes.core.diagnostics import PrecedesError
from precedes.engines.scan import local
from precedes.engines.scan.timeline import Moment, Timeline, together
from tests.command.running import precedes
from tests.command.test_verify import ENGINES

START = 1_772_323_200
"""2026-03-01, midnight."""
DAY = 86_400


def run(number: int, *, wrong: bool, start: int | None = None, sends: int = 2) -> Iterator[dict[str, Any]]:
    """Two messages that two entities deliver in two orders if it goes `wrong`."""
    messages = ["first", "second"][:sends]
    events = [("p", "send", m) for m in messages]
    for entity in ("a", "b"):
        order = reversed(messages) if wrong and entity == "b" else messages
        events += [(entity, "deliver", m) for m in order]
    for place, (entity, event, message) in enumerate(events):
        row: dict[str, Any] = {"execution": f"run-{number}", "entity": entity, "seq": place, "event": event}
        yield (
            row
            | {"message": message}
            | ({"dest": ["a", "b"]} if event == "send" else {})
            | ({} if start is None else {"time": start + place})
        )


def runs(count: int, wrong: set[int], *, day: int | None = None, sends: int = 2) -> list[dict[str, Any]]:
    """Runs from 1 on, three on each day from a day on."""
    return [
        row
        for n in range(1, count + 1)
        for row in run(
            n,
            wrong=n in wrong,
            start=None if day is None else START + (day + (n - 1) // 3) * DAY + n,
            sends=sends,
        )
    ]


@cache
def good() -> face.Inference:
    """A baseline that keeps order; several tests compare with it."""
    return face.infer(runs(2, set()))


def trace(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_what_was_kept_and_is_not_is_told_since_when(tmp_path: Path) -> None:
    new = trace(tmp_path / "new.jsonl", runs(12, {10, 12}, day=4))
    (tmp_path / "old.json").write_text(good().json(), encoding="utf-8")
    ended = precedes("infer", new, "--against", tmp_path / "old.json")
    assert ended.code == 1, ended.err
    assert f"compared with {tmp_path}/old.json (2 executions)\n\nno longer satisfied\n" in ended.out
    assert "\n  order_equivalent    2 of 12  both logs have" in ended.out
    since = "since 2026-03-08T00:00:10Z, execution run-10, number 10; none of the 9 before it does that"
    assert f"\n  {since}\n    2026-03-07  0 of 3\n    2026-03-08  2 of 3\n" in ended.out
    assert "\n  order_equivalent: a delivers first before second, b delivers second before first" in ended.out
    assert "\nviolated: of 26 names that the baseline satisfies, 17 no longer satisfied (12 exec" in ended.out


def test_standard_input_is_the_trace_or_the_baseline() -> None:
    ended = precedes("infer", "-", "--against", "-")
    assert (ended.code, "U001 the trace and --against are both standard input" in ended.err) == (2, True), (
        ended
    )


@pytest.mark.slow
def test_the_page_tells_it_and_the_first_execution_can_be_drawn(tmp_path: Path) -> None:
    new, old = trace(tmp_path / "new.jsonl", runs(4, {4})), trace(tmp_path / "old.jsonl", runs(2, set()))
    ended = precedes("infer", new, "--against", old, "--html", tmp_path / "r.html")
    [line] = [line for line in ended.out.splitlines() if line.startswith("to see it: ")]
    program, *words = shlex.split(line.removeprefix("to see it: "))
    assert (program, words[-2]) == ("precedes", "-o")
    assert precedes(*words[:-1], tmp_path / "first.svg").code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h2>No longer satisfied</h2>" in page
    assert "since execution run-4, number 4; none of the 3 before it does that" in page


def test_executions_without_times_stand_by_their_numbers() -> None:
    found = face.infer(runs(12, {10, 12}), against=good())
    assert found.verdict is face.Verdict.VIOLATED
    assert found.drift is not None
    since = found.drift.since["order_equivalent"]
    assert (since.moment.execution, since.before, since.violated, since.days) == ("run-10", 9, 2, ())
    assert since.violation is not None
    assert since.violation.execution == "run-10"
    # In JSON it is what a program reads, and a baseline itself.
    document = json.loads(found.json())["against"]
    assert document["broken"]["order_equivalent"]["since"]["number"] == 10
    assert "ST" in document["broken"]["order_equivalent"]["with"]
    assert Moment.of(5, "9" * 5000) > Moment.of(5, "1" * 5000)
    names = ["run-10", "run-9", "run-9b", "9"]
    assert sorted(names, key=lambda name: Moment.of(5, name)) == ["9", "run-9", "run-9b", "run-10"]


def test_executions_without_a_time_stand_behind_those_with_one() -> None:
    names = np.array(["run-3", "run-1", "run-20", "run-4"], object)
    starts = np.array([MISSING_TIME, 50, MISSING_TIME, 50], np.int64)
    line = Timeline(names, starts, {"ST": np.array([0, 2, 3])})
    assert line.first(line.violations["ST"]) == 3
    assert line.first(np.array([0, 2])) == 0
    assert line.first(np.array([], np.int64)) is None
    assert [line.before(x) for x in range(4)] == [2, 0, 3, 1]
    assert line.moment(0).time is None
    both = together([line, line])
    assert both is not None
    assert both.violations["ST"].tolist() == [0, 2, 3, 4, 6, 7]


def test_what_is_newly_kept_is_told_and_nothing_is_broken() -> None:
    before = face.infer(runs(3, {2}))
    found = face.infer(runs(3, set()), against=before)
    assert found.drift is not None
    assert found.verdict is face.Verdict.HOLDS
    assert "ST" in found.drift.gained
    assert "order_equivalent" in found.drift.gained["ST"]
    assert found.text().splitlines()[-1].startswith("holds: 8 names that the baseline satisfies, all still")


def test_what_could_not_be_checked_is_no_pass() -> None:
    one_message = face.infer(runs(2, set(), sends=1), against=good())
    assert one_message.drift is not None
    assert one_message.verdict is face.Verdict.UNKNOWN
    assert "order_equivalent" in one_message.drift.unchecked
    assert "nothing to check now: " in one_message.text()


@pytest.mark.slow
def test_a_baseline_that_keeps_nothing_decides_nothing() -> None:
    incomplete = face.infer(
        runs(2, set()), against=face.infer(runs(2, {2}), incomplete=True), incomplete=True
    )
    assert incomplete.verdict is face.Verdict.UNKNOWN
    assert "the baseline keeps nothing" in incomplete.text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"asked": None}, "does not say how it was asked"),
        ({"asked": {"per": ["key"]}}, "was asked with per key, and this with no per"),
        ({"kept": []}, "is not a result of infer"),
    ],
)
def test_a_baseline_that_was_asked_otherwise_is_refused(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    path = tmp_path / "old.json"
    path.write_text(json.dumps(json.loads(good().json()) | change), encoding="utf-8")
    with pytest.raises(PrecedesError, match=said):
        face.infer(runs(1, set()), against=path)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("columnar", [False, True])
def test_both_engines_and_both_readers_say_the_same(
    tmp_path: Path, engine: str, columnar: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A columnar file is scanned row group by row group, however small it is.
    monkeypatch.setattr(local, "PLAIN_EVENTS", 0)
    new = trace(tmp_path / "new.jsonl", runs(40, {11, 30}, day=2))
    old = trace(tmp_path / "old.jsonl", runs(5, set()))
    if columnar:
        assert precedes("convert", new, "-o", tmp_path / "new.parquet").code == 0
        new = tmp_path / "new.parquet"
    ended = precedes("infer", new, "--against", old, "--engine", engine, "--format", "json")
    assert ended.code == 1, ended.err
    since = json.loads(ended.out)["against"]["broken"]["order_equivalent"]["since"]
    assert (since["execution"], since["number"], since["violated"]) == ("run-11", 11, 2)
    assert since["figure"]
