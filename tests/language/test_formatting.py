"""The one layout: files keep their words, their comments and their meaning, and a second time changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.language.errors import Mistakes
from precedes.language.formatting.formatter import formatted
from precedes.language.formatting.formula_lines import WIDTH
from precedes.language.parsing.lexer import scan_with_comments
from precedes.language.parsing.parser import parse, read
from precedes.language.printer import source_text
from precedes.testing.choices import Choices, Seeded, pick
from tests.command.documents import blocks, documents
from tests.language import trees

BEFORE = "docs/how-to/editor.md"
"""It shows what a file is before it is formatted."""
ROOT = Path(__file__).parents[2]
OURS = sorted(path for folder in ("specs", "examples") for path in (ROOT / folder).rglob("*.prec"))
OTHERS = sorted((ROOT / "tests/contract").glob("*.prec"))


def comments(text: str) -> list[str]:
    return [comment.text.rstrip() for comment in scan_with_comments(text, Mistakes(None, ()))[1]]


def check(text: str) -> str:
    """Format a text, and hold what is promised of every one."""
    result = formatted(text)
    assert parse(result) == parse(text)
    assert comments(result) == comments(text)
    assert formatted(result) == result
    return result


# ---- our own files


def test_our_files_are_formatted() -> None:
    assert len(OURS) > 40
    assert [str(path) for path in OURS if formatted(path.read_text("utf-8")) != path.read_text("utf-8")] == []


def test_the_files_of_the_documents_are_formatted() -> None:
    snippets = [
        block
        for document in documents()
        for block in blocks(document)
        if block.mark == "file" and block.value.endswith(".prec") and block.document != BEFORE
    ]
    assert len(snippets) > 15
    assert [str(block) for block in snippets if formatted(block.body) != block.body] == []


def test_other_files_keep_their_meaning() -> None:
    assert len(OTHERS) >= 5
    for path in OTHERS:
        check(path.read_text("utf-8"))


# ---- generated files


def scattered(choices: Choices, text: str) -> str:
    """The words of a text with other spaces, line breaks and comments between them."""
    statements, _ = scan_with_comments(text, Mistakes(None, ()))
    parts: list[str] = []
    for statement in statements:
        for place, token in enumerate(statement.tokens):
            joined = place and statement.tokens[place - 1].end == token.column
            spaces = ("", "", " ") if joined else (" ", " ", "   ", "\n  ", "  # c d \n", "\n\n# e\n")
            parts += [pick(choices, spaces), token.text]
        parts.append(pick(choices, ("\n", "\n", "   ", "\n\n\n", " # behind\n", "\n# below\n\n")))
    return "".join(parts)


def check_scattered(seed: int) -> bool:
    """Whether a scattered file still is the file that it was; if so, it is checked."""
    choices = Seeded(seed)
    file = trees.file(choices)
    text = scattered(choices, source_text(file))
    # A line break may make another statement, and a space another name: `a_ {2}`.
    reading = read(text)
    if reading.diagnostics:
        return False
    check(text)
    return True


def test_scattered_files() -> None:
    assert sum(map(check_scattered, range(60))) > 40


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_scattered_files(block: int) -> None:
    found = [check_scattered(seed) for seed in range(block * 300, block * 300 + 300)]
    assert sum(found) > 200


def printed(seed: int) -> int:
    """What is printed is formatted, as far as it fits on its line; how many statements that was."""
    fitting = 0
    for line in source_text(trees.file(Seeded(seed))).splitlines():
        if line and len(line) <= WIDTH // 2:
            assert formatted(line) == f"{line}\n", seed
            fitting += 1
    return fitting


def test_what_is_printed_is_formatted() -> None:
    assert sum(map(printed, range(40))) > 40


@pytest.mark.slow
def test_much_that_is_printed_is_formatted() -> None:
    assert sum(map(printed, range(2_000))) > 2_000


# ---- the layout

CASES = {
    "spaces": (
        "expect  forall p,q in L&M:p<[ L ]q iff f( p )",
        "expect forall p, q in L & M: p <[L] q iff f(p)",
    ),
    "spelling": ("expect ∀ i:¬(p ∈ RL[ i ]) and true", "expect ∀ i: ¬ (p ∈ RL[i]) and true"),
    "terms": ("expect -a- -b*2<L [ 1 .. 2 ] [3]", "expect -a - -b * 2 < L[1..2][3]"),
    "log": (
        "SL1:<a { 2,3 }[ key = k1,position=- 5 ] b @ - 3ms q ^ 2 ( 6 ) a_ {2}||c_{ 23 }]",
        "SL1: < a{2,3}[key=k1, position=-5] b@-3ms q^2(6) a_ {2} || c_{23} ]",
    ),
    "history": (
        "H[ Pi ]:<!m{3,group : g}@0 ? m arrive( m ) view  v1 {1, 2} crash ]",
        "H[Pi]: < !m{3,group:g}@0 ?m arrive(m) view v1{1,2} crash ]",
    ),
    "columns": (
        "RL1: < a b ] SL1: < c ]\n# marks\nRL2: < a b c d ]  SL2: < ] H3: < ]\n\nRL4: < ] SL4: < ]",
        "RL1: < a b ]       SL1: < c ]\n# marks\nRL2: < a b c d ]   SL2: < ]   H3: < ]\n\nRL4: < ]   SL4: < ]",
    ),
    "a log of several lines": ("RL1: < a\n  b\n  c ]", "RL1: < a b c ]"),
    "blank lines": (
        "\n\nexpect a\n\n\n\nexpect b\nscenario s\n# of t\nscenario t\n\n",
        "expect a\n\nexpect b\n\nscenario s\n\n# of t\nscenario t",
    ),
    "comments behind": (
        "expect a # 1 \nexpect abc    # 2\n\nexpect d #3",
        "expect a    # 1\nexpect abc  # 2\n\nexpect d  #3",
    ),
    "comments inside": (
        "expect a and\n    # why\n    b   or c # end",
        "expect a and\n    # why\n    b or c  # end",
    ),
    "statements of one line": ("delta 10 epsilon  1ms expect a", "delta 10\nepsilon 1ms\nexpect a"),
    "a short definition": (
        'predicate f ( L:log )\n "t"\n source "s"\n :=\n true',
        'predicate f(L: log) "t" source "s" := true',
    ),
    "an empty file": ("\n\n", ""),
    "comments alone": ("  # a\n\n\n#b", "# a\n\n#b"),
}


@pytest.mark.parametrize("name", CASES)
def test_layout(name: str) -> None:
    text, wanted = CASES[name]
    assert check(text) == (f"{wanted}\n" if wanted else "")


LONG = """\
predicate of_a_long_name(L: log, M: log)
  "a title that is so long that name, title and source are on three lines"
  source "a paper, section 2"
  := forall i, j: forall p, q in RL[i] & RL[j]:
       (p ~> q and sent(p) and sent(q) and i in dest(p) and j in dest(q) and p != q) implies
         (forall k: clock(send(p), k) <= clock(send(q), k))
         and not (
           exists r in RL[i]: p <[RL[i]] r and r <[RL[i]] q and sender(r) = sender(p) and p != r
         )

expect of_a_long_name(RL1, RL2)
  or some_other_name_that_is_long(RL1, RL2, RL3)
  or a_third_name_of_that_length(RL1, RL2)
  among E1 E2
cluster an_entity_of_a_long_name_1 an_entity_of_a_long_name_2 an_entity_of_a_long_name_3
  an_entity_of_a_long_name_4
H1: < !message_of_a_long_name_1{2,3}@10ms ?message_of_a_long_name_2@20ms view a_view_of_a_name{1,2}
  !message_of_a_long_name_3{2,3}[key=k1]@40ms ]
"""


def test_what_is_longer_than_a_line() -> None:
    assert check(LONG) == LONG
    assert check(" ".join(LONG.split())) == LONG.replace("\n\n", "\n")


def test_a_name_does_not_become_a_mistyped_statement() -> None:
    """At the beginning of a line `expct` would be one (P005), so that the line is longer."""
    names = " ".join(f"entity_{number}" for number in range(10, 20))
    text = f"cluster {names} expct {names}1\n"
    assert max(map(len, check(text).splitlines())) <= WIDTH + len(" expct")
    assert "\n  expct" not in check(text)


def test_line_ends_stay() -> None:
    assert formatted("expect a\r\nexpect  b # c\r\n") == "expect a\r\nexpect b  # c\r\n"
    assert formatted("\ufeffexpect  a") == "expect a\n"


def test_a_file_with_mistakes_is_refused_with_all_of_them() -> None:
    with pytest.raises(PrecedesError) as told:
        formatted("expect and\nexpect a\nRL1: < a", "bad.prec")
    assert [each.code for each in told.value.diagnostics] == ["P004", "P003"]
    assert str(told.value).startswith("bad.prec:1:8: P004")
