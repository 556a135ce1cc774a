"""Mistakes and verdicts as remarks, and scenarios as pictures."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest

from precedes.core.diagnostics import PrecedesError, Span
from precedes.editor import completion, hover, references, symbols
from precedes.editor.analysis import analyze
from precedes.editor.judgments import Weight, figure, judged, remarks
from precedes.editor.symbols import Heading, outline
from precedes.language.loader import compile_text

ROOT = Path(__file__).parents[2]
FILE = """\
scenario s "x"
cluster E1 E2
SL1: < a b ]
RL2: < b a ]
expect order_preserving
expect not ST
expect unknown deadline
expect deadline

scenario empty
cluster E1 E2
expect ST

claim ST implies SP
predicate f := true
"""


def test_verdicts_are_remarks() -> None:
    analysis = analyze(FILE)
    found = remarks(analysis, judged(analysis))
    assert [(one.span.line, one.weight, one.code) for one in found] == [
        (5, Weight.WARNING, None),
        (8, Weight.INFORMATION, None),
        (12, Weight.INFORMATION, None),
    ]
    assert found[0].text == (
        "expect order_preserving: order_preserving is violated\nE1 sends a before b, E2 delivers b before a"
    )
    assert found[2].text == "expect ST: holds vacuously: there was no message"
    assert [one.summary for one in judged(analysis)] == ["2 of 4 as stated", "1 of 1 as stated"]


def test_mistakes_are_those_of_check() -> None:
    text = "expect and\n" + FILE.replace("expect not ST", "expect STT")
    analysis = analyze(text)
    with pytest.raises(PrecedesError) as told:
        compile_text(text)
    found = remarks(analysis, judged(analysis))
    assert [(one.code, one.span) for one in found] == [(one.code, one.span) for one in told.value.diagnostics]
    assert {one.weight for one in found} == {Weight.ERROR}
    assert found[1].text.startswith("there is no predicate or service STT\ndid you mean ST?")


def test_what_takes_too_long_is_not_judged_and_told() -> None:
    analysis = analyze(FILE)
    scenarios = judged(analysis, budget=0)
    assert [one.summary for one in scenarios] == [
        "0 of 4 as stated, 4 not judged here",
        "0 of 1 as stated, 1 not judged here",
    ]
    found = remarks(analysis, scenarios)
    assert [one.span.line for one in found] == [5, 6, 7, 8, 12]
    assert found[0].text == "expect order_preserving: not judged here; precedes check judges it"


def test_figures() -> None:
    analysis = analyze(FILE)
    assert figure(analysis, "s").startswith("<svg ")
    with pytest.raises(PrecedesError, match="there is no scenario t"):
        figure(analysis, "t")
    with pytest.raises(PrecedesError, match="P004"):
        figure(analyze("expect"), "s")


def test_the_outline() -> None:
    found = outline(analyze(FILE))
    assert [(one.heading, one.name, one.first, one.last) for one in found] == [
        (Heading.SCENARIO, "s", 1, 8),
        (Heading.SCENARIO, "empty", 10, 12),
        (Heading.QUESTION, "claim ST implies SP", 14, 14),
        (Heading.PREDICATE, "f", 15, 15),
    ]
    assert [one.name for one in found[0].below][:2] == ["expect order_preserving", "expect not ST"]
    assert found[1].span == Span(10, 10, 15)


# ---- whatever stands in a text


def damaged(seed: int) -> str:
    """A piece of a file, with some of its words gone or others in between."""
    choices = random.Random(seed)
    text = choices.choice(sorted((ROOT / "specs").rglob("*.prec"))).read_text(encoding="utf-8")
    begin = choices.randrange(len(text))
    text = text[begin : begin + choices.randrange(600)]
    pieces = (
        "",
        '"',
        "[",
        "]",
        "{",
        "}",
        "<",
        "expect ",
        "(",
        ")",
        "\n",
        "é",
        "forall p: ",
        "group ",
        "^",
        ":=",
    )
    for _ in range(choices.randrange(4)):
        place = choices.randrange(len(text) + 1)
        text = text[:place] + choices.choice(pieces) + text[place + choices.randrange(3) :]
    return text


def ask_everything(seed: int) -> None:
    choices = random.Random(seed)
    analysis = analyze(damaged(seed))
    remarks(analysis, judged(analysis))
    outline(analysis)
    symbols.colored(analysis)
    for _ in range(4):
        line = choices.randrange(len(analysis.lines)) + 1
        column = choices.randrange(len(analysis.lines[line - 1]) + 1) + 1
        hover.note(analysis, line, column)
        completion.suggestions(analysis, line, column)
        references.definition(analysis, line, column)
        with contextlib.suppress(PrecedesError):
            references.renamed(analysis, line, column, "another_name")


def test_a_damaged_text_is_answered() -> None:
    for seed in range(25):
        ask_everything(seed)


@pytest.mark.slow
def test_many_damaged_texts_are_answered() -> None:
    for seed in range(1000, 2500):
        ask_everything(seed)
