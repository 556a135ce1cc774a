"""`precedes check`: outcomes, exit codes and what is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command.documents import ROOT
from tests.command.running import precedes

CONTRACT = ROOT / "tests" / "contract"
PAPERS = ROOT / "specs" / "papers"

FIG3 = """\
scenario fig3 source "1994, Figure 3"
cluster E1 E2 E3
RL1: < x c p z ]    SL1: < a{2,3} b{2} c{1,3} ]
RL2: < a x b y q ]  SL2: < p{1} q{2,3} ]
RL3: < x a c z q ]  SL3: < x{1,2,3} y{2} z{1,3} ]
"""


@pytest.mark.parametrize("name", ["st-1994.prec", "causal.prec"])
def test_the_contract_holds(name: str) -> None:
    ended = precedes("check", CONTRACT / name)
    assert ended.code == 0, ended.out
    assert "otherwise" not in ended.out
    assert "undecided" not in ended.out


@pytest.mark.slow
def test_the_papers_hold() -> None:
    ended = precedes("check", PAPERS)
    assert ended.code == 0, ended.out
    for figure in ("Figure 2", "Figure 3", "Figure 4", "Figure 6"):
        assert figure in (PAPERS / "st-1994.prec").read_text(encoding="utf-8")


BAD = sorted((CONTRACT / "bad").glob("*.prec"))


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_bad_files_are_refused_at_the_stated_lines(path: Path) -> None:
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    lines = [word.strip(",:;") for word in first.split("line ")[1:]]
    stated = [int("".join(c for c in word if c.isdigit() or c == " ").split()[0]) for word in lines]
    assert stated, "the first comment names the lines"
    ended = precedes("check", path)
    assert ended.code == 2
    told = [int(line.split(":")[1]) for line in ended.err.splitlines() if line.startswith(str(path))]
    assert told == stated, ended.err


def test_there_are_bad_files() -> None:
    assert len(BAD) == 4


@pytest.mark.parametrize(
    ("statement", "code", "printed"),
    [
        ("expect SP", 0, "1 of 1 as stated"),
        ("expect ST", 1, "E2 delivers a before x, E3 delivers x before a"),
        ("expect not SP", 1, "SP holds"),
        ("expect deadline", 3, "a send or a delivery has no time"),
        ("expect unknown deadline", 0, "1 of 1 as stated"),
        ("expect unknown SP", 1, "SP holds"),
        ("", 3, "nothing was checked"),
    ],
)
def test_the_outcome_of_a_statement(tmp_path: Path, statement: str, code: int, printed: str) -> None:
    path = tmp_path / "s.prec"
    path.write_text(FIG3 + statement + "\n", encoding="utf-8")
    ended = precedes("check", path)
    assert ended.code == code, ended.out
    assert printed in ended.out


def test_a_statement_over_no_message_holds_vacuously_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "s.prec"
    path.write_text("scenario s\ncluster A B\nexpect ST\n", encoding="utf-8")
    ended = precedes("check", path)
    assert "line 3: expect ST: holds vacuously: there was no message" in ended.out
    assert ended.code == 3
    assert ended.out.endswith(
        "undecided: no scenario has a message, so every expectation is vacuous, and nothing was checked\n"
    )
    path.write_text("scenario s\ncluster A B\nexpect ST\n" + FIG3 + "expect SP\n", encoding="utf-8")
    ended = precedes("check", path)
    assert "vacuously" in ended.out
    assert ended.code == 0


def test_violated_comes_before_undecided(tmp_path: Path) -> None:
    path = tmp_path / "s.prec"
    path.write_text(FIG3 + "expect deadline\nexpect ST\n", encoding="utf-8")
    assert precedes("check", path).code == 1


def test_mistakes_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.prec").write_text("scenario s\ncluster A\nexpect STT\n", encoding="utf-8")
    ended = precedes("check", tmp_path)
    assert ended.code == 2
    assert "a.prec:3" in ended.err
    assert "b.prec:3" in ended.err


def test_a_missing_file_is_told() -> None:
    ended = precedes("check", "no-such.prec")
    assert (ended.code, ended.out) == (2, "")
    assert "no such file: no-such.prec" in ended.err


def test_json_says_the_same(tmp_path: Path) -> None:
    path = tmp_path / "s.prec"
    path.write_text(FIG3 + "expect SP\nexpect ST\n", encoding="utf-8")
    ended = precedes("check", path, "--format", "json")
    assert ended.code == 1
    (file,) = json.loads(ended.out)["files"]
    good, bad = file["scenarios"][0]["statements"]
    assert (good["verdict"], good["outcome"]) == ("holds", "as stated")
    assert (bad["verdict"], bad["outcome"]) == ("violated", "otherwise")
    assert {"p": "a", "q": "x"}.items() <= bad["bindings"].items()
    assert "^" in bad["figure"]
