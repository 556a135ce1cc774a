"""Results in a notebook: what a cell shows, and the notebook of the documents, which runs."""

from __future__ import annotations

import ast
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import precedes

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"
HOSTILE = "</style><script>alert(1)</script><img src=x onerror=alert(2)>"


def events(name: str = "a") -> list[dict[str, Any]]:
    sends = [{"entity": "s", "event": "send", "message": m, "dest": ["x", "y"]} for m in (name, "b")]
    rows = [
        *sends,
        *({"entity": "x", "event": "deliver", "message": m} for m in (name, "b")),
        *({"entity": "y", "event": "deliver", "message": m} for m in ("b", name)),
    ]
    return [{"execution": name, **row} for row in rows]


class Tags(HTMLParser):
    """The names of the elements, and their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes |= {name for name, _ in attrs}


# ---- what a cell shows


def test_a_report_shows_its_names_and_a_violation() -> None:
    shown = precedes.verify(events(), ["order_equivalent", "no_duplication"])._repr_html_()
    tags = Tags(shown)
    assert (tags.names.count("svg"), tags.names.count("script")) == (1, 0)
    assert "x delivers a before b, y delivers b before a" in shown
    assert ">no_duplication<" in shown


def test_more_violations_are_counted() -> None:
    rows = [row for name in "cdefg" for row in events(name)]
    report = precedes.verify(rows, "order_equivalent")
    shown = report._repr_html_()
    assert Tags(shown).names.count("svg") == 3
    assert "3 of 5 violations shown" in shown
    assert report.html().count('"x":"') == 5


def test_a_drawing_is_a_picture_and_text() -> None:
    (execution,) = precedes.read(events())
    drawing = precedes.draw(execution, expect="order_equivalent")
    shown = drawing._repr_mimebundle_(include=None, exclude=None)
    assert set(shown) == {"text/plain", "image/svg+xml", "text/html"}
    assert shown["text/plain"].startswith("a\n")
    assert shown["image/svg+xml"] in shown["text/html"]


def test_a_cell_follows_the_notebook_into_the_dark() -> None:
    shown = precedes.verify(events(), "order_equivalent")._repr_html_()
    assert 'body[data-jp-theme-light="false"] .precedes svg [fill="#222222"]' in shown
    assert 'body:not([data-jp-theme-light="true"]):not(.vscode-light) .precedes svg [fill="#222222"]' in shown


def test_other_reports_show_themselves(tmp_path: Path) -> None:
    text = (
        "scenario s\ncluster A B\nSL1: < a b ]\nRL2: < b a ]\nexpect order_preserving\nexpect no_creation\n"
    )
    (tmp_path / "s.prec").write_text(text, encoding="utf-8")
    shown = precedes.check(tmp_path / "s.prec")._repr_html_()
    assert "expect order_preserving" in shown
    assert (Tags(shown).names.count("svg"), ">otherwise<" in shown, ">as stated<" in shown) == (1, True, True)


@pytest.mark.slow
def test_an_answer_and_an_exploration_show_themselves() -> None:
    answer = precedes.prove("causal_order implies order_equivalent")._repr_html_()
    assert Tags(answer).names.count("svg") == 1
    explored = precedes.explore("cmd", require="TO", entities=2, messages=2)._repr_html_()
    assert Tags(explored).names.count("svg") >= 1


def test_nothing_of_a_trace_becomes_markup() -> None:
    (execution,) = precedes.read(events(HOSTILE))
    report = precedes.verify(events(HOSTILE), "order_equivalent")
    drawing = precedes.draw(execution, expect="order_equivalent")
    for shown in (report._repr_html_(), drawing._repr_mimebundle_()["text/html"], drawing.svg):
        tags = Tags(shown)
        assert {"script", "img"}.isdisjoint(tags.names)
        assert "onerror" not in tags.attributes
        assert shown.count("<style>") <= 1


# ---- the notebook of the documents


def run(*, slow: bool) -> list[Any]:
    """Run the cells as a notebook does, and return what their last lines are."""
    names: dict[str, Any] = {}
    shown = []
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code" or (not slow and "slow" in cell["metadata"].get("tags", ())):
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, cell["id"], "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), cell["id"], "eval"), names))
    return shown


def test_the_notebook_runs() -> None:
    count, report, asked, drawing, scenario = run(slow=False)
    assert count == 16
    assert report.verdict is precedes.Verdict.VIOLATED
    assert asked == (1, "tuesday")
    assert "lima delivers close before open" in drawing.text
    assert "Carol delivers reply before question" in scenario.text


@pytest.mark.slow
def test_all_of_the_notebook_runs() -> None:
    shown = run(slow=True)
    assert len(shown) == 7
    assert all("<svg" in each._repr_html_() for each in shown if isinstance(each, precedes.Report))


def test_the_notebook_is_one_and_has_no_outputs() -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = notebook["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert all(not cell["outputs"] for cell in cells if cell["cell_type"] == "code")
