"""A conformance kit: does an engine of your own say what the reference evaluator says?

    from precedes.testing import check_engine

    def test_conformance():
        check_engine(MyEngine())

`check_engine` asks numbered random cases: the definitions of the library and random formulas, on random executions with
everything that goes wrong in real ones. `case(number, kind)` is one of them again. docs/contributing/engine.md has an
example that runs; `python -m precedes.testing module:engine` does the same from a shell, as long as is wanted.
"""

from precedes.core.verdict import Reason, Verdict
from precedes.engines.engine import Answer, Engine, Unsupported
from precedes.testing.conformance import Conformance, Disagreement, check_engine
from precedes.testing.numbered_cases import KINDS, Case, Kind, case, cases, options, rows

__all__ = [
    "KINDS",
    "Answer",
    "Case",
    "Conformance",
    "Disagreement",
    "Engine",
    "Kind",
    "Reason",
    "Unsupported",
    "Verdict",
    "case",
    "cases",
    "check_engine",
    "options",
    "rows",
]
