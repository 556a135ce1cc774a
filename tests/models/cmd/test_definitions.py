"""Definitions 4, 6 and 7 of the CMD paper, and how many counts the method of Birman, Schiper and Stephenson carries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations

import pytest

from precedes.core.verdict import Verdict
from precedes.protocol import Here, Message, Step, Transmit
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.explorer import explore
from precedes_models.birman_schiper_stephenson import TAGS, BirmanSchiperStephenson, tags
from precedes_models.cmd.auxiliary import DEFINITION_4, DEFINITION_6, Auxiliary, Reading, Record
from precedes_models.cmd.protocol import CONFIRMED, Cmd

FOUR = Bounds(entities=3, messages=4)
SMALL = Bounds(entities=2, messages=2)
SMALL_THREE = Bounds(entities=3, messages=2)


@pytest.mark.parametrize("model", [Auxiliary, Cmd])
def test_the_clock_of_a_delivery_is_the_supremum(model: type[Auxiliary]) -> None:
    assert explore(model(), FOUR, (), invariants=(DEFINITION_4,)).of(DEFINITION_4.name) is Verdict.HOLDS
    literal = model(readings=frozenset({Reading.QUEUE_JOINS_V_OF_M}))
    found = explore(literal, SMALL, (), invariants=(DEFINITION_4,))
    assert found.of(DEFINITION_4.name) is Verdict.VIOLATED


@dataclass(frozen=True)
class NamesAnotherReceiver(Auxiliary):
    """The s-record of a send names the entity after the receiver."""

    symmetric = False

    def recorded(self, records: frozenset[Record], new: frozenset[Record]) -> frozenset[Record]:
        return records | {replace(record, receiver=(record.receiver + 1) % 3) for record in new}


@dataclass(frozen=True)
class NamesAnotherTime(Auxiliary):
    """The s-record of a send names the event before it."""

    def recorded(self, records: frozenset[Record], new: frozenset[Record]) -> frozenset[Record]:
        return records | {replace(record, time=record.time - 1) for record in new}


@pytest.mark.parametrize("bug", [NamesAnotherReceiver, NamesAnotherTime])
def test_an_s_record_of_a_send_that_does_not_exist_is_seen(bug: type[Auxiliary]) -> None:
    found = explore(bug(), SMALL_THREE, (), invariants=(DEFINITION_6,))
    (finding,) = [each for each in found.findings if each.property == DEFINITION_6.name]
    # The first move is how it began.
    assert len(finding.behavior) - 1 == 1


@pytest.mark.parametrize("model", [Auxiliary, Cmd])
@pytest.mark.parametrize("as_written", [False, True])
def test_every_s_record_is_of_a_send(model: type[Auxiliary], as_written: bool) -> None:
    """Also where the Queue leaves a wrong vector time: the send exists, whatever V_j knows of it."""
    found = explore(model(as_written=as_written), FOUR, (), invariants=(DEFINITION_6,))
    assert found.of(DEFINITION_6.name) is Verdict.HOLDS
    assert found.exercised[DEFINITION_6.name]


def test_what_rules_2_and_3_remove_is_confirmed() -> None:
    found = explore(Cmd(confirmations=True), FOUR, (), invariants=(CONFIRMED,))
    assert found.of(CONFIRMED.name) is Verdict.HOLDS


@pytest.mark.parametrize("reading", [Reading.RULE_3_AFTER_UPDATE, Reading.RULE_1_WITH_EQUALITY])
def test_to_the_letter_what_is_removed_need_not_be_confirmed(reading: Reading) -> None:
    literal = Cmd(confirmations=True, readings=frozenset({reading}))
    found = explore(literal, FOUR, (), invariants=(CONFIRMED,))
    assert found.of(CONFIRMED.name) is Verdict.VIOLATED


@pytest.mark.parametrize(
    "bounds", [replace(FOUR, messages=3), pytest.param(FOUR, marks=pytest.mark.slow)], ids=["three", "four"]
)
def test_carrying_confirmations_along_changes_nothing_else(bounds: Bounds) -> None:
    assert explore(Cmd(confirmations=True), bounds).verdicts == explore(Cmd(), bounds).verdicts


def test_between_pairs_there_are_n_times_n_minus_1_counts_at_most() -> None:
    found = explore(BirmanSchiperStephenson(), FOUR, (), invariants=(TAGS,))
    assert found.of(TAGS.name) is Verdict.HOLDS


@pytest.mark.parametrize("entities", [2, 3, 5])
def test_and_so_many_are_carried(entities: int) -> None:
    """Everybody sends to everybody, each when it has delivered what was sent to it; the last message tells of all."""
    protocol = BirmanSchiperStephenson()
    here = [Here(k, entities) for k in range(entities)]
    states = [protocol.start(at) for at in here]
    sent = [0] * entities
    sizes = []
    for _ in range(2):
        for sender, receiver in permutations(range(entities), 2):
            sent[sender] += 1
            message = Message(sender, sent[sender], frozenset({receiver}))
            step = protocol.send(here[sender], states[sender], message)
            assert isinstance(step, Step)
            (transmit,) = step.actions
            assert isinstance(transmit, Transmit)
            sizes.append(tags(transmit.packet))
            states[sender] = step.state
            states[receiver] = protocol.arrive(
                here[receiver], states[receiver], transmit.packet, sender
            ).state
    assert max(sizes) == sizes[-1] == entities * (entities - 1)
