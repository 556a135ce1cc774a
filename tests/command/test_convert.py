"""`precedes convert`: what is said of a laid-out file is, word for word, what is said of its source."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from precedes.engines.columnar.fast_path import group_reader
from precedes.engines.scan import local
from tests.command.running import precedes
from tests.command.test_verify import CONTRADICTING, ENGINES, KEPT, LOST, SAMPLE, SWAPPED
from tests.sampling import on_engines

REPEATED = KEPT.replace('"1"', '"5"') + KEPT.replace('"1"', '"5"').splitlines()[1] + "\n"
WITHOUT_SEQ = "".join(
    json.dumps({"execution": "6", "entity": e, "event": k, "message": m, **more}) + "\n"
    for e, k, m, more in [
        ("A", "send", "a", {"clock": {"A": 1, "Z": 3}, "time": 1.5}),
        ("B", "deliver", "a", {"clock": [1, 1], "time": 1.25, "colour": "blue"}),
        ("B", "deliver", "q", {"sender": "A"}),
        ("C", "crash", "a", {}),
        ("B", "send", "b", {"dest": ["A"]}),
        ("A", "deliver", "b", {}),
    ]
)
MIXED = KEPT + SWAPPED + CONTRADICTING + LOST + REPEATED + WITHOUT_SEQ
QUESTIONS = [
    ("ST",),
    ("causal_order", "causal_delivery", "information_preserving"),
    ("delta_causal_order", "deadline", "--delta", "1s", "--epsilon", "1ms"),
    ("forall p: exists i: p in RL[i]",),
    ('order_equivalent(RL["B"], RL["C"])', 'forall p in RL["A"]: p in RL["Nobody"]'),
    ("forall i: forall p, q: p ~> q and q in RL[i] implies p in RL[i]",),
    ("ST", "--incomplete", "--cluster", "A,Q"),
    ("acyclic_order", "agreement", "--delivery", "arrive"),
    ("ST", "--max-violations", "1"),
    ("ST", "--strict"),
]


@pytest.fixture(autouse=True)
def _scanned_however_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "PLAIN_EVENTS", 0)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A trace in bad order, and the same laid out."""
    folder = tmp_path_factory.mktemp("convert")
    lines = MIXED.splitlines(keepends=True)
    random.Random(3).shuffle(lines)
    source, target = folder / "t.jsonl", folder / "t.parquet"
    source.write_text("".join(lines), encoding="utf-8")
    ended = precedes("convert", source, "-o", target)
    assert ended.code == 0, ended
    assert "T105" in ended.out
    assert "the rows of 2 executions repeat or contradict each other" in ended.out
    return source, target


def written(out: Path) -> list[dict[str, object]]:
    rows = pq.read_table(out / "verdicts.parquet").to_pylist()
    return sorted(rows, key=lambda row: (row["execution"], row["predicate"]))


def said(path: Path, question: tuple[str, ...], *arguments: object) -> tuple[int, str, str]:
    at = next((k for k, name in enumerate(question) if name.startswith("--")), len(question))
    required = [x for name in question[:at] for x in ("--require", name)]
    ended = precedes("verify", path, *required, *question[at:], "--format", "json", *arguments)
    return ended.code, ended.out.partition('"timings"')[0], ended.err


@pytest.mark.parametrize(("engine", "question"), on_engines(4, zip(QUESTIONS), map(" ".join, QUESTIONS)))
def test_the_same_is_said(pair: tuple[Path, Path], engine: str, question: tuple[str, ...]) -> None:
    source, target = pair
    before = said(source, question, "--engine", "local")
    after = said(target, question, "--engine", engine)
    if "--strict" in question:
        before, after = ((code, out, err.replace(str(source), "")) for code, out, err in (before, after))
    assert before == after
    assert before[0] != 2 or "--strict" in question


@pytest.mark.parametrize("question", QUESTIONS[:3], ids=" ".join)
def test_the_same_is_said_where_executions_are_read_in_part(
    pair: tuple[Path, Path], question: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of millions of events are, column by column."""
    source, target = pair
    before = said(source, question)
    monkeypatch.setattr(group_reader, "LARGE", 0)
    monkeypatch.setattr(group_reader, "HUGE", 0)
    assert said(target, question) == before


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "more", [pytest.param((), marks=pytest.mark.slow), ("--all-verdicts",)], ids=["failing", "all"]
)
def test_the_same_is_said_where_most_is_fine(tmp_path: Path, engine: str, more: tuple[str, ...]) -> None:
    source, target = tmp_path / "t.jsonl", tmp_path / "t.parquet"
    source.write_text(KEPT + SWAPPED + CONTRADICTING + LOST, encoding="utf-8")
    precedes("convert", source, "-o", target)
    question = ("ST", "causal_order", "acyclic_order")
    found = [
        (said(path, question, "--engine", on, "--out", tmp_path / on, *more), written(tmp_path / on))
        for path, on in ((source, "local"), (target, engine))
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_verdicts_are_written(pair: tuple[Path, Path], tmp_path: Path, engine: str) -> None:
    found = []
    for k, path in enumerate(pair):
        out = tmp_path / str(k)
        said(path, ("ST", "causal_order"), "--out", out, "--all-verdicts", "--engine", engine)
        found.append(written(out))
    assert found[0] == found[1]
    assert len(found[0]) == 6 * 7


def test_a_recorded_trace(tmp_path: Path) -> None:
    target = tmp_path / "t.parquet"
    assert precedes("convert", SAMPLE, "-o", target).code == 0
    for name in ("ST", "acyclic_order", "causal_order"):
        assert said(SAMPLE, (name,)) == said(target, (name,))
    shorter = tmp_path / "half.parquet"
    assert precedes("convert", target, "-o", shorter).code == 0
    assert said(target, ("ST",)) == said(shorter, ("ST",)), "a laid-out file can be converted again"


def test_a_target_must_be_parquet(tmp_path: Path) -> None:
    source = tmp_path / "t.jsonl"
    source.write_text(KEPT, encoding="utf-8")
    ended = precedes("convert", source, "-o", tmp_path / "t.csv")
    assert (ended.code, ended.out) == (2, "")
    assert "T002" in ended.err
    ended = precedes("convert", source, "-o", "-")
    assert (ended.code, "-: T002 a columnar file is not written to standard output" in ended.err) == (2, True)


def test_one_irregular_execution_is_one(tmp_path: Path) -> None:
    row = {"execution": "x", "entity": "A", "event": "send", "message": "m", "dest": ["B"]}
    text = json.dumps(row) + "\n" + json.dumps({**row, "dest": ["C"]}) + "\n"
    (tmp_path / "t.jsonl").write_text(text, encoding="utf-8")
    said = precedes("convert", tmp_path / "t.jsonl", "-o", tmp_path / "t.parquet").out
    assert "the rows of 1 execution repeat or contradict each other" in said
