"""The committed page: it is what the solver says today, and what it shows is so."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

from precedes.core.outcome import Limits
from precedes.core.verdict import Verdict, verdict
from precedes.engines.reference import evaluate
from precedes.engines.solver import Proved, implications
from precedes.jobs.infer import proved
from precedes.jobs.lattice import Lattice, lattice
from precedes.language.library import standard_library
from precedes.language.loader import compile_text
from precedes.language.requirements import requirement
from precedes.reports.hasse.svg import label, svg
from precedes.reports.lattice import as_markdown, as_proved

ROOT = Path(__file__).parents[2]
PICTURE = "lattice/diagram.svg"


@cache
def page() -> str:
    return (ROOT / "docs" / "lattice.md").read_text(encoding="utf-8")


@cache
def fresh() -> Lattice:
    return lattice(standard_library(), Limits())


def section(text: str, heading: str) -> list[str]:
    """The lines below a heading, up to the next one of its level."""
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0].splitlines()


def table(text: str, heading: str) -> dict[str, list[str]]:
    """The rows of the table below a heading, by their first cell."""
    rows = [line for line in section(text, heading) if line.startswith("| `")]
    return {
        cells[0]: cells[1:] for cells in ([cell.strip() for cell in row[1:-1].split(" | ")] for row in rows)
    }


def test_what_is_shipped_as_proved_is_proved_and_nothing_else_is() -> None:
    """Of every fourth name and each other one of these."""
    shipped = proved()
    asked = [requirement(name, standard_library()) for name in list(shipped.equal)[::4]]
    found = {(one.left, one.right) for one in implications(asked) if isinstance(one.answer, Proved)}
    names = [one.name for one in asked]
    assert len(names) > 10
    assert found == {(left, right) for left in names for right in shipped.implied[left] if right in names}


# ---- a fresh run of every pair


@pytest.mark.slow
@pytest.mark.xdist_group("lattice")
@pytest.mark.parametrize("heading", ["The names", "Proved", "Refuted"])
def test_tables_are_those_of_a_fresh_run(heading: str) -> None:
    again = table(as_markdown(fresh(), PICTURE), heading)
    assert len(again) > 10
    assert table(page(), heading) == again


@pytest.mark.slow
@pytest.mark.xdist_group("lattice")
def test_page_is_that_of_a_fresh_run() -> None:
    """Also the executions shown; `precedes lattice --format markdown -o docs/lattice.md` renews it."""
    assert page() == as_markdown(fresh(), PICTURE)


@pytest.mark.slow
@pytest.mark.xdist_group("lattice")
def test_what_is_shipped_as_proved_is_what_a_fresh_run_proves() -> None:
    """`python tools/proved.py` renews it."""
    shipped = files("precedes_specs").joinpath("proved.json").read_text(encoding="utf-8")
    assert shipped == as_proved(fresh())


@pytest.mark.slow
@pytest.mark.xdist_group("lattice")
def test_every_pair_is_decided() -> None:
    found = fresh()
    names = [node.name for node in found.nodes]
    proved = {(left, right) for left, implied in found.implied.items() for right in implied}
    refuted = [pair for refutation in found.refutations for pair in refutation.pairs]
    assert not found.open
    assert len(refuted) == len(set(refuted))
    assert proved | set(refuted) == {(left, right) for left in names for right in names if left != right}
    assert not proved & set(refuted)


@pytest.mark.slow
@pytest.mark.xdist_group("lattice")
def test_picture_shows_the_same() -> None:
    """The names and how many lines; not where they are."""
    drawn = (ROOT / "docs" / PICTURE).read_text(encoding="utf-8")
    assert sorted(re.findall(r"<text[^>]*>([^<]*)</text>", drawn)) == sorted(
        line for node in fresh().nodes for line in label(node)
    )
    assert drawn.count("<path ") == len(fresh().edges) == svg(fresh()).count("<path ")


def test_links_lead_to_figures() -> None:
    anchors = {
        line.removeprefix("### ").lower().replace(" ", "-") for line in page().splitlines() if "###" in line
    }
    links = set(re.findall(r"\(#([^)]*)\)", page()))
    assert links == anchors


def test_every_figure_is_as_it_says() -> None:
    figures = re.findall(r"```prec\n(.*?)```", page(), re.DOTALL)
    scenarios = compile_text("\n".join(figures)).scenarios
    assert len(scenarios) == page().count("\n### Figure ")
    for scenario in scenarios:
        assert scenario.expectations
        for one in scenario.expectations:
            assert verdict(evaluate(one.requirement.formula, scenario.execution)) is one.expected, (
                scenario.name,
                one.text,
            )


def test_every_refuted_pair_is_shown_by_its_figure() -> None:
    """The figure of a pair has the one name holding and the other violated; but for recorded clocks, which a scenario
    cannot have.
    """
    figures = {
        scenario.name.removeprefix("figure_"): scenario
        for scenario in compile_text("\n".join(re.findall(r"```prec\n(.*?)```", page(), re.DOTALL))).scenarios
    }
    said = {
        number: {
            verdict_: {
                name for one in scenario.expectations if one.expected is verdict_ for name in _names(one.text)
            }
            for verdict_ in Verdict
        }
        for number, scenario in figures.items()
    }
    pairs = 0
    for left, (cell,) in table(page(), "Refuted").items():
        for number, names in re.findall(r"\[figure (\d+)\]\(#figure-\d+\): ([^<]*)", cell):
            for right in names.split(", "):
                pairs += 1
                for name, expected in ((left, Verdict.HOLDS), (right, Verdict.VIOLATED)):
                    plain = name.strip("`")
                    assert plain in said[number][expected] or plain == "vector_time", (number, left, right)
    assert pairs > 700


def test_pairwise_order_allows_a_cycle() -> None:
    """ST does not imply acyclic_order: three receivers, three messages, each shared by two."""
    cell = table(page(), "Refuted")["`ST`"][0]
    (number,) = re.findall(r"\[figure (\d+)\]\(#figure-\d+\): `acyclic_order`", cell)
    figure = page().partition(f"### Figure {number}\n")[2].partition("\n### ")[0]
    (scenario,) = compile_text(figure.partition("```prec\n")[2].partition("```")[0]).scenarios
    assert len(scenario.execution.entities) == len(scenario.execution.messages) == 3


def _names(text: str) -> set[str]:
    return set(re.findall(r"\w+", text)) - {"expect", "not", "and", "or"}
