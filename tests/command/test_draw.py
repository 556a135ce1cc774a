"""`precedes draw`: what is drawn, what is marked, and where it is written."""

from __future__ import annotations

import io
import json
import sys
from collections import Counter
from math import hypot
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings

from precedes.core.coloring import COLORED_BY
from precedes.core.execution import Execution
from precedes.core.formula import AttributeSort
from precedes.language.library import standard_library
from precedes.language.loader import Scenario, compile_text
from precedes.language.requirements import requirement
from precedes.reports.places import place_of
from precedes.reports.space_time.marks import Marks, marked
from precedes.reports.space_time.neighborhood import Excerpt, neighborhood
from precedes.reports.space_time.picture import as_svg, as_text, execution_picture, scenario_picture
from precedes.reports.space_time.plane import RADIUS, Box, plane, text_width
from precedes.reports.space_time.short_names import ShortNames
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
    drawn = parts(diagram_svg(Excerpt(scenario(text).execution)))
    told = {"send": 2, "delivery": 2, "event": 1, "arrow": 4, "head": 2, "cross": 3, "kept-back": 1}
    assert {name: drawn[name] for name in told} == told
    assert "beside a send: not delivered to its sender" in diagram_svg(Excerpt(scenario(text).execution))


def test_the_legend_explains_only_what_there_is() -> None:
    svg = diagram_svg(Excerpt(scenario("cluster E1 E2\nH1: < !a{2} ]\nH2: < ?a ]\n").execution))
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
    svg = as_svg(scenario_picture(every_paper_scenario()[0]))
    assert "id=" not in svg
    assert "<style" not in svg
    assert "url(" not in svg


def test_the_width_is_that_of_what_is_drawn() -> None:
    root = ET.fromstring(diagram_svg(Excerpt(scenario("cluster E1 E2 E3\nSL1: < a{2,3} ]\n").execution)))
    laid = plane(scenario("cluster E1 E2 E3\nSL1: < a{2,3} ]\n").execution)
    assert float(root.get("width", "")) < max(laid.right - laid.left, 360) + 60


@pytest.mark.parametrize("text", ["cluster E1\n", "cluster E1 E2\nH1: < crash recover ]\n"])
def test_lifelines_alone(text: str) -> None:
    assert parts(diagram_svg(Excerpt(scenario(text).execution)))["life"] == text.count("E")


@settings(max_examples=60)
@given(executions(SCENARIOS) | executions(TRACES))
def test_whatever_happened_can_be_drawn(execution: Execution) -> None:
    events = sum(len(history.events) for history in execution.histories)
    drawn = parts(diagram_svg(Excerpt(execution), heading="\x1b\ud800 & <", marks=Marks(told="a" * 300)))
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


def test_a_trace_on_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read more than once, though standard input is not."""
    rows = [
        {"execution": "x", "entity": entity, "seq": seq, "event": event, "message": message}
        for entity, events in {
            "A": [("send", "p"), ("send", "q")],
            "B": [("deliver", "p"), ("deliver", "q")],
            "C": [("deliver", "q"), ("deliver", "p")],
        }.items()
        for seq, (event, message) in enumerate(events)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "x.jsonl").write_text(text, encoding="utf-8")
    for asked in (["--execution", "x"], ["--violation", 1, "--expect", "order_equivalent"]):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
        ended = precedes("draw", "-", *asked)
        assert ended == precedes("draw", tmp_path / "x.jsonl", *asked)
        assert (ended.code, ended.out.splitlines()[0]) == (0, "x")


def test_what_cannot_be_drawn(crossed: Path, tmp_path: Path) -> None:
    ended = precedes("draw", crossed, "-o", tmp_path / "x.svg")
    assert (ended.code, "crossed" in ended.err, "write all to a folder" in ended.err) == (2, True, True)
    ended = precedes("draw", crossed, "--scenario", "crossed", "-o", tmp_path / "x.gif")
    assert (ended.code, "endings are .svg, .txt, .png, .pdf" in ended.err) == (2, True)
    assert not (tmp_path / "x.gif").exists()
    as_said = precedes("draw", crossed, "-o", tmp_path / "x.gif", "--format", "text")
    assert (as_said.code, precedes("draw", crossed, "-o", tmp_path / "x").code) == (0, 0)
    assert (tmp_path / "x").read_text(encoding="utf-8") == (tmp_path / "x.gif").read_text(encoding="utf-8")
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


# ---- long ids, many events


LONG = "order-4711-0123456789abcdef-0001"


def test_long_ids_are_short_in_a_picture_and_whole_in_its_tooltips() -> None:
    svg = diagram_svg(
        Excerpt(scenario(f'cluster A B\nH1: < !"{LONG}"{{B}} ]\nH2: < ?"{LONG}" ]\n').execution)
    )
    texts = [e.text or "" for e in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert not any(LONG in each for each in texts)
    assert "order-471…bcdef-0001" in texts
    titles = [e.text for e in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}title")]
    assert LONG in titles


def test_ids_that_would_be_alike_keep_more_of_themselves() -> None:
    names = [f"prefix-0123456789-{n}-0123456789-suffix" for n in (1, 2, 3)]
    history = " ".join(f'!"{name}"' for name in names)
    short = ShortNames.of(scenario(f"cluster A B\nH1: < {history} ]\n").execution)
    assert len({short(name) for name in names}) == 3


def busy(entities: int, rounds: int) -> Execution:
    """Every entity broadcasts in turn; the last one delivers the first two messages in the wrong order."""
    names = [f"n{place}" for place in range(entities)]
    sent = {name: [f"m{place}-{turn}" for turn in range(rounds)] for place, name in enumerate(names)}
    every = [sent[name][turn] for turn in range(rounds) for name in names]
    lines = [f"cluster {' '.join(names)}"]
    for name in names:
        order = every if name != names[-1] else [every[1], every[0], *every[2:]]
        history = " ".join([*(f'!"{m}"' for m in sent[name]), *(f'?"{m}"' for m in order)])
        lines.append(f"H[{name}]: < {history} ]")
    return scenario("\n".join(lines) + "\n").execution


def test_of_a_large_execution_the_neighborhood_of_a_violation_is_drawn() -> None:
    execution = busy(12, 4)
    found = marked(requirement("order_equivalent", standard_library(), "test"), execution)
    assert found is not None
    picture = execution_picture(*found)
    drawn = picture.execution
    shown = sum(len(history.events) for history in drawn.histories)
    assert shown <= 40
    assert "n11" in drawn.entities
    assert (
        picture.excerpt.left_out
        == f"Not shown: {12 * 52 - shown} of 624 events, {12 - len(drawn.entities)} of 12 entities."
    )
    assert picture.marks.messages <= drawn.messages.keys()
    svg = as_svg(picture)
    assert "Not shown: " in svg
    assert parts(svg)["life"] == len(drawn.entities)
    assert (
        sum(picture.excerpt.gaps.values())
        == sum(len(execution.history(entity).events) for entity in drawn.entities) - shown
    )
    assert "Not shown: " in as_text(picture)


@settings(max_examples=40)
@given(executions(SCENARIOS) | executions(TRACES))
def test_any_neighborhood_is_a_part_that_can_be_drawn(execution: Execution) -> None:
    places = frozenset(
        place
        for history in execution.histories[:1]
        for event in history.events[-1:]
        if (place := place_of(history.entity, event)) is not None
    )
    excerpt = neighborhood(execution, Marks(places), most=5)
    for history in excerpt.execution.histories:
        whole = iter(execution.history(history.entity).events)
        assert all(event in whole for event in history.events)
    ET.fromstring(diagram_svg(excerpt, marks=Marks(places)))


# ---- what else is seen


def test_crashes_views_and_repeats_have_signs_of_their_own() -> None:
    text = "cluster E1 E2\nH1: < view v1{1,2} !a{2} crash recover ]\nH2: < ?a ?a ack(a) discard(a) ]\n"
    svg = diagram_svg(Excerpt(scenario(text).execution))
    drawn = parts(svg)
    assert (drawn["down"], drawn["again"], drawn["delivery"], drawn["event"]) == (1, 1, 2, 5)
    for words in ("view", "crash", "recovery", "delivered again", "acknowledged", "discard"):
        assert f">{words}<" in svg


def test_messages_have_colors_by_their_keys() -> None:
    text = "cluster E1 E2\nH1: < !a[key=x] !b[key=y] ]\nH2: < ?a ?b ]\n"
    svg = diagram_svg(Excerpt(scenario(text).execution))
    arrows = [e.get("stroke") for e in ET.fromstring(svg) if e.get("class") == "arrow"]
    assert len(set(arrows)) == 2
    assert ">key x<" in svg
    of_the_library = [standard_library().attribute(name) for name in COLORED_BY]
    assert all(attribute is not None and attribute.sort is AttributeSort.TEXT for attribute in of_the_library)


def test_the_time_that_a_message_may_take_is_a_span() -> None:
    text = "cluster E1 E2\nH1: < !a{2}@0 local@4 ]\nH2: < ?a@9 ]\ndelta 5\nexpect deadline\n"
    picture = scenario_picture(scenario(text))
    svg = as_svg(picture)
    assert (parts(svg)["deadline"], ">Δ = 5 s<" in svg, "Δ = 5 s for a" in svg) == (1, True, True)
    untimed = text.replace("delta 5\nexpect deadline\n", "")
    assert "Δ" not in diagram_svg(Excerpt(scenario(untimed).execution))


def test_a_causal_chain_is_lit(crossed: Path) -> None:
    svg = precedes("draw", crossed, "--scenario", "crossed", "--format", "svg").out
    assert parts(svg)["lit"] >= 3


# ---- traces


TRACE = Path(__file__).parents[2] / "traces" / "rabbitmq-fanout.jsonl.gz"


def test_the_violation_of_a_trace_is_drawn() -> None:
    ended = precedes("draw", TRACE, "--expect", "order_equivalent")
    assert ended.code == 0
    assert ended.out.startswith("rabbitmq-fanout-018\n")
    assert "◆ order_equivalent: c1 delivers p3-2 before p1-6" in ended.out
    assert "Not shown: " in ended.out
    assert precedes("draw", TRACE, "--expect", "order_equivalent", "--violation", 2).code == 2


def test_each_violation_of_an_execution_is_drawn() -> None:
    told = []
    for number in (1, 2):
        options = (
            "--execution",
            "rabbitmq-fanout-018",
            "--violation",
            number,
            "--expect",
            "order_equivalent",
        )
        ended = precedes("draw", TRACE, *options)
        assert ended.code == 0, ended.err
        told += [line for line in ended.out.splitlines() if line.startswith("◆ order")]
    assert len(set(told)) == 2
    ended = precedes("draw", TRACE, "--execution", "rabbitmq-fanout-018", "--expect", "fifo_delivery")
    assert (ended.code, "◆" in ended.out) == (0, False)


def test_an_execution_is_named_or_the_hint_names_some() -> None:
    ended = precedes("draw", TRACE)
    assert (ended.code, "20 executions" in ended.err, "--execution" in ended.err) == (2, True, True)
    ended = precedes("draw", TRACE, "--execution", "rabbitmq-fanout-19")
    assert (ended.code, "did you mean rabbitmq-fanout-019" in ended.err) == (2, True)
    ended = precedes("draw", TRACE, "--scenario", "x")
    assert (ended.code, "--execution" in ended.err) == (2, True)


def test_what_is_unknown_is_told_with_its_reason(tmp_path: Path) -> None:
    rows = [
        {"execution": "x", "entity": "s", "event": "send", "message": m, "dest": ["r"], "time": 0}
        for m in ("a", "b")
    ]
    rows += [
        {"execution": "x", "entity": "r", "event": "deliver", "message": m, "time": t}
        for m, t in (("b", 9), ("a", 5))
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    asked = ("draw", tmp_path / "t.jsonl", "--expect", "order_preserving", "--violation", 1)
    for more in ((), ("--execution", "x")):
        ended = precedes(*asked, *more)
        assert (ended.code, "order_preserving is unknown: times run against" in ended.err) == (2, True)
    assert precedes(*asked, "--order", "rows").code == 0


@pytest.mark.slow
def test_without_a_name_the_weakest_violated_one_is_marked() -> None:
    ended = precedes("draw", TRACE, "--execution", "rabbitmq-fanout-018", "--violation", 1)
    assert (ended.code, "◆ gap_free_order: " in ended.out) == (0, True)


# ---- PNG and PDF


@pytest.mark.parametrize(("form", "begins"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_other_forms(crossed: Path, tmp_path: Path, form: str, begins: bytes) -> None:
    pytest.importorskip(
        "cairosvg", reason="pictures need the extra precedes[pictures]", exc_type=(ImportError, OSError)
    )
    ended = precedes("draw", crossed, "--scenario", "crossed", "-o", tmp_path / f"a.{form}")
    assert ended.code == 0, ended.err
    assert (tmp_path / f"a.{form}").read_bytes().startswith(begins)
    ended = precedes("draw", crossed, "--scenario", "crossed", "--format", form)
    assert (ended.code, f"-o picture.{form}" in ended.err) == (2, True)


def test_a_missing_library_is_named(crossed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    ended = precedes("draw", crossed, "--scenario", "crossed", "-o", tmp_path / "a.png")
    assert (ended.code, "pip install 'precedes[pictures]'" in ended.err) == (2, True)


# ---- what others wrote


HOSTILE = "</title><script>alert(1)</script><svg onload=alert(2)>"


def test_ids_never_become_markup(tmp_path: Path) -> None:
    text = f'attribute key of message: text\nscenario s "{HOSTILE}"\ncluster A "{HOSTILE}"\n'
    text += f'H1: < !"{HOSTILE}"[key="{HOSTILE}"] !b[key=k] ]\nH2: < ?b ?"{HOSTILE}" ]\nexpect causal_order\n'
    (each,) = compile_text(text).scenarios
    svg = as_svg(scenario_picture(each))
    assert "<script" not in svg
    assert {element.tag.rpartition("}")[2] for element in ET.fromstring(svg).iter()} <= {
        *("svg", "title", "rect", "text", "line", "path", "circle", "g"),
    }


def test_the_picture_of_the_documents_is_what_the_command_draws(tmp_path: Path) -> None:
    """`precedes draw traces/rabbitmq-fanout.jsonl.gz --expect order_equivalent -o docs/how-to/see-why/order.svg`"""
    shown = Path(__file__).parents[2] / "docs" / "how-to" / "see-why" / "order.svg"
    assert precedes("draw", TRACE, "--expect", "order_equivalent", "-o", tmp_path / "a.svg").code == 0
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == shown.read_text(encoding="utf-8")
