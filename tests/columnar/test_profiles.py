"""The profiles of brokers in the scan: every one as by definition, on random executions that carry what it asks for."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from precedes.core.execution import Execution
from precedes.core.transposition import batch_of
from precedes.core.verdict import Verdict, verdict
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.reference import evaluate
from precedes.language.library import standard_library
from precedes.language.profiles import profile, profiles
from precedes.logic.plan import plan
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import Shape, execution

LIBRARY = standard_library()
CARRIED = tuple(
    attribute for name in ("key", "session", "position") if (attribute := LIBRARY.attribute(name)) is not None
)
SHAPE = Shape(messages=7, attributes=CARRIED)
EVERYTHING = plan([profile(name) for name in profiles()])


def alike(seeds: range) -> list[list[Execution]]:
    """Complete executions in groups that one batch can hold; in every other one nothing odd occurs."""
    groups: dict[object, list[Execution]] = {}
    for seed in seeds:
        one = replace(
            execution(Seeded(seed), replace(SHAPE, odd=seed % 2 == 0, membership=seed % 3 == 0)),
            name=f"x{seed}",
            complete=True,
            epsilon=3,
        )
        groups.setdefault((one.delta, one.delivery, one.by_clocks), []).append(one)
    return list(groups.values())


def agree(seeds: range) -> Counter[tuple[str, Verdict]]:
    """How often each profile has each verdict, where the scan and the definition agree on all of them."""
    found: Counter[tuple[str, Verdict]] = Counter()
    for executions in alike(seeds):
        result = scan(batch_of(executions), EVERYTHING)
        for name in profiles():
            column = result.values[:, EVERYTHING.names.index(name)]
            formula = profile(name).formula
            for one, value in zip(executions, column, strict=True):
                meant = verdict(evaluate(formula, one))
                assert verdict(int(value)) is meant, (name, one.name)
                found[name, meant] += 1
    return found


def test_every_profile_is_judged_as_by_definition() -> None:
    found = agree(range(200))
    for name in profiles():
        assert found[name, Verdict.HOLDS], name
        assert found[name, Verdict.VIOLATED], name
    assert found["kafka_partition", Verdict.UNKNOWN]


@pytest.mark.slow
def test_on_many_executions() -> None:
    assert agree(range(300, 6_300)).total() == 6_000 * len(profiles())
