"""What a type checker, and a command line that starts fast, are told again: the same words and the same numbers."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import click
import pytest

from precedes.cli.conform import conform
from precedes.cli.explore import explore
from precedes.cli.simulate import simulate
from precedes.core.faults import UNRECORDED
from precedes.gate import config
from precedes.gate.checks import specs
from precedes.gate.entry import Entry
from precedes.gate.scope import SENT_TO
from precedes.language.syntax import QuestionKind
from precedes.protocol.bounds import Destinations
from precedes.protocol.conformance.observation import IGNORABLE
from precedes.protocol.conformance.verdicts import Limits

NUMBERS = (*UNRECORDED, "states")


def option(command: click.Command, name: str) -> Any:
    [found] = (each for each in command.params if each.name == name)
    return found


def test_limits_of_what_was_not_recorded_are_the_same_everywhere() -> None:
    assert tuple(field.name for field in fields(Limits)) == (*NUMBERS, "quiescent")
    given, usual = config.Conformance(model="m", files=("f",)), Limits()
    for name in NUMBERS:
        assert getattr(given, name) == getattr(usual, name) == option(conform, name).default


def test_what_can_be_ignored_is_the_same_everywhere() -> None:
    (word, _) = get_args(get_type_hints(config.Conformance)["ignore"])
    assert get_args(word) == IGNORABLE
    *first, last = IGNORABLE
    assert f": {', '.join(first)} or {last};" in option(conform, "ignore").help


@pytest.mark.parametrize("command", [explore, simulate])
def test_destination_sets_are_the_same_everywhere(command: click.Command) -> None:
    words = tuple(each.value for each in Destinations)
    assert tuple(option(command, "destinations").type.choices) == words
    for kind in (config.Model, config.Simulation):
        (sets, none) = get_args(get_type_hints(kind)["destinations"])
        assert (get_args(sets), none) == (words, type(None))
    assert tuple(SENT_TO) == words
    assert {word for covered in SENT_TO.values() for word in covered} == set(words)


def test_what_goes_to_the_solver_begins_with_the_word_of_a_question(tmp_path: Path) -> None:
    asked = {kind.value: f"{kind.value} ST\n" for kind in QuestionKind}
    plain = {"findings": "# findings, and what is claimed or refuted\n", "figure": "scenario s\ncluster E1\n"}
    for name, text in (asked | plain).items():
        (tmp_path / f"{name}.prec").write_text(text, encoding="utf-8")
    entry = Entry(tmp_path / "precedes.toml", "check", 0)
    found = specs.checks(tmp_path, entry, config.Specs(files=("*.prec",)))
    assert {check.path.stem: check.cost for check in found} == {
        **dict.fromkeys(asked, 1),
        **dict.fromkeys(plain, 0),
    }
