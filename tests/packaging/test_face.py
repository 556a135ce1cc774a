"""Whoever stands outside uses the public face: documents, examples, the models, the recorder and the pytest plugin."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module

import pytest

from tests.command.documents import ROOT, blocks, documents

PUBLIC = ("precedes", "precedes.protocol", "precedes.record", "precedes.spark", "precedes.testing")
RECORDER = "checker/precedes/record/"
"""It stands outside as a whole: its modules may import each other."""
SCHEDULES = "models/precedes_models/delta_causal/schedules/"
"""The search for schedules is an encoding of its own for the solver, with the solver's own words."""


def programs() -> Iterator[tuple[str, str]]:
    """Where, and the program."""
    inside = ROOT / "docs/contributing"  # for those who change what is inside
    for path in documents():
        if path.parent == inside:
            continue
        for block in blocks(path):
            if block.language == "python":
                yield str(block), block.body
    checker = ROOT / "checker"
    files = [checker / "_precedes_pytest.py", *sorted((ROOT / RECORDER).glob("*.py"))]
    for folder in ("examples", "models", "templates"):
        files += sorted((ROOT / folder).rglob("*.py"))
    for file in files:
        name = file.relative_to(ROOT).as_posix()
        if not name.startswith(SCHEDULES):
            yield name, file.read_text(encoding="utf-8")


PROGRAMS = dict(programs())


def internal(program: str) -> list[str]:
    """What a program imports that is not public."""
    found = []
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.split(".")[0] == "precedes"]
            found += [name for name in names if name not in PUBLIC]
        elif isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "precedes":
            if node.module not in PUBLIC:
                found.append(str(node.module))
                continue
            offered = getattr(import_module(node.module), "__all__", None)
            names = [alias.name for alias in node.names]
            found += [
                f"{node.module}.{name}" for name in names if offered is not None and name not in offered
            ]
    return found


def test_there_are_programs_to_look_at() -> None:
    assert sum(name.endswith(".py") for name in PROGRAMS) > 30
    assert sum(".md:" in name for name in PROGRAMS) > 8


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_internal_is_imported(name: str) -> None:
    own = "precedes.record." if name.startswith(RECORDER) else ()
    assert [each for each in internal(PROGRAMS[name]) if not each.startswith(own)] == []


@pytest.mark.parametrize(
    "program",
    [
        "from precedes.traces import read_batches",
        "import precedes.core.columns",
        "from precedes import Notices",
    ],
)
def test_what_is_internal_is_found(program: str) -> None:
    assert internal(program) != []


def test_the_face_is_what_the_architecture_says() -> None:
    """ARCHITECTURE.md names the boundaries."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    boundaries = text.partition("## Boundaries")[2]
    assert "`import precedes`" in boundaries
    assert all(f"`{name}`" in boundaries for name in PUBLIC[1:])
