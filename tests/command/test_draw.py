"""`precedes draw`: what is drawn, what is marked, and where it is written."""

from __future__ import annotations

import io
from collections import Counter
from math import hypot
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings

from precedes.core.execution import Execution
from precedes.language.loader import Scenario, compile_text
from precedes.reports.space_time.picture import as_svg, marked
from precedes.reports.space_time.plane import RADIUS, Box, plane, text_width
from precedes.reports.space_time.svg import diagram_svg
from precedes.testing.random_executions import SCENARIOS, TRACES
from tests.command.running import precedes
from tests.strategies.drawn import executions

PAPERS = Path(__file__).parents[2] / "specs" / "papers"
CROSSED = """
scenario crossed "a reply <overtakes> its question" source "a lecture"
cluster Alice Bob Carol
H1: < !question ]
H2: < ?question !reply ]
H3: < ?reply ?question ]
expect order_preserving
expect not causal_order

scenario "with/slash"
cluster E1 E2
H1: < !a{2} ]
H2: < ?a ]
expect no_duplication
"""


def scenario(text: str) -> Scenario:
    (found,) = compile_text("scenario s\n" + text).scenarios
    return found


@pytest.fixture
def crossed(tmp_path: Path) -> Path:
    path = tmp_path / "crossed.prec"
    path.write_text(CROSSED, encoding="utf-8")
    return path


def parts(svg: str) -> Counter[str]:
    """How many elements there are of each kind; those of the legend stand in groups and do not count."""
    return Counter(element.get("class", "") for element in ET.fromstring(svg))


def every_paper_scenario() -> list[Scenario]:
    return [
        each
        for path in sorted(PAPERS.glob("*.prec"))
        for each in compile_text(path.read_text(encoding="utf-8"), str(path)).scenarios
    ]


# ---- what is drawn


def test_sends_deliveries_and_what_never_comes_are_told_apart() -> None:
    text = "cluster E1 E2 E3\nH1: < !a ?b ]\nH2: < ?a !b{1,3} ]\nH3: < arrive(b) ]\n"
    drawn = parts(diagram_svg(scenario(text).execution))
    told = {"send": 2, "delivery": 2, "event": 1, "arrow": 4, "head": 2, "cross": 3, "kept-back": 1}
    assert {name: drawn[name] for name in told} == told
    assert "beside a send: not delivered to its sender" in diagram_svg(scenario(text).execution)


def test_the_legend_explains_only_what_there_is() -> None:
    svg = diagram_svg(scenario("cluster E1 E2\nH1: < !a{2} ]\nH2: < ?a ]\n").execution)
    assert ">send<" in svg
    assert ">delivery<" in svg
    assert "never delivered" not in svg
    assert "beside a send" not in svg


@pytest.mark.parametrize("drawn", every_paper_scenario(), ids=lambda each: each.name)
def test_arrows_keep_clear_of_dots_and_labels_of_heads(drawn: Scenario) -> None:
    laid = plane(drawn.execution)
    for curve in laid.curves:
        for dot in laid.dots.values():
            if dot not in (curve.start, curve.end):
                assert min(hypot(p.x - dot.x, p.y - dot.y) for p in curve.points()) > RADIUS, curve
    boxes = []
    for each in laid.labels:
        width = text_width(each.text)
        left = each.at.x - width if each.to_left else each.at.x
        boxes.append(Box(left, each.at.y - 10, left + width, each.at.y + 3))
    for number, box in enumerate(boxes):
        assert not any(box.meets(other) for other in boxes[:number])
        assert not any(box.has(dot) for dot in laid.dots.values())
        for curve in laid.curves:
            if curve.delivered:
                length = hypot(curve.end.x - curve.start.x, curve.end.y - curve.start.y)
                assert not box.has(curve.at(1 - (RADIUS + 4) / length)), (curve, box)
    assert all(laid.left <= box.left and box.right <= laid.right for box in boxes)


def test_nothing_in_a_drawing_reaches_another_one_of_the_page() -> None:
    svg = as_svg(found := every_paper_scenario()[0], marked(found))
    assert "id=" not in svg
    assert "<style" not in svg
    assert "url(" not in svg


def test_the_width_is_that_of_what_is_drawn() -> None:
    root = ET.fromstring(diagram_svg(scenario("cluster E1 E2 E3\nSL1: < a{2,3} ]\n").execution))
    laid = plane(scenario("cluster E1 E2 E3\nSL1: < a{2,3} ]\n").execution)
    assert float(root.get("width", "")) < max(laid.right - laid.left, 360) + 60


@pytest.mark.parametrize("text", ["cluster E1\n", "cluster E1 E2\nH1: < crash recover ]\n"])
def test_lifelines_alone(text: str) -> None:
    assert parts(diagram_svg(scenario(text).execution))["life"] == text.count("E")


@settings(max_examples=60)
@given(executions(SCENARIOS) | executions(TRACES))
def test_whatever_happened_can_be_drawn(execution: Execution) -> None:
    events = sum(len(history.events) for history in execution.histories)
    drawn = parts(diagram_svg(execution, heading="\x1b\ud800 & <", told="a" * 300))
    assert drawn["send"] + drawn["delivery"] + drawn["event"] + drawn["local"] == events
    assert drawn["life"] == len(execution.entities)


# ---- what is marked


def test_a_violated_expectation_is_marked_and_told(crossed: Path) -> None:
    svg = precedes("draw", crossed, "--scenario", "crossed", "--format", "svg").out
    words = " ".join(ET.fromstring(svg).itertext()).replace("\n", " ")
    assert "crossed: a reply <overtakes> its question (a lecture)" in words
    assert "Carol delivers reply before question" in " ".join(words.split())
    red = [e for e in ET.fromstring(svg) if "#b3261e" in (e.get("fill"), e.get("stroke"))]
    assert Counter(e.get("class") for e in red if e.get("class") in ("send", "delivery")) == {
        "send": 2,
        "delivery": 3,
    }


def test_what_is_asked_for_is_marked(crossed: Path) -> None:
    ended = precedes("draw", crossed, "--scenario", "crossed", "--expect", "agreement")
    assert "◆ agreement: " in ended.out
    ended = precedes("draw", crossed, "--scenario", "crossed", "--expect", "no_creation")
    assert "◆" not in ended.out
    ended = precedes("draw", crossed, "--expect", "nonsense")
    assert (ended.code, ended.err.split(": ")[0]) == (2, "--expect:1:1")


def test_nothing_is_marked_for_an_exercise(crossed: Path) -> None:
    assert "◆" in precedes("draw", crossed).out
    assert "◆" not in precedes("draw", crossed, "--unmarked").out
    assert (
        "#b3261e"
        not in precedes("draw", crossed, "--unmarked", "--format", "svg", "--scenario", "crossed").out
    )


# ---- where it goes


def test_the_name_of_the_output_says_the_form(crossed: Path, tmp_path: Path) -> None:
    assert precedes("draw", crossed, "--scenario", "crossed", "-o", tmp_path / "a.SVG").code == 0
    assert (tmp_path / "a.SVG").read_text(encoding="utf-8").startswith("<svg")
    assert precedes("draw", crossed, "-o", tmp_path / "a.txt").code == 0
    assert (tmp_path / "a.txt").read_text(encoding="utf-8").startswith("crossed: ")
    assert precedes("draw", crossed, "-o", tmp_path / "b.svg", "--format", "text").code == 0
    assert (tmp_path / "b.svg").read_text(encoding="utf-8").startswith("crossed: ")


def test_a_folder_gets_one_file_for_each_scenario(crossed: Path, tmp_path: Path) -> None:
    ended = precedes("draw", crossed, "-o", f"{tmp_path / 'figures'}/")
    assert (ended.code, ended.out.count("wrote ")) == (0, 2)
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == ["crossed.svg", "with-slash.svg"]
    assert precedes("draw", crossed, "-o", tmp_path / "figures", "--format", "text").code == 0
    assert (tmp_path / "figures" / "crossed.txt").exists()


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(CROSSED.encode())))
    ended = precedes("draw", "-", "--scenario", "crossed")
    assert (ended.code, ended.out.split(":")[0]) == (0, "crossed")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"scenario\n")))
    assert "<stdin>:1:" in precedes("draw", "-").err


def test_what_cannot_be_drawn(crossed: Path, tmp_path: Path) -> None:
    ended = precedes("draw", crossed, "-o", tmp_path / "x.svg")
    assert (ended.code, "crossed" in ended.err, "write all to a folder" in ended.err) == (2, True, True)
    ended = precedes("draw", crossed, "--scenario", "nothing")
    assert (ended.code, "crossed" in ended.err) == (2, True)
    assert precedes("draw", tmp_path).code == 2


def test_a_label_needs_no_paint_order(crossed: Path) -> None:
    """Older renderers do not know it: an outline of the text itself would cover it there."""
    svg = precedes("draw", crossed, "--scenario", "crossed", "--format", "svg").out
    assert "paint-order" not in svg
    texts = [element for element in ET.fromstring(svg) if element.tag.endswith("}text")]
    halos = [number for number, element in enumerate(texts) if element.get("class") == "halo"]
    assert halos
    for number in halos:
        outline, text = texts[number], texts[number + 1]
        assert (outline.text, outline.get("x"), outline.get("y")) == (text.text, text.get("x"), text.get("y"))
        assert outline.get("stroke") == outline.get("fill") == "#ffffff"
        assert text.get("stroke") is None
        assert text.get("fill") != "#ffffff"
