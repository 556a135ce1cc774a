"""docs/language.md tells what the tables of the language have, and the examples in it are read."""

import re
from pathlib import Path

from precedes.language.compiling import compile_text
from precedes.language.mistakes import codes_table
from precedes.language.parser import parse
from precedes.language.vocabulary import FUNCTIONS, KEYWORDS, RELATIONS, STATEMENTS, reference

DOCUMENT = Path(__file__).parents[2] / "docs" / "language.md"


def test_the_reference_is_made_from_the_tables() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    begin, end = "<!-- reference: begin -->\n", "<!-- reference: end -->"
    found = text[text.index(begin) + len(begin) : text.index(end)]
    assert found == f"\n{reference()}{codes_table()}\n"


def test_the_reference_has_every_word() -> None:
    table = reference()
    for name in (*FUNCTIONS, *RELATIONS, *KEYWORDS):
        assert f"`{name}" in table


def test_the_examples_are_read() -> None:
    blocks = re.findall(r"```\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        compile_text(block)


def test_what_stands_in_logs_is_read() -> None:
    cells = re.findall(
        r"^\| (`.*?`) \|",
        DOCUMENT.read_text(encoding="utf-8").split("Inside a log:")[1].split("##")[0],
        re.MULTILINE,
    )
    assert len(cells) >= 8
    for cell in cells:
        for example in re.findall(r"`([^`]+)`", cell):
            parse(f"H1: < {example.replace(chr(92) + '|', '|')} ]")


def test_statements_are_keywords() -> None:
    assert set(STATEMENTS) <= set(KEYWORDS.values())
