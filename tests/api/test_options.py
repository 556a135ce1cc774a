"""Every option of the command has a counterpart in the public face, by the same word or for a reason given here."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final

import click
import pytest

import precedes
from precedes.api.protocols import _BOUNDS
from precedes.cli.main import cli
from precedes.jobs.simulate import CONDITIONS
from precedes.protocol.bounds import Conditions
from tests.command.documents import ROOT

READING: Final = tuple(precedes.Reading.__dataclass_fields__)

FACE: Final[Mapping[str, tuple[Callable[..., Any], tuple[str, ...]]]] = {
    "check": (precedes.check, ()),
    "verify": (precedes.verify, READING),
    "infer": (precedes.infer, READING),
    "search": (precedes.find, ()),
    "explore": (precedes.explore, _BOUNDS),
    "simulate": (precedes.simulate, (*CONDITIONS, "destinations")),
    "run": (precedes.run, (*CONDITIONS, "destinations")),
    "conform": (precedes.conform, ("cluster", "order", "strict", "log", "mapping", "engine", "master")),
    "draw": (precedes.draw, READING),
    "lattice": (precedes.lattice, ()),
    "convert": (precedes.convert, ()),
    "list": (precedes.names, ()),
    "explain": (precedes.explain, ()),
}
"""The function for each command, and the words that its `**` parameter takes."""

NOT_FUNCTIONS: Final = {
    "fmt": "changes files as people write them; what programs write has that layout",
    "map": "writes a file that is then edited by hand",
    "gate": "a run in CI; its configuration is its input, and its outputs are files",
    "init": "writes files to begin with",
    "lsp": "speaks with an editor until that ends it",
    "watch": "judges what comes on standard input; `precedes.spark.watch` judges a stream",
}

RENAMED: Final = {
    "--spec": "library",  # load_library(paths) is made once and given to every function
    "--set": "parameters",  # a dictionary instead of NAME=VALUE
    "--from": "log",  # `from` is a word of Python
}
ARGUMENTS: Final = {
    ("check", "files"): "files",
    ("verify", "traces"): "events",
    ("infer", "traces"): "events",
    ("conform", "traces"): "events",
    ("convert", "traces"): "events",
    ("search", "formula"): "formula",
    ("draw", "file"): "source",
}

EXCEPTIONS: Final = {
    ("convert", "--try"): "shows how a mapping that is being written reads a file",
    ("check", "--format"): "report.text(), report.json(), report.rows(), report.table()",
    ("verify", "--format"): "as for check",
    ("infer", "--format"): "as for check",
    ("verify", "--html"): "report.html()",
    ("infer", "--html"): "report.html()",
    ("explore", "--html"): "report.html()",
    ("conform", "--html"): "report.html()",
    ("search", "--format"): "as for check",
    ("explore", "--format"): "as for check",
    ("run", "--format"): "as for check",
    ("conform", "--format"): "as for check",
    ("conform", "--verbose"): "report.text(verbose=True)",
    ("conform", "--hang-limit"): "the model runs in this process, which the caller can watch",
    ("lattice", "--format"): "report.text(), markdown(), json(), save()",
    ("lattice", "--output"): "report.save(path)",
    ("draw", "--format"): "drawing.text, drawing.svg, drawing.png(), drawing.pdf()",
    ("draw", "--output"): "drawing.save(path)",
    ("check", "--verbose"): "report.text(verbose=True)",
    ("explore", "--hang-limit"): "the model runs in this process, which the caller can watch",
    ("simulate", "--hang-limit"): "the model runs in this process, which the caller can watch",
}
"""What has no parameter, and what does it instead."""


def word(command: str, parameter: click.Parameter) -> str:
    """How Python would call an option or an argument of a command."""
    if isinstance(parameter, click.Argument):
        return ARGUMENTS.get((command, str(parameter.name)), str(parameter.name))
    option = max(parameter.opts, key=len)
    return RENAMED.get(option, option.removeprefix("--").replace("-", "_"))


CASES = [
    (name, parameter)
    for name, command in cli.commands.items()
    if name not in NOT_FUNCTIONS
    for parameter in command.params
    if (name, max(parameter.opts, key=len)) not in EXCEPTIONS
]


def test_every_command_has_a_function() -> None:
    assert set(FACE) | set(NOT_FUNCTIONS) == set(cli.commands)


def test_the_page_names_the_commands_without_a_function() -> None:
    first = (ROOT / "docs/reference/api.md").read_text(encoding="utf-8").split("\n\n")[1]
    only = re.findall(r"`(\w+)`", first.partition("`precedes.names()`.")[2].partition("commands only")[0])
    # "The gate" is its name there.
    assert {*only, "gate"} == set(NOT_FUNCTIONS)


@pytest.mark.parametrize(
    ("command", "parameter"), CASES, ids=[f"{name} {max(each.opts, key=len)}" for name, each in CASES]
)
def test_every_option_has_a_parameter(command: str, parameter: click.Parameter) -> None:
    function, words = FACE[command]
    assert word(command, parameter) in {*inspect.signature(function).parameters, *words}


def test_every_exception_is_of_an_option_that_there_is() -> None:
    options = {
        (name, max(parameter.opts, key=len))
        for name, command in cli.commands.items()
        for parameter in command.params
    }
    assert set(EXCEPTIONS) <= options


def test_a_new_option_without_counterpart_is_found() -> None:
    option = click.Option(["--as-a-haiku"])
    with pytest.raises(AssertionError):
        test_every_option_has_a_parameter("verify", option)


VALUES: Final = {
    "verify": precedes.Reading(),
    "infer": precedes.Reading(),
    "explore": precedes.Bounds(),
    "simulate": Conditions(),
    "run": Conditions(),
}
NEEDED: Final = {
    "conform": ["cmd", "x"],
    "simulate": ["cmd", "-o", "x.parquet"],
    "run": ["cmd"],
    "lattice": [],
}
OF_THE_MODEL: Final = ("destinations", "interval", "delay", "deviation")
"""Without these, both take what the model or its network says."""


@pytest.mark.parametrize(
    "name", ["verify", "infer", "explore", "simulate", "run", "conform", "search", "lattice", "check"]
)
def test_defaults_are_those_of_the_command(name: str) -> None:
    function, _ = FACE[name]
    mine = {key: parameter.default for key, parameter in inspect.signature(function).parameters.items()}
    value = VALUES.get(name)
    mine |= {} if value is None else {each.name: getattr(value, each.name) for each in fields(value)}
    command = cli.commands[name]
    theirs = command.make_context(name, NEEDED.get(name, ["x"])).params
    compared = {
        key: (mine[key] or None, theirs[str(parameter.name)] or None)
        for parameter in command.params
        if isinstance(parameter, click.Option) and (key := word(name, parameter)) in mine
        if key not in OF_THE_MODEL and mine[key] is not inspect.Parameter.empty
    }
    assert len(compared) > 1
    assert {key: pair for key, pair in compared.items() if pair[0] != pair[1]} == {}
