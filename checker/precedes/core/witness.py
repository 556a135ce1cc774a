"""Why a requirement has its value on an execution: the facts that decide it, and its witnesses."""

from __future__ import annotations

from dataclasses import dataclass

from precedes.core.execution import Execution
from precedes.core.formula import Formula

Binding = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Fact:
    """A closed statement about the execution and its value.

    `context` where it is not itself what fails. A false `Exists` has, as `instances`, one fact at least for
    each thing in its range.
    """

    formula: Formula
    value: int
    context: bool = False
    instances: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Witness:
    """One way in which a requirement fails (or, where it is unknown, one place at which it is not decided).

    `bindings` are the variables down to the failing point with their values; of a cycle, its messages in
    order, numbered. `messages` and `entities` are all that it concerns, chains of happens-before included, in
    order of first appearance and in the cluster's order. `part` is the named requirement that fails: the one
    asked for or a part of it.
    """

    bindings: tuple[Binding, ...]
    messages: tuple[str, ...]
    entities: tuple[str, ...]
    part: str
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """The value of a requirement on an execution, and why.

    `witnesses` are those of a violation, smallest first, `undecided` the places at which an unknown verdict
    is open. `vacuous`: it holds, but no quantifier over messages met one; of what speaks of groups or views
    and of no messages, none met one of these. `execution` is the one the witnesses are about: the one judged, or
    an interleaving of it where every interleaving fails.
    """

    value: int
    reasons: tuple[str, ...]
    witnesses: tuple[Witness, ...]
    vacuous: bool
    undecided: tuple[Witness, ...]
    execution: Execution
