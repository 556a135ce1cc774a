"""Any log, read as a mapping says: what each row becomes, what stays unknown, what is refused and where."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.execution import EventKind
from precedes.core.formula import Attribute, AttributeSort
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.columnar.batch_scan import scan
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import plan
from precedes.traces import Notices, TraceOptions, assemble, read_table
from precedes.traces.foreign.importers import MAPPING
from precedes.traces.foreign.mapping import SETTINGS, recognizes
from precedes.traces.foreign.mapping.definition import Mapping, Stated
from precedes.traces.foreign.mapping.inputs import records
from precedes.traces.foreign.recognition import LogReading
from precedes.traces.schema import schema_of
from precedes.traces.sources import Compression, TraceSource, expand

EVENTS = list(EventKind)
BUS = """
entity = "svc"
message = "body.id"
time = {field = "ts", format = "epoch_ms"}
dest = "to"

[[event]]
is = "send"
when = {op = "publish"}

[[event]]
is = "deliver"
when = {op = ["consume", "retry"]}
"""
BUS_ROWS: Sequence[dict[str, Any]] = (
    {"op": "publish", "ts": 1700000000000, "svc": "p1", "body": {"id": 7}, "to": ["c1", "c2"]},
    {"op": "publish", "ts": 1700000000001, "svc": "p1", "body": {"id": 8}},
    {"op": "consume", "ts": 1700000000002.5, "svc": "c1", "body": {"id": 8}},
    {"op": "retry", "ts": 1700000000003, "svc": "c1", "body": {"id": 9}},
)


def source(folder: Path, mapping: str, log: str | bytes, name: str = "bus.jsonl", **more: Any) -> TraceSource:
    """A log in a folder, beside its mapping."""
    (folder / "m.toml").write_text(mapping, encoding="utf-8")
    data = log.encode() if isinstance(log, str) else log
    packed = Compression.GZIP if name.endswith(".gz") else None
    (folder / name).write_bytes(gzip.compress(data) if packed else data)
    settings = (("file", str(folder / "m.toml")),)
    return TraceSource(
        str(folder / name), MAPPING, packed, **{"only": True, "settings": settings, "named": name, **more}
    )


def table(given: TraceSource, notices: Notices | None = None) -> pa.Table:
    """The canonical table of a log."""
    notices = Notices() if notices is None else notices
    tables = MAPPING.module.read(given, notices)
    return pa.concat_tables([schema_of(given.attributes).empty_table(), *tables])


def rows(given: TraceSource, notices: Notices | None = None) -> list[dict[str, Any]]:
    """What the rows of a log become, without what is absent and where it was read."""
    return [
        {
            k: EVENTS[v].value if k == "event" else v
            for k, v in row.items()
            if v is not None and k not in PLACE
        }
        for row in table(given, notices).to_pylist()
    ]


PLACE = ("file", "file_order", "row", "execution")


def refused(given: TraceSource) -> tuple[Diagnostic, ...]:
    """What reading ends with."""
    with pytest.raises(PrecedesError) as caught:
        list(MAPPING.module.read(given, Notices()))
    return caught.value.diagnostics


def outcome(given: TraceSource) -> list[dict[str, Any]] | tuple[Diagnostic, ...]:
    """What the rows of a log become, or what reading ends with."""
    try:
        return rows(given)
    except PrecedesError as error:
        return error.diagnostics


def row_or_refusal(given: TraceSource) -> None:
    """One row becomes one, or it is refused by its number."""
    found = outcome(given)
    assert isinstance(found, list) or found[0].row == 1
    assert len(found) == 1


def lines(given: Sequence[object]) -> str:
    """Rows as JSON Lines."""
    return "".join(json.dumps(row) + "\n" for row in given)


def test_what_each_row_becomes(tmp_path: Path) -> None:
    given = source(tmp_path, BUS, lines(BUS_ROWS))
    assert rows(given) == [
        {
            "entity": "p1",
            "event": "send",
            "message": "7",
            "dest": ["c1", "c2"],
            "time": 1700000000000 * 10**6,
        },
        {"entity": "p1", "event": "send", "message": "8", "dest": ["group:?"], "time": 1700000000001 * 10**6},
        {"entity": "c1", "event": "deliver", "message": "8", "time": 17000000000025 * 10**5},
        {"entity": "c1", "event": "deliver", "message": "9", "sender": "?", "time": 1700000000003 * 10**6},
    ]
    assert table(given)["execution"].to_pylist() == ["bus"] * 4
    assert table(given)["row"].to_pylist() == [1, 2, 3, 4]


@pytest.mark.parametrize("name", ["bus.jsonl.gz", "bus.json", "bus.csv", "bus.tsv"])
def test_every_kind_of_file_says_the_same(name: str, tmp_path: Path) -> None:
    flat = [
        {"op": row["op"], "ts": row["ts"], "svc": row["svc"], "id": row["body"]["id"]} for row in BUS_ROWS
    ]
    mapping = BUS.replace("body.id", "id").replace('"to"', '"unknown"')
    expected = rows(source(tmp_path, mapping, lines(flat)))
    between = "\t" if name.endswith("tsv") else ","
    cells = [list(flat[0]), *([str(value) for value in row.values()] for row in flat)]
    texts = {
        "bus.jsonl.gz": lines(flat),
        "bus.json": json.dumps(flat, indent=1),
        "bus.csv": "".join(between.join(each) + "\r\n" for each in cells),
        "bus.tsv": "".join(between.join(each) + "\n" for each in cells),
    }
    assert rows(source(tmp_path, mapping, texts[name], name)) == expected
    if name == "bus.json":
        wrapped = source(tmp_path, f'rows = "a.b"\n{mapping}', json.dumps({"a": {"b": flat}}), name)
        assert rows(wrapped) == expected


def test_lines_of_text(tmp_path: Path) -> None:
    log = "2026-01-01T00:00:00Z A sends m1 to B, C\n\n2026-01-01T00:00:01Z B gets m1\n"
    events = r"""
[[event]]
is = "send"
when = {what = {matches = '^sends (?<id>\w+) to (?<to>.*)'}}
dest = {field = "to", separator = ","}
[[event]]
is = "deliver"
when = {what = {matches = '^gets (?P<id>\w+)'}}
"""
    columns = 'entity = "who"\nmessage = "id"\ntime = "at"\n'
    patterns = (r"pattern = '(?<at>\S+) (?<who>\w+) (?P<what>.*)'", "dissect = '%{at} %{who} %{what}'")
    for pattern in patterns:
        assert rows(source(tmp_path, f"{pattern}\n{columns}{events}", log, "x.log")) == [
            {"entity": "A", "event": "send", "message": "m1", "dest": ["B", "C"], "time": 1767225600 * 10**9},
            {"entity": "B", "event": "deliver", "message": "m1", "time": 1767225601 * 10**9},
        ]


@pytest.mark.parametrize(
    ("how", "line", "expected"),
    [
        ("%{a} [%{b}] %{c}", "x [y] z w", {"a": "x", "b": "y", "c": "z w"}),
        ("%{a->} %{b}", "x    y", {"a": "x", "b": "y"}),
        ("[%{a}]%{->}[%{b}]", "[x]   [y]", {"a": "x", "b": "y"}),
        ("%{?skip}: %{} %{b}", "x: y z", {"b": "z"}),
        ("%{a} %{b}", "x  y", {"a": "x", "b": " y"}),
        ("<%{a}>", "<x>>", None),
        ("<%{a}>", "x>", None),
    ],
)
def test_dissect_ends_a_field_where_the_next_text_first_stands(
    how: str, line: str, expected: dict[str, str] | None, tmp_path: Path
) -> None:
    given = source(tmp_path, "", line, "x.log")
    [(_, found)] = records(given, Stated(Mapping(dissect=how)))
    assert (found == {"line": line, **expected}) if expected else not isinstance(found, dict)


RECORDS = """\
2026-01-01 A sends

  m1
2026-01-01 B gets
  m1

"""


@pytest.mark.parametrize(
    ("how", "log"),
    [
        (r"pattern = '\S+ (?<e>\w) (?<v>\w+)\s+(?<m>\w+)'", RECORDS),
        (r"pattern = '\S+ (?<e>\w).*(?<m>m1)'", RECORDS),
        (r'dissect = "%{} %{e} %{v}\n  %{m}"', RECORDS.replace("\n\n  ", "\n  ")),
    ],
)
def test_records_of_several_lines(how: str, log: str, tmp_path: Path) -> None:
    mapping = f"begins = '[0-9]{{4}}-'\n{how}\nentity = 'e'\nmessage = 'm'\nevent = {{const = 'deliver'}}\n"
    given = source(tmp_path, mapping, log, "x.log")
    assert [(row["entity"], row["message"]) for row in rows(given)] == [("A", "m1"), ("B", "m1")]
    assert table(given)["row"].to_pylist() == [1, log[: log.index("2026-01-01 B")].count("\n") + 1]
    assert rows(source(tmp_path, mapping, "\n\n", "x.log")) == []


def test_a_line_before_the_first_record_is_no_event(tmp_path: Path) -> None:
    mapping = "begins = '[0-9]'\nentity = {const = 'e'}\nmessage = 'line'\nevent = {const = 'deliver'}\n"
    [told] = refused(source(tmp_path, mapping, "\nlost\n1 a\n b\n", "x.log"))
    assert (told.code, told.row) == ("T028", 2)
    ignoring = f"others = 'ignore'\n{mapping}"
    found = rows(source(tmp_path, ignoring, "lost\n1 a\n b\n2\n", "x.log"))
    assert [row["message"] for row in found] == ["1 a\n b", "2"]


def test_a_record_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("precedes.traces.formats.limits.LONGEST_RECORD", 100)
    mapping = "begins = '[0-9]'\nentity = {const = 'e'}\nmessage = 'line'\nevent = {const = 'deliver'}\n"
    [told] = refused(source(tmp_path, mapping, "1\n" + "x" * 60 + "\n" + "y" * 60 + "\n", "x.log"))
    assert (told.code, told.row) == ("T007", 1)


def test_what_only_some_events_have(tmp_path: Path) -> None:
    mapping = """
entity = "e"
event = "op"
message = "{topic}-{p}@{o}"
dest = "everybody"
redelivered = "again"
view = "v"
members = "who"
seq = "n"
clock = "vc"
sender = "from"
[attributes]
topic = "topic"
position = "o"
color = {const = "red"}
[groups]
team = ["c"]
all = ["c", "d"]
"""
    log = [
        {"e": "a", "op": "send", "topic": "t", "p": 0, "o": 5, "again": True, "v": "1", "n": 1},
        {"e": "c", "op": "deliver", "topic": "t", "p": 0, "o": 5, "again": "true", "n": "2", "vc": {"a": 1}},
        {"e": "d", "op": "view", "v": 2, "who": ["c", "d"], "from": "a"},
        {"e": "d", "op": "local"},
    ]
    attributes = (Attribute("topic", AttributeSort.TEXT), Attribute("position", AttributeSort.NUMBER))
    notices = Notices()
    given = source(tmp_path, mapping, lines(log), attributes=attributes)
    carried = {"attribute topic": "t", "attribute position": 5}
    assert rows(given, notices) == [
        {"entity": "a", "event": "send", "message": "t-0@5", "seq": 1, **carried},
        {
            "entity": "c",
            "event": "deliver",
            "message": "t-0@5",
            "seq": 2,
            "redelivered": True,
            "clock": [("a", 1)],
            "group": ["team", "all"],
            **carried,
        },
        {"entity": "d", "event": "view", "view": "2", "members": ["c", "d"], "group": ["all"]},
        {"entity": "d", "event": "local", "group": ["all"]},
    ]
    assert [each.text for each in notices.all()] == ["column `color` is unknown and was ignored"]


def test_a_verdict(tmp_path: Path) -> None:
    log = [
        {"op": "publish", "ts": 1, "svc": "p", "body": {"id": 1}, "to": ["c"]},
        {"op": "publish", "ts": 2, "svc": "p", "body": {"id": 2}, "to": ["c"]},
        {"op": "consume", "ts": 3, "svc": "c", "body": {"id": 2}},
        {"op": "consume", "ts": 4, "svc": "c", "body": {"id": 1}},
    ]
    batch = assemble(table(source(tmp_path, BUS, lines(log))), TraceOptions(), Notices())
    library = standard_library()
    names = ("order_preserving", "no_duplication")
    found = scan(batch, plan([requirement(name, library) for name in names]))
    assert dict(zip(found.names, found.values[0].tolist(), strict=True)) == dict(
        zip(names, (FALSE, TRUE), strict=True)
    )


def test_others_are_an_error_or_counted(tmp_path: Path) -> None:
    log = lines([*BUS_ROWS, {"op": "tick", "svc": "c1"}, {"op": "tick"}])
    told = refused(source(tmp_path, BUS, log))
    assert [(each.code, each.row) for each in told] == [("T028", 5), ("T028", 6)]
    assert 'op = "tick"' in told[0].message
    assert 'others = "ignore"' in str(told[0].hint)
    notices = Notices()
    assert len(rows(source(tmp_path, f'others = "ignore"\n{BUS}', log), notices)) == 4
    assert [(each.code, each.count) for each in notices.all()] == [("T122", 2)]


def test_an_ignored_line_at_the_end_may_be_a_line_that_was_cut_off(tmp_path: Path) -> None:
    mapping = (
        "others = 'ignore'\npattern = '(?<who>\\w) sends (?<id>\\d+);'\n"
        "entity = 'who'\nmessage = 'id'\nevent = {const = 'send'}\n"
    )
    assert len(rows(source(tmp_path, mapping, "A sends 1;\nstarting\n", "x.log"))) == 1
    [told] = refused(source(tmp_path, mapping, "A sends 1;\nA sends 2", "x.log"))
    assert (told.code, told.row, told.hint) == (
        "T028",
        2,
        "the file ends here, within a line: was it cut off?",
    )


COUNTED = """
entity = "svc"
message = {nth = ["from"]}
[[event]]
is = "send"
when = {op = "publish"}
[[event]]
is = "deliver"
when = {op = "consume"}
"""


def test_messages_that_are_counted(tmp_path: Path) -> None:
    log = [
        {"op": "publish", "svc": "p", "from": "p/1"},
        {"op": "consume", "svc": "c", "from": "p/1"},
        {"op": "publish", "svc": "p", "from": "p/1"},
        {"op": "consume", "svc": "d", "from": "p/1"},
        {"op": "consume", "svc": "c", "from": "p/1"},
    ]
    names = [row["message"] for row in rows(source(tmp_path, COUNTED, lines(log)))]
    assert names == ["p%2F1#1", "p%2F1#1", "p%2F1#2", "p%2F1#1", "p%2F1#2"]
    [told] = refused(source(tmp_path, COUNTED, lines([*log, {"op": "publish", "svc": "q", "from": "p/1"}])))
    assert (told.code, told.row) == ("T028", 6)
    assert "p and q send on the channel p/1" in told.message


def test_messages_of_several_files_are_counted_only_if_files_are_whole(tmp_path: Path) -> None:
    log = lines([{"op": "publish", "svc": "p", "from": "p"}])
    [told] = refused(source(tmp_path, COUNTED, log, only=False))
    assert told.code == "U006"
    assert told.span is not None
    assert told.span.line == 3
    whole = COUNTED.replace("nth =", "whole_files = true, nth =")
    assert len(rows(source(tmp_path, whole, log, only=False))) == 1


def test_two_messages_never_share_a_name(tmp_path: Path) -> None:
    mapping = 'entity = "e"\nevent = {const = "deliver"}\nmessage = "{t}-{p}"\n'
    same = [{"e": "c", "t": "a-1", "p": 2}, {"e": "c", "t": "a-1", "p": "2"}]
    assert [row["message"] for row in rows(source(tmp_path, mapping, lines(same)))] == ["a-1-2"] * 2
    [told] = refused(source(tmp_path, mapping, lines([*same, {"e": "c", "t": "a", "p": "1-2"}])))
    assert (told.code, told.row) == ("T028", 3)
    assert "two messages" in told.message


@pytest.mark.parametrize(
    ("form", "written", "nanoseconds"),
    [
        ('"epoch_s"', 1.000000001, 1_000_000_001),
        ('"epoch_ms"', "1.5", 1_500_000),
        ('"epoch_us"', 7, 7_000),
        ('"epoch_ns"', -7, -7),
        ('"rfc3339"', "1970-01-01T00:00:01.000000007Z", 1_000_000_007),
        ('"%Y-%m-%d %H:%M:%S,%f", zone = "UTC"', "1970-01-01 00:00:01,5", 1_500_000_000),
        ('"%d/%b/%Y:%H:%M:%S %z"', "01/Jan/1970:01:00:00 +0100", 0),
        ('"%Y-%m-%d %H:%M", zone = "+09:00"', "1970-01-01 09:00", 0),
        ('"%Y-%m-%d %H:%M", zone = "Europe/Berlin"', "1970-07-01 01:00", 181 * 86400 * 10**9),
    ],
)
def test_times(form: str, written: object, nanoseconds: int, tmp_path: Path) -> None:
    mapping = f'entity = "e"\nevent = {{const = "local"}}\ntime = {{field = "t", format = {form}}}\n'
    [row] = rows(source(tmp_path, mapping, lines([{"e": "c", "t": written}])))
    assert row.get("time") == nanoseconds


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ('"epoch_ms"', True),
        ('"epoch_ms"', "soon"),
        ('"epoch_ms"', "1e999999999"),
        ('"epoch_ns"', []),
        ('"epoch_ms"', "Infinity"),
        ('"rfc3339"', "12"),
        ('"rfc3339"', 12),
        ('"rfc3339"', "1970-01-01T00:00:01"),
        ('"%Y-%m-%d", zone = "UTC"', "1970-02-30"),
        ('"%Y-%m-%d", zone = "UTC"', 1970),
        ('"%Y-%m-%d %H:%M", zone = "Europe/Berlin"', "2026-10-25 02:30"),
        ('"%Y-%m-%d %H:%M", zone = "Europe/Berlin"', "2026-03-29 02:30"),
    ],
)
def test_times_that_are_none(form: str, written: object, tmp_path: Path) -> None:
    mapping = f'entity = "e"\nevent = {{const = "local"}}\ntime = {{field = "t", format = {form}}}\n'
    [told] = refused(source(tmp_path, mapping, lines([{"e": "c", "t": written}])))
    assert told.code in ("T028", "T016", "T015")
    assert told.row == 1


GOOD = 'entity = "e"\nmessage = "m"\nevent = {const = "deliver"}\n'
TWO_EVENTS = """\
dissect = '%{e} %{what}'
entity = 'e'
message = 'm'
[[event]]
is = "send"
when = {what = {matches = '^sends (?<m>.) to (?<to>.)'}}
[[event]]
is = "deliver"
when = {what = {matches = '^gets (?<m>.) try (?<n>.)'}}
"""


@pytest.mark.parametrize(
    ("mapping", "code", "line", "said"),
    [
        ('entity = = "e"', "U005", 1, "not TOML"),
        (f'{GOOD}entiy = "e"', "U005", 4, "did you mean entity?"),
        (f'{GOOD}timestamp = "t"', "U005", 4, "did you mean time?"),
        ('[[event]]\nis = "publish"', "U005", 2, "event[1].is"),
        ('[[event]]\nis = "send"\nwhere = {a = "b"}', "U005", 3, "did you mean when?"),
        (f'{GOOD}time = {{field = "t", frmat = "x"}}', "U005", 4, "did you mean format?"),
        (f"{GOOD}dest = ['a']", "U005", 4, "{const = ...}"),
        (f'{GOOD}pattern = "\\d"', "U005", 4, "single quotes"),
        (f'{GOOD}input = "jsn"', "U005", 4, "did you mean json?"),
        (f"{GOOD}sender = 'TODO'", "U007", 4, "sender is still TODO"),
        (f"{GOOD}[[x]]\nTODO = 1", "U007", 5, "TODO"),
        ('entity = "e"\nmessage = "m"', "U006", None, "which rows are which events"),
        ('message = "m"\nevent = "k"', "U006", None, "at which entity"),
        ('entity = "e"\n[[event]]\nis = "ack"', "U006", 2, "the messages of ack"),
        (f"{COUNTED}[[event]]\nis = 'ack'\n", "U006", None, "k-th ack"),
        (GOOD.replace('"m"', '"{a}{b}"'), "U006", 2, "nothing between them"),
        (GOOD.replace('"m"', '"{a"'), "U006", 2, "stands alone"),
        (GOOD.replace('"m"', '"a..b"'), "U006", 2, "not the path"),
        (GOOD.replace('"m"', "{nth = []}"), "U006", 2, "no field"),
        (GOOD.replace('"m"', "{nth = ['a-{b}']}"), "U006", 2, "not a field"),
        (GOOD.replace('"m"', "{}"), "U006", 2, "name or a number"),
        (f"{GOOD}sender = {{file = true}}", "U006", 4, "name of the file"),
        (f"{GOOD}dest = {{separator = ','}}", "U006", 4, "field or a constant"),
        (f"{GOOD}dest = {{field = 'd', separator = ''}}", "U006", 4, "empty"),
        (f"{GOOD}time = {{field = 't', format = '%Y-%m-%d'}}", "U006", 4, "zone"),
        (f"{GOOD}time = {{field = 't', format = '%H:%M', zone = 'UTC'}}", "U006", 4, "no whole date"),
        (
            f"{GOOD}time = {{field = 't', format = '%Y-%m-%d %Q', zone = 'UTC'}}",
            "U006",
            4,
            "not a time format",
        ),
        (f"{GOOD}time = {{field = 't', format = 'ms'}}", "U006", 4, "no time format"),
        (f"{GOOD}time = {{field = 't', format = '%Y-%m-%d', zone = 'Mars'}}", "U006", 4, "no zone Mars"),
        (f"{GOOD}time = {{field = 't', format = '%Y-%m-%d %z', zone = 'UTC'}}", "U006", 4, "%z"),
        (f"{GOOD}time = {{field = 't', format = 'epoch_ms', zone = 'UTC'}}", "U006", 4, "zone"),
        (f"{GOOD}[attributes]\ndest = 'd'", "U006", 5, "column of the trace"),
        (f"{GOOD}pattern = '(?<m>'", "U006", 4, "no regular expression"),
        (f"{GOOD}pattern = '(?<m>.)(?<f>.)'", "U006", 1, "no pattern finds"),
        (f"{TWO_EVENTS}[attributes]\nattempt = 'nn'", "U006", 11, "attempt reads nn, which no pattern finds"),
        (
            TWO_EVENTS.replace("'e'", "'n'"),
            "U006",
            4,
            "entity reads n, which only patterns of other events find",
        ),
        (
            f"{TWO_EVENTS}sender = 'to'",
            "U006",
            10,
            "sender reads to, which only patterns of other events find",
        ),
        (f"{GOOD}pattern = 'a'\ndissect = 'b'", "U006", 5, "leave one out"),
        (f"{GOOD}dissect = '%{{m}}%{{e}}'", "U006", 4, "nothing between"),
        (f"{GOOD}dissect = '%{{+m}}'", "U006", 4, "not understood"),
        (f"{GOOD}dissect = 'a'", "U006", 4, "no field"),
        (f"{GOOD}begins = '('\npattern = '(?<m>.)(?<e>.)'", "U006", 4, "no regular expression"),
        (f"{GOOD}input = 'csv'\nbegins = 'a'", "U006", 5, "is for text"),
        (f"{GOOD}input = 'csv'\ndelimiter = '--'", "U006", 5, "not one letter"),
        (f"{GOOD}input = 'json'\nrows = 'a..b'", "U006", 5, "not the path"),
        ("event = []\nentity = 'e'", "U006", 1, "no event"),
        ("entity = 'e'\n[[event]]\nis = 'view'\nwhen = {a = {}}", "U006", 4, "asks for nothing"),
    ],
)
def test_a_mapping_that_makes_no_sense(
    mapping: str, code: str, line: int | None, said: str, tmp_path: Path
) -> None:
    [told] = refused(source(tmp_path, mapping, "[]"))
    assert told.code == code, told.render()
    assert said in told.render()
    if line is not None:
        assert told.span is not None
        assert told.span.line == line, told.render()


def test_lines_that_are_not_json_are_told_as_without_a_mapping(tmp_path: Path) -> None:
    good = '{"e": "A", "m": 1}\n'
    told = refused(source(tmp_path, GOOD, f"bad\n{good}bad too\n{good}[]\n" + "no\n" * 20))
    assert [(each.code, each.row) for each in told] == [("T007", row) for row in (1, 3, 5, *range(6, 13))]
    (tmp_path / "plain.jsonl").write_text("bad\n", encoding="utf-8")
    with pytest.raises(PrecedesError) as caught:
        list(read_table(str(tmp_path / "plain.jsonl"), Notices()))
    [plain] = caught.value.diagnostics
    assert (told[0].message, told[0].hint) == (plain.message, plain.hint)


@pytest.mark.parametrize(
    "log", ['[{"e": "A", "m": 1}]', '[\n {"e": "A",\n  "m": 1}\n]\n', '{\n "rows": []}\n']
)
def test_a_document_is_not_told_line_by_line(log: str, tmp_path: Path) -> None:
    [told] = refused(source(tmp_path, GOOD, log))
    assert (told.code, told.row, told.hint) == ("T009", 1, 'write input = "json" in the mapping')


def test_what_stands_at_the_top_may_be_found_by_the_pattern_of_one_event(tmp_path: Path) -> None:
    mapping = f"dest = 'to'\n{TWO_EVENTS}[attributes]\nattempt = 'n'\n"
    attempt = Attribute("attempt", AttributeSort.NUMBER)
    given = source(tmp_path, mapping, "A sends x to B\nB gets x try 2\n", "a.log", attributes=(attempt,))
    send, delivery = rows(given)
    assert (send["dest"], send.get("attribute attempt")) == (["B"], None)
    assert (delivery.get("dest"), delivery["attribute attempt"]) == (None, 2)


def test_no_mapping_and_one_that_is_not_there(tmp_path: Path) -> None:
    for settings in ((), (("file", str(tmp_path / "none.toml")),), (("file", str(tmp_path)),)):
        [told] = refused(source(tmp_path, GOOD, "", settings=settings))
        assert told.code == "U005"
    (tmp_path / "latin.toml").write_bytes("entity = 'é'".encode("latin-1"))
    [told] = refused(source(tmp_path, GOOD, "", settings=(("file", str(tmp_path / "latin.toml")),)))
    assert told.code == "U005"


def test_settings_are_entries(tmp_path: Path) -> None:
    settings = (("entity", "e"), ("message", "{t}-{o}"), ("event", "{const = 'deliver'}"), ("time", "at"))
    [row] = rows(source(tmp_path, "", lines([{"e": "c", "t": "a", "o": 1, "at": 2}]), settings=settings))
    assert row == {"entity": "c", "event": "deliver", "message": "a-1", "sender": "?", "time": 2 * 10**9}
    assert {name for name, _ in settings} < set(SETTINGS)
    [told] = refused(source(tmp_path, "", "", settings=(("entity", "['a"),)))
    assert told.code == "U005"
    assert not recognizes("{}\n", "a.jsonl")


def test_the_name_of_the_file(tmp_path: Path) -> None:
    mapping = GOOD.replace('"e"', "{file = true}") + "execution = {const = 'monday'}\n"
    given = source(tmp_path, mapping, lines([{"m": 1}]), "billing-1.jsonl")
    [row] = rows(given)
    assert row["entity"] == "billing-1"
    assert table(given)["execution"].to_pylist() == ["monday"]


@pytest.mark.parametrize(
    ("log", "name", "code"),
    [
        ("[1]", "a.json", "T007"),
        ("{}", "a.json", "T009"),
        ('{"rows": [{}]}', "a.json", "T009"),
        ('{"e":"c"}\n{"e":"c"}\n', "a.json", "T009"),
        ('{"e":1,"e":2}\n', "a.jsonl", "T008"),
        ('{"e":NaN}\n', "a.jsonl", "T007"),
        ("[]\n", "a.jsonl", "T009"),
        ("[" * 5000, "a.json", "T007"),
        ("e,e\n", "a.csv", "T008"),
        ("e,m\n1\n", "a.csv", "T017"),
        ('e,m\n1,"2\n', "a.csv", "T007"),
        (b"e,m\n\xff,1\n", "a.csv", "T006"),
        (b"\x1f\x8b\x08", "a.jsonl", "T009"),
    ],
)
def test_files_that_are_refused(log: str | bytes, name: str, code: str, tmp_path: Path) -> None:
    [told] = refused(source(tmp_path, GOOD, log, name))
    assert told.code == code, told.render()


def test_a_row_that_lacks_a_field_is_told_what_it_has(tmp_path: Path) -> None:
    [told] = refused(
        source(tmp_path, GOOD.replace('"m"', '"body.uid"'), lines([{"e": "c", "body": {"uuid": 1}}]))
    )
    assert (told.code, told.row, told.hint) == ("T028", 1, "did you mean body.uuid?")


def test_a_name_with_points_is_a_field_before_it_is_a_path(tmp_path: Path) -> None:
    mapping = GOOD.replace('"m"', '"log.id"').replace('"e"', '"h[1].v"')
    log = lines([{"log.id": 1, "log": {"id": 2}, "h": [0, {"v": "c"}]}])
    [row] = rows(source(tmp_path, mapping, log))
    assert (row["message"], row["entity"]) == ("1", "c")


JUNK: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    "",
    "x",
    "\ud800",
    [],
    [None],
    [[]],
    ["a", 1],
    {},
    {"a": {}},
    [True],
)


@pytest.mark.parametrize("field", ["e", "m", "op", "d", "s", "t", "c", "r", "v", "w", "g", "n", "k"])
def test_any_value_in_any_field(field: str, tmp_path: Path) -> None:
    mapping = (
        'entity = "e"\nmessage = "m"\nevent = "op"\ndest = {field = "d", separator = ";"}\nsender = "s"\n'
        'time = {field = "t", format = "epoch_ms"}\nclock = "c"\nredelivered = "r"\nview = "v"\nmembers = "w"\n'
        'group = "g"\nseq = "n"\n[attributes]\nkey = "k"\n'
    )
    for place, junk in enumerate(JUNK):
        log = lines([{"e": "a", "m": "m", "op": ("send", "deliver", "view")[place % 3], field: junk}])
        given = source(tmp_path, mapping, log, attributes=(Attribute("key", AttributeSort.TEXT),))
        row_or_refusal(given)
        delivered = lines([{"e": "a", "m": "m", "op": "deliver", field: junk}])
        entry = ('"{m}-{k}"', "{nth = ['m', 'k']}")[place % 2]
        row_or_refusal(source(tmp_path, mapping.replace('"m"', entry), delivered))


def test_a_file_that_is_cut_off_anywhere(tmp_path: Path) -> None:
    whole = lines(BUS_ROWS[1:3]).encode()
    expected = rows(source(tmp_path, BUS, whole))
    for size in range(1, len(whole)):
        given = source(tmp_path, BUS, whole[:size])
        if whole[:size].endswith(b"\n") or whole[size : size + 1] == b"\n":
            assert rows(given) == expected[: whole[:size].count(b"\n") + (whole[size : size + 1] == b"\n")]
        else:
            assert refused(given)[0].code == "T007"


def test_a_compressed_file_that_is_cut_off(tmp_path: Path) -> None:
    given = source(tmp_path, BUS, lines(BUS_ROWS), "bus.jsonl.gz")
    path = Path(given.path)
    path.write_bytes(path.read_bytes()[:-9])
    assert refused(given)[0].code == "T004"


def test_bytes_of_any_kind_are_told(tmp_path: Path) -> None:
    for data in (b"\x00\x01\x02", b"\xff\xfe", b"\xf0\x28\x8c", b"PAR1", b"null\n", b'"a"\n', b"{\n"):
        for name in ("a.jsonl", "a.json", "a.csv"):
            found = outcome(source(tmp_path, GOOD, data, name))
            # A header without rows is CSV of any kind.
            assert found[0].code.startswith("T") if isinstance(found, tuple) else name == "a.csv"


def test_how_a_file_is_read_is_told(tmp_path: Path) -> None:
    source(tmp_path, BUS, lines(BUS_ROWS))
    notices = Notices()
    expand([tmp_path / "bus.jsonl"], notices, LogReading.stated(None, {}, tmp_path / "m.toml"))
    [told] = notices.all()
    assert told.render() == "T123 read as the mapping says; what it does not name is not recorded (1)"
