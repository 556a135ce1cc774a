"""The example's repository under eight changes: verdict, exit code and every output are as written down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from precedes.gate.outputs import FORMATS
from tests.gate.changes import CHANGES, GOLDEN, Change, ended, kept


def test_every_change_has_golden_files() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {change.name.replace(" ", "-") for change in CHANGES}
    assert len(CHANGES) == 8


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_a_change(change: Change, tmp_path: Path) -> None:
    said = ended(change, tmp_path / "p")
    golden = {
        path.name: path.read_text(encoding="utf-8")
        for path in (GOLDEN / change.name.replace(" ", "-")).iterdir()
    }
    assert golden, "no golden file"
    assert said.code == change.code
    if change.code == 2:
        assert {"error": said.err} == golden
        return
    written = {form: (tmp_path / "p/out" / form).read_text(encoding="utf-8") for form in FORMATS}
    assert {form: kept(form, text) for form, text in written.items()} == golden
    assert said.out == written["text"]
    document = json.loads(written["json"])
    assert document["outcome"] == {0: "passed", 1: "failed"}[change.code]
    told = {item["rule"] for item in document["items"] if item["result"] == "failed"}
    assert told == (set() if change.rule is None else {change.rule})
