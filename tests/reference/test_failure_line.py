"""The failure line of 1994, §4.1: the paper's figure, the steps as written and the reading of them."""

from __future__ import annotations

from dataclasses import replace

from precedes.core.formula import FailureLine
from precedes.core.verdict import FALSE, TRUE, Reason
from precedes.engines.reference import evaluate
from precedes.engines.reference.failure_line import Stuck, as_written, direct_failures, failure_line
from precedes.engines.reference.recorded import record
from tests.reference import scenarios as s

FIGURE = {"E1": 1, "E2": 4, "E3": 2}


def test_figure_6() -> None:
    assert failure_line(record(s.FIG6)) == FIGURE
    assert evaluate(FailureLine(), s.FIG6) == TRUE
    assert evaluate(FailureLine(), replace(s.FIG6, marks=FIGURE | {"E2": 3})) == FALSE
    assert evaluate(FailureLine(), replace(s.FIG6, marks={})) == Reason.NO_MARK


def test_figure_6_direct_failure_point_is_where_c_was_due() -> None:
    failures = direct_failures(record(s.FIG6))
    assert {entity: (point.index, point.lost) for entity, point in failures.items()} == {"E3": (3, "c")}


def test_the_letter_yields_figure_6_because_e3_marks_itself() -> None:
    assert as_written(record(s.FIG6)) == FIGURE


# z and then w went to E1 and E3 only: E2 has neither of the two PDUs at which the printed steps look.
TWO_BETWEEN = s.logs(
    "E1 E2 E3",
    SL1="a{2,3} b{2} c{1,3}",
    SL2="p{1} q{2,3}",
    SL3="x{1,2,3} y{2} z{1,3} w{1,3}",
    RL1="x c p z w",
    RL2="a x b y q",
    RL3="a x z w q",
)


def test_the_letter_gets_stuck_where_two_pdus_in_a_row_are_not_shared() -> None:
    assert as_written(record(TWO_BETWEEN)) == Stuck("E3", "w", ("E2",))
    assert failure_line(record(TWO_BETWEEN)) == {"E1": 1, "E2": 4, "E3": 2}


# As Figure 6, but r follows q: the line of E2 no longer ends up right by step (1) alone.
MORE_BEHIND = s.logs(
    "E1 E2 E3",
    SL1="a{2,3} b{2} c{1,3}",
    SL2="p{1} q{2,3} r{2} t{2}",
    SL3="x{1,2,3} y{2} z{1,3}",
    RL1="x c p z",
    RL2="a x b y q r t",
    RL3="a x z q",
)


def test_the_letter_leaves_a_pdu_in_front_of_one_line_and_behind_another() -> None:
    letter, read = as_written(record(MORE_BEHIND)), failure_line(record(MORE_BEHIND))
    assert not isinstance(letter, Stuck)
    log2, log3 = MORE_BEHIND.delivered("E2"), MORE_BEHIND.delivered("E3")
    assert "q" in log3[letter["E3"] :]
    assert "q" in log2[: letter["E2"]]
    assert "q" in log3[read["E3"] :]
    assert "q" in log2[read["E2"] :]


def test_without_a_loss_the_line_is_at_the_last_pdus() -> None:
    assert failure_line(record(s.FIG4)) == {"E1": 3, "E2": 4, "E3": 4}
    assert as_written(record(s.FIG4)) == {"E1": 3, "E2": 4, "E3": 4}
