"""The tables of the parser, kept between runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from precedes.language.parsing import parser
from precedes.language.syntax import Cluster, Name

PROGRAM = """
import sys
from precedes.language.parsing.parser import parse
print(parse("cluster A B").statements[0].entities[1].text, "lark" in sys.modules)
"""


def run(cache: Path) -> list[str]:
    environment = {"XDG_CACHE_HOME": str(cache), "PATH": "", "PYTHONPATH": ":".join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_the_second_run_needs_no_lark(tmp_path: Path) -> None:
    assert run(tmp_path) == ["B", "True"]
    [kept] = (tmp_path / "precedes").iterdir()
    assert kept.suffix == ".json"
    assert run(tmp_path) == ["B", "False"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"states": [], "rules": [], "starts": {}, "ends": {}}',
        '{"rules": [["x", 1, "nonsense", false]]}',
        "\x00",
    ],
)
def test_a_broken_file_is_made_anew(tmp_path: Path, content: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    parser._automaton.cache_clear()
    parser.parse("cluster A")
    [kept] = (tmp_path / "precedes").iterdir()
    kept.write_text(content, encoding="utf-8")
    parser._automaton.cache_clear()
    assert parser.parse("cluster A").statements == (Cluster((Name("A"),)),)
    assert json.loads(kept.read_text(encoding="utf-8"))["starts"].keys() >= {"cluster", "log", "expect"}
    parser._automaton.cache_clear()


def test_without_a_place_to_keep_them_it_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    parser._automaton.cache_clear()
    assert len(parser.parse("cluster A\nRL1: < a ]").statements) == 2
    parser._automaton.cache_clear()


def test_two_processes_at_once(tmp_path: Path) -> None:
    environment = {
        "XDG_CACHE_HOME": str(tmp_path),
        "PATH": "",
        "PYTHONPATH": ":".join(filter(None, sys.path)),
    }
    running = [
        subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [process.communicate()[0].split()[0] for process in running] == ["B"] * 4
    assert [path.suffix for path in (tmp_path / "precedes").iterdir()] == [".json"]
