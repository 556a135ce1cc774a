"""Claims in files and `precedes search`: what the solver answers, and that its scenarios can be pasted back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command.documents import ROOT
from tests.command.running import precedes

CONTRACT = ROOT / "tests" / "contract"


@pytest.mark.parametrize("name", ["claims.prec", "claims-causal.prec"])
def test_the_contract_claims_come_out_as_stated(name: str) -> None:
    ended = precedes("check", CONTRACT / name)
    assert ended.code == 0, ended.out
    statements = [
        line
        for line in (CONTRACT / name).read_text(encoding="utf-8").splitlines()
        if line.startswith(("claim", "refute", "find"))
    ]
    assert f"{len(statements)} statements: {len(statements)} as stated" in ended.out
    assert ended.out.count("proved for every size") == sum(line.startswith("claim") for line in statements)


def test_the_bounded_claims_come_out_where_bounds_are_accepted() -> None:
    assert precedes("check", CONTRACT / "claims-bounded.prec", "--accept-bounds").code == 0


def test_every_scenario_shown_can_be_pasted_back(tmp_path: Path) -> None:
    files = [CONTRACT / "claims.prec", CONTRACT / "claims-causal.prec"]
    document = json.loads(precedes("check", *files, "--format", "json").out)
    shown = [
        claim["scenario"] for file in document["files"] for claim in file["claims"] if "scenario" in claim
    ]
    assert len(shown) == 15
    path = tmp_path / "shown.prec"
    for scenario in shown:
        path.write_text(scenario, encoding="utf-8")
        ended = precedes("check", path)
        assert ended.code == 0, f"{scenario}\n{ended.out}{ended.err}"


@pytest.mark.parametrize(
    ("statement", "code", "said"),
    [
        ("claim ST implies SP", 0, "proved for every size"),
        ("claim SP implies ST", 1, "otherwise, counterexample with 2 entities and 2 messages"),
        ("refute ST implies SP", 1, "otherwise, proved for every size"),
        ("find ST and not SP", 1, "there is no example"),
        ("find ST and not acyclic_order with entities = 2, messages <= 3", 1, "no example"),
        ("find not ST with entities = 2, messages = 2", 0, "example with 2 entities and 2 messages"),
        ('predicate later undetermined "not yet"\nclaim ST implies later', 3, "undecided"),
    ],
)
def test_the_outcome_of_a_claim(tmp_path: Path, statement: str, code: int, said: str) -> None:
    path = tmp_path / "claims.prec"
    path.write_text(statement.replace(" undetermined", " := undetermined") + "\n", encoding="utf-8")
    ended = precedes("check", path)
    assert ended.code == code, ended.out + ended.err
    assert said in ended.out


def test_a_question_that_takes_too_long_is_undecided(tmp_path: Path) -> None:
    path = tmp_path / "claims.prec"
    path.write_text("claim TO implies causal_order\n", encoding="utf-8")
    ended = precedes("check", path, "--timeout", 0.1)
    assert ended.code == 3
    assert "undecided" in ended.out


def test_search_finds_the_smallest_execution(tmp_path: Path) -> None:
    ended = precedes("search", "ST and not acyclic_order")
    assert ended.code == 0
    assert ended.out.startswith("# example with 3 entities and 3 messages")
    path = tmp_path / "found.prec"
    path.write_text(ended.out, encoding="utf-8")
    assert precedes("check", path).code == 0


def test_search_says_that_there_is_none_or_how_far_it_looked() -> None:
    assert precedes("search", "ST and not SP").code == 1
    ended = precedes("search", "ST and not acyclic_order", "--entities", 2)
    assert (ended.code, ended.out) == (3, "no example up to 2 entities and 6 messages\n")
    assert precedes("search", "STT").code == 2


def test_search_takes_own_predicates(tmp_path: Path) -> None:
    spec = tmp_path / "own.prec"
    spec.write_text("predicate busy := exists p, q: p != q and exists i: p <[RL[i]] q\n", encoding="utf-8")
    document = json.loads(precedes("search", "busy and TO", "--spec", spec, "--format", "json").out)
    assert document["outcome"] == "as stated"
    assert document["answer"] == "example with 1 entity and 2 messages"


def test_what_is_asked_among_some_entities_can_be_pasted_back(tmp_path: Path) -> None:
    path = tmp_path / "found.prec"
    ended = precedes("search", "(order_preserving and exists L: exists p, q in L: p <[L] q) among E1")
    path.write_text(ended.out, encoding="utf-8")
    assert precedes("check", path).code == 0, ended.out


OWN = """\
predicate busy := exists p, q: p != q and exists i: p <[RL[i]] q
predicate idle := not busy
predicate unused := true
service both := busy and TO
"""


def test_what_search_finds_with_own_definitions_stands_alone(tmp_path: Path) -> None:
    """It holds the definitions that it rests on, each after those that it uses, and no others."""
    spec = tmp_path / "own.prec"
    spec.write_text(OWN, encoding="utf-8")
    found = tmp_path / "found.prec"
    found.write_text(precedes("search", "both", "--spec", spec).out, encoding="utf-8")
    names = [line.split()[1] for line in found.read_text(encoding="utf-8").splitlines() if ":=" in line]
    assert names == ["busy", "both"]
    assert precedes("check", found).code == 0
    assert precedes("draw", found).out.startswith("found\n")
    as_json = json.loads(precedes("search", "both", "--spec", spec, "--format", "json").out)
    assert as_json["scenario"] == found.read_text(encoding="utf-8").partition("\n")[2]


def test_what_explore_finds_with_own_definitions_stands_alone(tmp_path: Path) -> None:
    spec = tmp_path / "own.prec"
    spec.write_text(OWN, encoding="utf-8")
    model = ("explore", "cmd-auxiliary", "--as-written", "--messages", 2)
    ended = precedes(*model, "--spec", spec, "--require", "idle", "--format", "json")
    (violation,) = [
        one for one in json.loads(ended.out)["explorations"][0]["violations"] if one["property"] == "idle"
    ]
    found = tmp_path / "found.prec"
    found.write_text(violation["scenario"], encoding="utf-8")
    assert precedes("check", found).code == 0


def test_draw_takes_definitions(tmp_path: Path) -> None:
    spec, figure = tmp_path / "own.prec", tmp_path / "figure.prec"
    spec.write_text(OWN, encoding="utf-8")
    figure.write_text("scenario s\ncluster A\nRL1: < a b ]\nSL1: < a b ]\nexpect busy\n", encoding="utf-8")
    assert precedes("draw", figure).code == 2
    assert precedes("draw", figure, "--spec", spec).code == 0
    assert "◆" in precedes("draw", figure, "--spec", spec, "--expect", "idle").out
