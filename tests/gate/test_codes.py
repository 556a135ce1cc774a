"""Every code that a user can meet is explained, and none that there is not."""

from __future__ import annotations

import re
from pathlib import Path

import precedes
from precedes.core.error_codes import codes
from precedes.gate.rules import rules
from tests.command.running import precedes as command

CODE = re.compile(r'"([A-Z]\d{3})(?=[" ])')


def used() -> set[str]:
    """The codes in the program's own text."""
    folder = Path(precedes.__file__).parent
    return {code for path in folder.rglob("*.py") for code in CODE.findall(path.read_text(encoding="utf-8"))}


def test_every_code_is_explained() -> None:
    assert len(used()) > 80
    assert used() - codes().keys() == set()
    assert codes().keys() - used() == set()


def test_an_explanation_says_what_to_do() -> None:
    for code in codes().values():
        assert code.title
        assert code.help
        assert not code.title.endswith(".")


def test_rules_are_the_codes_of_the_gate() -> None:
    assert set(rules()) == {code for code in codes() if code.startswith("G")}


def test_explain() -> None:
    assert command("explain", "g202").out.startswith("G202  A requirement demands less")
    assert command("explain", "trace-property").out.startswith("G105")
    assert len(command("explain").out.splitlines()) == len(codes())
    ended = command("explain", "G209")
    assert (ended.code, "did you mean G20" in ended.err) == (2, True)
