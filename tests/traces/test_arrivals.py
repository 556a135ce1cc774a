"""`--delivery arrive` on executions without arrivals: what rests on arrivals is unknown, never violated or held."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command.running import precedes

SENT = {"execution": "x", "entity": "A", "seq": 0, "event": "send", "message": "p", "dest": ["B"]}
DELIVERED = {"execution": "x", "entity": "B", "seq": 0, "event": "deliver", "message": "p"}
ARRIVED = {**DELIVERED, "event": "arrive"}
NAMES = ("SP", "no_duplication", "agreement", "causal_order", "forall p: forall i in dest(p): p in RL[i]")


def judged(folder: Path, rows: list[dict[str, object]], *options: str) -> tuple[dict[str, str], str]:
    path = folder / "trace.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    required = [word for name in NAMES for word in ("--require", name)]
    told = json.loads(precedes("verify", str(path), *required, "--format", "json", *options).out)
    verdicts = {
        name: next(verdict for verdict, number in count.items() if number)
        for name, count in told["predicates"].items()
    }
    return verdicts, json.dumps(told["unknown"])


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param("local"),
        pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.xdist_group("spark")]),
    ],
)
def test_without_arrivals_it_is_unknown(tmp_path: Path, engine: str) -> None:
    verdicts, why = judged(tmp_path, [SENT, DELIVERED], "--delivery", "arrive", "--engine", engine)
    assert set(verdicts.values()) == {"unknown"}
    assert "no arrivals are recorded" in why


def test_in_a_columnar_file_too(tmp_path: Path) -> None:
    rows = [
        {**row, "execution": f"x{k}"}
        for k in range(9_000)
        for row in (SENT, DELIVERED, DELIVERED | {"seq": 1})
    ]
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert precedes("convert", str(path), "-o", str(tmp_path / "trace.parquet")).code == 0
    ended = precedes(
        "verify",
        str(tmp_path / "trace.parquet"),
        "--delivery",
        "arrive",
        "--require",
        "SP",
        "--format",
        "json",
    )
    assert json.loads(ended.out)["predicates"]["SP"] == {"holds": 0, "violated": 0, "unknown": 9_000}


def test_one_execution_with_arrivals_says_nothing_of_another(tmp_path: Path) -> None:
    verdicts, _ = judged(tmp_path, [SENT, ARRIVED], "--delivery", "arrive")
    assert verdicts["SP"] == "holds"
    other = [{**row, "execution": "y"} for row in (SENT, DELIVERED)]
    _, why = judged(tmp_path, [SENT, ARRIVED, *other], "--delivery", "arrive")
    assert '"y"' in why
    assert '"x"' not in why
