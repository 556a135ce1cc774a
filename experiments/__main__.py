"""`python -m experiments [NAME ...] [--scale quick|full] [--list]`: build/papers/NAME.svg and NAME.csv."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

import experiments
from experiments.drawing import save
from experiments.table import Scale, Table


@dataclass(frozen=True, slots=True)
class Experiment:
    """A module that is one."""

    name: str
    about: str
    compute: Callable[[Scale], Table]
    draw: Callable[[Table], Figure]


def found() -> dict[str, Experiment]:
    """All experiments, by name."""
    there: dict[str, Experiment] = {}
    for module_info in pkgutil.iter_modules(experiments.__path__):
        if module_info.name.startswith("_"):
            continue
        module = importlib.import_module(f"experiments.{module_info.name}")
        name = getattr(module, "NAME", None)
        if name is not None:
            about = (module.__doc__ or "").strip().partition("\n")[0]
            there[name] = Experiment(name, about, module.compute, module.draw)
    return there


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for, or everything; 2 where a name is unknown."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="which experiments; all of them without a name"
    )
    parser.add_argument("--scale", choices=[scale.value for scale in Scale], default=Scale.FULL.value)
    parser.add_argument("--out", type=Path, default=Path("build/papers"), metavar="DIR")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    asked = parser.parse_args(arguments)
    there = found()
    if asked.list:
        for one in there.values():
            print(f"{one.name:28} {one.about}")
        return 0
    unknown = [name for name in asked.names if name not in there]
    if unknown:
        print(f"no experiment is called {', '.join(unknown)}; there are {', '.join(there)}", file=sys.stderr)
        return 2
    asked.out.mkdir(parents=True, exist_ok=True)
    for name in asked.names or there:
        started = time.perf_counter()
        table = there[name].compute(Scale(asked.scale))
        table.write(asked.out / f"{name}.csv")
        save(there[name].draw(table), asked.out / f"{name}.svg")
        print(
            f"{asked.out / name}.svg, .csv: {len(table.rows)} rows, {time.perf_counter() - started:.0f} s",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
