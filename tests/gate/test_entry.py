"""A mistake in a value of the configuration is reported where the value stands, with what would be right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.gate.projects import gate, project

HEAD = '[[verify]]\nfiles = ["traces/run.jsonl"]\nrequire = ["SP"]\n'
MODEL = '[[explore]]\nmodel = "st"\nentities = 2\nmessages = 1\n'
EXECUTED = '[[simulate]]\nmodel = "st"\nexecutions = 1\n'

MISTAKES = [
    ("require", HEAD.replace("SP", "SPP"), "3:13: N001", "SPP", "did you mean SP?"),
    (
        "require on several lines",
        HEAD.replace('["SP"]', '[\n  "SP",\n  "TO and cusal_order",\n]'),
        "5:11: N001",
        "cusal_order",
        "did you mean causal_order?",
    ),
    ("the second table", HEAD + HEAD.replace("SP", "SPP"), "6:13: N001", "SPP", "did you mean SP?"),
    ("require of a model", MODEL + 'require = ["TOO"]\n', "5:13: N001", "TOO", "did you mean TO?"),
    ("require of a simulation", EXECUTED + 'require = ["SPP"]\n', "4:13: N001", "SPP", "did you mean SP?"),
    ("specs", HEAD + 'specs = ["nothing"]\n', "4:11: U001", "nothing", "relative to the configuration"),
    ("files", '[[check]]\nfiles = ["nothing"]\n', "2:11: U001", "nothing", "relative to the configuration"),
    ("budget", HEAD + 'budget = { SPP = "1 %" }\n', "4:12: C002", "SPP", "did you mean SP?"),
    ("severity", '[severity]\nSPP = "off"\n' + HEAD, "2:1: C002", "SPP", "did you mean SP?"),
    ("delta", HEAD + 'delta = "3 parsecs"\n', "4:10: U001", "3 parsecs", "write 100ms"),
    ("engine", HEAD + 'engine = "sparc"\n', "4:1: C003", "", "did you mean spark?"),
    ("model", '[[explore]]\nmodel = "stt"\n', "2:10: M001", "stt", "did you mean st?"),
    ("set", MODEL + "set = { confrms = true }\n", "5:9: M004", "confrms", "did you mean confirms?"),
    ("a table of its own", MODEL + "[explore.set]\nconfrms = true\n", "6:1: M004", "confrms", "confirms?"),
    ("script", MODEL + 'script = "a{2,"\n', "5:11: U001", "a{2,", "in braces the entities"),
    ("depends", MODEL + 'depends = ["no.csv"]\n', "5:13: U001", "no.csv", "relative to the configuration"),
    ("bounds", MODEL + "corruptions = 1\n", "2:1: U001", "model", "SingleChannel(loses=True)"),
    ("unmet", MODEL + 'unmet = ["acknowledgd"]\n', "5:11: C002", "acknowledgd", "did you mean acknowledged?"),
]


@pytest.mark.parametrize(
    ("text", "place", "marked", "right"), [one[1:] for one in MISTAKES], ids=[one[0] for one in MISTAKES]
)
def test_a_mistake_is_reported_where_it_stands(
    tmp_path: Path, text: str, place: str, marked: str, right: str
) -> None:
    (project(tmp_path) / "precedes.toml").write_text(text, encoding="utf-8")
    ended = gate(tmp_path)
    assert ended.code == 2
    assert f"precedes.toml:{place} " in ended.err
    assert right in ended.err
    if marked:
        line, carets = re.search(r"^    (.*)\n    ( *\^+)$", ended.err, re.MULTILINE).groups()  # type: ignore[union-attr]
        assert line[carets.index("^") : len(carets)] == marked


def test_every_mistake_is_reported_at_once(tmp_path: Path) -> None:
    twice = HEAD.replace('["SP"]', '["SPP", "TOO"]') + HEAD.replace("SP", "STT")
    (project(tmp_path) / "precedes.toml").write_text(twice, encoding="utf-8")
    places = re.findall(r"^precedes\.toml:(\d+:\d+): N001", gate(tmp_path).err, re.MULTILINE)
    assert places == ["3:13", "3:20", "6:13"]


def test_a_value_that_is_written_otherwise_has_the_place_of_its_key(tmp_path: Path) -> None:
    text = HEAD.replace('"SP"', r'"SP\u0050"')
    (project(tmp_path) / "precedes.toml").write_text(text, encoding="utf-8")
    assert "precedes.toml:3:1: N001 there is no predicate or service SPP" in gate(tmp_path).err


def test_what_the_tables_are_called_in_a_pyproject(tmp_path: Path) -> None:
    project(tmp_path)
    (tmp_path / "precedes.toml").unlink()
    text = HEAD.replace("[[verify]]", "[[tool.precedes.verify]]").replace("SP", "SPP")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n' + text, encoding="utf-8")
    assert "pyproject.toml:5:13: N001" in gate(tmp_path).err


def test_an_invariant_is_required_by_its_name_as_explore_takes_it(tmp_path: Path) -> None:
    project(tmp_path)
    text = MODEL + 'require = ["acknowledged"]\nunmet = ["acknowledged"]\n'
    (tmp_path / "precedes.toml").write_text(text, encoding="utf-8")
    ended = gate(tmp_path, "-v")
    assert (ended.code, "explore st: acknowledged\n" in ended.out) == (0, True), ended


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (EXECUTED + 'require = ["SP"]\nduplicates = 0.1\n', "did you mean duplication?"),
        (MODEL + "duplication = 1\n", "did you mean duplicates?"),
        (MODEL + "seconds = 1\n", "did you mean time-limit?"),
    ],
)
def test_a_word_of_another_command_is_refused(tmp_path: Path, text: str, right: str) -> None:
    (project(tmp_path) / "precedes.toml").write_text(text, encoding="utf-8")
    ended = gate(tmp_path)
    assert (ended.code, right in ended.err) == (2, True), ended
