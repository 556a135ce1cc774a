"""Texts with a mark where the pointer is."""

from __future__ import annotations

from precedes.editor.analysis import Analysis, analyze

MARK = "¦"


def at(text: str) -> tuple[Analysis, int, int]:
    """A text without its mark, read, and the line and column where the mark was."""
    before, found, after = text.partition(MARK)
    assert found, "no mark"
    assert MARK not in after, "two marks"
    line = before.count("\n") + 1
    return analyze(before + after), line, len(before) - before.rfind("\n")
