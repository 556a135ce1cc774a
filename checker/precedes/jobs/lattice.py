"""From the names of a library to the order of implications: equivalent names are merged, and only
implications that do not follow from others remain.

This module decides what to ask the solver, and which of its counterexamples to show.
`precedes.reports.lattice` prints the result. Nothing else imports networkx.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import Execution
from precedes.core.formula import Acyclic, Formula, Implies, Requirement, conjunction
from precedes.core.outcome import Limits
from precedes.core.traversal import walk
from precedes.core.verdict import FALSE, TRUE
from precedes.core.witness import Witness
from precedes.engines.reference import evaluate, explain
from precedes.engines.solver import Answer, Counterexample, Implication, Proved, as_scenario, implications
from precedes.engines.solver.features import features
from precedes.jobs.claims import options
from precedes.language.library import Library
from precedes.language.requirements import requirement
from precedes.language.syntax import DefinitionKind

Pair = tuple[str, str]
"""Whether the first implies the second."""


@dataclass(frozen=True, slots=True)
class Node:
    """Names that imply each other, services first; the first stands for all. `title` is what it says. Where it
    `is_bounded`, it speaks of happens-before or of cycles, for which proofs may be missed; a question may then
    be answered up to bounds.
    """

    names: tuple[str, ...]
    title: str | None
    is_service: bool
    is_bounded: bool

    @property
    def name(self) -> str:
        """The name by which pairs, edges and figures speak of it."""
        return self.names[0]


@dataclass(frozen=True, slots=True)
class Violation:
    """A name that an execution violates, and where it does."""

    requirement: Requirement
    witness: Witness | None


@dataclass(frozen=True, slots=True)
class Refutation:
    """An execution that refutes implications: of each of the `pairs` the first name holds on it and the second is
    `violated`. `whole` is that all that hold imply the first that does not. `scenario` states as much, but for
    what is known from the recorded clocks alone (`by_clocks`), which a scenario cannot have.
    """

    execution: Execution
    pairs: tuple[Pair, ...]
    violated: tuple[Violation, ...]
    whole: Violation
    by_clocks: tuple[str, ...]
    scenario: str


@dataclass(frozen=True, slots=True)
class Lattice:
    """The ordered set. `implied` has for every node all that it implies; `edges` are the pairs of these between
    which nothing stands. Every other pair is in the `pairs` of one refutation, or `open`.

    `apart` has the names that were not asked about, each with the reason.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Pair, ...]
    implied: Mapping[str, tuple[str, ...]]
    refutations: tuple[Refutation, ...]
    open: Mapping[Pair, Answer]
    apart: Mapping[str, str]


def lattice(library: Library, limits: Limits) -> Lattice:
    """Ask about every ordered pair of the names of a library. The limits are those of one question."""
    requirements, apart = askable(library)
    answers = implications(tuple(requirements.values()), options(limits))
    services = frozenset(
        name for name in requirements if library.definition(name).kind is DefinitionKind.SERVICE
    )
    titles = {name: library.definition(name).title for name in requirements}
    return ordered(requirements, answers, services, titles, apart)


def askable(library: Library) -> tuple[dict[str, Requirement], dict[str, str]]:
    """What every name of a library requires, services first; and the names that cannot be asked about, with the
    reason.
    """
    kinds = {name: library.definition(name).kind for name in library.names()}
    names = sorted(kinds, key=lambda name: kinds[name] is not DefinitionKind.SERVICE)
    asked: dict[str, Requirement] = {}
    apart: dict[str, str] = {}
    for name in names:
        try:
            required = requirement(name, library)
        except PrecedesError as error:
            apart[name] = error.diagnostics[0].message
            continue
        spoken_of = features(required.formula)
        if spoken_of.undetermined:
            apart[name] = f"undetermined: {spoken_of.undetermined[0]}"
        elif spoken_of.failure_line:
            apart[name] = (
                "about the marks || of a scenario, which can stand anywhere whatever is sent and delivered"
            )
        else:
            asked[name] = required
    return asked, apart


def ordered(
    requirements: Mapping[str, Requirement],
    answers: Sequence[Implication],
    services: frozenset[str],
    titles: Mapping[str, str | None],
    apart: Mapping[str, str],
) -> Lattice:
    """The ordered set of the solver's answers for all pairs. Nodes and edges follow the order of the
    requirements.
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(requirements)
    graph.add_edges_from((one.left, one.right) for one in answers if isinstance(one.answer, Proved))
    place = {name: number for number, name in enumerate(requirements)}
    condensed = nx.condensation(graph)
    names = {
        component: tuple(sorted(condensed.nodes[component]["members"], key=place.__getitem__))
        for component in condensed
    }
    first = {component: merged[0] for component, merged in names.items()}

    def pairs(edges: nx.DiGraph) -> list[Pair]:
        found = [(first[left], first[right]) for left, right in edges.edges]
        return sorted(found, key=lambda pair: (place[pair[0]], place[pair[1]]))

    reduced = pairs(nx.transitive_reduction(condensed))
    closure = pairs(nx.transitive_closure_dag(condensed))
    nodes = tuple(
        Node(
            merged,
            titles[merged[0]],
            bool(services & set(merged)),
            any(_is_bounded(requirements[name].formula) for name in merged),
        )
        for merged in sorted(names.values(), key=lambda merged: place[merged[0]])
    )
    represented = {node.name: requirements[node.name] for node in nodes}
    implied = {node.name: tuple(right for left, right in closure if left == node.name) for node in nodes}
    counterexamples = {
        (one.left, one.right): one.answer.execution
        for one in answers
        if isinstance(one.answer, Counterexample) and {one.left, one.right} <= represented.keys()
    }
    undecided = {
        (one.left, one.right): one.answer
        for one in answers
        if not isinstance(one.answer, Proved | Counterexample) and {one.left, one.right} <= represented.keys()
    }
    return Lattice(
        nodes, tuple(reduced), implied, _refutations(represented, counterexamples), undecided, apart
    )


def _is_bounded(formula: Formula) -> bool:
    return features(formula).causality or any(isinstance(node, Acyclic) for node in walk(formula))


def _refutations(
    requirements: Mapping[str, Requirement], counterexamples: Mapping[Pair, Execution]
) -> tuple[Refutation, ...]:
    """The different counterexamples, plainest first, without those whose pairs are all refuted by others that
    are as plain.
    """
    different: dict[str, Execution] = {}
    for execution in counterexamples.values():
        different.setdefault(as_scenario(execution, "refutation"), execution)
    executions = sorted(different.values(), key=_burden)
    burdens = [_burden(one) for one in executions]
    values = [{name: evaluate(r.formula, one) for name, r in requirements.items()} for one in executions]
    kept = list(range(len(executions)))

    def refuting(pair: Pair) -> list[int]:
        """The executions kept that refute a pair and are in no way less plain than the one it came with."""
        own = _burden(counterexamples[pair])
        return [
            number
            for number in kept
            if values[number][pair[0]] == TRUE
            and values[number][pair[1]] == FALSE
            and all(one <= other for one, other in zip(burdens[number], own, strict=True))
        ]

    for number in reversed(range(len(executions))):
        if all(refuting(pair) != [number] for pair in counterexamples):
            kept.remove(number)
    shown_by: dict[int, list[Pair]] = {number: [] for number in kept}
    for pair in counterexamples:
        shown_by[refuting(pair)[0]].append(pair)
    return tuple(
        _refutation(f"figure_{place}", executions[number], shown_by[number], requirements)
        for place, number in enumerate(kept, start=1)
    )


def _refutation(
    name: str, execution: Execution, pairs: Sequence[Pair], requirements: Mapping[str, Requirement]
) -> Refutation:
    named = {name for pair in pairs for name in pair}
    holds = [name for name in requirements if name in {left for left, _ in pairs}]
    violated = [name for name in requirements if name in {right for _, right in pairs}]
    by_clocks = tuple(
        name
        for name in requirements
        if name in named and features(requirements[name].formula).clocks and _has_clocks(execution)
    )
    scenario = as_scenario(
        execution,
        name,
        (
            *_statement("expect", [name for name in holds if name not in by_clocks], "and"),
            *_statement("expect not", [name for name in violated if name not in by_clocks], "or"),
        ),
    )
    premise = conjunction(*(requirements[name].formula for name in holds))
    whole = Requirement(
        f"{' and '.join(holds)} implies {violated[0]}", Implies(premise, requirements[violated[0]].formula)
    )
    return Refutation(
        execution,
        tuple(pairs),
        tuple(_violation(requirements[name], execution) for name in violated),
        _violation(whole, execution),
        by_clocks,
        scenario,
    )


def _violation(required: Requirement, execution: Execution) -> Violation:
    witnesses = explain(required, execution).witnesses
    return Violation(required, witnesses[0] if witnesses else None)


def _has_clocks(execution: Execution) -> bool:
    return any(event.clock is not None for history in execution.histories for event in history.events)


def _statement(opening: str, names: Sequence[str], word: str) -> tuple[str, ...]:
    """One statement about several names, in lines of at most a hundred characters."""
    if not names:
        return ()
    together = len(names) > 1 and word == "or"
    lines = [f"{opening} {'(' if together else ''}{names[0]}"]
    for name in names[1:]:
        more = f" {word} {name}"
        if len(lines[-1]) + len(more) > 100:
            lines.append("  ")
        lines[-1] += more
    return (*lines[:-1], lines[-1] + (")" if together else ""))


def _burden(execution: Execution) -> tuple[int, ...]:
    """What a reader has to take in: messages and entities; how often a message is not where it is addressed, or is
    where it is not; times, clocks and arrivals; the entries of all histories.
    """
    events = [(history.entity, event) for history in execution.histories for event in history.events]
    delivered = {(entity, event.message) for entity, event in events if event.kind is execution.delivery}
    addressed = {
        (entity, name)
        for name, message in execution.messages.items()
        if message.sender is not None
        for entity in (execution.entities if message.destinations is None else message.destinations)
    }
    chosen = {
        (entity, name)
        for name, message in execution.messages.items()
        for group in message.groups
        for entity in execution.groups[group]
    }
    to_nobody = sum(
        message.destinations == frozenset() and not message.groups for message in execution.messages.values()
    )
    return (
        len(execution.messages),
        len(execution.entities),
        len(addressed - delivered) + len(delivered - addressed - chosen) + to_nobody,
        sum(event.clock is not None or event.time is not None for _, event in events),
        len(events),
    )
