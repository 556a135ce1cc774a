"""The scenarios of specs/papers/high-integrity.prec: confirmed; found in the model as written; gone in the repaired."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from precedes.cli.main import cli
from precedes.core.execution import EventKind, Execution
from precedes.language.library import standard_library
from precedes.language.loader import compile_text
from precedes_models.high_integrity.faults import Broken, Dead, Dies, Fault, Lost, Phase
from precedes_models.high_integrity.neighbors import RING, Neighbourhood, Ring, choices
from precedes_models.high_integrity.outcomes import End, to_the_end
from precedes_models.high_integrity.protocol import HighIntegrity

SCENARIOS = Path(__file__).parents[3] / "specs" / "papers" / "high-integrity.prec"


def test_the_scenarios_are_confirmed() -> None:
    result = CliRunner().invoke(cli, ["check", str(SCENARIOS)])
    assert result.exit_code == 0, result.output
    assert "21 as stated" in result.output


def test_what_numbers_show_of_losses_is_as_stated() -> None:
    """Section 3.1."""
    claims = SCENARIOS.with_name("high-integrity-claims.prec")
    result = CliRunner().invoke(cli, ["check", str(claims)])
    assert result.exit_code == 0, result.output
    assert "9 as stated" in result.output


@dataclass(frozen=True)
class Case:
    """Faults that a scenario shows, and the ends as written and repaired: who is removed, who is left without the data,
    whether an alarm is raised, in how many rounds."""

    entities: int
    faults: tuple[Fault, ...]
    written: tuple[set[int], set[int], bool, int]
    repaired: tuple[set[int], set[int], bool, int]
    adj: Neighbourhood = RING


CASES = {
    "dead_stays": Case(3, (Dead(2),), (set(), {2}, False, 3), ({2}, set(), False, 2)),
    "unasked_stays": Case(3, (Dead(1),), (set(), {1}, False, 3), ({1}, set(), False, 2)),
    "innocent_goes": Case(
        4, (Dead(1), Lost(Phase.ANSWER, 3, 2)), ({3}, {1}, False, 3), ({1}, set(), False, 2)
    ),
    "broken_link": Case(3, (Broken(1, 2),), (set(), set(), False, 3), (set(), set(), False, 2)),
    "lost_request": Case(
        3,
        (Lost(Phase.DATA, 0, 2), Lost(Phase.REQUEST, 1, 0)),
        (set(), {2}, False, 1),
        (set(), set(), False, 2),
    ),
    "origin_stops": Case(3, (Dies(0, Phase.DATA),), (set(), set(), False, 1), (set(), set(), True, 1)),
    "report_only": Case(
        4, (Lost(Phase.DATA, 0, 3),), (set(), {3}, False, 1), (set(), set(), False, 2), Ring(2)
    ),
    # Both forms name the first of a run; the repaired one removes it, and the second one's turn is the next message.
    "run_of_two": Case(5, (Dead(2), Dead(3)), (set(), {2, 3}, False, 3), ({2}, {3}, False, 2)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_model_does_what_the_scenario_shows(name: str) -> None:
    assert re.search(rf"^scenario {name}\s", SCENARIOS.read_text(encoding="utf-8"), re.MULTILINE)
    case = CASES[name]
    for as_written, expected in ((True, case.written), (False, case.repaired)):
        protocol = HighIntegrity(as_written=as_written, adj=case.adj)
        (end,) = to_the_end(protocol, case.entities, case.faults, {})
        assert _summary(end) == expected


@pytest.mark.parametrize("name", CASES)
def test_the_logs_of_a_scenario_are_those_of_the_model(name: str) -> None:
    """Round by round: who gets the data and who is reported; then who has stopped and who is removed."""
    case, shown = CASES[name], scenario(name)
    (end,) = to_the_end(HighIntegrity(as_written=True, adj=case.adj), case.entities, case.faults, {})
    nodes = {entity: node for node, entity in enumerate(shown.entities)}
    logs = [history.events for history in shown.histories]
    rounds = [event.message for event in logs[0] if event.kind is EventKind.SEND]
    assert len(rounds) == len(end.rounds)
    ((_, asked),) = choices(case.adj, 0, range(case.entities))
    for data, reports, seen in zip(rounds, _reported(shown), end.rounds, strict=True):
        got = {node for node, log in enumerate(logs) if any(event.message == data for event in log)}
        assert got == set(range(case.entities)) - seen.lacking
        # What node 0 finds by itself is in no log.
        assert reports <= seen.named <= reports | asked
    stopped = {node for node, log in enumerate(logs) if any(e.kind is EventKind.CRASH for e in log)}
    assert stopped == end.rounds[-1].stopped
    views = [event.members for event in logs[0] if event.kind is EventKind.VIEW]
    remaining = [{nodes[entity] for entity in view} for view in views]
    assert remaining == ([set(range(case.entities)) - end.removed] if end.removed else [])


def scenario(name: str) -> Execution:
    """A scenario of the file, by name."""
    text = compile_text(SCENARIOS.read_text(encoding="utf-8"), str(SCENARIOS), standard_library())
    return next(each.execution for each in text.scenarios if each.name == name)


def _reported(shown: Execution) -> list[set[int]]:
    """Whom node 0 is told to have failed, in each round: after each of its sends."""
    rounds: list[set[int]] = []
    for event in shown.histories[0].events:
        if event.kind is EventKind.SEND:
            rounds.append(set())
        elif event.kind is EventKind.DELIVER and (named := re.match(r"E(\d) failed", event.message or "")):
            rounds[-1].add(int(named[1]) - 1)
    return rounds


def test_every_scenario_has_a_case() -> None:
    lines = SCENARIOS.read_text(encoding="utf-8").splitlines()
    assert {line.split()[1] for line in lines if line.startswith("scenario ")} == set(CASES)


def _summary(end: End) -> tuple[set[int], set[int], bool, int]:
    return set(end.removed), set(end.lacking), end.alarm, len(end.rounds)
