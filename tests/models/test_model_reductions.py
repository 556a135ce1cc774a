"""The reductions on every model that they apply to: the plain search finds the same, with bounds of which it comes to
the end in less than a minute. The counts are those of the table in docs/models.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import precedes

PAGE = Path(__file__).parents[2] / "docs" / "models.md"

Case = tuple[str, bool, Mapping[str, object], Mapping[str, Any]]
UNCONFIRMED = {"confirms": "false"}
TWICE = {**UNCONFIRMED, "repeats": "2"}
LOSS = {"losses": 1, "quiescent": True}
LOSSES = {"losses": 2, "quiescent": True}
CASES: tuple[Case, ...] = (
    ("cmd-auxiliary", False, {}, {"messages": 6}),
    ("cmd-auxiliary", False, {}, {"entities": 4, "destinations": "multicast"}),
    ("cmd-auxiliary", True, {}, {"messages": 5}),
    ("cmd", False, {}, {"messages": 5}),
    ("cmd", True, {}, {"messages": 5}),
    ("raynal-schiper-toueg", False, {}, {"messages": 6}),
    ("birman-schiper-stephenson", False, {}, {"messages": 4, "destinations": "multicast"}),
    ("delta-causal", False, {}, {"destinations": "unicast", "ticks": 2}),
    ("delta-causal", True, {}, {"destinations": "unicast", "ticks": 2}),
    ("delta-causal-full-tag", False, {}, {"destinations": "unicast", "ticks": 3}),
    ("delta-causal-fixed-wait", False, {}, {"entities": 2, "ticks": 4, "destinations": "unicast"}),
    ("st", False, UNCONFIRMED, {"script": "a{2,3} b{2,3}", **LOSSES}),
    ("st", True, TWICE, {"entities": 2, "script": "a{2}", **LOSS}),
    ("st", True, TWICE, {"script": "a{2,3} b{2} c{2} b{1}", "quiescent": True}),
    ("to", False, {}, {"entities": 2, "messages": 3, **LOSS}),
    ("to", True, {}, {"messages": 1, **LOSS}),
    ("dynamic-cluster", False, {"hasty": "2", "attempts": "2"}, {"script": "c{1,2,3}", **LOSSES}),
    ("dynamic-cluster", False, {"hasty": "2"}, {"script": "c{1,2,3} a{1,2,3}", **LOSS}),
    ("dynamic-cluster", False, {"hasty": "0,1"}, {"entities": 2, "messages": 6, "quiescent": True}),
)
"""Model, whether as written, parameters, bounds."""


def row(case: Case, found: Any, reduced: Any) -> str:
    """What the table says of a case."""
    name, as_written, parameters, bounds = case
    said = ", ".join(
        [*(f"{key} {value}" for key, value in parameters.items()), *(_word(*each) for each in bounds.items())]
    )
    counts = [" / ".join(f"{each.found.states:,}" for each in which.explored) for which in (found, reduced)]
    violated = len({finding.property for each in found.explored for finding in each.found.findings})
    form = ", as written" if as_written else ""
    reductions = ", ".join(reduced.explored[0].found.reductions)
    return f"| `{name}`{form} | {said} | {counts[0]} | {counts[1]} | {reductions} | {violated or 'none'} |"


def _word(name: str, value: object) -> str:
    if value is True:
        return name
    return f"`{value}`" if name == "script" else f"{name} {value}"


def both(case: Case) -> str:
    """The row of a case, when the two searches have been compared."""
    name, as_written, parameters, bounds = case
    plain = precedes.explore(name, as_written=as_written, parameters=parameters, plain=True, **bounds)
    reduced = precedes.explore(name, as_written=as_written, parameters=parameters, **bounds)
    for one, other in zip(plain.explored, reduced.explored, strict=True):
        assert one.found.complete
        assert other.found.complete
        assert other.found.reductions
        assert one.found.verdicts == other.found.verdicts
        lengths = [
            {finding.property: len(finding.behavior) for finding in each.found.findings}
            for each in (one, other)
        ]
        assert lengths[0] == lengths[1]
    return row(case, plain, reduced)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[1]} {case[2]} {case[3]}")
def test_the_reduced_search_finds_what_the_plain_one_does(case: Case) -> None:
    assert both(case) in PAGE.read_text(encoding="utf-8")


def test_the_table_has_a_row_for_each_case_and_no_other() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("{#reductions}")[2]
    assert len(re.findall(r"^\| `", table, re.MULTILINE)) == len(CASES)
