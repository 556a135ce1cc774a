"""As many random cases as wanted: `python -m precedes.testing package.module:engine --cases 50000 --from 0`.

The engine is a value with `name` and `verdicts` (see `precedes.testing.Engine`), or is called to make one. Modules are
found from the folder where the command is typed. Exit code 0: it agrees on all cases that it supports, and supports
some. 1: it does not. 2: there is no such engine, or it raised an error, which is shown with its traceback.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from importlib import import_module

from precedes.engines.engine import Engine
from precedes.testing.conformance import NotConforming, check_engine
from precedes.testing.numbered_cases import KINDS


def main() -> int:
    """Run the cases that the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m precedes.testing",
        description="Compare an engine with the reference evaluator on numbered random cases.",
    )
    parser.add_argument("engine", metavar="MODULE:ENGINE", help="where the engine is, as package.module:name")
    parser.add_argument(
        "--cases", type=int, default=10_000, help="how many of each kind (default: %(default)s)"
    )
    parser.add_argument("--from", type=int, default=0, dest="first", help="the number of the first case")
    parser.add_argument(
        "--kind",
        action="append",
        choices=KINDS,
        help="what cases are made of; repeatable (default: each kind)",
    )
    arguments = parser.parse_args()
    try:
        engine = _engine(arguments.engine)
    except (ImportError, AttributeError, ValueError) as error:
        parser.error(f"{arguments.engine}: {error}")
    except Exception as error:  # noqa: BLE001 - whatever a module or a constructor raises
        traceback.print_exception(error)
        parser.error(f"{arguments.engine} cannot be made: {type(error).__name__}: {error}")
    try:
        found = check_engine(
            engine, cases=arguments.cases, first=arguments.first, kinds=arguments.kind or KINDS
        )
    except NotConforming as error:
        sys.stdout.write(f"{error}\n")
        return 1
    except Exception as error:  # noqa: BLE001 - whatever the engine raises is a failure of the engine
        traceback.print_exception(error)
        sys.stderr.write(f"{arguments.engine} raised {type(error).__name__}: this is no verdict\n")
        return 2
    sys.stdout.write(f"{found}\n")
    return 0


def _engine(where: str) -> Engine:
    module, colon, name = where.partition(":")
    if not (module and colon and name):
        raise ValueError("an engine is named as package.module:name")
    found = getattr(import_module(module), name)
    if isinstance(found, type) or not hasattr(found, "verdicts"):
        found = found()
    engine: Engine = found
    return engine


if __name__ == "__main__":
    sys.exit(main())
