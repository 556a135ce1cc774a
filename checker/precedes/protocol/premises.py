"""The premise of a formula: what must be met for it to say anything.

Of `forall p, q in L: A implies B` that there are p and q in L of which A is true. A formula whose premise no execution
met has not been tested.
"""

from __future__ import annotations

from precedes.formula import (
    TRUTH,
    Acyclic,
    And,
    Exists,
    Forall,
    Formula,
    Implies,
    Not,
    Or,
    conjunction,
)


def premise(formula: Formula) -> Formula:
    """A formula that is true where the premise of some part of the given one is met."""
    match formula:
        case Forall(variable, extent, body):
            return Exists(variable, extent, premise(body))
        case Not(Exists(variable, extent, body)):
            return Exists(variable, extent, premise(Not(body)))
        case Implies(left, right):
            return conjunction(left, premise(right))
        case And(parts):
            premises = tuple(dict.fromkeys(premise(part) for part in parts))
            if TRUTH in premises:
                return TRUTH
            return premises[0] if len(premises) == 1 else Or(premises)
        case Acyclic(first, second, body):
            return Exists(first, TRUTH, Exists(second, TRUTH, body))
        case _:
            return TRUTH
