"""The reference evaluator: the meaning of a formula on one execution, by definition, and the reasons for a
verdict."""

from precedes.engines.reference.causes import Fact
from precedes.engines.reference.cut import cut
from precedes.engines.reference.evaluation import evaluate
from precedes.engines.reference.explanation import Explanation, Witness, explain

__all__ = ["Explanation", "Fact", "Witness", "cut", "evaluate", "explain"]
