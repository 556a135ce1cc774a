"""Deep, long and large texts: an answer or a message, never a crash."""

import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import EventKind
from precedes.language.library import standard_library
from precedes.language.loader import compile_text
from precedes.language.parsing.lexer import MAXIMUM_DEPTH
from precedes.language.parsing.parser import parse
from precedes.language.requirements import requirement
from precedes.language.syntax import And

DEEP = {
    "parentheses": lambda n: "(" * n + "TO" + ")" * n,
    "open parentheses": lambda n: "(" * n,
    "nots": lambda n: "not " * n + "TO",
    "implications": lambda n: " implies ".join(["TO"] * n),
    "equivalences": lambda n: " iff ".join(["TO"] * n),
    "quantifiers": lambda n: "".join(f"forall p{i} in RL1: " for i in range(n)) + "TO",
    "calls": lambda n: "f(" * n + "p" + ")" * n,
    "indices": lambda n: "RL[sender(" * n + "p" + ")]" * n + " = p",
    "suffixes": lambda n: "RL1" + "[1..]" * n + "[1] = p",
    "minuses": lambda n: "1 < " + "-" * n + "1",
    "sums": lambda n: "1 < " + " + ".join(["1"] * n),
    "products": lambda n: "1 < " + " * ".join(["1"] * n),
    "mixed": lambda n: "(not forall p: (TO implies " * n + "TO" + "))" * n,
    "acyclic": lambda n: "acyclic(p, q: " * n + "TO" + ")" * n,
}


@pytest.mark.parametrize(
    "size", [20_000, *(pytest.param(n, marks=pytest.mark.slow) for n in (1_000, 100_000))]
)
@pytest.mark.parametrize("kind", DEEP)
def test_deep_nesting_is_a_message(kind: str, size: int) -> None:
    with pytest.raises(PrecedesError) as caught:
        compile_text(f"predicate f(p) := {DEEP[kind](size)}\nclaim TO")
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["P006"]


def test_the_deepest_that_is_read_can_be_worked_with() -> None:
    room = MAXIMUM_DEPTH - 2
    for text in ("not " * room + "TO", "(" * room + "TO" + ")" * room, " implies ".join(["TO"] * room)):
        requirement(text, standard_library())
    quantifiers = "".join(
        f"forall p{i} in RL[sender(p{i - 1})]: exists i{i} in dest(p{i}): " for i in range(1, room // 2)
    )
    quantifiers = f"forall p0: {quantifiers} true"
    requirement(quantifiers, standard_library())


def test_long_conjunctions_are_fine() -> None:
    names = ["TO", "ST", "broadcast"]
    text = " and ".join(names[index % 3] for index in range(5_000))
    assert len(requirement(text, standard_library()).parts) == 3
    long = " and ".join(f'"m{index}" in RL["e"]' for index in range(5_000))
    [claim] = compile_text(f"claim {long}").claims
    assert claim.requirement.formula.parts[4_999].message.name == "m4999"  # type: ignore[union-attr]
    [question] = parse(f"claim {long.replace(' and ', ' or ')}").statements
    assert len(question.sentence.formula.parts) == 5_000  # type: ignore[union-attr]
    assert not isinstance(question.sentence.formula, And)  # type: ignore[union-attr]


def test_chains_of_definitions_are_a_message_or_an_answer() -> None:
    nots = ["predicate p0 := TO", *(f"predicate p{i} := not p{i - 1}" for i in range(1, 5_000))]
    with pytest.raises(PrecedesError) as caught:
        compile_text("\n".join((*nots, "claim p4999")))
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["N013"]
    compile_text("\n".join((*nots, "claim p50")))
    names = ["service p0 := TO", *(f"service p{i} := p{i - 1}" for i in range(1, 5_000))]
    with pytest.raises(PrecedesError) as caught:
        compile_text("\n".join((*names, "claim p4999")))
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["N013"]


@pytest.mark.parametrize("connective", ["and", "or"])
def test_definitions_that_double_are_a_message(connective: str) -> None:
    lines = ["predicate a0 := TO", "predicate b0 := ST"]
    for index in range(1, 60):
        lines += [f"predicate {x}{index} := a{index - 1} {connective} not b{index - 1}" for x in "ab"]
    with pytest.raises(PrecedesError) as caught:
        compile_text("\n".join((*lines, "claim a59 and b59")))
    assert {diagnostic.code for diagnostic in caught.value.diagnostics} == {"N013"}


def test_services_that_double_are_a_message() -> None:
    lines = ["service a0 := TO", "service b0 := ST"]
    for index in range(1, 40):
        lines += [f"service {x}{index} := a{index - 1} and b{index - 1}" for x in "ab"]
    with pytest.raises(PrecedesError, match="N013"):
        compile_text("\n".join((*lines, "claim a39")))


def test_long_circles_of_definitions_are_told() -> None:
    lines = [f"predicate p{i} := not p{(i + 1) % 3_000}" for i in range(3_000)]
    with pytest.raises(PrecedesError) as caught:
        compile_text("\n".join(lines))
    assert caught.value.diagnostics[0].code == "N007"
    assert len(caught.value.diagnostics[0].message) < 300


def test_long_logs_and_large_clusters() -> None:
    entities = " ".join(f"E{i}" for i in range(1, 301))
    messages = " ".join(f"m{i}{{{i % 300 + 1}}}" for i in range(20_000))
    delivered = " ".join(f"m{i}" for i in range(0, 20_000, 300))
    text = (
        f"scenario s\ncluster {entities}\nSL7: < {messages} ]\nRL1: < {delivered} ]\nexpect order_preserving"
    )
    [scenario] = compile_text(text).scenarios
    assert len(scenario.execution.sent("E7")) == 20_000
    assert scenario.execution.history("E1").events[0].kind is EventKind.DELIVER


def test_thousands_of_scenarios() -> None:
    block = (
        "scenario s{0}\ncluster E1 E2 E3\nRL1: < x c p z ]    SL1: < a{{2,3}} b{{2}} c{{1,3}} ]\n"
        "RL2: < a x b y q ]  SL2: < p{{1}} q{{2,3}} ]\nexpect SP\nexpect not order_equivalent(RL2, RL1)\n"
    )
    file = parse("".join(block.format(index) for index in range(2_000)))
    assert len(file.statements) == 16_000


@pytest.mark.parametrize(
    "text",
    [
        "predicate f := 1" + "0" * 5_000 + " < 2",
        "delta " + "9" * 5_000,
        "RL" + "1" * 5_000 + ": < a ]",
        "RL1: < a^2(" + "3" * 5_000 + ") ]",
        "expect " + "RL" + "1" * 5_000 + " = p",
    ],
)
def test_long_numbers_are_a_message(text: str) -> None:
    with pytest.raises(PrecedesError, match="P013"):
        parse(text)


def test_the_recursion_limit_is_not_touched() -> None:
    before = sys.getrecursionlimit()
    parse("claim TO")
    assert sys.getrecursionlimit() == before


WORDS = [
    *(
        "scenario",
        "cluster",
        "expect",
        "delta",
        "epsilon",
        "predicate",
        "service",
        "claim",
        "refute",
        "find",
        "source",
    ),
    *(
        "among",
        "with",
        "not",
        "and",
        "or",
        "implies",
        "iff",
        "forall",
        "exists",
        "in",
        "acyclic",
        "true",
        "undetermined",
    ),
    *(
        "E1",
        "E2",
        "p",
        "q",
        "L",
        "RL1",
        "SL2",
        "H1",
        "RL",
        "SL",
        "TO",
        "ST",
        "1C",
        "order_equivalent",
        "dest",
        "top",
        "sender",
    ),
    *(
        "sent",
        "repeated",
        "crash",
        "view",
        "arrive",
        "entities",
        "10",
        "2.5",
        "10ms",
        '"a b"',
        '"',
        ":",
        ":=",
        "<",
        "]",
        "[",
        "(",
    ),
    *(
        ")",
        "{",
        "}",
        "_{",
        "||",
        "<[",
        "~>",
        "..",
        "&",
        ",",
        "=",
        "!=",
        "<=",
        "+",
        "-",
        "*",
        "/",
        "@",
        "^",
        "!",
        "?",
        "\n",
        "#",
        "∀",
        "€",
    ),
]


def told(error: PrecedesError) -> None:
    """Every mistake can be shown, and has a place."""
    assert str(error)
    assert all(diagnostic.span is not None for diagnostic in error.diagnostics)


@given(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
@settings(max_examples=300, deadline=None)
@example("scenario p cluster E1 H1: < view {} crash ] expect RL1[..] = p")
@example("scenario p cluster E1 RL1: < p^E2 ] expect p in RL1 & RL1")
def test_words_in_any_order_raise_nothing_else(text: str) -> None:
    for trial in (
        text,
        f"scenario s\ncluster E1 E2\nRL1: < p ]\nexpect {text}",
        f"scenario s\ncluster E1 E2\nH1: < {text} ]\n",
    ):
        try:
            compile_text(trial)
        except PrecedesError as error:
            told(error)


@given(st.text(max_size=80))
@settings(max_examples=200, deadline=None)
@example("\x00")
@example("\ud800")
@example("\u2028RL1:\x0b<\x1c]")
@example("1" * 60)
@example("a_{")
@example("\\{")
def test_any_text_raises_nothing_else(text: str) -> None:
    try:
        compile_text(text)
    except PrecedesError as error:
        told(error)
