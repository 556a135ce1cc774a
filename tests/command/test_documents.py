"""Every marked command of README.md and docs/ ends as it says and prints what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command.documents import ROOT, File, Run, documents, matches, run, steps

RUNNING = [path for path in documents() if any(isinstance(step, Run) for step in steps(path))]


def test_the_documents_have_commands() -> None:
    assert "README.md" in {path.name for path in RUNNING}
    assert sum(isinstance(step, Run) for path in RUNNING for step in steps(path)) >= 15


@pytest.mark.parametrize("document", RUNNING, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_commands_of_a_document(document: Path, tmp_path: Path) -> None:
    for folder in ("traces", "specs"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    for step in steps(document):
        match step:
            case File(name, text):
                path = tmp_path / name
                # What the project has is read, never written: a document that writes there has a folder of its own.
                if path.parent.is_symlink():
                    path.parent.unlink()
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            case Run(_, command, code, shown):
                ended, printed = run(step, tmp_path)
                assert ended == code, f"$ {command}\n{printed}"
                assert matches(printed, shown), f"$ {command}\n{printed}"
