"""Space-time diagrams, line for line."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from precedes.language.library import standard_library
from precedes.language.loader import compile_text
from precedes.reports.space_time.neighborhood import Excerpt
from precedes.reports.space_time.svg import diagram_svg
from precedes.reports.space_time.text import diagram
from tests.command.running import precedes


def drawn(text: str) -> list[str]:
    (scenario,) = compile_text("scenario s\n" + text, None, standard_library()).scenarios
    return diagram(scenario.execution).splitlines()


def test_a_message_that_is_overtaken_runs_down_a_track() -> None:
    assert drawn("cluster E1 E2 E3\nH1: < !a{3} !b{2} ]\nH2: < ?b !c{3} ]\nH3: < ?c ?a ]\nexpect CO\n") == [
        "E1           E2         E3",
        "│            │          │",
        "● a{3} ─╮    │          │",
        "● b{2} ─┼──▶ ● b        │",
        "│       │    ● c{3} ──▶ ● c",
        "│       ╰────┼────────▶ ● a",
    ]


def test_to_the_left_and_to_nobody_in_the_end() -> None:
    assert drawn("cluster E1 E2\nH1: < !a{2} ?b ]\nH2: < !b{1} !c{1} ?a ]\nexpect CO\n") == [
        "E1               E2",
        "│                │",
        "● a{2} ─╮ ╭───── ● b{1}",
        "● b ◀───┼─╯ ╭─── ● c{1}",
        "│       ╰───┼──▶ ● a",
        "            ×",
    ]


def test_what_a_sender_keeps_from_itself_is_a_cross_beside_its_send() -> None:
    assert drawn("cluster E1 E2\nH1: < !a ]\nH2: < ?a ]\nexpect CO\n") == [
        "E1        E2",
        "│         │",
        "● a × ──▶ ● a",
    ]


def test_times_are_told_and_kept_in_order() -> None:
    lines = drawn("cluster E1 E2\nH1: < !a{2}@0 ]\nH2: < !b{1}@1 ?a@2 ]\nexpect CO\n")
    rows = {line[line.index("@") - 1 : line.index("@") + 2]: k for k, line in enumerate(lines) if "@" in line}
    assert list(rows) == ["}@0", "}@1", "a@2"]
    assert sorted(rows.values()) == list(rows.values())


def test_a_local_event_is_a_small_mark() -> None:
    text = "cluster E1 E2\nH1: < local !a{2} ]\nH2: < ?a local@3 ]\nexpect CO\n"
    assert drawn(text) == [
        "E1         E2",
        "│          │",
        "∙          │",
        "● a{2} ──▶ ● a",
        "│          ∙ @3",
    ]


@pytest.mark.parametrize("text", ["cluster E1\n", "cluster E1 E2\nH1: < crash recover ]\n"])
def test_nothing_to_draw_but_lifelines(text: str) -> None:
    assert drawn(text + "expect CO\n")[0].startswith("E1")


PAPERS = Path(__file__).parents[2] / "specs" / "papers"


def test_draw() -> None:
    ended = precedes("draw", PAPERS / "cmd.prec", "--scenario", "lemma_5")
    assert (ended.code, ended.out.split(":")[0]) == (0, "lemma_5")
    assert "╰" in ended.out


def test_every_scenario_of_the_papers_can_be_drawn() -> None:
    for path in sorted(PAPERS.glob("*.prec")):
        for scenario in compile_text(
            path.read_text(encoding="utf-8"), str(path), standard_library()
        ).scenarios:
            assert diagram(scenario.execution)
            ET.fromstring(diagram_svg(Excerpt(scenario.execution)))
