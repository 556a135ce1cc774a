"""The scenarios of specs/papers/st-1994-as-written.prec, and the logs of a channel to compare them with."""

from __future__ import annotations

from pathlib import Path

from experiments.st_channel import Channel
from precedes.core.execution import EventKind, Execution
from precedes.language.library import standard_library
from precedes.language.loader import compile_text

SCENARIOS = Path(__file__).parents[3] / "specs" / "papers" / "st-1994-as-written.prec"


def scenario(name: str) -> Execution:
    """A scenario of the file, by name."""
    text = compile_text(SCENARIOS.read_text(encoding="utf-8"), str(SCENARIOS), standard_library())
    return next(each.execution for each in text.scenarios if each.name == name)


def logs(execution: Execution) -> dict[str, tuple[list[str | None], list[str | None]]]:
    """What each entity has sent and received."""
    return {
        history.entity: (
            [event.message for event in history.events if event.kind is EventKind.SEND],
            [event.message for event in history.events if event.kind is EventKind.DELIVER],
        )
        for history in execution.histories
    }


def received(channel: Channel) -> dict[str, list[str]]:
    """RL of every entity."""
    return {f"E{entity + 1}": channel.log(entity) for entity in range(len(channel.here))}


def received_in(name: str) -> dict[str, list[str | None]]:
    """RL of every entity in a scenario."""
    return {entity: log for entity, (_, log) in logs(scenario(name)).items()}
