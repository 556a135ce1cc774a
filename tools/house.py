"""Whether the code keeps the rules of the house: `make lint` runs it, and `--plan` prints the floor plan.

A room is a folder directly below `precedes` or `precedes/engines`, or a module that stands alone. An arrow goes from a
room to each room whose modules it imports. Imports inside functions count; what only a type checker reads does not.
Floors are counted along the longest chain of arrows. A circle is a set of rooms that import each other.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import networkx as nx

ROOT: Final = Path(__file__).parents[1]
SOURCES: Final = (ROOT / "checker", ROOT / "models")
SPLIT: Final = frozenset({"engines"})
"""Folders whose own folders are rooms."""

LONGEST: Final = 70
"""Lines of a function: what fits on a screen is read at a glance."""
MOST: Final = 6
"""Parameters of a function: more of them are a value that has no name yet."""

SAME_THING: Final = frozenset({"layout", "svg", "text"})
"""Names that modules of one room may share: diagrams and orders are each laid out, and drawn in two forms."""

EXCEPTIONS: Final[dict[str, str]] = {}
"""Functions that may break a rule, each with its reason. At most ten."""


@dataclass(frozen=True, slots=True)
class Module:
    """One source file by its dotted name."""

    name: str
    path: Path
    tree: ast.Module

    @property
    def room(self) -> str:
        """The room it stands in."""
        parts = self.name.split(".")
        folder = parts if self.path.name == "__init__.py" else parts[:-1]
        if len(folder) == 1:
            return self.name
        depth = 3 if len(folder) > 2 and folder[1] in SPLIT else 2
        return ".".join(folder[:depth])


def modules() -> dict[str, Module]:
    """All modules of the library and of the models."""
    found = {}
    for source in SOURCES:
        for path in sorted(source.rglob("*.py")):
            parts = path.relative_to(source).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = Module(name, path, ast.parse(path.read_text(encoding="utf-8")))
    return found


def imports(module: Module, known: dict[str, Module]) -> set[str]:
    """The modules that a module imports when it is run, inside functions, too."""
    found = set()
    unread = {id(node) for block in _for_types_only(module.tree) for node in ast.walk(block)}
    for node in ast.walk(module.tree):
        if id(node) in unread:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            target = name
            while target and target not in known:
                target = target.rpartition(".")[0]
            if target and target != module.name:
                found.add(target)
    return found


def _for_types_only(tree: ast.Module) -> Iterator[ast.stmt]:
    """What only a type checker reads: it loads nothing."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield from node.body


def plan(known: dict[str, Module]) -> str:
    """The floor plan in numbers, then every arrow with how many imports it stands for."""
    library = {
        name: module for name, module in known.items() if name.startswith("precedes.") or name == "precedes"
    }
    arrows: dict[tuple[str, str], int] = defaultdict(int)
    chain = nx.DiGraph()
    for module in library.values():
        for target in imports(module, library):
            chain.add_edge(module.name, target)
            one, other = module.room, library[target].room
            if one != other:
                arrows[one, other] += 1
    graph = nx.DiGraph(arrows.keys())
    rooms = {module.room for module in library.values()}
    circles = [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]
    floors = nx.dag_longest_path_length(nx.condensation(graph)) + 1
    longest = nx.dag_longest_path_length(nx.condensation(chain)) + 1
    summary = (
        f"{len(library)} modules, {len(rooms)} rooms, {floors} floors, {len(arrows)} arrows, {len(circles)} circles;"
        f" the longest chain of imports has {longest} modules"
    )
    lines = [
        summary,
        *(f"circle: {', '.join(circle)}" for circle in circles),
        *(f"{one} -> {other}  {count}" for (one, other), count in sorted(arrows.items())),
    ]
    return "\n".join(lines)


def broken_rules(known: dict[str, Module]) -> Iterator[str]:
    """What breaks a rule, with its place and what would be right."""
    for module in known.values():
        place = module.path.relative_to(ROOT)
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            name = f"{module.name}.{node.name}"
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > LONGEST and name not in EXCEPTIONS:
                yield f"{place}:{node.lineno}: {node.name} has {lines} lines, more than {LONGEST}: divide it"
            taken = [*node.args.posonlyargs, *node.args.args]
            if taken and taken[0].arg in ("self", "cls"):
                taken = taken[1:]
            if len(taken) > MOST and name not in EXCEPTIONS:
                yield (
                    f"{place}:{node.lineno}: {node.name} has {len(taken)} positional parameters, more than {MOST}:"
                    " give them a type of their own"
                )


def shared_names(known: dict[str, Module]) -> Iterator[str]:
    """Modules of one room that have one name: who looks for one finds the other."""
    found: dict[tuple[str, str], list[Module]] = defaultdict(list)
    for module in known.values():
        base = module.name.rpartition(".")[2]
        if (
            module.path.name != "__init__.py"
            and module.name.startswith("precedes.")
            and base not in SAME_THING
        ):
            found[module.room, base].append(module)
    for (room, base), same in found.items():
        if len(same) > 1:
            places = ", ".join(str(module.path.relative_to(ROOT)) for module in same)
            yield f"{places}: two modules of {room} are called {base}: say what tells them apart"


def main() -> int:
    """Print what breaks a rule, or the plan. The exit code is 1 if something does."""
    parser = argparse.ArgumentParser(description="The rules of the house.")
    parser.add_argument("--plan", action="store_true", help="print rooms, floors, arrows and circles")
    known = modules()
    if parser.parse_args().plan:
        print(plan(known))
        return 0
    broken = [*broken_rules(known), *shared_names(known)]
    print("\n".join(broken) or "no rule of the house is broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
