"""No silent default: a match over what is closed says what it does with every kind, or that it is none of them.

Closed are the classes of this project (the nodes of formulas and of the syntax, terms, moves, actions, answers and so
on) and its enumerations. Of text, numbers and tuples no list of cases is complete; these may have a default.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = [path for folder in ("checker", "models") for path in sorted((ROOT / folder).rglob("*.py"))]


@cache
def nodes() -> dict[Path, tuple[list[ast.Match], list[ast.ClassDef]]]:
    """The matches and the classes of every module."""
    found = {}
    for path in MODULES:
        every = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        matches = [node for node in every if isinstance(node, ast.Match)]
        found[path] = matches, [node for node in every if isinstance(node, ast.ClassDef)]
    return found


@cache
def closed() -> frozenset[str]:
    """The classes of this project."""
    return frozenset(each.name for _, classes in nodes().values() for each in classes)


def named(match: ast.Match) -> Iterator[str]:
    """The classes that the patterns of a match name, in a call or as the owner of a member."""
    for case in match.cases:
        for pattern in ast.walk(case.pattern):
            if isinstance(pattern, ast.MatchClass):
                yield ast.unparse(pattern.cls).rpartition(".")[2]
            elif isinstance(pattern, ast.MatchValue) and isinstance(pattern.value, ast.Attribute):
                yield ast.unparse(pattern.value.value).rpartition(".")[2]


def takes_anything(case: ast.match_case) -> bool:
    pattern: ast.pattern | None = case.pattern
    while isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        pattern = pattern.pattern
    return isinstance(pattern, ast.MatchAs) and case.guard is None


def refuses(case: ast.match_case) -> bool:
    """Whether it is `raise ...` or `assert_never(...)` alone."""
    (only,) = case.body if len(case.body) == 1 else (None,)
    if isinstance(only, ast.Raise):
        return True
    call = only.value if isinstance(only, ast.Expr | ast.Return) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) == "assert_never"


def silent(matches: list[ast.Match], closed: frozenset[str]) -> list[int]:
    """The lines of the matches over closed things that do not refuse what they do not name.

    Without a last case that takes anything mypy looks after members of an enumeration where a value is returned; over
    classes, whose nodes come and go, there must be one.
    """
    found = []
    for match in matches:
        if closed.isdisjoint(named(match)):
            continue
        last = match.cases[-1]
        of_classes = any(
            isinstance(p, ast.MatchClass) for case in match.cases for p in ast.walk(case.pattern)
        )
        if not refuses(last) if takes_anything(last) else of_classes:
            found.append(match.lineno)
    return found


def test_no_match_has_a_silent_default() -> None:
    assert len(MODULES) > 200
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path, (matches, _) in nodes().items()
        for line in silent(matches, closed())
    ]
    assert found == []


def test_most_matches_are_looked_at() -> None:
    matches = [match for found, _ in nodes().values() for match in found]
    assert len([match for match in matches if not closed().isdisjoint(named(match))]) > 100


@pytest.mark.parametrize(
    ("cases", "is_silent"),
    [
        ("case Not(body):\n  pass\n case _:\n  pass", True),
        ("case core.Not(body):\n  pass\n case _:\n  return 0", True),
        ("case Not():\n  pass", True),
        ("case Not():\n  pass\n case _ if x:\n  assert_never(x)", True),
        ("case Not():\n  pass\n case other:\n  print(other)", True),
        ("case Not() | And(), Not():\n  pass\n case _:\n  return None", True),
        ("case Mode.ALWAYS:\n  pass\n case _:\n  pass", True),
        ("case Not():\n  pass\n case _:\n  assert_never(x)", False),
        ("case Not():\n  pass\n case never:\n  assert_never(never)", False),
        ("case Not():\n  pass\n case _ as never:\n  assert_never(never)", False),
        ("case Not():\n  pass\n case _:\n  raise AssertionError(x)", False),
        ("case Mode.ALWAYS:\n  pass", False),
        ("case int():\n  pass\n case _:\n  pass", False),
        ('case "a":\n  pass\n case _:\n  pass', False),
    ],
)
def test_what_is_a_silent_default(cases: str, is_silent: bool) -> None:
    tree = ast.parse(f"match x:\n {cases}\n".replace("return", "yield"))
    (match,) = tree.body
    assert isinstance(match, ast.Match)
    assert bool(silent([match], frozenset({"Not", "And", "Mode"}))) is is_silent
