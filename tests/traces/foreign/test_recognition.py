"""Files are read as logs of other systems by their content, or as the user says."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

import precedes
from precedes.core.diagnostics import PrecedesError
from precedes.traces.foreign.importers import BY_WORD, FOREIGN
from precedes.traces.foreign.recognition import LogReading, recognized
from precedes.traces.formats.registry import CSV, JSON_LINES, TraceFormat
from precedes.traces.notices import Notices
from precedes.traces.sources import expand, source_of
from tests.command.running import precedes as command

KCAT = (
    '{"topic":"t","partition":0,"offset":0,"tstype":"create","ts":1,"broker":1,"key":null,"payload":"a"}\n'
    '{"topic":"t","partition":0,"offset":1,"tstype":"create","ts":2,"broker":1,"key":null,"payload":"b"}\n'
)
OURS = '{"execution":"x","entity":"a","event":"local"}\n'


def test_a_log_is_recognized_whatever_its_name(tmp_path: Path) -> None:
    for name in ("c1.jsonl", "c1.log", "c1"):
        path = tmp_path / name
        path.write_text(KCAT, encoding="utf-8")
        notices = Notices()
        [source] = expand([path], notices)
        assert source.format is BY_WORD["kcat"]
        assert [notice.code for notice in notices.all()] == ["T123"]
        ended = command("verify", path, "--require", "no_duplication")
        assert (ended.code, "T123 read as kcat, which does not record who sent a record" in ended.out) == (
            0,
            True,
        )


def test_rows_of_our_own_are_not_taken_for_another_log(tmp_path: Path) -> None:
    for name, text, expected in (
        ("a.jsonl", OURS, JSON_LINES),
        ("a.csv", "execution,entity,event\nx,a,local\n", CSV),
        ("a.json", '{"what": 1}\n', JSON_LINES),
        ("empty.jsonl", "", JSON_LINES),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert source_of(str(tmp_path / name)).format is expected


def test_what_is_no_log_is_told(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing in order\n", encoding="utf-8")
    with pytest.raises(PrecedesError) as raised:
        source_of(str(path))
    [told] = raised.value.diagnostics
    assert (told.code, "--from" in str(told.hint)) == ("T002", True)


def test_each_file_of_a_folder_is_looked_at_once(tmp_path: Path) -> None:
    for name in ("a", "b.log", "c.jsonl"):
        (tmp_path / name).write_text(KCAT, encoding="utf-8")
    with patch("precedes.traces.sources.recognized", wraps=recognized) as looked:
        assert len(expand([tmp_path])) == 3
        assert looked.call_count == 3
        assert expand([tmp_path / "a", tmp_path / "*.log"])[0].format is BY_WORD["kcat"]
        assert looked.call_count == 5


@pytest.mark.parametrize(
    ("names", "read"),
    [
        (("c1.log", "hosts", "notes.txt"), ["c1.log"]),
        (("c1.log", "broken.log", "hosts"), ["broken.log", "c1.log"]),
        (("hosts", "notes.txt"), ["hosts", "notes.txt"]),
    ],
    ids=["recognized", "called alike", "none is recognized"],
)
def test_what_a_folder_of_stated_logs_has(tmp_path: Path, names: tuple[str, ...], read: list[str]) -> None:
    for name in names:
        (tmp_path / name).write_text(KCAT if name == "c1.log" else "nothing\n", encoding="utf-8")
    notices = Notices()
    found = expand([tmp_path], notices, LogReading("kcat"))
    assert [Path(source.path).name for source in found] == read
    assert sum(each.code == "T106" for each in notices.all()) == len(names) - len(read)


@pytest.mark.parametrize(
    ("log", "part"),
    [
        (LogReading("kafkacat"), "there is no format kafkacat"),
        (LogReading("kcat", {"colour": "red"}), "kcat has no setting colour"),
        (LogReading(None, {"entity": "c1"}), "there is no --from"),
    ],
)
def test_what_cannot_be_set(log: LogReading, part: str) -> None:
    with pytest.raises(PrecedesError) as raised:
        _ = log.format
    [told] = raised.value.diagnostics
    assert told.code == "U001"
    assert part in told.message


@pytest.mark.parametrize("option", [("--set", "entity"), ("--mapping", "m.toml", "--from", "kcat")])
def test_options_that_do_not_go_together(option: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "c1.jsonl"
    path.write_text(KCAT, encoding="utf-8")
    ended = command("verify", path, *option, "--require", "no_duplication")
    assert (ended.code, "U001" in ended.err) == (2, True)


def test_python_has_the_same_words(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(KCAT, encoding="utf-8")
    [execution] = precedes.read(path, log="kcat", parameters={"entity": "c9"})
    assert execution.entities == ("c9",)
    report = precedes.verify(path, "no_duplication", log="kcat")
    assert report.verdict is precedes.Verdict.HOLDS
    done = precedes.convert(path, tmp_path / "c.parquet", log="kcat", parameters={"execution": "e"})
    assert done.rows == 2
    assert "T101" not in {notice.code for notice in done.notices}, (
        "an absent key is not a column of another type"
    )
    [again] = precedes.read(tmp_path / "c.parquet")
    assert (again.name, again.delivered("log")) == ("e", ("t-0@0", "t-0@1"))


def test_rows_in_memory_are_no_log_and_a_mapping_is_a_format(tmp_path: Path) -> None:
    rows = [{"execution": "x", "entity": "a", "event": "local"}]
    for ask in (
        lambda: precedes.verify(rows, "no_duplication", log="kcat"),
        lambda: precedes.infer(rows, parameters={"entity": "a"}),
        lambda: list(precedes.read(rows, mapping="m.toml")),
        lambda: precedes.convert(rows, tmp_path / "c.parquet", log="kcat"),
        lambda: precedes.verify("c1.jsonl", "no_duplication", log="kcat", mapping="m.toml"),
    ):
        with pytest.raises(PrecedesError) as raised:
            ask()
        assert raised.value.diagnostics[0].code == "U001"


@pytest.mark.parametrize("each", FOREIGN, ids=lambda each: each.word)
def test_every_format_says_what_it_carries_and_lacks(each: TraceFormat) -> None:
    assert each.carries
    assert each.lacks
    assert all(name.isidentifier() and text for name, text in each.module.SETTINGS.items())
    assert not each.module.recognizes(OURS, "a.jsonl")
