"""Sentences and figures about groups and views."""

from __future__ import annotations

import pytest

from precedes.engines.reference import explain
from precedes.language.loader import compile_text
from precedes.reports.figure import figure, sentence
from precedes.reports.places import places
from precedes.reports.space_time.marks import Marks
from precedes.reports.space_time.neighborhood import Excerpt
from precedes.reports.space_time.svg import diagram_svg
from precedes.reports.space_time.text import diagram

OFFICE = """
scenario office
cluster n1 n2 n3
group billing: n1 n2
H1: < view v1{1,2,3} !a{2,group:billing} ?a view{1,2} view "day 2"{1} view{1,2} ]
H2: < view v1{1,2,3} view{1,2} ?a ]
H3: < ?a ?a ]
"""


def told(expectation: str, scenario: str = OFFICE) -> tuple[str, str]:
    """The sentence and the figure of what a scenario violates."""
    [compiled] = compile_text(f"{scenario}expect ({expectation})").scenarios
    asked = compiled.expectations[0].requirement
    explained = explain(asked, compiled.execution)
    witness = explained.witnesses[0]
    return sentence(asked, explained.execution, witness), figure(explained.execution, witness)


@pytest.mark.parametrize(
    ("expectation", "said"),
    [
        ("n3 in members(billing)", "n3 is not in group billing"),
        ("not n1 in members(billing)", "n1 is in group billing"),
        ('n3 in members("{n1, n2}")', "n3 is not in view {n1, n2}"),
        ('n2 in members("day 2")', 'n2 is not in view "day 2"'),
        ("installs(n3, v1)", "n3 does not install view v1"),
        ("not v1 in VL1", "n1 installs view v1"),
        ('"{n1, n2}" <[VL1] v1', "n1 does not install view {n1, n2} before view v1"),
        ('not v1 <[VL1] "day 2"', 'n1 installs view v1 before view "day 2"'),
        ('not repeated("{n1, n2}", VL1)', "n1 installs view {n1, n2} more than once"),
        ("repeated(v1, VL1)", "n1 installs view v1 not more than once"),
        ("not billing in dest(a)", "a was addressed to group billing"),
        ("view(deliver(a, n2)) = v1", "n2 delivers a in view {n1, n2}, not in view v1"),
        ("view(deliver(a, n3)) = v1", "n3 delivers a in no view"),
        ("view(send(a)) != v1", "n1 sends a in view v1"),
        (
            "view(deliver(a, n1)) = view(deliver(a, n2))",
            "n1 delivers a in view v1, n2 delivers a in view {n1, n2}",
        ),
        ("forall d in DL3: exists v: view(d) = v", "n3 delivers a in no view"),
        (
            "number(view(deliver(a, n3))) = 3",
            "there is no such thing as the number of the view of the delivery of a",
        ),
        ("n2 in members(view(deliver(a, n1))) implies n3 in members(billing)", "n3 is not in group billing"),
        ("forall d, e in DL3: d = e", "n3 delivers a and then a again"),
        ("exists i in members(billing): a in SL[i] and i = n2", ""),
        ("forall i: forall v in VL[i]: i = n1", "n2 is not n1"),
    ],
)
def test_sentences(expectation: str, said: str) -> None:
    assert said in told(expectation)[0]


def test_numbers_of_views() -> None:
    scenario = """
    scenario numbered
    cluster a b
    H1: < view "3"{1} !m{2} view "2"{1,2} ]
    H2: < view "2"{1,2} ?m ]
    """
    assert told("local_monotonicity", scenario) == (
        "a installs view 3 before view 2, the number of view 3 is not less than the number of view 2",
        """cluster a b
H[a]: < view "3"{a} !m{b} view "2"{a,b} ]
#       ^^^^^^^^^^^       ^^^^^^^^^^^^^
H[b]: < view "2"{a,b} ?m ]""",
    )
    said, _ = told("number(view(send(m))) <= number(view(deliver(m, b)))", scenario)
    assert said == (
        "the number of the view of the send of m (3) is more than "
        "the number of the view of the delivery of m at b (2)"
    )


def test_a_group_that_loses_a_message() -> None:
    scenario = """
    scenario lost
    cluster shop w1 w2
    group workers: w1 w2
    SL1: < o{group:workers} ]
    """
    assert told("kept_by_groups", scenario) == (
        "o was addressed to group workers, no member of group workers delivers o",
        """cluster shop w1 w2
group workers: w1 w2
RL[shop]: < ]   SL[shop]: < o{group:workers} ]
#                           ^^^^^^^^^^^^^^^^
RL[w1]: < ]     SL[w1]: < ]
RL[w2]: < ]     SL[w2]: < ]""",
    )


def test_nobody_says_that_a_member_was_not_meant() -> None:
    scenario = """
    scenario two_orders
    cluster shop w1 w2
    group workers: w1 w2
    SL1: < o{group:workers} p{group:workers} ]
    RL2: < o p ]
    RL3: < p o ]
    """
    assert told("order_equivalent", scenario)[0] == "w1 delivers o before p, w2 delivers p before o"


def test_a_figure_marks_the_views_of_a_violation() -> None:
    said, drawn = told("virtual_synchrony")
    assert said == (
        "n1 installs view v1 before view {n1, n2}, n2 installs view v1 before view {n1, n2}, "
        "n1 delivers a in view v1, n2 delivers a in view {n1, n2}, not in view v1"
    )
    assert drawn.splitlines()[2:] == [
        'H[n1]: < view v1{n1,n2,n3} !a{n2,group:billing} ?a view{n1,n2} view "day 2"{n1} view{n1,n2} ]',
        "#        ^^^^^^^^^^^^^^^^^                      ^^ ^^^^^^^^^^^                  ^^^^^^^^^^^",
        "H[n2]: < view v1{n1,n2,n3} view{n1,n2} ?a ]",
        "#        ^^^^^^^^^^^^^^^^^ ^^^^^^^^^^^ ^^",
        "H[n3]: < ?a ?a ]",
    ]


def test_diagrams_show_the_ids_of_views() -> None:
    [scenario] = compile_text(OFFICE + "expect not local_monotonicity").scenarios
    explained = explain(scenario.expectations[0].requirement, scenario.execution)
    marked = places(explained.execution, explained.witnesses[0])
    drawn = diagram(explained.execution, marked)
    assert "● view v1{n1,n2,n3}" in drawn
    assert drawn.count("◆ view{n1,n2}") == 2
    assert "a{n2,group:billing}" in drawn
    svg = diagram_svg(Excerpt(explained.execution), marks=Marks(marked))
    assert "view &quot;day 2&quot;{n1}" in svg or 'view "day 2"{n1}' in svg
