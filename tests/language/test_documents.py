"""docs/language.md and the reference that is made from the program have every word, and what they show is read."""

import re
from itertools import pairwise
from pathlib import Path

from precedes.core.error_codes import codes
from precedes.language.parsing.parser import parse, parse_sentence
from precedes.language.syntax import Iff, Implies, Not, Or
from precedes.language.vocabulary import (
    ATOMS,
    CONNECTIVES,
    FUNCTIONS,
    HISTORY_WORDS,
    KEYWORDS,
    LOG_TERMS,
    NUMBERS,
    RELATIONS,
    STATEMENTS,
    SYMBOLS,
)
from tools import pages

DOCUMENT = Path(__file__).parents[2] / "docs" / "language.md"


def test_the_reference_has_every_word_and_symbol() -> None:
    page = pages.language()
    for name in (*FUNCTIONS, *RELATIONS):
        assert f"`{name}" in page
    for word in (*KEYWORDS, *HISTORY_WORDS, *SYMBOLS):
        assert f"'{word}'" in page or f"`{word.replace('|', chr(92) + '|')}`" in page, word


def test_the_reference_has_every_rule_of_the_grammar() -> None:
    shown = {rule for part in pages.grammar().values() for rule in part}
    text = (Path(pages.vocabulary.__file__).with_name("parsing") / "grammar.lark").read_text(encoding="utf-8")
    written = re.findall(r"^[?!_]*([a-z]+):", text, re.MULTILINE)
    assert len(written) > 30
    assert shown == set(written)


def test_every_mistake_of_the_language_concerns_a_part() -> None:
    assert {code for told in pages.CONCERNS.values() for code in told} == {
        code for code in codes() if code[0] in "PNS"
    }
    headings = set(re.findall(r"^##+ (.*)$", pages.language(), re.MULTILINE))
    assert set(pages.CONCERNS) <= headings


def test_what_binds_stronger_is_as_the_reference_says() -> None:
    names = [name for name, _ in pages.PRECEDENCE]
    rules = pages.grammar()["formulas and terms"]
    for inner, outer in pairwise(names):
        assert inner in {word for one in rules[outer] for word in re.findall(r"\w+", one)}
    for text, whole in (
        ("not a or b", Or),
        ("a and b or c and d", Or),
        ("a or b implies c", Implies),
        ("a implies b iff c", Iff),
        ("not (a iff b)", Not),
    ):
        assert isinstance(parse_sentence(text).formula, whole), text
    right = parse_sentence("a implies b implies c").formula
    assert isinstance(right, Implies)
    assert isinstance(right.right, Implies)
    left = parse_sentence("a iff b iff c").formula
    assert isinstance(left, Iff)
    assert isinstance(left.left, Iff)


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


def test_the_statements_are_read() -> None:
    table = DOCUMENT.read_text(encoding="utf-8").split("| statement | meaning |")[1].split("\n\n")[0]
    statements = [
        text for cell in re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE) for text in cell.split("`, `")
    ]
    assert len(statements) >= 10
    for text in statements:
        parse(text.strip("`"))


def test_the_forms_are_read() -> None:
    """Those of the tables: several in a cell are separated by commas, and a comma may be part of one."""
    for notation in (*CONNECTIVES, *ATOMS):
        for form in formulas(notation.form):
            parse_sentence(form)
    for notation in (*LOG_TERMS, *NUMBERS):
        for form in notation.form.split(", ") if "[i, j]" not in notation.form else [notation.form]:
            parse_sentence(f"x = {form}")


def formulas(cell: str) -> list[str]:
    """The formulas of a cell."""
    return [cell] if any(mark in cell for mark in (":", "{")) else re.split(r", (?![^(]*\))", cell)


def test_statements_are_keywords() -> None:
    # `group` begins a statement only where a name and a colon follow.
    assert set(STATEMENTS) - {"GROUP"} <= set(KEYWORDS.values())
