"""The figures of the papers, as scenarios."""

from pathlib import Path

import pytest

from precedes.language.loader import compile_text
from precedes.language.parsing.parser import parse
from precedes.language.syntax import ScenarioHead
from tests.language.judging import wrong

SPECS = Path(__file__).parents[2] / "specs"
PAPERS = sorted((SPECS / "papers").glob("*.prec"))


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: path.name)
def test_what_the_papers_say_comes_out(path: Path) -> None:
    compiled = compile_text(path.read_text(encoding="utf-8"), path.name)
    assert compiled.scenarios or compiled.claims
    assert wrong(compiled) == []


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: path.name)
def test_every_scenario_says_where_it_is_from(path: Path) -> None:
    heads = [s for s in parse(path.read_text(encoding="utf-8")).statements if isinstance(s, ScenarioHead)]
    assert [head.name.text for head in heads if not head.source] == []


def test_the_figures_are_there() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in PAPERS)
    wanted = [
        *(f"1994, Figure {number}" for number in (2, 3, 4, 6)),
        *("Δ-causal paper, Figure 1", "Δ-causal paper, Figure 3"),
    ]
    assert [name for name in wanted if name not in text] == []
