"""parse(print(tree)) is the tree."""

from pathlib import Path

import pytest
from hypothesis import given, settings

from precedes.language import syntax
from precedes.language.parsing.parser import parse, parse_sentence
from precedes.language.printer import sentence_text, source_text, statement_text
from precedes.testing.choices import Seeded
from tests.language import trees

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path
    for folder in ("specs", "tests/contract")
    for path in (ROOT / folder).rglob("*.prec")
    if path.parent.name != "bad"
)


@given(trees.files())
@settings(max_examples=60, deadline=None)
def test_a_printed_file_parses_to_the_same_tree(file: syntax.SourceFile) -> None:
    assert parse(source_text(file)) == file


@pytest.mark.parametrize("block", range(10))
def test_many_printed_files_parse_to_the_same_trees(block: int) -> None:
    for seed in range(block * 150, block * 150 + 150):
        file = trees.file(Seeded(seed))
        assert parse(source_text(file)) == file, seed


@pytest.mark.parametrize("block", range(5))
def test_many_printed_sentences_parse_to_the_same_trees(block: int) -> None:
    for seed in range(block * 200, block * 200 + 200):
        sentence = trees.sentence(Seeded(seed))
        assert parse_sentence(sentence_text(sentence)) == sentence, seed


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_our_files_survive_printing(path: Path) -> None:
    tree = parse(path.read_text(encoding="utf-8"), path.name)
    printed = source_text(tree)
    assert parse(printed) == tree
    assert source_text(parse(printed)) == printed


def test_there_are_files_to_print() -> None:
    assert len(FILES) >= 10


@pytest.mark.parametrize(
    "text",
    [
        'scenario fig4 "ST service" source "1994, Figure 4"',
        'cluster E1 "node 2"',
        'RL1: < x || q^2(6)@1.5 "a b"^E3 ]',
        "SL1: < a{2,E3} b_{23} c{} d@-3ms ]",
        "H[Pi]: < !m{3}@0 ?m2 arrive(m)@5 discard(m) crash recover view{1,2}@2min ]",
        "H1: < ]",
        "expect not order_equivalent(RL1, RL3)",
        "expect unknown (a and b)",
        "expect (not a)",
        "expect not not a",
        'predicate f(L: log, p) "t" source "s" := forall p, q in L & M: p <[L] q iff p <[M] q',
        "find 1C and not information_preserving with entities = 2, messages <= 2",
        'expect TO among E1 2 "E 3"',
        "expect (forall p: a) and b",
        "expect (a implies b) implies c implies d",
        "expect (a iff b iff c) and (d or e)",
        "expect a - (b - c) < -(d + e) * 2 / 4",
        "attribute colour of message: text",
        "attribute due of message: time",
        'SL1: < a{2,3}[key=k1, position=-5] b[due=2ms]@1 c^E3[key="k 1"] ]',
        "H1: < !m{3}[key=k1]@0 ?m2[weight=2] arrive(m)[key=k1]@5 ]",
        "expect ST per key",
        "expect SP per (topic, partition)",
        "expect SP per key per topic",
        "expect not SP per key",
        "expect (SP and ST) per key",
        "expect SP per key and ST per key implies TO per key",
        "expect (forall p: f(p)) per key",
        "expect forall p: f(p) per key",
        "expect (not SP) per key",
        'expect key(p) = "k1" per topic',
        "expect always SP per key among E1",
        "expect L[2..][..3][1] in RL[sender(p)] & SL[i, j] or i in {1, E2}",
    ],
)
def test_one_layout(text: str) -> None:
    [statement] = parse(text).statements
    assert statement_text(statement) == text
