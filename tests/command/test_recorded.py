"""The recorded traces, where they are present: every verdict that two independent checkers agree on, from
both engines.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.command.documents import ROOT
from tests.command.running import precedes

TRACES = ROOT.parent / "shared" / "traces"
EXPECTED = TRACES / "EXPECTED.json"

pytestmark = pytest.mark.skipif(not EXPECTED.exists(), reason="the recorded traces are not here")


@pytest.mark.parametrize(
    "engine",
    ["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.xdist_group("spark")])],
)
def test_every_expected_verdict(tmp_path: Path, engine: str) -> None:
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
    names = sorted({name for of_file in expected.values() for name in of_file["violated"]})
    required = [word for name in names for word in ("--require", name)]
    files = [TRACES / name for name in expected]
    ended = precedes("verify", *files, *required, "--engine", engine, "--out", tmp_path, "--format", "json")
    assert ended.code == 1, ended.err
    report = json.loads(ended.out)
    assert report["executions"] == sum(of_file["executions"] for of_file in expected.values())
    found: dict[str, set[str]] = defaultdict(set)
    for row in pq.read_table(tmp_path / "verdicts.parquet").to_pylist():
        assert row["verdict"] == "violated", row
        found[row["predicate"]].add(row["execution"])
    for file, of_file in expected.items():
        stem = Path(file).name.removesuffix(".jsonl.gz")
        for name, executions in of_file["violated"].items():
            here = {execution for execution in found[name] if execution.rpartition("-")[0] == stem}
            assert here == set(executions), f"{file}: {name}"
