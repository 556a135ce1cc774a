"""The rules of the house: that each refuses what it is there to refuse."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tools import house

LONG = "def f():\n" + "    x = 1\n" * (house.LONGEST + 1)
MANY = "def f(" + ", ".join(f"p{number}" for number in range(house.MOST + 1)) + "):\n    pass\n"
METHOD = "class C:\n    def f(self, a, b, c, d, e, g):\n        pass\n"


def module(name: str, text: str = "") -> house.Module:
    path = house.ROOT / "checker" / Path(*name.split(".")).with_suffix(".py")
    return house.Module(name, path, ast.parse(text))


@pytest.mark.parametrize(("text", "said"), [(LONG, "more than 70"), (MANY, "more than 6")])
def test_a_function_that_breaks_a_rule_is_found(text: str, said: str) -> None:
    [found] = house.broken_rules({"precedes.x": module("precedes.x", text)})
    assert said in found
    assert found.startswith("checker/precedes/x.py:1: ")


@pytest.mark.parametrize("text", [METHOD, "def f(a, *, b, c, d, e, g, h):\n    pass\n"])
def test_self_and_what_is_named_at_the_call_are_no_parameters_too_many(text: str) -> None:
    assert list(house.broken_rules({"precedes.x": module("precedes.x", text)})) == []


def test_two_modules_of_a_room_with_one_name_are_found() -> None:
    names = ("precedes.jobs.a.verify", "precedes.jobs.b.verify", "precedes.cli.verify")
    [found] = house.shared_names({name: module(name) for name in names})
    assert "two modules of precedes.jobs are called verify" in found


def test_rooms_and_imports() -> None:
    known = {
        "precedes.core.a": module("precedes.core.a"),
        "precedes.engines.scan.b": module(
            "precedes.engines.scan.b", "def f():\n    from precedes.core import a\n"
        ),
        "precedes.c": module("precedes.c", "if TYPE_CHECKING:\n    from precedes.core import a\n"),
    }
    assert [each.room for each in known.values()] == ["precedes.core", "precedes.engines.scan", "precedes.c"]
    assert house.imports(known["precedes.engines.scan.b"], known) == {"precedes.core.a"}
    assert house.imports(known["precedes.c"], known) == set()
    assert house.plan(known).startswith("3 modules, 3 rooms, 2 floors, 1 arrows, 0 circles")


def test_the_table_of_rooms_has_every_room() -> None:
    """A folder of the package, or what stands in `engines/`; `record/` is named below the table."""
    package = house.ROOT / "checker" / "precedes"
    folders = {path.parent for path in package.glob("*/__init__.py")} - {
        package / "engines",
        package / "record",
    }
    engines = {path.parent for path in package.glob("engines/*/__init__.py")}
    modules = {path for path in package.glob("engines/*.py") if path.name != "__init__.py"}
    text = (house.ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| `([\w/]+(?:/|\.py))` \|", text.partition("| Elsewhere")[0], re.MULTILINE)
    assert {package / name for name in table} == folders | engines | modules


def test_the_list_of_exceptions_is_short_and_has_reasons() -> None:
    assert len(house.EXCEPTIONS) <= 10
    assert all(house.EXCEPTIONS.values())
    known = house.modules() if house.EXCEPTIONS else {}
    functions = {
        f"{each.name}.{node.name}"
        for each in known.values()
        for node in ast.walk(each.tree)
        if isinstance(node, ast.FunctionDef)
    }
    assert house.EXCEPTIONS.keys() <= functions
