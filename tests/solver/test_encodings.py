"""The two encodings against the reference evaluator: what is a solution of the bounded one is not refuted by the
unbounded one.
"""

from __future__ import annotations

import pytest

from precedes.engines.solver import Bounds, Counterexample, Options, Proved
from tests.solver.asking import asked

TRUE_OF_ALL = (
    # happens-before: irreflexive, transitive, local order, send before delivery
    "forall p: not p ~> p",
    "forall p, q, r: (p ~> q and q ~> r) implies p ~> r",
    "forall i: forall p, q: p <[SL[i]] q implies p ~> q",
    "forall i: forall p in RL[i]: sent(p) implies send(p) ~> deliver(p, i)",
    "forall i, j: forall p, q: deliver(p, i) ~> deliver(q, j) implies not deliver(q, j) ~> deliver(p, i)",
    "forall i: forall p, q in RL[i]: p <[RL[i]] q iff deliver(p, i) ~> deliver(q, i)",
    "forall p, q: (deliver(p, sender(q)) ~> send(q) and sent(p)) implies p ~> q",
    # logs
    "forall i: forall p, q in RL[i]: p = q or p <[RL[i]] q or q <[RL[i]] p",
    "forall i: forall p, q: p <[RL[i]] q implies not q <[RL[i]] p",
    "forall i, j: forall p in SL[i, j]: j in dest(p) and sender(p) = i",
    "forall p: forall i in dest(p): sent(p)",
    "forall i: forall p: repeated(p, RL[i]) implies p in RL[i]",
    "acyclic(p, q: exists i: p <[SL[i]] q)",
    "acyclic(p, q: p ~> q)",
    # numbers
    "forall i: forall p in RL[i]: position(p, RL[i]) <= size(RL[i])",
    "forall i: forall p in RL[i]: sent(p) implies send_time(p) <= deliver_time(p, i)",
    "forall p, q: p ~> q implies implied_clock(send(p), sender(p)) <= implied_clock(send(q), sender(p))",
)


@pytest.mark.parametrize("text", TRUE_OF_ALL)
def test_true_of_every_execution(text: str) -> None:
    assert asked(text) == Proved()


FALSE_OF_SOME = (
    "forall p, q: p ~> q or q ~> p or p = q",
    "forall i: forall p in RL[i]: send(p) ~> deliver(p, i)",
    "forall p: sent(p)",
    "forall p: forall i in dest(p): p in RL[i]",
    "forall i: forall p in RL[i]: i in dest(p)",
    "forall i: forall p: not repeated(p, RL[i])",
    "forall i: size(RL[i]) <= 1",
    "forall p, q: p ~> q implies send_time(p) <= send_time(q)",
    "acyclic(p, q: exists i: p <[RL[i]] q)",
    "forall p: sent(p) implies clock(send(p), sender(p)) = 1",
    "(exists p: sent(p)) implies (exists i: exists d in DL[i]: d = d)",
)


@pytest.mark.parametrize("text", FALSE_OF_SOME)
def test_false_of_some_execution(text: str) -> None:
    """The solver's executions are as free as recorded ones: losses, strangers, creation, repeats, clocks that run
    apart.
    """
    answer = asked(text, Options(bounds=Bounds((1, 3), (0, 3))))
    assert isinstance(answer, Counterexample), answer
