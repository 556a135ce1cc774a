"""Which engine judges a trace: the names that a user may give, and which engine is meant.

Every command reads this module, so it imports no formula.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from precedes.core.diagnostics import usage
from precedes.core.suggestions import did_you_mean

TraceEngine: TypeAlias = Literal["local", "spark"]
"""The engines that judge traces: in this process, or on Spark. A new one is a name here and a folder beside this
module; the type checker then names each `match` that has to have an arm for it."""

EngineName: TypeAlias = Literal["auto", TraceEngine]
"""What a user may ask for."""

AUTO: Final = "auto"
NAMES: Final[tuple[str, ...]] = get_args(EngineName)


def selected(name: str, master: str | None = None) -> TraceEngine:
    """The engine that is meant: Spark if it is named or a master is given.

    Raises:
        PrecedesError: There is no engine of that name (U001), or the one that is named has no master.
    """
    match name:
        case "auto":
            return "local" if master is None else "spark"
        case "spark":
            return "spark"
        case "local":
            if master is not None:
                raise usage("--master goes with --engine spark")
            return "local"
        case _:
            raise usage(
                f"there is no engine {name}", did_you_mean(name, NAMES) or f"engines: {', '.join(NAMES)}"
            )
