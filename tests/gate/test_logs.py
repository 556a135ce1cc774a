"""`from`, `set` and `mapping` of `[[verify]]`: logs of other systems under the gate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.gate.projects import changed, gate

KCAT = (
    '{"topic":"t","partition":0,"offset":%d,"tstype":"create","ts":1,"broker":1,"key":null,"payload":"a"}\n'
)
MAPPING = 'entity = "who"\nmessage = "id"\n\n[[event]]\nis = "deliver"\n'
OWN = '{"who":"c1","id":%d}\n'


def project(folder: Path, lines: str, files: str, *requirements: str) -> Path:
    """A project with some logs of kcat and of its own, and this table of the configuration."""
    logs = {
        "logs/c1.log": KCAT % 1 + KCAT % 2,
        "logs/notes.txt": "nothing\n",
        "own/c1.jsonl": OWN % 1 + OWN % 2,
        "own.toml": MAPPING,
        "precedes.toml": 'baseline = "baseline.json"\n\n[[verify]]\n'
        f"files = {json.dumps([files])}\nrequire = {json.dumps(requirements or ['no_duplication'])}\n{lines}",
    }
    for name, text in logs.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("lines", "files"),
    [
        ("", "logs"),
        ('from = "kcat"', "logs/*.log"),
        ('from = "kcat"\nset = { entity = "c9", execution = "x" }', "logs/c1.log"),
        ('mapping = "own.toml"', "own/*.jsonl"),
        ('from = "mapping"\nset = { file = "%s/own.toml" }', "own"),
    ],
)
def test_logs_are_read_as_the_configuration_says(tmp_path: Path, lines: str, files: str) -> None:
    project(tmp_path, lines.replace("%s", str(tmp_path)), files)
    ended = gate(tmp_path, "-v", "--write-baseline")
    assert (ended.code, ended.err) == (0, "")
    assert f"passed: verify {files}: no_duplication" in ended.out
    own = "own" in files
    path = tmp_path / ("own/c1.jsonl" if own else "logs/c1.log")
    path.write_text((OWN % 1 if own else KCAT % 1) * 2, encoding="utf-8")
    ended = gate(tmp_path)
    assert (ended.code, "G105 error (new): no_duplication: 1 of 1 execution" in ended.out) == (1, True)
    assert ("execution x" in ended.out, "c9" in ended.out) == ("c9" in lines, "c9" in lines)


@pytest.mark.parametrize(
    ("lines", "line", "said"),
    [
        ('from = "kcatt"', 6, "there is no format kcatt"),
        ('from = "kcat"\nset = { colour = "red" }', 7, "kcat has no setting colour"),
        ('set = { entity = "c1" }', 6, "there is no --from"),
        ('from = "kcat"\nmapping = "own.toml"', 7, "two formats"),
        ('mapping = "none.toml"', 6, "there is no file none.toml"),
    ],
)
def test_a_mistake_is_told_where_it_stands(tmp_path: Path, lines: str, line: int, said: str) -> None:
    ended = gate(project(tmp_path, lines, "logs/c1.log"), "--write-baseline")
    assert ended.code == 2
    assert f"precedes.toml:{line}:" in ended.err
    assert said in ended.err


@pytest.mark.parametrize("change", ["from", "set", "mapping"])
def test_another_way_to_read_logs_is_told(tmp_path: Path, change: str) -> None:
    if change == "mapping":
        project(tmp_path, 'mapping = "own.toml"', "own/*.jsonl")
    else:
        project(tmp_path, 'from = "kcat"\nset = { entity = "c1" }', "logs/c1.log")
    assert gate(tmp_path, "--write-baseline", "-q").code == 0
    match change:
        case "from":
            changed(tmp_path, "precedes.toml", 'from = "kcat"\nset = { entity = "c1" }', "")
        case "set":
            changed(tmp_path, "precedes.toml", '"c1"', '"c2"')
        case _:
            changed(tmp_path, "own.toml", '"who"', '{const = "c2"}')
    ended = gate(tmp_path)
    assert (ended.code, "log:" in ended.out) == (1, True), ended.out + ended.err


def test_the_configuration_is_shown_in_its_own_words(tmp_path: Path) -> None:
    ended = gate(project(tmp_path, 'from = "kcat"', "logs/c1.log"), "--show-config")
    assert '"from": "kcat"' in ended.out
    assert '"from"' in gate(tmp_path, "--schema", "config").out


def test_a_file_beside_a_log_is_part_of_what_was_checked(tmp_path: Path) -> None:
    project(tmp_path, 'from = "broadcast-log"', "runs/1.output", "information_preserving")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/1.output").write_text("b 1\nd 1 1\n", "utf-8")
    (tmp_path / "runs/hosts").write_text("1 localhost 1\n", "utf-8")
    gate(tmp_path, "--write-baseline")
    assert gate(tmp_path).code == 0
    (tmp_path / "runs/hosts").write_text("1 localhost 1\n2 localhost 2\n", "utf-8")
    assert gate(tmp_path).code == 1
