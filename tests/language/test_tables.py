"""The tables of the parser: shipped with the program, and those of the grammar."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from precedes.language.parsing import tables
from tools import grammar

PROGRAM = """
import sys
from pathlib import Path
from precedes.language.parsing.parser import parse
print(parse("cluster A B").statements[0].entities[1].text, "lark" in sys.modules)
"""


def test_parsing_needs_no_lark_and_writes_nothing_to_the_home_folder(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": "", "PYTHONPATH": ":".join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["B", "False"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seed", ["0", "1"])
def test_the_shipped_tables_are_those_of_the_grammar(seed: str) -> None:
    """Whatever order the sets of Python have."""
    shipped = files("precedes.language.parsing").joinpath("tables.json").read_text(encoding="utf-8")
    environment = {
        "PYTHONHASHSEED": seed,
        "PYTHONPATH": ":".join([str(grammar.ROOT), *filter(None, sys.path)]),
    }
    program = "from tools import grammar; print(grammar.text(), end='')"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == shipped


def test_a_grammar_that_was_edited_gets_tables_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = tables.tables()
    edited = tables.fingerprint("another grammar")
    monkeypatch.setattr(tables, "fingerprint", lambda _text: edited)
    real = tables.generated
    made: list[str] = []

    def generated(text: str) -> dict[str, object]:
        made.append(text)
        return real(text)

    monkeypatch.setattr(tables, "generated", generated)
    assert tables.tables() == shipped
    assert len(made) == 1


def test_nothing_follows_an_end() -> None:
    """So a chain of transparent productions (`lalr`) stops there."""
    shipped = tables.tables()
    assert all(not shipped.states[end] for end in shipped.ends.values())
