"""A formal model of message order in group communication, and a checker for traces.

    import precedes

    report = precedes.verify("trace.jsonl", ["ST", "causal_order"])
    report.raise_for_violations()

Everything that the command `precedes` does can be done with these functions, with the same words. They are loaded
when they are first used. All other modules of the package are internal, except `precedes.protocol` (to write a model),
`precedes.record` (to record a trace), `precedes.spark` and `precedes.testing` (to test an engine of your own).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from precedes.core.version import VERSION

if TYPE_CHECKING:
    from precedes.api.check import Check, check
    from precedes.api.conformance import Conformance, conform
    from precedes.api.draw import Drawing, draw
    from precedes.api.executions import Converted, as_scenario, convert, read, write
    from precedes.api.library import explain, load_library, names
    from precedes.api.processes import Trial, run
    from precedes.api.protocols import Exploration, Simulated, explore, simulate
    from precedes.api.questions import Answer, Lattice, find, lattice, prove
    from precedes.api.report import Report
    from precedes.api.statements import Judgment, Statement, statements
    from precedes.api.traces import Inference, Reading, Verification, infer, verify
    from precedes.core.diagnostics import PrecedesError
    from precedes.core.execution import Execution
    from precedes.core.formula import Requirement
    from precedes.core.verdict import Verdict
    from precedes.language.library import Library
    from precedes.protocol.bounds import Bounds, Destinations
    from precedes.protocol.model import Protocol
    from precedes.record import Entity, Recorder

__version__ = VERSION

__all__ = [
    "Answer",
    "Bounds",
    "Check",
    "Conformance",
    "Converted",
    "Destinations",
    "Drawing",
    "Entity",
    "Execution",
    "Exploration",
    "Inference",
    "Judgment",
    "Lattice",
    "Library",
    "PrecedesError",
    "Protocol",
    "Reading",
    "Recorder",
    "Report",
    "Requirement",
    "Simulated",
    "Statement",
    "Trial",
    "Verdict",
    "Verification",
    "as_scenario",
    "check",
    "conform",
    "convert",
    "draw",
    "explain",
    "explore",
    "find",
    "infer",
    "lattice",
    "load_library",
    "names",
    "prove",
    "read",
    "run",
    "simulate",
    "statements",
    "verify",
    "write",
]

_HOMES = {
    "Answer": "api.questions",
    "Bounds": "protocol.bounds",
    "Check": "api.check",
    "Conformance": "api.conformance",
    "Converted": "api.executions",
    "Destinations": "protocol.bounds",
    "Drawing": "api.draw",
    "Entity": "record",
    "Execution": "core.execution",
    "Exploration": "api.protocols",
    "Inference": "api.traces",
    "Judgment": "api.statements",
    "Lattice": "api.questions",
    "Library": "language.library",
    "PrecedesError": "core.diagnostics",
    "Protocol": "protocol.model",
    "Reading": "api.traces",
    "Recorder": "record",
    "Report": "api.report",
    "Requirement": "core.formula",
    "Simulated": "api.protocols",
    "Statement": "api.statements",
    "Trial": "api.processes",
    "Verdict": "core.verdict",
    "Verification": "api.traces",
    "as_scenario": "api.executions",
    "check": "api.check",
    "conform": "api.conformance",
    "convert": "api.executions",
    "draw": "api.draw",
    "explain": "api.library",
    "explore": "api.protocols",
    "find": "api.questions",
    "infer": "api.traces",
    "lattice": "api.questions",
    "load_library": "api.library",
    "names": "api.library",
    "prove": "api.questions",
    "read": "api.executions",
    "run": "api.processes",
    "simulate": "api.protocols",
    "statements": "api.statements",
    "verify": "api.traces",
    "write": "api.executions",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'precedes' has no attribute {name!r}")
    return getattr(import_module(f"precedes.{home}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
