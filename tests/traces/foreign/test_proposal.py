"""A mapping for a log that nobody has described: what is guessed, why, and what somebody must fill in."""

from __future__ import annotations

import json
import tomllib
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.traces.foreign.mapping.proposal import proposed
from tests.traces.foreign.test_mapping import BUS_ROWS, lines, refused, rows, source

TEXT = "2026-01-01T00:00:00Z [A] op=send id=m1 hello there\n2026-01-01T00:00:01Z [B] op=recv id=m1\n"
CSV = (
    "ts,client_id,topic,partition,offset\n"
    "2026-11-27 10:00:00.1,b-1,orders,0,17\n2026-11-27 10:00:00.4,b-1,orders,0,18\n"
)


def proposal(folder: Path, name: str, log: str) -> tuple[str, dict[str, Any]]:
    """What is proposed for a log, as text and as values."""
    (folder / name).write_text(log, encoding="utf-8")
    text = proposed(str(folder / name))
    return text, tomllib.loads(text)


def test_a_log_that_says_what_it_is_can_be_read_at_once(tmp_path: Path) -> None:
    log = lines([row for row in BUS_ROWS if row["op"] != "retry"])
    text, values = proposal(tmp_path, "bus.jsonl", log)
    assert values == {
        "input": "json-lines",
        "entity": "svc",
        "message": "body.id",
        "time": {"field": "ts", "format": "epoch_ms"},
        "dest": {"field": "to"},
        "event": [{"is": "deliver", "when": {"op": "consume"}}, {"is": "send", "when": {"op": "publish"}}],
    }
    assert "# message: 1 of 2 values are in rows of several entities" in text
    assert [row["event"] for row in rows(source(tmp_path, text, log))] == ["send", "send", "deliver"]


@pytest.mark.parametrize(
    ("name", "log"), [("a.csv", CSV), ("a.log", TEXT), ("a.jsonl", lines(BUS_ROWS * 500))]
)
def test_standard_input_gets_the_proposal_of_a_file(
    name: str, log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, _ = proposal(tmp_path, name, log)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=BytesIO(log.encode())))
    assert proposed("-") == text.replace(str(tmp_path / name), "<stdin>")


def test_a_word_that_nobody_knows_is_no_event_until_somebody_says_so(tmp_path: Path) -> None:
    log = lines(BUS_ROWS)
    text, values = proposal(tmp_path, "bus.jsonl", log)
    assert "others" not in values
    assert 'what are "op" = "retry"?' in text
    assert [each.code for each in refused(source(tmp_path, text, log))] == ["T028"]


@pytest.mark.parametrize(
    ("name", "log", "todo"),
    [
        ("a.csv", CSV, "time.zone"),
        ("a.log", TEXT, "entity"),
        ("a.log", "foo\nbar\n", "entity"),
        ("a.jsonl", "", "entity"),
        ("a.jsonl", '{"node": 1, "id": 1}\n', "event.const"),
    ],
)
def test_what_cannot_be_guessed_is_refused_until_it_is_filled_in(
    name: str, log: str, todo: str, tmp_path: Path
) -> None:
    text, _ = proposal(tmp_path, name, log)
    [told] = refused(source(tmp_path, text, log, name))
    assert told.code == "U007"
    assert told.message == f"{todo} is still TODO"


def test_kinds_of_files(tmp_path: Path) -> None:
    assert proposal(tmp_path, "a.csv", CSV)[1]["message"] == "{topic}-{partition}@{offset}"
    assert proposal(tmp_path, "a.csv", CSV.replace(",", "\t"))[1]["input"] == "tsv"
    assert proposal(tmp_path, "a.csv", CSV.replace(",", ";"))[1]["delimiter"] == ";"
    assert proposal(tmp_path, "a.log", TEXT)[1]["dissect"] == "%{word1} [%{word2}] op=%{op} %{rest}"
    assert proposal(tmp_path, "a.log", TEXT.replace(" hello there", ""))[1]["dissect"].endswith("id=%{id}")
    nested = json.dumps({"meta": 1, "rows": [{"a": 1}]}, indent=1)
    assert proposal(tmp_path, "a.json", nested)[1]["rows"] == "rows"


@pytest.mark.parametrize("name", ["a'b", 'a"b', "a\nb", "a\x7fb", "é\U0001f600'", "op.x", "a]b", "#"])
def test_names_and_values_of_any_kind_are_toml(name: str, tmp_path: Path) -> None:
    row = {"node": name, "op": f"send {name}", "id": name, f"msg{name}": name, name: 1}
    proposal(tmp_path, "a.jsonl", lines([row, {**row, "op": "recv", "node": "c"}]))


def test_what_needs_no_mapping_and_what_is_not_there(tmp_path: Path) -> None:
    pq.write_table(pa.table({"entity": ["A"]}), tmp_path / "a.parquet")
    for name, code, said in (
        ("a.parquet", "T009", "Parquet is read as it is, without a mapping"),
        ("", "T003", "this is a directory\n    name one of its files"),
        ("none.jsonl", "T001", "there is no such file"),
    ):
        with pytest.raises(PrecedesError) as caught:
            proposed(str(tmp_path / name))
        [told] = caught.value.diagnostics
        assert (told.code, said in told.render()) == (code, True), told.render()


def test_of_fields_that_name_messages_the_one_with_more_values_is_meant(tmp_path: Path) -> None:
    log = [
        {"pod": "a", "msg": "log.apply" if k else "health", "event": {"uuid": f"ev-{k}"}} for k in range(9)
    ]
    assert proposal(tmp_path, "a.jsonl", lines(log))[1]["message"] == "event.uuid"


STACK = """\
2026-11-27 12:00:00,100 INFO [orders] publish id=o-1 to billing
2026-11-27 12:00:00,250 ERROR [billing] handler failed at once
Traceback (most recent call last):
  File "x.py", line 3, in <module>
ValueError: bad
2026-11-27 12:00:00,300 INFO [billing] consume id=o-1 try=1
"""


def test_lines_of_a_stack_belong_to_the_record_before_them(tmp_path: Path) -> None:
    text, values = proposal(tmp_path, "a.log", STACK)
    assert values["begins"] == r"\d{4}-\d\d-\d\d"
    assert values["dissect"] == "%{word1} %{word2} %{word3} [%{word4}] %{word5} %{word6} %{rest}"
    assert values["event"] == [
        {"is": "deliver", "when": {"word5": "consume"}},
        {"is": "send", "when": {"word5": "publish"}},
    ]
    assert 'what are "word5" = "handler"?' in text
    filled = text.replace('entity = "TODO"', 'entity = "word4"').replace(
        'message = "TODO"', 'message = "word1"'
    )
    [told] = refused(source(tmp_path, filled, STACK, "a.log"))
    assert (told.code, told.row) == ("T028", 2)
    found = rows(source(tmp_path, f"others = 'ignore'\n{filled}", STACK, "a.log"))
    assert [(row["entity"], row["event"]) for row in found] == [("orders", "send"), ("billing", "deliver")]


def test_sentences_are_no_kinds_of_events(tmp_path: Path) -> None:
    log = [{"node": "A", "text": "A has published o-1"}, {"node": "B", "text": "B has now consumed o-1"}]
    text, values = proposal(tmp_path, "a.jsonl", lines(log))
    assert values["event"] == {"const": "TODO"}
    assert "# when = {FIELD = {matches = 'publish'}}" in text
