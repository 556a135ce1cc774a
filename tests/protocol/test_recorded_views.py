"""What an exploration keeps of views, and what they are called."""

from __future__ import annotations

import pytest

from precedes.core.execution import EventKind
from precedes.core.formula import (
    TRUTH,
    EntityNamed,
    Forall,
    Formula,
    InLog,
    Installs,
    IsMember,
    MessageNamed,
    ReceiptLog,
    SameView,
    SendEvent,
    ViewNamed,
    ViewOf,
    ViewVariable,
)
from precedes.core.verdict import TRUE
from precedes.engines.reference import evaluate
from precedes.protocol.exploration.histories import Entry, Histories, needed
from tests.protocol.toys import Plain

E1, E2, V = EntityNamed("E1"), EntityNamed("E2"), ViewVariable("v")


@pytest.mark.parametrize(
    ("formula", "views", "interleaving"),
    [
        (InLog(MessageNamed("a"), ReceiptLog(E1)), False, False),
        (Forall(V, TRUTH, IsMember(E1, V)), True, False),
        (Installs(E1, ViewNamed("{E1}")), True, False),
        (SameView(ViewOf(SendEvent(MessageNamed("a"))), ViewNamed("{E1}")), True, True),
    ],
)
def test_a_history_has_views_where_a_formula_asks_for_them(
    formula: Formula, views: bool, interleaving: bool
) -> None:
    recording = needed([formula])
    assert recording.views is views
    assert recording.interleaving is interleaving


def test_a_view_of_a_model_is_called_by_its_members() -> None:
    both, one = (Entry(EventKind.VIEW, members=frozenset(members)) for members in ((1, 0), (1,)))
    execution = Histories(Plain(), 2).execution(((both,), (both, one)), "views")
    assert execution.installed("E2") == ("{E1, E2}", "{E2}")
    assert execution.views == {"{E1, E2}": frozenset({"E1", "E2"}), "{E2}": frozenset({"E2"})}
    assert evaluate(Installs(E1, ViewNamed("{E1, E2}")), execution) == TRUE
