"""The offenders that the columns give are those of the definition."""

from __future__ import annotations

from dataclasses import replace

import pytest

from precedes.core import formula as f
from precedes.core.execution import Execution
from precedes.core.transposition import batch_of
from precedes.core.verdict import FALSE
from precedes.engines.columnar.offenders import Offenders, OffenderSearch
from precedes.engines.reference import evaluate
from precedes.engines.reference.offenders import offenders
from precedes.jobs.infer import proved
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.contents import groups_in, views_in
from precedes.logic.recognition import POSITION
from precedes.logic.universals import clauses
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import TRACES, execution
from precedes.testing.random_formulas import formula

LIBRARY = standard_library()
LEAVES = {
    leaf.name: leaf.formula
    for names in proved().equal.values()
    for leaf in (requirement(name, LIBRARY) for name in names)
    if not leaf.parts
}
COMPILED = ("order_equivalent", "causal_order")
ALL = 10_000
RECORDED = replace(TRACES, attributes=(POSITION,), acknowledgements=True)
"""With all that names of the library ask for."""

Found = set[tuple[frozenset[str], frozenset[str]]]


def defined(one: f.Formula, given: Execution) -> tuple[Found, list[int]]:
    """What is about entities and messages, and how long the cycles are, of which there may be several shortest."""
    found = offenders(one, given)
    cyclic = any(isinstance(clause.body, f.Acyclic) for clause in clauses(one, complete=True))
    if cyclic:
        return set(), sorted(len(each.messages) for each in found)
    return {(frozenset(each.entities), frozenset(each.messages)) for each in found}, []


def compare(one: f.Formula, given: Execution, found: Offenders, seed: object) -> None:
    expected, lengths = defined(one, given)
    if lengths:
        assert sorted(len(each.messages) for each in found.first) == lengths, seed
    else:
        about = {(frozenset(each.entities), frozenset(each.messages)) for each in found.first}
        assert about == expected, seed
        assert found.count == len(expected), seed
    # On an incomplete execution what was not recorded may decide.
    assert found.exact == (found.count > 0), seed
    assert found.count > 0 or not given.complete, seed


@pytest.mark.parametrize("jit", [pytest.param(False, marks=pytest.mark.slow), None, True])
def test_of_every_name_of_the_library(jit: bool | None) -> None:
    # To compile takes seconds for each name.
    asked = {name: LEAVES[name] for name in COMPILED} if jit else LEAVES
    compared: dict[str, int] = dict.fromkeys(asked, 0)
    for start in range(0, 240 if jit is False else 24, 8):
        # One batch has one delta, one way to count deliveries, and clocks that are evidence or not.
        given = [execution(Seeded(seed), RECORDED) for seed in range(start, start + 8)]
        groups: dict[object, list[Execution]] = {}
        for each in given:
            settings = (each.delta, each.epsilon, each.complete, each.delivery, each.by_clocks)
            groups.setdefault(settings, []).append(each)
        for alike in groups.values():
            search = OffenderSearch(batch_of(alike), jit)
            for x, each in enumerate(alike):
                for name, one in asked.items():
                    if evaluate(one, each) == FALSE:
                        compared[name] += 1
                        compare(one, each, search.of(one, x, ALL), (name, each))
    if jit is False:
        # Offenders of groups and views are compared in `test_memberships`.
        of_members = {name for name, one in LEAVES.items() if views_in(one) or groups_in(one)}
        assert {name for name, times in compared.items() if not times} <= {
            "timely_delivery",
            "delta_causal_order",
            *of_members,
        }


@pytest.mark.parametrize("seeds", [range(400), pytest.param(range(400, 2500), marks=pytest.mark.slow)])
def test_of_random_formulas(seeds: range) -> None:
    compared = several = 0
    for seed in seeds:
        choices = Seeded(seed)
        one, given = formula(choices), execution(choices, TRACES)
        if evaluate(one, given) == FALSE:
            found = OffenderSearch(batch_of([given]), jit=False).of(one, 0, ALL)
            if not found.exact:
                continue
            compare(one, given, found, seed)
            compared += 1
            several += found.count > 1
    assert compared > len(seeds) / 5
    assert several > len(seeds) / 25
