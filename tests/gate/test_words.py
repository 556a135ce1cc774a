"""The gate's configuration has the words and the defaults of the command, or a reason for another one."""

from __future__ import annotations

from typing import Any, Final

import click
import msgspec
import pytest

import precedes
from precedes.cli.main import cli
from precedes.gate.config import _KINDS
from tests.command.running import precedes as command

SETTINGS: Final = {
    "files": "traces",  # verify TRACE..., check FILE...
    "specs": "spec",  # a list, where the option is repeated
}
"""What an option or an argument of the command is called in the configuration."""

GATE_ONLY: Final = {
    "expect": "the command shows what is violated",
    "unmet": "the command shows what is never exercised",
    "budget": "the command counts",
    "depends": "the command reads everything each time",
}
VERIFIED: Final = {"require": "`simulate` writes a trace, which `verify` judges"}


NEEDED: Final = {"simulate": ("x", "-o", "x"), "conform": ("x", "x")}
"""The arguments of a command."""


def parameters(kind: str) -> dict[str, Any]:
    return {max(one.opts, key=len).removeprefix("--"): one for one in cli.commands[kind].params}


CASES = [
    (kind, field)
    for kind, table in _KINDS.items()
    for field in msgspec.structs.fields(table)
    if field.name not in GATE_ONLY and not (kind == "simulate" and field.name in (*VERIFIED, "specs"))
]


@pytest.mark.parametrize(
    ("kind", "field"), CASES, ids=[f"{kind} {field.encode_name}" for kind, field in CASES]
)
def test_a_setting_is_an_option_by_the_same_word(kind: str, field: Any) -> None:
    given = parameters(kind)
    name = field.encode_name if field.encode_name in given else SETTINGS.get(field.encode_name, "")
    assert name in given
    option = given[name]
    if isinstance(option, click.Option) and not field.required:
        made = cli.commands[kind].make_context(kind, [*NEEDED.get(kind, ("x",))])
        default = None if field.default is msgspec.NODEFAULT else field.default
        assert (made.params[option.name] or None) == (default or None)


@pytest.mark.parametrize("other", ["duplicates", "duplicate"])
def test_the_other_word_is_refused_and_the_right_one_said(other: str) -> None:
    ended = command("simulate", "cmd", "-o", "x.parquet", f"--{other}", "0.1")
    assert (ended.code, "--duplication" in ended.err) == (2, True), ended


@pytest.mark.parametrize(
    ("other", "meant"), [("duplicates", "duplication"), ("losses", "loss"), ("crashes", "crash")]
)
def test_in_python_too(other: str, meant: str) -> None:
    with pytest.raises(
        precedes.PrecedesError, match=f"there is no condition {other}\n    did you mean {meant}\\?"
    ):
        precedes.simulate("cmd", "x.parquet", **{other: 0.1})
    with pytest.raises(
        precedes.PrecedesError, match=f"there is no bound {meant}\n    did you mean {other}\\?"
    ):
        precedes.explore("cmd", **{meant: 1})
