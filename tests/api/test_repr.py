"""Every result of the public face is one short line in an interpreter; `str` is the whole report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import precedes

EVENTS = [
    {"execution": "x", "entity": "A", "event": "send", "message": "a", "dest": ["C"]},
    {"execution": "x", "entity": "A", "event": "send", "message": "b", "dest": ["C"]},
    {"execution": "x", "entity": "C", "event": "deliver", "message": "b"},
    {"execution": "x", "entity": "C", "event": "deliver", "message": "a"},
    {"execution": "x", "entity": "D", "event": "deliver", "message": "c"},
]
SPEC = """\
scenario s
cluster E1 E2
RL1: < a b ]   SL1: < a{1,2} ]
RL2: < b a ]   SL2: < b{1,2} ]
expect ST
expect SP
claim TO implies PO
"""


def verified(_: Path) -> Any:
    return precedes.verify(EVENTS, require=["SP", "no_duplication"])


def checked(folder: Path) -> Any:
    (folder / "s.prec").write_text(SPEC, encoding="utf-8")
    return precedes.check(folder / "s.prec")


def explored(_: Path) -> Any:
    return precedes.explore("cmd", entities=2, messages=1)


RESULTS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "verify": (
        verified,
        "<Verification violated: holds 1, violated 4, first violated: SP>",
    ),
    "infer": (lambda _: precedes.infer(EVENTS), "<Inference holds: "),
    "check": (checked, "<Check violated: holds 2, violated 1, first violated: s: expect ST>"),
    "prove": (
        lambda _: precedes.prove("SP implies ST"),
        "<Answer violated: violated 1, first violated: SP implies ST>",
    ),
    "a long formula": (
        lambda _: precedes.prove(
            "forall p, q: p ~> q\n implies not q ~> p and (p ~> q or q ~> p or not p = q)"
        ),
        "<Answer ",
    ),
    "explore": (explored, "<Exploration "),
    "draw": (
        lambda folder: (checked(folder), precedes.draw(folder / "s.prec", scenario="s"))[1],
        "Drawing(name='s')",
    ),
    "simulate": (
        lambda folder: precedes.simulate("cmd", folder / "x.parquet", executions=2),
        "Simulated(path=",
    ),
    "a violation": (lambda folder: verified(folder).violations[0], "Violation(execution='x', predicate="),
    "statements": (
        lambda folder: (checked(folder), precedes.statements(folder / "s.prec")[0])[1],
        "_Expected(text='expect ST', line=5, scenario='s')",
    ),
    "a judgment": (
        lambda folder: (checked(folder), precedes.statements(folder / "s.prec")[0].judge())[1],
        "Judgment(verdict=<Verdict.VIOLATED: 'violated'>, vacuous=False, said='ST violated')",
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_one_short_line(tmp_path: Path, name: str) -> None:
    make, begins = RESULTS[name]
    result = make(tmp_path)
    shown = repr(result).replace(str(tmp_path), "")
    assert shown.startswith(begins)
    assert len(shown) < 150
    assert "\n" not in shown


def test_str_is_the_whole_report(tmp_path: Path) -> None:
    for result in (verified(tmp_path), checked(tmp_path)):
        assert str(result) == result.text()
        assert len(str(result).splitlines()) > 5
