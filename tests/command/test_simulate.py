"""`precedes simulate`: what it writes, what it says, and every way to ask for what cannot be done."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.command.running import Ended, precedes

GREEDY = """
from dataclasses import dataclass
from precedes.protocol import Deliver, Protocol, Reliable, Step, Transmit

@dataclass(frozen=True)
class Greedy(Protocol[int]):
    claims = ("order_preserving", "no_duplication")
    fifo: bool = True

    @property
    def network(self):
        return Reliable(fifo=self.fifo)

    def start(self, here):
        return 0

    def send(self, here, state, message):
        return Step(state, (Transmit(message, message.destinations),))

    def arrive(self, here, state, packet, sender):
        return Step(state, (Deliver(packet),))
"""


@pytest.fixture
def greedy(tmp_path: Path) -> Path:
    path = tmp_path / "greedy.py"
    path.write_text(GREEDY, encoding="utf-8")
    return path


def judged(ended: Ended) -> Ended:
    """What `verify` says when asked as the output suggests."""
    found = re.search(r"precedes (verify .*)", ended.out)
    assert found is not None
    return precedes(*shlex.split(found[1]))


def test_a_right_protocol_verifies_clean_and_a_wrong_one_is_caught(greedy: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs.parquet"
    right = precedes("simulate", greedy, "--executions", 300, "--deviation", 900, "-o", path)
    assert right.code == 0, right
    assert "300 executions" in right.out
    assert "3,600 messages sent" in right.out
    assert judged(right).code == 0
    wrong = precedes(
        "simulate", greedy, "--executions", 300, "--deviation", 900, "--set", "fifo=no", "-o", path
    )
    assert judged(wrong).code == 1


@pytest.mark.slow
def test_a_hundred_thousand_executions_of_a_right_protocol_verify_clean(greedy: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs.parquet"
    ended = precedes("simulate", greedy, "--executions", 100_000, "-o", path)
    assert "100,000 executions" in ended.out
    assert judged(ended).code == 0


def test_a_seed_gives_the_same_file_and_another_seed_another(tmp_path: Path) -> None:
    written = []
    for seed in (1, 1, 2):
        path = tmp_path / f"{len(written)}.parquet"
        precedes("simulate", "st", "--loss", 0.05, "--seed", seed, "--executions", 40, "-o", path)
        written.append(path.read_bytes())
    assert written[0] == written[1] != written[2]


def test_what_happened_is_told(tmp_path: Path) -> None:
    path = tmp_path / "runs.parquet"
    ended = precedes("simulate", "st", "--loss", 0.05, "--executions", 100, "--entities", 4, "-o", path)
    said = re.search(r"([\d,]+) packets, ([\d,]+) lost \((.*)%\)", ended.out)
    assert said is not None
    assert 4 < float(said[3]) < 6
    assert "st, repaired (" in ended.out
    assert "4 entities, 12 requests (multicast)" in ended.out
    instances = precedes("simulate", "delta-causal", "--as-written", "--executions", 3, "-o", path)
    assert instances.out.count("delta-causal, as written (") == 3
    delta = precedes("simulate", "delta-causal", "--set", "delta=40", "--executions", 3, "-o", path)
    assert delta.out.count("delta-causal, repaired (delta = 40") == 1
    assert delta.out.rstrip().endswith("--delta 40us")


def test_executions_without_events_are_told(greedy: Path, tmp_path: Path) -> None:
    text = GREEDY.replace("message):\n", "message):\n        if here.entity:\n            return None\n", 1)
    greedy.write_text(text, encoding="utf-8")
    ended = precedes("simulate", greedy, "--executions", 50, "--messages", 1, "-o", tmp_path / "runs.parquet")
    said = re.search(
        r"runs.parquet: (\d+) executions, .*\n    (\d+) of the 50 that were run are not", ended.out
    )
    assert said is not None, ended.out
    assert int(said[1]) + int(said[2]) == 50
    assert f"{said[2]} requests were refused to the end" in ended.out
    greedy.write_text(GREEDY, encoding="utf-8")
    ended = precedes("simulate", greedy, "--executions", 50, "-o", tmp_path / "runs.parquet")
    assert "that were run" not in ended.out


def test_a_model_that_claims_nothing_is_told_how_it_is_judged(greedy: Path, tmp_path: Path) -> None:
    greedy.write_text(re.sub("claims = .*", "", GREEDY), encoding="utf-8")
    ended = precedes("simulate", greedy, "--executions", 5, "-o", tmp_path / "runs.parquet")
    assert (ended.code, "the model claims nothing" in ended.out) == (0, True), ended


def test_a_model_that_answers_and_denies_it_is_told(greedy: Path, tmp_path: Path) -> None:
    text = GREEDY.replace("claims =", "answers = False\n    claims =")
    text = text.replace("(Deliver(packet),)", "(Transmit(packet, frozenset({2})),)")
    greedy.write_text(text, encoding="utf-8")
    ended = precedes("simulate", greedy, "--executions", 5, "-o", tmp_path / "runs.parquet")
    assert ended.code == 2
    assert "M013 greedy: arrive of E" in ended.err
    assert {path.name for path in tmp_path.iterdir()} <= {greedy.name, "__pycache__"}


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_model_from_a_file_runs_on_spark(greedy: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "here.parquet", tmp_path / "there.parquet"
    precedes("simulate", greedy, "--executions", 1_500, "-o", here)
    ended = precedes("simulate", greedy, "--executions", 1_500, "--engine", "spark", "-o", there)
    assert ended.code == 0, ended
    assert here.read_bytes() == there.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("nothing",), "M001 there is no model nothing"),
        (("missing.py",), "M001 no such file: missing.py"),
        (("cmd", "--set", "speed=9"), "M004 cmd has no parameter speed"),
        (("cmd", "--set", "queue"), "U001 --set queue has no value"),
        (("cmd", "--loss", "0.1"), "U001 the network of cmd does not lose packets, but loss is 0.1"),
        (("cmd", "--duplication", "0.1"), "does not duplicate packets"),
        (("cmd", "--corruption", "0.1"), "does not corrupt packets"),
        (("cmd", "--loss", "2"), "2.0 is not in the range 0<=x<=1"),
        (("cmd", "--executions", "0"), "0 is not in the range x>=1"),
        (("cmd", "--messages", "0"), "0 is not in the range x>=1"),
        (("cmd", "--interval", "0"), "0.0 is not in the range x>0"),
        (("cmd", "--entities", "1"), "U001 one entity has no others to send to"),
        (("cmd", "--skew", "1"), "U001 clocks 1 ticks apart are more than cmd assumes"),
        (("delta-causal", "--set", "delta=9", "--delay", "99"), "hardly ever fall between 0 and 10"),
        (("cmd", "--most-steps", "5"), "M011 cmd: execution 1 of seed 1 takes more than 5 steps"),
        (("cmd", "--engine", "local", "--master", "local[1]"), "U001 --master goes with --engine spark"),
        (("cmd", "-o", "runs.jsonl"), "T002 a columnar file is Parquet"),
        (("cmd", "-o", "nowhere/runs.parquet"), "T003 cannot be written"),
    ],
)
def test_what_cannot_be_done_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    output = () if "-o" in arguments else ("-o", "runs.parquet")
    ended = precedes("simulate", *arguments, *output)
    assert ended.code == 2
    assert text in ended.err
    assert "Traceback" not in ended.err
    assert list(tmp_path.iterdir()) == []


def test_a_trace_has_to_be_named() -> None:
    ended = precedes("simulate", "cmd")
    assert ended.code == 2
    assert "Missing option '-o'" in ended.err
