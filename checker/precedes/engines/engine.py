"""What an engine is, and the names of those that judge traces.

An engine gives verdicts: one for each of some requirements on each of some executions. The reference evaluator
(`precedes.engines.reference`) says which verdict is right. `precedes.testing` compares an engine with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias, get_args

from precedes.core.diagnostics import usage
from precedes.core.execution import Execution
from precedes.core.formula import Requirement
from precedes.core.suggestions import did_you_mean
from precedes.core.verdict import Reason, Verdict


@dataclass(frozen=True, slots=True)
class Unsupported:
    """What an engine answers where it does not judge.

    Attributes:
        reason: What it lacks, in a few words: `"recorded clocks"`. Answers are counted by it.
    """

    reason: str


Answer: TypeAlias = Verdict | Reason | Unsupported
"""What an engine says of one requirement on one execution. A `Reason` is the verdict unknown, for that reason."""


class Engine(Protocol):
    """Something that judges executions.

    Attributes:
        name: How reports call the engine.
    """

    @property
    def name(self) -> str:
        """How reports call the engine."""
        ...

    def verdicts(
        self, requirements: Sequence[Requirement], executions: Sequence[Execution]
    ) -> Sequence[Sequence[Answer]]:
        """Judge every execution by every requirement.

        Args:
            requirements: R closed formulas under their names.
            executions: E executions of different names, as one run over a trace has them: the cluster, `delta`,
                `epsilon`, `complete` and `delivery` are the same for all.

        Returns:
            E rows of R answers each. `answers[e][r]` is that of `requirements[r]` on `executions[e]`.
        """
        ...


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
