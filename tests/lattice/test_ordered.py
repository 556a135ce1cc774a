"""From answers to the ordered set: merging, reduction, which executions are shown."""

from __future__ import annotations

import json
import re
from functools import cache

import pytest

from precedes.core.execution import Execution
from precedes.core.formula import Requirement
from precedes.core.outcome import Limits
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.reference import evaluate
from precedes.engines.solver import (
    Answer,
    Counterexample,
    Implication,
    NoCounterexample,
    Proved,
    Undecided,
    implications,
)
from precedes.jobs import check
from precedes.jobs.lattice import Lattice, askable, lattice, ordered
from precedes.language.library import Library, standard_library
from precedes.language.loader import compile_text
from precedes.language.parsing.parser import parse
from precedes.language.requirements import requirement
from precedes.reports.hasse.svg import svg
from precedes.reports.lattice import as_json, as_markdown, as_text, figure, summary
from tests.command.running import precedes

SMALL = """
predicate sent_by_somebody(L: log) "no creation" := forall p in L: sent(p)
predicate known(L: log) := sent_by_somebody(L)
predicate nothing(L: log) := forall p in L: false
predicate causal := forall p, q: p ~> q implies forall i, j: not deliver(q, j) ~> deliver(p, i)
predicate early(p: message) := sent(p)
predicate said := undetermined "nobody wrote it down"
predicate marked := marks_on_failure_line
service quiet "a service" := nothing
"""


@cache
def small_library() -> Library:
    return Library([parse(SMALL, "small.prec")])


@cache
def small() -> Lattice:
    return lattice(small_library(), Limits())


def names(*texts: str) -> dict[str, Requirement]:
    return {text: requirement(text, standard_library()) for text in texts}


def of_answers(requirements: dict[str, Requirement], answers: dict[tuple[str, str], Answer]) -> Lattice:
    listed = tuple(Implication(left, right, answer) for (left, right), answer in answers.items())
    return ordered(requirements, listed, frozenset(), dict.fromkeys(requirements), {})


def test_what_is_asked_about() -> None:
    asked, apart = askable(small_library())
    assert list(asked) == ["quiet", "sent_by_somebody", "known", "nothing", "causal"]
    assert list(apart) == ["early", "said", "marked"]
    assert "message" in apart["early"]
    assert apart["said"] == "undetermined: nobody wrote it down"
    assert "marks" in apart["marked"]


def test_small_library() -> None:
    found = small()
    assert [node.names for node in found.nodes] == [
        ("quiet", "nothing"),
        ("sent_by_somebody", "known"),
        ("causal",),
    ]
    assert [node.title for node in found.nodes] == ["a service", "no creation", None]
    assert [node.is_service for node in found.nodes] == [True, False, False]
    assert [node.is_bounded for node in found.nodes] == [False, False, True]
    assert found.edges == (("quiet", "sent_by_somebody"), ("quiet", "causal"))
    assert found.implied == {
        "quiet": ("sent_by_somebody", "causal"),
        "sent_by_somebody": (),
        "causal": (),
    }
    assert found.open == {}
    refuted = {pair for refutation in found.refutations for pair in refutation.pairs}
    assert refuted == {
        ("sent_by_somebody", "quiet"),
        ("sent_by_somebody", "causal"),
        ("causal", "quiet"),
        ("causal", "sent_by_somebody"),
    }


def test_every_refutation_refutes_and_can_be_pasted() -> None:
    asked, _ = askable(small_library())
    for refutation in small().refutations:
        for left, right in refutation.pairs:
            assert evaluate(asked[left].formula, refutation.execution) == TRUE
            assert evaluate(asked[right].formula, refutation.execution) == FALSE
        (scenario,) = compile_text(figure(refutation), None, small_library()).scenarios
        assert {e.expected.value for e in scenario.expectations} == {"holds", "violated"}
        for expectation in scenario.expectations:
            value = evaluate(expectation.requirement.formula, scenario.execution)
            assert value == (TRUE if expectation.expected.value == "holds" else FALSE)


def test_what_follows_is_no_edge() -> None:
    asked = names("ST", "SP", "reliable", "order_equivalent")
    proved = {("ST", "SP"), ("SP", "reliable"), ("ST", "reliable"), ("ST", "order_equivalent")}
    pairs = [(left, right) for left in asked for right in asked if left != right]
    found = of_answers(
        asked, {pair: Proved() if pair in proved else Undecided("not asked") for pair in pairs}
    )
    assert found.edges == (("ST", "SP"), ("ST", "order_equivalent"), ("SP", "reliable"))
    assert found.implied["ST"] == ("SP", "reliable", "order_equivalent")
    assert set(found.open) == set(pairs) - proved


def test_one_execution_is_shown_for_many_pairs() -> None:
    """Of two executions that refute the same, the plainer one; a less plain one stays where it is needed."""
    plain, odd = (
        compile_text(f"scenario s\ncluster E1 E2\n{logs}").scenarios[0].execution
        for logs in (
            "SL1: < a b ]\nRL1: < a b ]\nRL2: < b a ]",
            "SL1: < a{} b ]\nRL1: < a b ]\nRL2: < b a ]",
        )
    )
    asked = names("no_creation", "order_equivalent", "broadcast")

    def shown(second: Execution, *pair: str) -> list[Execution]:
        answers: dict[tuple[str, str], Answer] = {
            ("no_creation", "order_equivalent"): Counterexample(plain, None),
            (pair[0], pair[1]): Counterexample(second, None),
        }
        return [one.execution for one in of_answers(asked, answers).refutations]

    assert shown(odd, "broadcast", "order_equivalent") == [plain]
    assert shown(odd, "no_creation", "broadcast") == [plain, odd]


def test_bounded_and_undecided_are_told_apart() -> None:
    asked = names("1C", "PO")
    found = of_answers(
        asked,
        {
            ("1C", "PO"): NoCounterexample(4, 6),
            ("PO", "1C"): Undecided("solver gave up after 60 s at 5 messages"),
        },
    )
    assert found.edges == ()
    assert "0 are proved" in summary(found)
    assert "1 without a counterexample up to bounds, 1 undecided" in summary(found)
    for text in (as_text(found), as_markdown(found, None)):
        assert "1C implies PO: no counterexample up to 4 entities and 6 messages" in text
        assert "PO implies 1C: undecided (solver gave up after 60 s at 5 messages)" in text
    assert json.loads(as_json(found))["open"][0]["answer"].startswith("no counterexample up to 4")


def test_svg_has_every_name_once() -> None:
    drawn = svg(small())
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    assert sorted(texts) == sorted(["quiet", "= nothing", "sent_by_somebody", "= known", "causal"])
    assert drawn.count("<path ") == 2
    assert drawn.count('<g class="service">') == 1


def test_names_are_escaped() -> None:
    found = ordered(names("1C"), (), frozenset(), {"1C": "a < b & c | d"}, {"x": "y | z"})
    assert "<title>a &lt; b &amp; c | d</title>" in svg(found)
    assert "| a < b & c \\| d |" in as_markdown(found, None)


def test_implications_are_asked_services_first() -> None:
    asked, _ = askable(small_library())
    table = implications(tuple(asked.values()))
    assert table[0].left == "quiet"


@pytest.fixture
def standing_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command with a small library, which is asked about once for all tests."""

    def answered(library: Library, limits: Limits) -> Lattice:
        assert library is small_library()
        assert (limits.timeout, limits.memory) == (60, 2048)
        return small()

    monkeypatch.setattr(check, "library_with", lambda _specs: small_library())
    monkeypatch.setattr("precedes.jobs.lattice.lattice", answered)


@pytest.mark.usefixtures("standing_in")
@pytest.mark.parametrize("form", ["text", "markdown", "json", "svg"])
def test_command_prints_what_it_writes(form: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("written")
    printed = precedes("lattice", "--format", form)
    assert printed.code == 0
    written = precedes("lattice", "--format", form, "-o", folder / "page.md")
    assert (written.code, written.out) == (0, "")
    text = (folder / "page.md").read_text(encoding="utf-8")
    if form == "markdown":
        picture = folder / "page" / "diagram.svg"
        assert "![The diagram of all implications](page/diagram.svg)" in text
        assert picture.read_text(encoding="utf-8") == svg(small())
        assert "●" in printed.out
    else:
        assert text == printed.out


@pytest.mark.usefixtures("standing_in")
def test_command_says_what_it_cannot_write(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("written")
    (folder / "page").write_text("in the way", encoding="utf-8")
    ended = precedes("lattice", "--format", "markdown", "-o", folder / "page.md")
    assert ended.code == 2
    assert "cannot write" in ended.err
    for nowhere in (folder, folder / "missing" / "page.md"):
        assert precedes("lattice", "--format", "markdown", "-o", nowhere).code == 2
    assert not (folder / "missing").exists()


@pytest.mark.usefixtures("standing_in")
def test_command_is_undecided_where_a_pair_is(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = names("1C", "PO")
    found = of_answers(asked, {("1C", "PO"): NoCounterexample(4, 6), ("PO", "1C"): Proved()})
    monkeypatch.setattr("precedes.jobs.lattice.lattice", lambda _library, _limits: found)
    assert precedes("lattice").code == 3
