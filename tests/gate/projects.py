"""Small projects for the gate to judge."""

from __future__ import annotations

import os
from pathlib import Path

from tests.command.running import Ended, precedes

CONFIGURATION = """\
baseline = "baseline.json"

[[check]]
files = ["specs"]

[[verify]]
files = ["traces/*.jsonl"]
require = ["SP"]
"""

DEFINITION = """\
predicate spread
  := forall p: (exists i: p in RL[i]) implies (forall j: j in dest(p) implies p in RL[j])
"""

SCENARIO = """\
scenario first
cluster E1 E2
RL1: < a b ]   SL1: < a{1,2} ]
RL2: < b a ]   SL2: < b{1,2} ]
expect SP
expect not ST

claim TO implies PO
"""

TRACE = """\
{"execution": "x", "entity": "E1", "seq": 0, "event": "send", "message": "a", "dest": ["E2"]}
{"execution": "x", "entity": "E1", "seq": 1, "event": "send", "message": "b", "dest": ["E2"]}
{"execution": "x", "entity": "E2", "seq": 0, "event": "deliver", "message": "a"}
{"execution": "x", "entity": "E2", "seq": 1, "event": "deliver", "message": "b"}
"""

SWAPPED = TRACE.replace('"seq": 0, "event": "deliver"', '"seq": 2, "event": "deliver"')


def project(folder: Path) -> Path:
    """A project that passes."""
    for name, text in {
        "precedes.toml": CONFIGURATION,
        "specs/words.prec": DEFINITION,
        "specs/first.prec": SCENARIO,
        "traces/run.jsonl": TRACE,
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def changed(folder: Path, name: str, old: str, new: str) -> None:
    """Replace a text that must be there."""
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def gate(folder: Path, *arguments: object) -> Ended:
    """`precedes gate` in a folder, in this process, away from the settings of a pipeline that may run it."""
    before = Path.cwd()
    kept = {
        name: os.environ.pop(name) for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY") if name in os.environ
    }
    os.chdir(folder)
    try:
        return precedes("gate", "--jobs", 1, *arguments)
    finally:
        os.chdir(before)
        os.environ.update(kept)
