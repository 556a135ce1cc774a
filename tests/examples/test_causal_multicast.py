"""The CMD protocol as a program: it conforms, and what is wrong with its mistakes is seen as its README says."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.command.documents import ROOT, carry_out, run

FOLDER = ROOT / "examples/causal-multicast"
README = (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def example() -> Iterator[Any]:
    """The modules of the example, which stand in its folder and in no package."""
    names = [path.stem for path in FOLDER.glob("*.py")]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        yield SimpleNamespace(**{name: import_module(name) for name in names})
    for name in names:
        del sys.modules[name]


def seen(findings: Any) -> list[bool]:
    """Which of the three questions found something."""
    return [findings.verify.seen, findings.cmd.seen, findings.arrivals.seen]


def test_the_program_conforms(example: Any) -> None:
    assert seen(example.findings.findings(example.group.Program(), 20)) == [False] * 3


def test_what_is_out_of_order_is_seen_by_all(example: Any) -> None:
    wrong = example.mistakes.program(example.mistakes.SendsNotCounted)
    found = example.findings.findings(wrong, 5)
    assert seen(found) == [True] * 3
    assert found.verify.wrong["causal_order"] == found.cmd.wrong[""] > 0
    assert found.verify.sentence in README
    assert found.cmd.sentence in README


def test_what_only_waits_is_seen_by_arrivals(example: Any) -> None:
    wrong = example.mistakes.program(example.mistakes.LooksAtTheFirst)
    found = example.findings.findings(wrong, 34)  # number 33 is the first that shows it
    assert seen(found) == [False, False, True]
    assert found.arrivals.sentence in README


def test_a_message_has_as_many_s_records_as_the_page_says(example: Any, tmp_path: Path) -> None:
    sizes = []

    class Measuring(example.lossy_network.Link):
        def put(self, packet: Any) -> None:
            sizes.append(len(packet.records))
            super().put(packet)

    example.group.record(example.group.Program(link=Measuring), tmp_path / "runs", 50, 4, 30)
    assert f"a message had {max(sizes)} s-records" in README


@pytest.mark.slow
def test_the_page_is_current(example: Any) -> None:
    findings = example.findings
    made = README.partition(findings.BEGIN)[2].partition(findings.END)[0]
    assert made == findings.page(), "python examples/causal-multicast/findings.py makes it anew"


@pytest.mark.slow
def test_what_changes_no_event_is_seen_by_nothing(example: Any) -> None:
    for mistake in example.mistakes.UNSEEN:
        assert seen(example.findings.findings(example.mistakes.program(mistake))) == [False] * 3


@pytest.mark.slow
def test_any_order_of_what_has_waited_conforms(example: Any) -> None:
    class NewestFirst(example.causal_entity.Entity):
        def receive(self, packet: Any) -> None:
            self.queue.append(packet)
            while ready := next(filter(self.may_deliver, reversed(self.queue)), None):
                self.queue.remove(ready)
                self.deliver(ready)

    assert seen(example.findings.findings(example.group.Program(NewestFirst))) == [False] * 3


@pytest.mark.slow
def test_what_the_page_runs(tmp_path: Path) -> None:
    carry_out(FOLDER / "README.md", tmp_path, run)
