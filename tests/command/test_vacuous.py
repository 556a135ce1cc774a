"""What nothing in a trace could have violated is undecided, whoever judges it and in whatever form it comes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from precedes import Verdict, verify
from precedes.record import Recorder
from tests.command.running import precedes
from tests.command.test_verify import CONSUMED, ENGINES, KEPT, PRODUCED
from tests.sampling import on_engines

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
    if form == "laid out":
        return laid_out(text, folder)
    path = folder / "trace.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


def laid_out(text: str, folder: Path) -> Path:
    """A columnar file of 8,000 times the executions of a text: large enough that row groups are judged as they are.

    It is made for the first test that asks for it.
    """
    if text not in MADE:
        path = folder / "many.jsonl"
        lines = [json.loads(line) for line in text.splitlines()]
        with path.open("w", encoding="utf-8") as file:
            for x in range(8_000):
                for line in lines:
                    file.write(json.dumps({**line, "execution": f"{line['execution']}-{x}"}) + "\n")
        ended = precedes("convert", path, "-o", folder / "made.parquet")
        assert ended.code == 0, ended.err
        MADE[text] = (folder / "made.parquet").read_bytes()
    (folder / "trace.parquet").write_bytes(MADE[text])
    return folder / "trace.parquet"


MADE: dict[str, bytes] = {}


@pytest.mark.parametrize(
    ("engine", "text", "required", "missing"), on_engines(4, CASES, [required for _, required, _ in CASES])
)
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


VIEWS = (
    '{"execution": "x", "entity": "a", "seq": 0, "event": "view", "view": "1", "members": ["a"]}\n'
    '{"execution": "x", "entity": "a", "seq": 1, "event": "view", "view": "2", "members": ["a", "b"]}\n'
)


@pytest.mark.parametrize("engine", ENGINES)
def test_views_are_checked_without_a_message(tmp_path: Path, form: str, engine: str) -> None:
    path = trace(tmp_path, VIEWS, form)
    ended = precedes("verify", path, "--require", "self_inclusion", "--engine", engine)
    assert (ended.code, "holds: everything that was required" in ended.out) == (0, True)
    both = precedes("verify", path, "--require", "self_inclusion", "--require", "SP", "--engine", engine)
    assert both.code == 3
    assert "vacuous: " in both.out
    assert "some requirements could not be judged" in both.out
    without = precedes("verify", path, "--require", "SP", "--engine", engine)
    assert (without.code, "there was no message, so nothing was checked" in without.out) == (3, True)


def test_views_are_inferred_and_gated_without_a_message(tmp_path: Path) -> None:
    path = trace(tmp_path, VIEWS, "rows")
    document = json.loads(precedes("infer", path, "--format", "json").out)
    kept = {name for first, others in document["kept"].items() for name in (first, *others)}
    assert kept == {"self_inclusion", "local_monotonicity", "one_view_order"}
    assert not document["broken"]
    assert precedes("infer", path).code == 0
    for name, code in (("self_inclusion", 0), ("virtual_synchrony", 3)):
        assert verify(path, name).verdict is (Verdict.UNKNOWN if code else Verdict.HOLDS)
        (tmp_path / "precedes.toml").write_text(
            f"[[verify]]\nfiles = ['trace.jsonl']\nrequire = ['{name}']\n", encoding="utf-8"
        )
        ended = precedes("gate", "--config", tmp_path / "precedes.toml", "--no-cache")
        assert ended.code == code, ended
        assert ("G301" in ended.out) is bool(code)


def test_a_violation_without_a_message_is_told_as_one(tmp_path: Path) -> None:
    path = trace(tmp_path, VIEWS.replace('["a"]', '["b"]'), "rows")
    ended = precedes("verify", path, "--require", "self_inclusion")
    assert ended.code == 1
    assert ended.out.splitlines()[-1].startswith("violated (")


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
