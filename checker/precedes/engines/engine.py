"""What an engine is.

An engine gives verdicts: one for each of some requirements on each of some executions. The reference evaluator
(`precedes.engines.reference`) says which verdict is right. `precedes.testing` compares an engine with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from precedes.core.execution import Execution
from precedes.core.formula import Requirement
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
