"""What is told about mistakes, word for word.

`refused/NAME.prec` has the mistakes, `refused/NAME.txt` what is told. PRECEDES_WRITE_EXPECTED=1 writes the
latter anew, to be read before it is kept.
"""

import os
import re
from pathlib import Path

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.error_codes import codes
from precedes.language.loader import compile_text
from precedes.language.parsing.parser import parse

HERE = Path(__file__).parent / "refused"
FILES = sorted(HERE.glob("*.prec"))


def test_there_are_files() -> None:
    assert len(FILES) >= 8


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_messages_are_these(path: Path) -> None:
    with pytest.raises(PrecedesError) as caught:
        compile_text(path.read_text(encoding="utf-8"), path.name)
    told = str(caught.value) + "\n"
    expected = path.with_suffix(".txt")
    if os.environ.get("PRECEDES_WRITE_EXPECTED"):
        expected.write_text(told, encoding="utf-8")
    assert told == expected.read_text(encoding="utf-8")


def test_a_number_with_letters_is_told_of_its_unit_only_where_a_number_may_stand() -> None:
    for text, code, message in (
        ("scenario s\ncluster E1\nexpect ST 3kg", "P004", "3kg is not expected here"),
        ("scenario s\ncluster E1\nexpect ST 3h", "P004", "3h is not expected here"),
        ("scenario s\ncluster E1\ndelta 3kg", "P012", "kg is not a unit"),
    ):
        with pytest.raises(PrecedesError) as caught:
            compile_text(text)
        told = [(each.code, each.message) for each in caught.value.diagnostics]
        assert told == [(code, message)], text


def test_every_expected_file_has_its_source() -> None:
    assert {path.stem for path in HERE.glob("*.txt")} == {path.stem for path in FILES}


def test_nearly_every_code_is_shown_by_a_file() -> None:
    told = "".join(path.read_text(encoding="utf-8") for path in HERE.glob("*.txt"))
    shown = set(re.findall(r"\b[PNS]\d{3}\b", told))
    # Too deep, too large and too long have tests of their own.
    assert {code for code in codes() if code[0] in "PNS"} - shown <= {"P006", "P013", "N010", "N013"}


def test_each_message_points_at_its_line() -> None:
    text = "scenario s\ncluster A\n\nexpect nonsense\n"
    with pytest.raises(PrecedesError) as caught:
        compile_text(text, "file.prec")
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.span is not None
    assert (diagnostic.path, diagnostic.span.line, diagnostic.span.column) == ("file.prec", 4, 8)
    assert diagnostic.source_line == "expect nonsense"


def test_parse_alone_tells_every_statement_that_does_not_parse() -> None:
    with pytest.raises(PrecedesError) as caught:
        parse("expect (\ncluster E1\nexpect )\nRL1: < a\n")
    assert [diagnostic.span.line for diagnostic in caught.value.diagnostics if diagnostic.span] == [1, 3, 4]


def test_one_mistake_is_told_once() -> None:
    text = "predicate f(L) := p in L\nscenario s\ncluster A\nexpect f\nexpect f(RL1)\nclaim f\n"
    with pytest.raises(PrecedesError) as caught:
        compile_text(text)
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["N002"]


def test_of_a_long_line_the_place_is_shown() -> None:
    text = "claim " + " and ".join(["TO"] * 1_000 + ["nonsense"] + ["ST"] * 1_000)
    with pytest.raises(PrecedesError) as caught:
        compile_text(text)
    _, line, carets, *_ = str(caught.value).splitlines()
    assert len(line) < 200
    assert line[carets.index("^") : carets.rindex("^") + 1] == "nonsense"


@pytest.mark.parametrize(
    ("line", "shown", "carets"),
    [
        ('expect "\u65e5\u672c" in RL9', 'expect "\u65e5\u672c" in RL9', " " * 17 + "^^^"),
        ('expect\t"\x1b" in RL9', 'expect "\ufffd" in RL9', " " * 14 + "^^^"),
    ],
)
def test_carets_stand_below_what_is_shown(line: str, shown: str, carets: str) -> None:
    with pytest.raises(PrecedesError) as caught:
        compile_text(f'scenario s\ncluster A\nRL1: < "\u65e5\u672c" "\x1b" ]\n{line}\n')
    (told,) = [one for one in caught.value.diagnostics if one.code == "N011"]
    assert told.render().splitlines()[1:3] == [f"    {shown}", f"    {carets}"]


def test_names_in_messages_are_quoted_where_one_could_not_see_their_end() -> None:
    with pytest.raises(PrecedesError) as caught:
        compile_text('scenario s\ncluster "node 1" "node 2"\nSL1: < "order 1" ]\nSL2: < "order 1" ]\n')
    assert '"order 1" has two senders, "node 1" and "node 2"' in str(caught.value)
