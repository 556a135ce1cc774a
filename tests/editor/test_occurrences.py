"""Which names of a file are one thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from precedes.editor.analysis import Analysis, analyze
from precedes.editor.occurrences import Kind
from precedes.editor.symbols import colored
from precedes.language.printer import source_text
from precedes.language.quoting import unquoted
from precedes.testing.choices import Seeded
from tests.language import trees
from tests.sampling import one_in

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "specs").rglob("*.prec"))

TEXT = """\
attribute due of message: time
predicate f(L: log, M) := forall p in L: (exists q, p in M: p != q) and p in M
service g := f per (due, key)
scenario one
cluster a b "x y"
group w: a 3
SL1: < m{2,"x y",group:w}[key=m] n ]
H2: < view v{1} ?m ?n^a(2) ]
expect m <[RL2] n and f(RL[b], RL["x y"]) and key(m) = "m" and v in VL[b] and w in dest(m)
expect g among a 2
claim f(L, "m") implies generic_order(p, q: sent(p) and p = q)
scenario two
cluster a
SL1: < m ]
"""


def named(analysis: Analysis, kind: Kind, name: str) -> list[tuple[int, int, bool]]:
    """Where a thing is named, by line and scope, and whether it is introduced there."""
    return [
        (one.span.line, one.symbol.scope, one.defines)
        for one in analysis.occurrences
        if one.symbol.kind is kind and one.symbol.name == name
    ]


def test_names_of_scenarios() -> None:
    analysis = analyze(TEXT)
    assert named(analysis, Kind.MESSAGE, "m") == [
        *((7, 1, True), (8, 1, False), (9, 1, False), (9, 1, False), (9, 1, False)),
        (14, 2, True),
    ]
    assert [line for line, scope, _ in named(analysis, Kind.ENTITY, "x y") if scope == 1] == [5, 6, 7, 9]
    assert named(analysis, Kind.GROUP, "w") == [(6, 1, True), (7, 1, False), (9, 1, False)]
    assert named(analysis, Kind.VIEW, "v") == [(8, 1, True), (9, 1, False)]
    assert [line for line, scope, _ in named(analysis, Kind.ENTITY, "a") if scope == 1] == [5, 6, 7, 8, 8, 10]


def test_names_of_the_file() -> None:
    analysis = analyze(TEXT)
    assert named(analysis, Kind.DEFINITION, "f") == [
        *((2, 0, True), (3, 0, False), (9, 0, False)),
        (11, 0, False),
    ]
    assert named(analysis, Kind.ATTRIBUTE, "key") == [(3, 0, False), (7, 0, False), (9, 0, False)]
    assert named(analysis, Kind.ATTRIBUTE, "due") == [(1, 0, True), (3, 0, False)]
    assert named(analysis, Kind.SCENARIO, "two") == [(12, 2, True)]


def test_variables_belong_to_what_binds_them() -> None:
    analysis = analyze(TEXT)
    bound = [one for one in analysis.occurrences if one.symbol.kind is Kind.VARIABLE and one.span.line == 2]
    outer = next(one.symbol.scope for one in bound if one.symbol.name == "p")
    inner = next(one.symbol.scope for one in bound if one.symbol.name == "q")
    assert [one.symbol.scope for one in bound if one.symbol.name == "p"] == [outer, inner, inner, outer]


@pytest.mark.parametrize("path", one_in(9, FILES, [path.name for path in FILES]))
def test_every_name_stands_where_it_is_said(path: Path) -> None:
    """The text at a place is the name, and every name of a file of ours has a place where it is introduced, or is
    of the library."""
    analysis = analyze(path.read_text(encoding="utf-8"))
    assert analysis.occurrences
    for one in analysis.occurrences:
        line = analysis.lines[one.span.line - 1]
        text = line[one.span.column - 1 : one.span.end_column - 1]
        if not one.by_place:
            assert unquoted(text.strip('"')) == one.symbol.name
        if one.symbol.kind not in (Kind.DEFINITION, Kind.ATTRIBUTE, Kind.BUILT_IN):
            assert any(each.defines for each in analysis.occurrences if each.symbol == one.symbol), one


def test_any_file_that_parses_has_occurrences() -> None:
    for seed in range(60):
        analysis = analyze(source_text(trees.file(Seeded(seed))))
        assert len(colored(analysis)) <= len(analysis.occurrences)


def test_names_are_colored_once() -> None:
    analysis = analyze('scenario s\ncluster E1 E2 E3\nRL1: < a_{\\{23\\}} "a"_{2} ]\n')
    found = colored(analysis)
    assert [analysis.lines[span.line - 1][span.column - 1 : span.end_column - 1] for span, _, _ in found] == [
        *("s", "E1", "E2", "E3"),
        *("a", '"a"'),
    ]
