"""What a drawing points out: the places of a violation, the causal chain that leads there, and the sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from precedes.core.execution import Execution
from precedes.core.formula import Requirement
from precedes.core.verdict import Verdict, verdict
from precedes.core.witness import Explanation, Witness
from precedes.engines.reference import explain
from precedes.reports.places import Place, chain, places
from precedes.reports.prose.sentence import sentence


@dataclass(frozen=True, slots=True)
class Marks:
    """`told` is about `places`. `chain` has the events of a causal chain in their order; where it is of several chains,
    one stands behind the other. `loop` has the events that go on for ever, the last ones of their entities.
    """

    places: frozenset[Place] = frozenset()
    chain: tuple[Place, ...] = ()
    told: str = ""
    loop: frozenset[Place] = frozenset()

    @property
    def pointed_out(self) -> frozenset[Place]:
        """What a drawing must show."""
        return self.places | self.loop

    @property
    def messages(self) -> frozenset[str]:
        """The messages, or views, that they are about."""
        return frozenset(name for _, _, name in (*self.pointed_out, *self.chain))

    @property
    def entities(self) -> frozenset[str]:
        """The entities that they are about."""
        return frozenset(entity for entity, _, _ in (*self.pointed_out, *self.chain))


NOTHING: Final = Marks()


def marks_of(requirement: Requirement, execution: Execution, witness: Witness | None) -> Marks:
    """The marks of a witness that a requirement is violated on an execution."""
    if witness is None:
        return Marks(told=f"{requirement.name} is violated")
    told = sentence(requirement, execution, witness)
    if witness.part == requirement.name or not told:
        told = f"{requirement.name}: {told}" if told else f"{requirement.name} is violated"
    return Marks(places(execution, witness), chain(execution, witness), told)


def violation_in(explanation: Explanation) -> Witness | None:
    """The smallest witness of a violation; None where there is none."""
    if verdict(explanation.value) is not Verdict.VIOLATED or not explanation.witnesses:
        return None
    return explanation.witnesses[0]


def marked(requirement: Requirement, execution: Execution) -> tuple[Execution, Marks] | None:
    """What violates a requirement, and on which execution; None where nothing does, or nothing shows it."""
    explanation = explain(requirement, execution)
    witness = violation_in(explanation)
    if witness is None:
        return None
    return explanation.execution, marks_of(requirement, explanation.execution, witness)
