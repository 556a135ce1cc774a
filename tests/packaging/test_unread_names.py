"""What a module defines is read somewhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tools.house import ROOT

SOURCES = ("checker", "models")
READERS = (*SOURCES, "benchmarks", "docs", "examples", "experiments", "specs", "tests", "tools")
ASKED_FOR = re.compile(r"__\w+__|pytest_\w+")
"""Names that Python and pytest look for."""


def defined(tree: ast.Module) -> Iterator[str]:
    """The names of a module. What has a decorator may be read by that."""
    for node in tree.body:
        match node:
            case ast.FunctionDef(decorator_list=[]) | ast.ClassDef(decorator_list=[]):
                yield node.name
            case ast.Assign(targets=targets):
                for target in targets:
                    yield from (each.id for each in ast.walk(target) if isinstance(each, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case _:
                pass


def read(tree: ast.Module) -> Iterator[str]:
    """The names that a module reads, imports, or has in text that is no docstring: some are looked up by name, or stand
    in code that is made.
    """
    docstrings = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant() as text):
                docstrings.add(text)
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
                yield name
            case ast.ImportFrom(names=names):
                yield from (each.name for each in names)
            case ast.Constant(value=str(text)) if node not in docstrings:
                yield from re.findall(r"\w+", text)
            case _:
                pass


def test_every_name_is_read() -> None:
    trees = {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for folder in READERS
        for path in (ROOT / folder).rglob("*.py")
    }
    known = {name for tree in trees.values() for name in read(tree)}
    unread = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, tree in trees.items()
        if path.relative_to(ROOT).parts[0] in SOURCES
        for name in defined(tree)
        if name not in known and not ASKED_FOR.fullmatch(name)
    ]
    assert unread == []
