"""Any id goes through every witness, sentence, figure and diagram, and what is printed parses to the same ids."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from xml.etree import ElementTree as ET

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import Execution
from precedes.core.printable import columns, json_text, printable, printable_json
from precedes.core.witness import Explanation, Witness
from precedes.engines.reference import explain
from precedes.language.library import standard_library
from precedes.language.loader import compile_text
from precedes.language.quoting import quoted, shown, unquoted, written
from precedes.language.requirements import requirement
from precedes.language.scenario_printer import as_scenario
from precedes.reports.figure import figure, sentence
from precedes.reports.prose.identifiers import identifiers_of
from precedes.reports.space_time.marks import Marks
from precedes.reports.space_time.neighborhood import Excerpt
from precedes.reports.space_time.short_names import ShortNames
from precedes.reports.space_time.svg import diagram_svg
from precedes.reports.space_time.text import diagram
from precedes.testing.random_executions import SCENARIOS
from tests.reports.hostile import HOSTILE, names, renamed
from tests.sampling import one_in
from tests.strategies.drawn import executions

LIBRARY = standard_library()
ASKED = {
    name: requirement(name, LIBRARY)
    for name in (
        *(
            "ST",
            "TO",
            "CO",
            "causal_delivery",
            "fifo_delivery",
            "local_order",
            "deadline",
            "delta_causal_order",
        ),
        *(
            "agreement",
            "validity",
            "acyclic_order",
            "prefix_order",
            "gap_free_order",
            "vector_time",
            "reliable",
        ),
        *("timely_delivery", "failure_line", "broadcast"),
    )
}
PLAIN = re.compile(r"Q[em]\d+x")
"""Ids that nothing else contains, so that others can be put in their place."""


@st.composite
def twins(draw: Callable[[st.SearchStrategy[object]], object]) -> tuple[Execution, Execution]:
    """An execution with plain ids, and the same with any others."""
    base = draw(executions(SCENARIOS))
    assert isinstance(base, Execution)
    entities = {name: f"Qe{number}x" for number, name in enumerate(base.entities)}
    messages = {name: f"Qm{number}x" for number, name in enumerate(base.messages)}
    plain = renamed(base, entities, messages)
    ids = st.lists(names(), unique=True, min_size=len(entities), max_size=len(entities))
    others = st.lists(names(), unique=True, min_size=len(messages), max_size=len(messages))
    to_entities = dict(zip(plain.entities, draw(ids), strict=True))  # type: ignore[call-overload]
    to_messages = dict(zip(plain.messages, draw(others), strict=True))  # type: ignore[call-overload]
    return plain, renamed(plain, to_entities, to_messages)


def in_place(text: str, plain: Execution, other: Execution) -> str:
    """A text about the plain execution with the other's ids, as they are to be named."""
    ids = identifiers_of(other)
    entities = dict(zip(plain.entities, other.entities, strict=True))
    messages = dict(zip(plain.messages, other.messages, strict=True))
    in_logs = {name: written(there) for name, there in entities.items()}
    named = {
        **{name: ids.entity(there) for name, there in entities.items()},
        **{name: ids.message(there) for name, there in messages.items()},
    }

    def log(found: re.Match[str]) -> str:
        return f"{found[1]}[{PLAIN.sub(lambda name: in_logs[name[0]], found[2])}]"

    pieces = re.split(r"((?:RL|SL)\[[^\]]*\])", text)
    return "".join(
        re.sub(r"(RL|SL)\[([^\]]*)\]", log, piece)
        if number % 2
        else PLAIN.sub(lambda name: named[name[0]], piece)
        for number, piece in enumerate(pieces)
    )


def witnesses(explanation: Explanation) -> Sequence[Witness]:
    """Of what is violated or undecided."""
    return explanation.witnesses + explanation.undecided


def is_printable(text: str) -> bool:
    """Lines of characters that a terminal only shows."""
    return all(line.isprintable() for line in text.split("\n"))


@settings(max_examples=60)
@given(twins(), st.sampled_from(sorted(ASKED)))
def test_other_ids_change_nothing_but_names(both: tuple[Execution, Execution], name: str) -> None:
    asked = ASKED[name]
    plain, other = both
    before, after = (explain(asked, execution) for execution in both)
    assert (before.value, before.reasons) == (after.value, after.reasons)
    for one, two in zip(witnesses(before), witnesses(after), strict=True):
        said = sentence(asked, after.execution, two)
        assert said == in_place(sentence(asked, before.execution, one), plain, other)
        assert is_printable(said)


@settings(max_examples=60)
@given(twins(), st.sampled_from(sorted(ASKED)))
def test_a_figure_parses_to_the_same_ids(both: tuple[Execution, Execution], name: str) -> None:
    plain, execution = both
    assume(is_scenario(plain))
    explanation = explain(ASKED[name], execution)
    for witness in (None, *witnesses(explanation)):
        drawn = figure(explanation.execution, witness, whole=True)
        assert is_printable(drawn)
        assert read(f"scenario s\n{drawn}\n", cluster=execution) == contents(execution)


@settings(max_examples=60)
@given(twins())
def test_a_scenario_and_the_pictures_have_the_same_ids(both: tuple[Execution, Execution]) -> None:
    plain, execution = both
    assert_pictures(execution)
    assume(is_scenario(plain))
    text = as_scenario(execution, "s", ())
    assert is_printable(text)
    assert read(text) == contents(execution)


def is_scenario(execution: Execution) -> bool:
    """Whether the language has a way to write it: nothing is delivered before it was sent, and no crash goes on."""
    try:
        return read(as_scenario(execution, "s", ())) == contents(execution)
    except PrecedesError:
        return False


def contents(execution: Execution) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Which messages every entity sends and delivers."""
    return {name: (execution.sent(name), all_deliveries(execution, name)) for name in execution.entities}


def all_deliveries(execution: Execution, entity: str) -> tuple[str, ...]:
    """Repeats included."""
    events = execution.history(entity).events
    return tuple(e.message for e in events if e.kind is execution.delivery and e.message is not None)


def read(text: str, cluster: Execution | None = None) -> dict[str, tuple[tuple[str, ...], ...]]:
    """What a scenario holds. A figure leaves out the cluster where it is E1, E2 and so on."""
    if cluster is not None and "\ncluster " not in text:
        text = text.replace("\n", f"\ncluster {' '.join(map(written, cluster.entities))}\n", 1)
    (scenario,) = compile_text(text).scenarios
    return contents(scenario.execution)


def assert_pictures(execution: Execution) -> None:
    """Both diagrams are printable and have the names of all who take part."""
    text = diagram(execution)
    assert is_printable(text)
    named = [written(name) for name in execution.entities]
    assert all(name in text.split("\n")[0] for name in named)
    drawing = diagram_svg(Excerpt(execution), heading="h", marks=Marks(told="t"))
    assert is_printable(drawing)
    there = [element.text for element in ET.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")]
    assert set(map(ShortNames.of(execution), execution.entities)) <= set(there)


@pytest.mark.parametrize("name", one_in(3, HOSTILE, [ascii(name)[:20] for name in HOSTILE]))
def test_a_hostile_id_as_entity_and_as_message(name: str) -> None:
    text = (
        f"scenario s\ncluster A {quoted(name)} C\nH[A]: < !a !{quoted(name)} !c ]\n"
        f"H[{quoted(name)}]: < ?{quoted(name)} ?a ]\nH[C]: < ?a ?{quoted(name)} ?{quoted(name)} ?d ]\n"
    )
    (scenario,) = compile_text(text).scenarios
    execution = scenario.execution
    assert execution.entities == ("A", name, "C")
    assert set(execution.messages) == {"a", name, "c", "d"}
    for asked in ASKED.values():
        explanation = explain(asked, execution)
        for witness in witnesses(explanation):
            said = sentence(asked, explanation.execution, witness)
            assert is_printable(said)
            drawn = figure(explanation.execution, witness, whole=True)
            assert read(f"scenario s\n{drawn}\n", cluster=execution) == contents(execution)
    assert read(as_scenario(execution, "s", ())) == contents(execution)
    assert_pictures(execution)


@given(names())
def test_a_name_reads_back(name: str) -> None:
    assert unquoted(quoted(name)[1:-1]) == name
    for text in (quoted(name), written(name), shown(name)):
        assert text.isprintable()
        assert text == name or text == quoted(name)
    (scenario,) = compile_text(f"scenario s\ncluster {written(name)}\nRL[{written(name)}]: < ]\n").scenarios
    assert scenario.execution.entities == (name,)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p3-2", "p3-2"),
        ("topic:0/17", "topic:0/17"),
        ("7", "7"),
        ("order 1", '"order 1"'),
        ("a,b", '"a,b"'),
        ('"', '"\\""'),
        ("RL[1]", '"RL[1]"'),
        ("nobody", '"nobody"'),
        ("before", '"before"'),
        ("forall", '"forall"'),
        ("\x1b[31m", '"\\u{1b}[31m"'),
        ("\u202ex", '"\\u{202e}x"'),
        ("\u0301", '"\\u{301}"'),
    ],
)
def test_names_in_sentences(name: str, text: str) -> None:
    assert shown(name) == text


@given(st.text())
def test_printable_text_is_printable_and_says_which_characters_it_left_out(text: str) -> None:
    assert is_printable(printable(text))
    back = re.sub(r"\\u\{([0-9a-f]+)\}", lambda found: chr(int(found[1], 16)), printable(text))
    assert back == text or "\\u{" in text


@given(st.dictionaries(st.text(), st.text()))
def test_printable_json_is_the_same_json(document: Mapping[str, str]) -> None:
    assert json.loads(json_text(document)) == document
    assert is_printable(json_text(document))
    assert printable_json(json_text(document)) == json_text(document)


@pytest.mark.parametrize(
    ("text", "wide"), [("ab", 2), ("\u65e5\u672c", 4), ("e\u0301", 1), ("\u05d0", 1), ("", 0)]
)
def test_columns(text: str, wide: int) -> None:
    assert columns(text) == wide


def test_marks_stand_below_wide_characters() -> None:
    (scenario,) = compile_text(
        "scenario s\ncluster A B\nSL[A]: < \u65e5{B} b{B} ]\nRL[B]: < b \u65e5 ]\nexpect not ST\n"
    ).scenarios
    asked = requirement("ST", LIBRARY)
    (witness,) = explain(asked, scenario.execution).witnesses
    assert figure(scenario.execution, witness).splitlines()[3:] == [
        "RL[B]: < b \u65e5 ]   SL[B]: < ]",
        "#        ^ ^^",
    ]


@pytest.mark.parametrize(
    ("entities", "messages", "said"),
    [
        (("1", "2", "3"), ("4", "5"), "entity 3 delivers message 5 before message 4"),
        (("a", "b", "c"), ("a", "x"), "entity c delivers message x before message a"),
        (("1", "2", "3"), ("x", "y"), "3 delivers y before x"),
        (("n1", "n2", "n3"), ("1", "2"), "n3 delivers 2 before 1"),
    ],
)
def test_the_kind_of_an_id_is_said_where_ids_are_alike(
    entities: tuple[str, ...], messages: tuple[str, ...], said: str
) -> None:
    text = "scenario s\ncluster A B C\nSL[A]: < a{B,C} b{B,C} ]\nRL[B]: < a b ]\nRL[C]: < b a ]\n"
    (scenario,) = compile_text(text).scenarios
    execution = renamed(
        scenario.execution, dict(zip("ABC", entities, strict=True)), dict(zip("ab", messages, strict=True))
    )
    asked = requirement("order_equivalent", LIBRARY)
    (witness,) = explain(asked, execution).witnesses
    assert said in sentence(asked, execution, witness)
