"""Logs that other projects published: each is converted, and has the verdicts that their README states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import precedes
from tests.traces.foreign.logs import PUBLIC
from tests.traces.foreign.test_shiviz import AKKA, RELIABLE

NO_LOGS = ("broadcast-logs/five-process/config", "broadcast-logs/five-process/hosts")
"""What lies beside logs: the first is the number of messages, the second says who is there."""


@dataclass(frozen=True, slots=True)
class Published:
    """A log: its path, what recognizes it or the word of its format, what is set, and what comes out."""

    path: str
    events: int
    executions: int = 1
    word: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    verdicts: Mapping[str, str] = field(default_factory=dict)


_QUEUE = {
    "no_creation": "holds", "no_duplication": "holds", "fifo_delivery": "holds", "vector_time": "holds",
    "agreement": "unknown",
}  # fmt: skip
LOGS = (
    Published(
        "broadcast-logs/five-process",
        3_000,
        verdicts={
            "PO": "holds", "fifo_delivery": "holds", "no_creation": "holds", "no_duplication": "holds",
            "agreement": "holds", "order_equivalent": "violated", "causal_order": "violated",
        },
    ),
    Published(
        "broadcast-logs/ten-process",
        1_084,
        verdicts={
            "fifo_delivery": "holds", "causal_order": "holds", "order_equivalent": "violated",
            "information_preserving": "violated", "PO": "violated", "agreement": "violated",
        },
    ),
    # One execution of half a million events: judging it takes minutes, and nothing is stated about it.
    Published("broadcast-logs/three-process", 449_064),
    Published(
        "jepsen-kafka/inline_examples.edn",
        5,
        verdicts={"order_equivalent": "holds", "no_duplication": "holds", "fifo_delivery": "unknown"},
    ),
    Published("pgo-dqueue/traces_found", 67, 4),
    Published("pgo-dqueue/traces_found", 67, 4, "tla-trace", {"net": "net"}, _QUEUE),
    Published("pgo-dqueue/traces_found_bad_vclocks", 20),
    # Nothing in these files shows what its name says of the clocks.
    Published("pgo-dqueue/traces_found_bad_vclocks", 20, 1, "tla-trace", {"net": "net"}, _QUEUE),
    Published("shiviz/chord.log", 1_235),
    Published(
        "shiviz/reliable-broadcast.log",
        116,
        1,
        "shiviz",
        RELIABLE,
        {"order_equivalent": "violated", "no_creation": "holds", "agreement": "holds", "fifo_delivery": "holds"},
    ),
    Published(
        "shiviz/simple-reliable-broadcast.log",
        39,
        1,
        "shiviz",
        RELIABLE,
        {"order_equivalent": "holds", "no_creation": "holds", "agreement": "holds", "PO": "holds"},
    ),
)  # fmt: skip
_NAMES = [f"{each.path}{' with settings' if each.settings else ''}" for each in LOGS]

pytestmark = pytest.mark.skipif(not PUBLIC.is_dir(), reason="the recorded traces are not here")


@pytest.mark.parametrize("each", LOGS, ids=_NAMES)
def test_it_is_converted(each: Published, tmp_path: Path) -> None:
    target = tmp_path / "t.parquet"
    done = precedes.convert(PUBLIC / each.path, target, log=each.word, parameters=each.settings)
    assert (done.executions, done.rows) == (each.executions, each.events)


@pytest.mark.parametrize("each", [each for each in LOGS if each.verdicts], ids=lambda each: each.path)
def test_it_has_the_verdicts_that_are_stated(each: Published) -> None:
    asked = list(each.verdicts)
    found = precedes.verify(PUBLIC / each.path, asked, log=each.word, parameters=each.settings).found
    assert {name: found.counts[name].verdict.value for name in asked} == each.verdicts


@pytest.mark.parametrize(
    "path", ["pgo-dqueue/traces_found", "pgo-dqueue/traces_found_bad_vclocks", "shiviz/chord.log"]
)
def test_events_without_messages_decide_nothing(path: str) -> None:
    assert precedes.verify(PUBLIC / path, "no_creation").verdict is precedes.Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("log", "parameters", "told"),
    [(None, {}, "T002"), ("shiviz", {}, "T007"), ("shiviz", {"regex": AKKA}, "T007")],
    ids=["its format", "its expression", "its other lines"],
)
def test_what_is_missing_is_told(log: str | None, parameters: dict[str, str], told: str) -> None:
    with pytest.raises(precedes.PrecedesError) as raised:
        precedes.verify(
            PUBLIC / "shiviz/reliable-broadcast.log", "no_creation", log=log, parameters=parameters
        )
    [first] = raised.value.diagnostics
    assert first.code == told
    assert first.hint


def test_no_file_is_left_out() -> None:
    files = [path.relative_to(PUBLIC).as_posix() for path in PUBLIC.rglob("*") if path.is_file()]
    paths = {each.path for each in LOGS}
    left = [name for name in files if not any(name == path or name.startswith(f"{path}/") for path in paths)]
    assert left == []
    assert set(NO_LOGS) <= set(files)
