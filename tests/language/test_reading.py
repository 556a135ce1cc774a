"""What texts mean as trees: spellings that are read as the same, and where statements begin."""

from fractions import Fraction

import pytest

from precedes.core.execution import EventKind
from precedes.core.verdict import Verdict
from precedes.language import syntax
from precedes.language.parsing.parser import parse, parse_sentence


@pytest.mark.parametrize(
    ("unicode", "ascii_"),
    [
        ("∀ p, q ∈ L & M: p <[L] q ⇔ p <[M] q", "forall p, q in L & M: p <[L] q iff p <[M] q"),
        ("∀p∈RL1:∃q∈RL2:p→q", "forall p in RL1: exists q in RL2: p ~> q"),
        ("¬a ∧ b ∨ c ⇒ d", "not a and b or c implies d"),
        ("send_time(p) + Δ ≥ x ∧ x ≤ ε ∧ p ≠ q", "send_time(p) + delta >= x and x <= epsilon and p != q"),
        ("send_time(p) + ∆ ≥ ϵ", "send_time(p) + delta >= epsilon"),
        ("d = 3µs", "d = 3us"),
        ("d = 3μs", "d = 3us"),
    ],
)
def test_unicode_forms_are_the_same(unicode: str, ascii_: str) -> None:
    assert parse_sentence(unicode) == parse_sentence(ascii_)


def test_statements_in_unicode() -> None:
    assert parse("Δ 10\nε 1ms\npredicate f ≔ a\nRL1: < a ‖ b ]") == parse(
        "delta 10\nepsilon 1ms\npredicate f := a\nRL1: < a || b ]"
    )


@pytest.mark.parametrize(
    "spelling", ["a{2,3}", "a{ 2 , 3 }", "a_{23}", "a_{\\{23\\}}", "a_{2,3}", "a_{\\{2,3\\}}"]
)
def test_three_spellings_of_destinations(spelling: str) -> None:
    [log] = parse(f"SL1: < {spelling} ]").statements
    assert isinstance(log, syntax.Log)
    [entry] = log.items
    assert isinstance(entry, syntax.Entry)
    assert entry.destinations is not None
    assert entry.destinations.members == (syntax.Place(2), syntax.Place(3))


def test_a_pdu_with_sender_and_sequence() -> None:
    [log] = parse("RL1: < q^2(6) r^E3 ]").statements
    assert isinstance(log, syntax.Log)
    assert log.items == (
        syntax.Entry(None, syntax.Name("q"), syntax.Place(2), 6),
        syntax.Entry(None, syntax.Name("r"), syntax.Name("E3")),
    )


def test_a_history() -> None:
    [log] = parse('H2: < !a{1}@0.5 ?b@100ms arrive(c) "x y" ]').statements
    assert isinstance(log, syntax.Log)
    assert [entry.event for entry in log.items if isinstance(entry, syntax.Entry)] == [
        EventKind.SEND,
        EventKind.DELIVER,
        EventKind.ARRIVE,
        None,
    ]
    first = log.items[0]
    assert isinstance(first, syntax.Entry)
    assert first.time == syntax.Quantity(Fraction(1, 2))


def test_logs_over_lines_and_several_on_a_line() -> None:
    text = "RL1: < a # a comment ] with a bracket\n b ] SL1: < a\n\n]RL[E2]: <b]"
    assert parse(text).statements == parse("RL1: < a b ]\nSL1: < a ]\nRL[E2]: < b ]").statements


def test_a_colon_in_a_formula_begins_no_log() -> None:
    file = parse("expect forall p in RL1: p in RL2\nexpect forall p in RL1: 1 < 2")
    assert len(file.statements) == 2


def test_delta_in_a_formula_begins_no_statement() -> None:
    file = parse(
        "predicate d(p, i) := deliver_time(p, i) <= send_time(p) + delta\n  - epsilon\ndelta 10\nexpect d\nepsilon 1"
    )
    assert [type(statement) for statement in file.statements] == [
        syntax.Definition,
        syntax.Set,
        syntax.Expect,
        syntax.Set,
    ]


def test_expect_not_speaks_of_the_whole_formula() -> None:
    [expect] = parse("expect not a and b").statements
    assert isinstance(expect, syntax.Expect)
    assert expect.expected is Verdict.VIOLATED
    assert isinstance(expect.sentence.formula, syntax.And)


def test_a_hash_in_quotes_is_no_comment() -> None:
    [head] = parse('scenario "a # b" "title # 2" # comment').statements
    assert head == syntax.ScenarioHead(syntax.Name("a # b", True), "title # 2")


def test_windows_line_ends_and_a_byte_order_mark() -> None:
    assert parse("\ufeffcluster E1 E2\r\nRL1: < a\r\n b ]\r\n") == parse("cluster E1 E2\nRL1: < a\n b ]\n")


def test_a_quantifier_reaches_as_far_as_it_can() -> None:
    assert parse_sentence("a and forall p: b or c") == parse_sentence("a and (forall p: (b or c))")
    assert parse_sentence("(forall p: b) or c") != parse_sentence("forall p: b or c")


def test_words_of_histories_are_free_elsewhere() -> None:
    assert parse_sentence("forall view, local: view ~> local").formula == syntax.Quantified(
        syntax.Quantifier.FORALL,
        (syntax.Name("view"), syntax.Name("local")),
        None,
        syntax.HappensBefore(syntax.Name("view"), syntax.Name("local")),
    )


def test_spans_stand_beside_equality() -> None:
    one, other = parse_sentence("p   in RL1"), parse_sentence("p in RL1")
    assert one == other
    assert hash(one) == hash(other)
    assert one.formula.span != other.formula.span
