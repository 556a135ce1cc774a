"""`profile` of `[[verify]]`: what a broker promises, under the gate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.gate.projects import SWAPPED, changed, gate, project


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = project(tmp_path)
    changed(made, "precedes.toml", 'require = ["SP"]', 'profile = ["nats-core"]')
    ended = gate(made, "--write-baseline", "-q")
    assert (ended.code, ended.err) == (0, "")
    return made


def test_a_profile_is_told_with_its_parts(folder: Path) -> None:
    out = gate(folder, "-v").out
    for name in ("nats_core", "order_preserving", "no_duplication"):
        assert f"passed: verify traces/*.jsonl: {name}\n" in out or f": {name}\n" in out, out


def test_what_breaks_it_fails(folder: Path) -> None:
    (folder / "traces/run.jsonl").write_text(SWAPPED, encoding="utf-8")
    ended = gate(folder)
    assert ended.code == 1
    assert "G105 error (new): nats_core: 1 of 1 execution violates it" in ended.out


def test_a_requirement_may_stand_beside_it_and_a_budget(folder: Path) -> None:
    changed(
        folder,
        "precedes.toml",
        'profile = ["nats-core"]',
        'profile = ["nats-core"]\nrequire = ["ST"]\nbudget = { nats-core = "100 %", ST = "100 %" }',
    )
    (folder / "traces/run.jsonl").write_text(SWAPPED, encoding="utf-8")
    (folder / "baseline.json").unlink()
    assert gate(folder, "--write-baseline").code == 0


def test_a_weaker_profile_is_told(folder: Path) -> None:
    changed(folder, "precedes.toml", "nats-core", "nats-jetstream")
    ended = gate(folder, "--format", "json")
    assert ended.code == 1
    rules = {item["rule"] for item in json.loads(ended.out)["items"] if item["result"] != "passed"}
    assert rules & {"G201", "G202"}, ended.out


def test_a_stronger_one_is_not(folder: Path) -> None:
    changed(folder, "precedes.toml", "nats-core", "mqtt-qos2")
    assert gate(folder).code == 0


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ('profile = ["nats-cor"]', "did you mean nats_core?"),
        ('profile = ["nats-core per shard"]', "precedes.toml:8"),
        ("strict = true", "nothing is required"),
    ],
)
def test_mistakes_have_their_place(folder: Path, setting: str, told: str) -> None:
    changed(folder, "precedes.toml", 'profile = ["nats-core"]', setting)
    ended = gate(folder)
    assert (ended.code, told in ended.out + ended.err) == (2, True), ended
    assert "precedes.toml:" in ended.out + ended.err
