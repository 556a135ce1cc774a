"""Which faults each adj notices, misses, misnames or reports falsely, in one round and after maxfail, one by one.

The golden files hold a line for each fault, and for pairs of faults how many come to which outcome, with the pairs
themselves where a failure is missed, somebody is named or removed falsely, or a member is left without the data. They
are written anew by `UPDATE_GOLDEN=1`, to be read before they are kept.
"""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import pytest

from precedes_models.high_integrity.faults import (
    Broken,
    Corrupted,
    Dead,
    Dies,
    Fault,
    Lost,
    Phase,
    Stale,
    faults,
)
from precedes_models.high_integrity.neighbors import NearFar, Neighbourhood, Ring, Uniform
from precedes_models.high_integrity.outcomes import first_round, to_the_end
from precedes_models.high_integrity.protocol import HighIntegrity
from tests.models.high_integrity.outcomes import (
    Memory,
    line,
    of_first_round,
    orbits,
    pairs,
    renamed,
    share,
    singles,
)

GOLDEN = Path(__file__).with_name("golden")


def golden(name: str, lines: list[str]) -> None:
    path = GOLDEN / f"{name}.txt"
    text = "\n".join(lines) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def bad(outcome: str) -> bool:
    return any(word in outcome for word in ("unnoticed", "misnamed", "falsely", "left"))


@pytest.mark.parametrize("as_written", [True, False], ids=["as-written", "repaired"])
@pytest.mark.parametrize(
    ("name", "adj"),
    [
        ("ring", Ring()),
        ("ring-two", Ring(2)),
        ("uniform", Uniform()),
        pytest.param("uniform-itself", Uniform(itself=True), marks=pytest.mark.slow),
        ("near-far", NearFar()),
    ],
)
def test_each_fault_alone(name: str, adj: Neighbourhood, as_written: bool) -> None:
    protocol = HighIntegrity(as_written=as_written, adj=adj)
    mode = "as-written" if as_written else "repaired"
    drawn = not isinstance(adj, Ring)
    # Three nodes where neighbors are drawn: from four on the draws of all rounds together take minutes.
    golden(
        f"{name}-{mode}-one",
        list(singles(protocol, 3 if drawn else 5, faults(3 if drawn else 5, drawn=True))),
    )


@pytest.mark.parametrize("as_written", [True, False], ids=["as-written", "repaired"])
def test_two_faults_in_the_ring(as_written: bool) -> None:
    protocol = HighIntegrity(as_written=as_written)
    mode = "as-written" if as_written else "repaired"
    golden(f"ring-{mode}-two", list(pairs(protocol, 4, faults(4, drawn=False), bad)))


@pytest.mark.slow
@pytest.mark.parametrize("as_written", [True, False], ids=["as-written", "repaired"])
@pytest.mark.parametrize(
    ("name", "adj", "entities"),
    [("ring-two", Ring(2), 4), ("uniform", Uniform(), 3)],
)
def test_two_faults(name: str, adj: Neighbourhood, entities: int, as_written: bool) -> None:
    protocol = HighIntegrity(as_written=as_written, adj=adj)
    mode = "as-written" if as_written else "repaired"
    golden(f"{name}-{mode}-two", list(pairs(protocol, entities, faults(entities, drawn=True), bad)))


@pytest.mark.slow
@pytest.mark.parametrize("as_written", [True, False], ids=["as-written", "repaired"])
@pytest.mark.parametrize("several", [1, 2])
def test_two_faults_in_a_ring_of_five(several: int, as_written: bool) -> None:
    protocol = HighIntegrity(as_written=as_written, adj=Ring(several))
    mode = "as-written" if as_written else "repaired"
    given = faults(5, drawn=several > 1)
    golden(f"ring-{several}-of-five-{mode}-two", list(pairs(protocol, 5, given, lambda outcome: False)))


@pytest.mark.slow
@pytest.mark.parametrize("entities", [4, 5])
def test_one_and_two_faults_of_a_kind_where_neighbours_are_drawn(entities: int) -> None:
    """The first round, one of each class of faults that a renaming of the nodes makes equal."""
    protocol = HighIntegrity(adj=Uniform())
    memory: Memory = {}
    lines = []
    given = list(faults(entities, drawn=True))
    for size in (1, 2):
        for some, count in orbits(given, entities, size).items():
            if len({_kind(fault) for fault in some}) == 1:
                outcome = of_first_round(first_round(protocol, entities, some, memory))
                lines.append(f"{count} x {' + '.join(map(str, some))}: {outcome}")
    golden(f"uniform-of-{entities}", lines)


def _kind(fault: Fault) -> object:
    return (type(fault), fault.kind) if isinstance(fault, Lost) else type(fault)


def test_a_renaming_changes_nothing_where_neighbours_are_drawn() -> None:
    """What the classes of faults rest on."""
    protocol = HighIntegrity(adj=Uniform())
    memory: Memory = {}
    for fault in faults(3, drawn=True):
        other = renamed(fault, (0, 2, 1))
        assert line(protocol, 3, (fault,), memory) == line(protocol, 3, (other,), memory)


def test_classes_hold_every_fault_once() -> None:
    given = list(faults(4, drawn=True))
    assert orbits(given, 4, 1).total() == len(given)
    assert orbits(given, 4, 2).total() == len(given) * (len(given) - 1) // 2


# ------------------------------------------------------------------------------- what the paper says, one by one


def names(protocol: HighIntegrity, entities: int, *given: Fault) -> frozenset[int]:
    """Who is named in the first round, where that is certain."""
    (seen,) = first_round(protocol, entities, given, {})
    return seen.named


def test_of_a_run_the_first_is_named_and_not_the_last() -> None:
    """Section 3.4.1 has node k + l report k + l - 1; adj(i) = i + 1 has node k - 1 report k."""
    for k in (1, 2, 3):
        for length in range(1, 6 - k):
            run = [Dead(node) for node in range(k, k + length)]
            assert names(HighIntegrity(), 6, *run) == {k}


def test_a_broken_link_is_reported_from_one_side_as_the_failure_of_the_other() -> None:
    assert names(HighIntegrity(), 4, Broken(1, 2)) == {2}


def test_with_two_neighbours_a_run_of_two_is_named_whole() -> None:
    assert names(HighIntegrity(adj=Ring(2)), 6, Dead(2), Dead(3)) == {2, 3}
    assert names(HighIntegrity(adj=Ring(2)), 6, Dead(2), Dead(3), Dead(4)) == {2, 3}


def test_one_neighbour_misnames_and_a_majority_does_not() -> None:
    """A node with a wrong copy takes its neighbor's for the wrong one; by majority it names itself."""
    assert names(HighIntegrity(), 5, Corrupted(2)) == {2, 3}
    assert names(HighIntegrity(adj=Ring(2)), 5, Corrupted(2)) == {2}
    # Two wrong copies side by side, both stale: they confirm each other, and outvote nobody but the node between.
    assert names(HighIntegrity(), 5, Stale(2), Stale(3)) == {2, 4}
    assert names(HighIntegrity(), 5, Corrupted(2), Corrupted(3)) == {2, 3, 4}


@pytest.mark.parametrize("digest", ["sha256", "sha1", "md5"])
def test_the_hash_is_a_parameter(digest: str) -> None:
    assert names(HighIntegrity(digest=digest), 4, Corrupted(2)) == {2, 3}
    assert names(HighIntegrity(digest=digest), 4) == frozenset()


def test_node_0_dead_from_the_beginning_is_silence() -> None:
    assert not first_round(HighIntegrity(), 4, (Dead(0),), {})
    assert not to_the_end(HighIntegrity(), 4, (Dead(0),), {})


def test_node_0_that_stops_after_sending_is_noticed_by_the_repaired_protocol_alone() -> None:
    for as_written in (True, False):
        ends = to_the_end(HighIntegrity(as_written=as_written), 4, (Dies(0, Phase.DATA),), {})
        assert share(ends, lambda end: end.alarm) == (0 if as_written else 1)


def test_a_dead_node_is_removed_by_the_repaired_protocol_alone() -> None:
    for as_written in (True, False):
        for node in (1, 2, 3):
            (end,) = to_the_end(HighIntegrity(as_written=as_written, maxfail=2), 4, (Dead(node),), {})
            assert end.removed == (frozenset() if as_written else {node})
            # As written there is one repetition more than maxfail.
            assert len(end.rounds) == (4 if as_written else 3)
            assert end.detection_delay == 1


def test_an_innocent_node_goes_for_one_lost_answer() -> None:
    given = (Dead(1), Lost(Phase.ANSWER, 3, 2))
    (written,) = to_the_end(HighIntegrity(as_written=True), 4, given, {})
    assert (written.removed, written.removed_falsely, written.lacking) == ({3}, {3}, {1})
    (repaired,) = to_the_end(HighIntegrity(), 4, given, {})
    assert (repaired.removed, repaired.removed_falsely, repaired.lacking) == ({1}, frozenset(), frozenset())


def test_no_single_fault_makes_the_repaired_protocol_remove_an_innocent_or_leave_a_failure() -> None:
    for adj in (Ring(), Ring(2)):
        memory: Memory = {}
        for fault in faults(4, drawn=True):
            for end in to_the_end(HighIntegrity(adj=adj), 4, (fault,), memory):
                assert not end.removed_falsely, fault
                assert not end.lacking, fault


def test_delay_has_the_distribution_of_independent_rounds_until_it_is_noticed() -> None:
    """Where neighbors are drawn a dead node is noticed in the first round with probability 3/4, n being 3."""
    ends = to_the_end(HighIntegrity(adj=Uniform(), maxfail=2), 3, (Dead(2),), {})
    delays = {delay: share(ends, lambda end, d=delay: end.detection_delay == d) for delay in (None, 1, 2, 3)}
    assert delays == {None: Fraction(1, 4), 1: Fraction(3, 4), 2: Fraction(0), 3: Fraction(0)}
