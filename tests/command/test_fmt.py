"""`precedes fmt`: what it writes, what it only says, and how it ends."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from precedes.cli.main import cli, run
from tests.command.running import precedes

UGLY = "expect  a\nRL1:<a]\n"
PRETTY = "expect a\nRL1: < a ]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ugly.prec").write_text(UGLY, encoding="utf-8")
    (tmp_path / "pretty.prec").write_text(PRETTY, encoding="utf-8")
    return tmp_path


def test_files_are_written(folder: Path) -> None:
    ended = precedes("fmt", folder)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == f"formatted {folder / 'ugly.prec'}\n1 file formatted, 1 file in order\n"
    assert (folder / "ugly.prec").read_text(encoding="utf-8") == PRETTY
    assert precedes("fmt", folder).out == "0 files formatted, 2 files in order\n"


def test_check_writes_nothing(folder: Path) -> None:
    ended = precedes("fmt", "--check", folder)
    assert ended.code == 1
    assert ended.out == f"would format {folder / 'ugly.prec'}\n1 file to format, 1 file in order\n"
    assert (folder / "ugly.prec").read_text(encoding="utf-8") == UGLY
    assert precedes("fmt", "--check", folder / "pretty.prec").code == 0


def test_diff_shows_what_would_change(folder: Path) -> None:
    ended = precedes("fmt", "--diff", folder)
    assert ended.code == 1
    assert "-expect  a\n-RL1:<a]\n+expect a\n+RL1: < a ]\n" in ended.out
    assert (folder / "ugly.prec").read_text(encoding="utf-8") == UGLY


def test_mistakes_of_all_files_are_told_and_nothing_is_written(folder: Path) -> None:
    for name in ("bad.prec", "worse.prec"):
        (folder / name).write_text("expect and\n", encoding="utf-8")
    ended = precedes("fmt", folder)
    assert (ended.code, ended.out) == (2, "")
    assert "bad.prec:1:8: P004" in ended.err
    assert "worse.prec:1:8: P004" in ended.err
    assert (folder / "ugly.prec").read_text(encoding="utf-8") == UGLY


def test_what_is_not_there_or_no_text(folder: Path) -> None:
    assert "U001 no such file" in precedes("fmt", folder / "none.prec").err
    (folder / "latin.prec").write_bytes(b"expect \xe9\n")
    assert "latin.prec: P001 not UTF-8 text" in precedes("fmt", folder / "latin.prec").err


@pytest.mark.parametrize(
    ("options", "code", "out"),
    [
        ((), 0, "expect a  # \x1b\r\n"),
        (("--check",), 1, ""),
        (
            ("--diff",),
            1,
            "--- <stdin>\n+++ <stdin>\n@@ -1 +1 @@\n-expect  a # \\u{1b}\n+expect a  # \\u{1b}\n",
        ),
    ],
)
def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], code: int, out: str
) -> None:
    """What is written is the file, to the byte; a diff is for people to see."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"expect  a # \x1b\r\n")))
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, newline=""))
    ended = run(lambda: cli.main(["fmt", "-", *options], standalone_mode=False))
    assert ended == code
    assert written.getvalue().decode() == out


def test_standard_input_stands_alone(folder: Path) -> None:
    ended = precedes("fmt", "-", folder)
    assert ended.code == 2
    assert "U001 standard input is formatted alone" in ended.err
