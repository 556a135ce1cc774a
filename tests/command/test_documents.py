"""Every marked command of README.md and docs/ ends as it says and prints what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command.documents import ROOT, Run, documents, files, run, runs, without_times

RUNS = [one for document in documents() for one in runs(document)]


def test_the_documents_have_commands() -> None:
    assert {one.document for one in RUNS} >= {"README.md"}
    assert len(RUNS) >= 3


@pytest.mark.parametrize("one", RUNS, ids=lambda one: f"{one.document}: {one.command[:60]}")
def test_a_command_of_a_document(one: Run, tmp_path: Path) -> None:
    document = next(path for path in documents() if path.name == one.document)
    for name, text in files(document):
        (tmp_path / name).write_text(text, encoding="utf-8")
    for folder in ("traces", "specs"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    code, printed = run(one, tmp_path)
    assert code == one.code, printed
    assert without_times(printed).rstrip() == without_times(one.shown).rstrip()
