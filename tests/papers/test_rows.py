"""Every command in the rows of docs/papers/ and docs/models/ prints what the row says of it."""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path

import msgspec
import pytest

from precedes.cli.exploration_job import Asked, Done
from precedes.cli.explore import explore
from precedes.core.isolation import Channel
from precedes.language.library import standard_library
from precedes.language.loader import compile_text
from tests.command.running import Ended, precedes
from tests.papers.rows import MODELS, PAGES, PAPERS, ROOT, Statement, rows, statements

ALL = list(statements())
EXPLORED = [each for each in ALL if each.command.startswith("precedes explore")]
OTHERS = [each for each in ALL if not each.command.startswith("precedes explore")]
MODE = "(?:always|quiescent|partly quiescent|in the end|always, in the end|partly in the end)"


@cache
def explored(command: str) -> Done:
    """What `precedes explore` prints, in this process: a row's command is run once, and there are many."""
    program, name, *words = shlex.split(command)
    assert (program, name) == ("precedes", "explore")
    options = dict(explore.make_context(name, words).params)
    form, _ = options.pop("form"), options.pop("hang_limit")
    return msgspec.json.decode(Asked(form, options).run(Channel()), type=Done)


@cache
def ended(command: str) -> Ended:
    """How any other command ends, with the files of this project."""
    words = shlex.split(command)[1:]
    return precedes(*(ROOT / word if word.startswith("specs/") else word for word in words))


def cases(found: list[Statement], one_of: int = 1) -> list[object]:
    """The statements as parameters: one of so many commands of each page is quick, with all that is said of it."""
    commands: dict[str, list[str]] = {}
    for each in found:
        here = commands.setdefault(each.place.partition(":")[0], [])
        if not each.slow and each.command not in here:
            here.append(each.command)
    quick = {command for here in commands.values() for command in here[::one_of]}
    return [
        pytest.param(
            each,
            id=f"{each.place} {each.command}"[:110],
            marks=[pytest.mark.slow] if each.slow or each.command not in quick else [],
        )
        for each in found
    ]


def _unexercised(name: str, *, literal: bool = True) -> re.Pattern[str]:
    """The line of a property that is never exercised."""
    name = re.escape(name) if literal else name
    return re.compile(rf"^  {name} +{MODE} +unknown +never exercised", re.MULTILINE)


@pytest.mark.parametrize("said", cases(EXPLORED, one_of=4))
def test_a_row_says_what_explore_prints(said: Statement) -> None:
    printed = explored(said.command)
    says = (said.moves, said.holding, said.everything, said.states, said.nothing_violated, said.unexercised)
    assert any(says), f"{said.place} says nothing of it"
    for name, moves, loop in said.moves:
        line = rf"^  {re.escape(name)} +{MODE} +violated +after {moves:,} moves?\b"
        line += r"(?!, in a loop)" if loop is None else rf", in a loop of {loop:,} moves?$"
        assert re.search(line, printed.text, re.MULTILINE), name
    for name in said.holding:
        assert re.search(rf"^  {re.escape(name)} +{MODE} +holds +exercised", printed.text, re.MULTILINE), name
    for name in said.unexercised:
        assert _unexercised(name).search(printed.text), name
    if said.everything:
        assert printed.exit == 0, printed.text
    if said.nothing_violated or said.rest_holds:
        assert not re.search(rf" {MODE} +violated ", printed.text), printed.text
        assert re.search(
            r"^(holds: everything|undecided: not every property could be decided)",
            printed.text,
            re.MULTILINE,
        )
    if said.rest_holds:
        assert len(_unexercised(r".+?", literal=False).findall(printed.text)) == len(said.unexercised)
    if said.states:
        counted = re.findall(r"\(([\d,]+) states, [\d,]+ transitions", printed.text)
        assert [int(each.replace(",", "")) for each in counted] == list(said.states)


@pytest.mark.parametrize("said", cases(OTHERS, one_of=3))
def test_what_is_checked_or_searched_comes_out(said: Statement) -> None:
    """The gate of this project checks the same files, and the scenarios are judged in tests/language, too."""
    printed = ended(said.command)
    assert printed.code == 0, printed.out + printed.err


def test_there_are_rows() -> None:
    assert len(EXPLORED) > 100


@pytest.mark.parametrize("page", MODELS, ids=lambda page: page.name)
def test_where_one_row_of_a_table_has_a_command_every_row_has_one(page: Path) -> None:
    bare, table, last = [], False, 0
    for row in rows(page):
        has = any("`precedes " in cell for cell in row.cells)
        table = has if row.line != last + 1 else table
        if has != table:
            bare.append(row)
        last = row.line
    assert not bare


@pytest.mark.parametrize("page", PAPERS, ids=lambda page: page.name)
def test_every_row_has_what_the_paper_says_and_both_verdicts(page: object) -> None:
    assert [row for row in rows(page) if len(row.cells) != 4 or not all(row.cells)] == []  # type: ignore[arg-type]


def test_scenarios_and_tests_that_rows_name_exist() -> None:
    papers = ROOT / "specs" / "papers"
    named = {
        scenario.name
        for path in papers.glob("*.prec")
        for scenario in compile_text(
            path.read_text(encoding="utf-8"), str(path), standard_library()
        ).scenarios
    }
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    spoken = set(re.findall(r"scenarios? `(\w+)`", text))
    assert spoken <= named, spoken - named
    for path, _, name in re.findall(r"`(tests/[\w/]+\.py)(::(\w+))?`", text):
        assert (ROOT / path).is_file(), path
        assert not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), name
