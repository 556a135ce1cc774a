"""Where a property is asked: as it says, and however it is written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest

from precedes.core.formula import Iff, Requirement
from precedes.core.mode import Mode
from precedes.core.verdict import Verdict
from precedes.engines.solver import Options, Proved, prove
from precedes.jobs.explore import Explored
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.protocol import OfEntity, OfPair, OfState, Protocol, Reliable
from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.reductions import Reduction
from precedes.protocol.exploration.result import Exploration
from precedes.protocol.exploration.stability import lasts
from precedes.reports.explore import scenario
from precedes.testing.choices import Seeded, pick
from precedes.testing.random_formulas import formula
from precedes_models.cmd.protocol import Cmd
from tests.command.running import precedes
from tests.protocol.toys import Alternating, InTurn, Plain, Tabled, Tosses, Waits
from tests.strategies.rewriting import rewritten, with_modes

TWO = Bounds(entities=2, messages=2)
TABLE = ((0, "deliver"), (1, "keep"), (2, "release")) * 3
TOYS: tuple[tuple[Protocol[Any], Bounds], ...] = (
    (Plain(), Bounds(entities=2, messages=2, destinations=Destinations.BROADCAST)),
    (Plain(given=Reliable(fifo=True)), TWO),
    (InTurn(mistake="at once"), Bounds(entities=3, messages=2)),
    (Tabled(arrivals=TABLE), Bounds(entities=2, messages=3)),
    (Tosses(), TWO),
    (Alternating(mistake="no timer"), Bounds(entities=2, messages=2, losses=1)),
    (Waits(), Bounds(entities=2, messages=1, ticks=1)),
)
NAMES = tuple(
    name for name in standard_library().names() if not standard_library().definition(name).parameters
)


def required(*texts: str) -> list[Requirement]:
    return [requirement(text, standard_library()) for text in texts]


def verdicts(protocol: Protocol[Any], bounds: Bounds, *texts: str) -> dict[str, Verdict]:
    found = explore(protocol, bounds, required(*texts), invariants=())
    return {text: found.of(each.name) for text, each in zip(texts, required(*texts), strict=True)}


# ---- however it is written ----

SAME = (
    "forall E, F: forall p in RL[E]: (forall q in RL[F]: q = p) or p in RL[F]",
    "forall E, F: forall p in RL[E]: (not exists q in RL[F]: not q = p) or p in RL[F]",
    "forall E, F: forall p in RL[E]: (exists q in RL[F]: not q = p) implies p in RL[F]",
)


@pytest.mark.parametrize(("mode", "expected"), [("", Verdict.VIOLATED), ("quiescent ", Verdict.HOLDS)])
def test_one_formula_in_three_ways(mode: str, expected: Verdict) -> None:
    texts = [mode + text for text in SAME]
    for one, other in combinations(required(*texts), 2):
        assert isinstance(prove(Iff(one.formula, other.formula), Options(timeout=30)), Proved)
    broadcast = Bounds(entities=3, messages=2, destinations=Destinations.BROADCAST)
    found = explore(Cmd(), broadcast, required(*texts), invariants=(), plain=True)
    assert found.states == 880
    assert {found.of(name) for name in found.asked} == {expected}


def differing(protocol: Protocol[Any], bounds: Bounds, seeds: range) -> list[int]:
    """The seeds of which the formula and the rewritten one do not get one verdict."""
    asked = []
    for seed in seeds:
        choices = Seeded(seed)
        one = with_modes(choices, formula(choices, 4))
        asked.append(Requirement(f"one {seed}", one))
        asked.append(Requirement(f"other {seed}", rewritten(choices, one, ranges=True)))
    found = explore(protocol, bounds, asked, invariants=(), plain=True)
    assert found.complete
    return [seed for seed in seeds if found.of(f"one {seed}") is not found.of(f"other {seed}")]


@pytest.mark.parametrize("toy", range(len(TOYS)))
def test_random_formulas_in_other_words(toy: int) -> None:
    assert differing(*TOYS[toy], range(60 * toy, 60 * (toy + 1))) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 2_000, 250))
@pytest.mark.parametrize("toy", range(len(TOYS)))
def test_more_random_formulas_in_other_words(toy: int, first: int) -> None:
    assert differing(*TOYS[toy], range(first, first + 250)) == []


def reworded(toy: int, seeds: range, names: Sequence[str] = NAMES) -> None:
    protocol, bounds = TOYS[toy]
    known = required(*names)
    asked = [Requirement(one.name, one.formula) for one in known]
    asked += [
        Requirement(f"{one.name} {seed}", rewritten(Seeded(seed), one.formula, ranges=True))
        for seed in seeds
        for one in known
    ]
    found = explore(protocol, bounds, asked, invariants=(), plain=True)
    for one in known:
        assert {found.of(f"{one.name} {seed}") for seed in seeds} == {found.of(one.name)}, one.name


@pytest.mark.parametrize("toy", range(len(TOYS)))
def test_names_of_the_library_in_other_words(toy: int) -> None:
    # A fourth of the names with every fourth toy; all of them with every toy are among the slow tests.
    reworded(toy, range(toy, toy + 1), NAMES[toy % 4 :: 4])


@pytest.mark.slow
@pytest.mark.parametrize("toy", range(len(TOYS)))
def test_names_of_the_library_in_more_words(toy: int) -> None:
    reworded(toy, range(20))


def test_the_toys_tell_modes_apart() -> None:
    """Else the tests above would find nothing."""
    differ = set()
    for toy, (protocol, bounds) in enumerate(TOYS):
        for name in ("agreement", "validity", "selectively_information_preserving"):
            found = verdicts(protocol, bounds, f"always {name}", name)
            if found[f"always {name}"] is Verdict.VIOLATED and found[name] is Verdict.HOLDS:
                differ.add(toy)
    assert len(differ) >= 4


# ---- what is left out changes no verdict ----


def broken(found: Exploration) -> dict[str, int]:
    return {finding.property: len(finding.behavior) for finding in found.findings}


def reduced_like_plain(seeds: range) -> int:
    """How many formulas were searched with fewer states, and found violated as in every state, and as soon."""
    reduced = 0
    for seed in seeds:
        choices = Seeded(seed)
        one = with_modes(choices, formula(choices, 4), 25)
        if not lasts(one):
            continue
        toy = pick(choices, (Plain(), InTurn(), InTurn(mistake="at once"), Tabled(arrivals=TABLE)))
        bounds = Bounds(entities=2, messages=2, destinations=pick(choices, tuple(Destinations)))
        asked = [Requirement("it", one)]
        found = explore(toy, bounds, asked, invariants=())
        plain = explore(toy, bounds, asked, invariants=(), plain=True)
        assert broken(found) == broken(plain), (seed, one)
        assert found.open.keys() == plain.open.keys(), (seed, one)
        reduced += Reduction.ONE_BY_ONE.value in found.reductions and found.states < plain.states
    return reduced


def test_reductions_of_random_formulas() -> None:
    assert reduced_like_plain(range(150)) > 10


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1_000, 5_000, 500))
def test_reductions_of_more_random_formulas(first: int) -> None:
    assert reduced_like_plain(range(first, first + 500)) > 30


# ---- what is said ----

OVERTAKING = Bounds(entities=2, messages=2, destinations=Destinations.BROADCAST)


def test_a_mode_outside_counts_for_what_is_inside() -> None:
    found = verdicts(Plain(), OVERTAKING, "agreement", "always agreement", "quiescent always agreement")
    assert list(found.values()) == [Verdict.HOLDS, Verdict.VIOLATED, Verdict.HOLDS]
    found = verdicts(Plain(), OVERTAKING, "always quiescent agreement", "not not agreement")
    assert list(found.values()) == [Verdict.VIOLATED, Verdict.HOLDS]


def test_a_conjunction_asks_each_part_where_it_says() -> None:
    sized = "forall i: size(RL[i]) = 2 or size(SL[i]) < 2"
    text = f"no_duplication and quiescent ({sized})"
    found = explore(Plain(), OVERTAKING, required(text, "TO", "agreement", "causal_order"), invariants=())
    assert found.modes[required(text)[0].name] is Mode.MIXED
    # Of a service each part is reported.
    assert found.modes["information_preserving"] is Mode.QUIESCENT
    assert found.modes["order_equivalent"] is Mode.ALWAYS
    assert found.modes["causal_order"] is Mode.ALWAYS
    assert found.modes["no deadlock"] is Mode.QUIESCENT


def test_what_is_partly_quiescent_is_shown_where_it_is_first_violated() -> None:
    """In quiescence after one move, on the way only after more: the shorter behavior is the one that is shown."""
    early = "(quiescent forall p: not sent(p)) and forall i: size(RL[i]) < 2"
    found = explore(Plain(), OVERTAKING, required(early), invariants=(), plain=True)
    (finding,) = found.findings
    assert finding.quiescent
    assert len(finding.behavior) - 1 == 3  # one message, and its two deliveries
    late = "(quiescent forall p: not sent(p)) and forall i: size(RL[i]) < 1"
    (finding,) = explore(Plain(), OVERTAKING, required(late), invariants=(), plain=True).findings
    assert not finding.quiescent
    assert len(finding.behavior) - 1 == 2


def test_a_violation_on_the_way_that_a_completed_execution_has_not() -> None:
    text = "(quiescent forall p: not sent(p)) implies forall p: not sent(p)"
    found = explore(Plain(), OVERTAKING, required(text), invariants=(), plain=True)
    (finding,) = found.findings
    assert not finding.quiescent
    assert "is violated while something is in flight; in a scenario nothing is" in scenario(
        Explored(Plain(), OVERTAKING, found), finding
    )


def test_everything_in_quiescence() -> None:
    pair = OfPair("pair", "", lambda protocol, here, state, there, other: True)
    whole = OfState("whole", "", lambda protocol, situation: not situation.under_way)
    found = explore(
        Plain(), OVERTAKING, required("always agreement"), invariants=(pair, whole), quiescent=True
    )
    assert {found.modes[name] for name in ("always agreement", "pair", "whole")} == {Mode.QUIESCENT}
    assert found.verdict is Verdict.HOLDS
    found = explore(Plain(), OVERTAKING, required("always agreement"), invariants=(pair, whole))
    assert {found.modes[name] for name in ("always agreement", "pair", "whole")} == {Mode.ALWAYS}
    assert {finding.property for finding in found.findings} == {"always agreement", "whole"}


@pytest.mark.parametrize("plain", [False, True])
def test_invariants_of_entities_have_a_mode(plain: bool) -> None:
    """What comes too early is held back, and nothing is in the end."""

    def nothing_is_held(protocol: Any, here: Any, state: Any) -> bool | None:
        return not state.held if any(state.delivered) or state.held else None

    asked = (
        OfEntity("always", "", nothing_is_held),
        OfEntity("in the end", "", nothing_is_held, quiescent=True),
    )
    found = explore(InTurn(), Bounds(entities=3, messages=3), (), invariants=asked, plain=plain)
    assert (found.modes["always"], found.modes["in the end"]) == (Mode.ALWAYS, Mode.QUIESCENT)
    assert (found.of("always"), found.of("in the end")) == (Verdict.VIOLATED, Verdict.HOLDS)
    assert bool(found.reductions) is not plain


def test_the_command_says_the_mode_of_each_property() -> None:
    arguments = ("explore", "cmd", "--messages", 1, "--destinations", "broadcast")
    asked = ("--require", "agreement", "--require", "quiescent prefix_order", "--require", "always agreement")
    said = precedes(*arguments, *asked)
    assert "  quiescent prefix_order  quiescent  " in said.out
    assert "  agreement               quiescent  holds" in said.out
    assert "  always agreement        always     violated  after" in said.out
    assert ", with something in flight" in said.out
    told = json.loads(precedes(*arguments, *asked, "--format", "json").out)["explorations"][0]
    assert told["properties"]["always agreement"]["mode"] == "always"
    assert told["properties"]["agreement"]["mode"] == "quiescent"
    (violation,) = told["violations"]
    assert (violation["mode"], violation["quiescent"]) == ("always", False)
