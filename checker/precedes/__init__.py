"""A formal model of message order in group communication, and a checker for traces.

    import precedes

    report = precedes.verify("trace.jsonl", ["ST", "causal_order"])
    report.raise_for_violations()

Everything that the command `precedes` does can be done with these functions, with the same words. They are loaded
when they are first used. All other modules of the package are internal, except `precedes.protocol` (to write a model),
`precedes.record` (to record a trace) and `precedes.spark`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from precedes.core.version import VERSION

if TYPE_CHECKING:
    from precedes.api.files import check, draw
    from precedes.api.library import load_library
    from precedes.api.protocols import explore, simulate
    from precedes.api.questions import find, lattice, prove
    from precedes.api.report import Report
    from precedes.api.traces import Reading, infer, verify
    from precedes.core.diagnostics import PrecedesError
    from precedes.core.execution import Execution
    from precedes.core.formula import Requirement
    from precedes.core.verdict import Verdict
    from precedes.protocol.bounds import Bounds
    from precedes.protocol.model import Protocol
    from precedes.record import Recorder

__version__ = VERSION

__all__ = [
    "Bounds",
    "Execution",
    "PrecedesError",
    "Protocol",
    "Reading",
    "Recorder",
    "Report",
    "Requirement",
    "Verdict",
    "check",
    "draw",
    "explore",
    "find",
    "infer",
    "lattice",
    "load_library",
    "prove",
    "simulate",
    "verify",
]

_HOMES = {
    "Bounds": "protocol.bounds",
    "Execution": "core.execution",
    "PrecedesError": "core.diagnostics",
    "Protocol": "protocol.model",
    "Reading": "api.traces",
    "Recorder": "record",
    "Report": "api.report",
    "Requirement": "core.formula",
    "Verdict": "core.verdict",
    "check": "api.files",
    "draw": "api.files",
    "explore": "api.protocols",
    "find": "api.questions",
    "infer": "api.traces",
    "lattice": "api.questions",
    "load_library": "api.library",
    "prove": "api.questions",
    "simulate": "api.protocols",
    "verify": "api.traces",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'precedes' has no attribute {name!r}")
    return getattr(import_module(f"precedes.{home}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
