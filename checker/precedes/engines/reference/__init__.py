"""The reference evaluator: the meaning of a formula on one execution, by definition, and the reasons for a
verdict.
"""

from precedes.engines.reference.cut import cut
from precedes.engines.reference.evaluation import evaluate
from precedes.engines.reference.explanation import explain

__all__ = ["cut", "evaluate", "explain"]
