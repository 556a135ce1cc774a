"""What nothing in a trace could have violated is undecided, whoever judges it and in whatever form it comes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from precedes.record import Recorder
from tests.command.running import precedes
from tests.command.test_verify import CONSUMED, ENGINES, KEPT, PRODUCED

CONSUMED_ONCE = CONSUMED.replace('"b"', '"a"')
"""Deliveries of one message, which nobody is known to have sent."""

CASES = [
    (CONSUMED, "causal_order", "a send"),
    (CONSUMED, "deadline", "a send"),
    (PRODUCED, "order_equivalent", "a delivery"),
    (PRODUCED, "no_duplication", "a delivery"),
    (PRODUCED, "agreement", "a delivery"),
    (CONSUMED_ONCE, "acyclic_order", "two messages"),
    (KEPT, "order_preserving", "two messages"),
    (KEPT, "1C", "two messages"),
    (CONSUMED, "forall i: forall p, q in RL[i]: p ~> q implies p <[RL[i]] q", "a send"),
]


@pytest.fixture(params=["rows", "laid out"])
def form(request: pytest.FixtureRequest) -> str:
    form: str = request.param
    return form


def trace(folder: Path, text: str, form: str) -> Path:
    path = folder / "trace.jsonl"
    path.write_text(text, encoding="utf-8")
    if form == "rows":
        return path
    # Large enough that row groups are judged as they are laid out.
    lines = [json.loads(line) for line in text.splitlines()]
    with path.open("w", encoding="utf-8") as file:
        for x in range(8_000):
            for line in lines:
                file.write(json.dumps({**line, "execution": f"{line['execution']}-{x}"}) + "\n")
    ended = precedes("convert", path, "-o", folder / "trace.parquet")
    assert ended.code == 0, ended.err
    return folder / "trace.parquet"


@pytest.mark.parametrize(("text", "required", "missing"), CASES)
@pytest.mark.parametrize("engine", ENGINES)
def test_verify(tmp_path: Path, form: str, engine: str, text: str, required: str, missing: str) -> None:
    path = trace(tmp_path, text, form)
    ended = precedes("verify", path, "--require", required, "--engine", engine, "--delta", "1s")
    assert ended.code == 3, ended
    assert f"contains {missing}, so there was nothing to check (" in ended.out.replace(
        "does not contain", "contains"
    )


@pytest.mark.parametrize(("text", "required", "missing"), CASES)
def test_infer(tmp_path: Path, text: str, required: str, missing: str) -> None:
    spec = tmp_path / "own.prec"
    spec.write_text(f"predicate own := {required}\n", encoding="utf-8")
    path = trace(tmp_path, text, "rows")
    document = json.loads(precedes("infer", path, "--format", "json", "--spec", spec).out)
    assert "own" in document["nothing_to_judge"]
    assert not {name for name, others in document["kept"].items() if "own" in (name, *others)}


@pytest.mark.parametrize(("text", "required", "missing"), CASES)
def test_gate(tmp_path: Path, text: str, required: str, missing: str) -> None:
    trace(tmp_path, text, "rows")
    (tmp_path / "precedes.toml").write_text(
        f"[[verify]]\nfiles = ['trace.jsonl']\nrequire = ['{required}']\ndelta = '1s'\n", encoding="utf-8"
    )
    ended = precedes("gate", "--config", tmp_path / "precedes.toml", "--no-cache")
    assert ended.code == 3, ended
    assert ": vacuous: " in ended.out
    assert f" {missing}, so there was nothing to check" in ended.out


def test_what_is_simulated(tmp_path: Path) -> None:
    (tmp_path / "precedes.toml").write_text(
        '[[simulate]]\nmodel = "cmd"\nexecutions = 20\nmessages = 1\nrequire = ["causal_order"]\n',
        encoding="utf-8",
    )
    ended = precedes("gate", "--config", tmp_path / "precedes.toml", "--no-cache")
    assert ended.code == 3, ended
    assert "causal_order: vacuous: none of the 20 executions contains two messages" in ended.out
    out = tmp_path / "run.parquet"
    precedes("simulate", "cmd", "--executions", 20, "--messages", 1, "-o", out)
    assert precedes("verify", out, "--require", "causal_order").code == 3


def test_what_is_explored() -> None:
    for required in ("order_equivalent", "ST", "forall i: forall p, q in RL[i]: p = q or not p = q"):
        ended = precedes(
            "explore", "cmd", "--messages", 1, "--destinations", "broadcast", "--require", required
        )
        assert ended.code == 3, ended
        assert "never exercised" in ended.out


def test_what_is_recorded(tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.jsonl") as recorder:
        recorder.entity("y").deliver(recorder.entity("x").send(to=["y"]))
        with pytest.raises(AssertionError, match="vacuous: the execution does not contain two messages"):
            recorder.assert_keeps("order_equivalent")
        recorder.assert_keeps("no_duplication")
