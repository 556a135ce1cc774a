"""What is kept of a run: that it is used where nothing changed, and that nobody can put a result there."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from precedes.core.cache_directory import PLACE
from precedes.gate import cache
from precedes.gate.cache import Cache
from precedes.gate.findings import Item, Place
from tests.gate.projects import SWAPPED, TRACE, changed, gate, project

KEY = "0" * 64
ITEM = Item("G105", "verify x", "SP", "passed", "SP: holds", Place("x"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = project(tmp_path)
    assert gate(made, "--write-baseline", "-q").code == 0
    assert len(kept(made)) == 3
    return made


def kept(folder: Path) -> list[Path]:
    return sorted((folder / ".precedes-cache").glob("*.json"))


def rewritten(path: Path, change: Callable[[Any], None]) -> None:
    document = json.loads(path.read_bytes())
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")


def passing(document: Any) -> None:
    for item in document["items"]:
        item["result"] = "passed"


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b"\x80\x04N.", b"\xff" * 100, b'{"format": 2}'], ids=repr
)
def test_what_is_damaged_is_computed_again(folder: Path, data: bytes) -> None:
    for path in kept(folder):
        path.write_bytes(data)
    ended = gate(folder)
    assert (ended.code, "unchanged" in ended.out) == (0, False)
    assert "3 of them unchanged" in gate(folder).out


def test_a_result_that_was_changed_is_computed_again(folder: Path) -> None:
    (folder / "traces/run.jsonl").write_text(SWAPPED, encoding="utf-8")
    assert gate(folder).code == 1
    for path in kept(folder):
        rewritten(path, passing)
    assert gate(folder).code == 1


def test_a_result_under_the_key_of_another_is_computed_again(folder: Path) -> None:
    before = kept(folder)
    (folder / "traces/run.jsonl").write_text(SWAPPED, encoding="utf-8")
    assert gate(folder).code == 1
    (failing,) = set(kept(folder)) - set(before)
    for path in before:
        failing.write_bytes(path.read_bytes())
        assert gate(folder).code == 1
        rewritten(failing, lambda document: document.update(key=failing.stem))
        assert gate(folder).code == 1


def test_a_result_that_was_committed_is_computed_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Made on a machine where the gate said so, by whatever means, and put into the repository."""
    monkeypatch.setenv(cache.SECRET, "the machine of somebody else")
    assert gate(folder, "-q").code == 0
    forged = {path: path.read_bytes() for path in kept(folder)}
    monkeypatch.delenv(cache.SECRET)
    for path, data in forged.items():
        path.write_bytes(data)
    assert "unchanged" not in gate(folder).out
    monkeypatch.setenv(cache.SECRET, "the machine of somebody else")
    for path, data in forged.items():
        path.write_bytes(data)
    assert "3 of them unchanged" in gate(folder).out


def test_a_secret_in_the_project_is_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "traces").mkdir(exist_ok=True)
    monkeypatch.setenv(PLACE, str(folder / ".cache"))
    for _ in range(2):
        assert "unchanged" not in gate(folder).out
    monkeypatch.setenv(PLACE, str(folder.parent / "elsewhere"))
    gate(folder)
    assert "3 of them unchanged" in gate(folder).out
    secret = folder.parent / "elsewhere/gate-secret"
    assert len(secret.read_bytes()) == 64
    if os.name == "posix":
        assert secret.stat().st_mode & 0o077 == 0
    secret.write_bytes(b"cut")
    assert "unchanged" not in gate(folder).out


def test_a_result_depends_on_the_trace_by_its_content(folder: Path) -> None:
    path = folder / "traces/run.jsonl"
    before = path.stat()
    # As many bytes, at the same time.
    path.write_text(TRACE.replace('"message": "a"', '"message": "c"'), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert "2 of them unchanged" in gate(folder).out


def test_what_is_undecided_is_not_kept_even_where_it_is_sealed(tmp_path: Path) -> None:
    kept_here = Cache(tmp_path / "c", tmp_path)
    open_ = Item("G105", "verify x", "SP", "undecided", "", Place("x"))
    kept_here.put(KEY, (open_,))
    assert kept_here.get(KEY, "verify x") is None
    kept_here.put(KEY, (ITEM,))
    assert kept_here.get(KEY, "verify x") == (ITEM,)
    assert kept_here.get(KEY, "verify y") is None
    assert Cache(None).get(KEY, "verify x") is None


def test_what_nobody_asks_for_goes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = folder / ".precedes-cache"
    (below / "notes.json").write_text("mine", encoding="utf-8")
    (below / "tmpabcdefgh").write_text("left behind", encoding="utf-8")
    old = time.time() - (cache.DAYS + 1) * 86_400
    for path in below.iterdir():
        os.utime(path, (old, old))
    changed(folder, "precedes.toml", 'files = ["specs"]', 'files = ["specs/first.prec"]')
    gate(folder)
    # Two were asked for. What this program has not made is left alone.
    assert sorted(path.name for path in below.iterdir() if len(path.name) < 60) == [
        ".gitignore",
        "notes.json",
    ]
    assert len(kept(folder)) == 3
    monkeypatch.setattr(cache, "MEGABYTES", 0)
    gate(folder)
    assert [path.name for path in kept(folder)] == ["notes.json"]


def test_the_one_that_was_asked_for_last_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Cache(tmp_path / "c", tmp_path)
    names = [digit * 64 for digit in "abc"]
    for age, name in enumerate(names):
        here.put(name, (ITEM,))
        os.utime(tmp_path / "c" / f"{name}.json", (1e9 - age, 1e9 - age))
    monkeypatch.setattr(cache, "DAYS", 100_000)
    size = (tmp_path / "c" / f"{names[0]}.json").stat().st_size
    monkeypatch.setattr(cache, "MEGABYTES", 2.5 * size / 1_000_000)
    assert here.get(names[2], "verify x") == (ITEM,)
    here.prune()
    assert [path.stem[0] for path in sorted((tmp_path / "c").glob("*.json"))] == ["a", "c"]
