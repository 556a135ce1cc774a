"""JSON Lines: what rows mean, what is refused and how it is told, and that both ways of reading agree."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from precedes.traces.formats import byte_places, limits
from precedes.traces.formats import json_lines as jsonlines
from precedes.traces.formats.line_slices import line_ends
from tests.traces.reading import json_lines, only_fast, outcome, read_bytes, read_file, row_by_row, told

SEND = {"execution": "x", "entity": "E1", "event": "send", "message": "m"}
DELIVER = {"execution": "x", "entity": "E2", "event": "deliver", "message": "m"}


def row(data: object, **columns: object) -> dict[str, Any]:
    """The one canonical row of a row, which both ways of reading give."""
    line = data if isinstance(data, str) else json.dumps({**data, **columns})  # type: ignore[dict-item]
    found = outcome(line.encode())
    assert isinstance(found[0], list), found
    with row_by_row():
        assert outcome(line.encode()) == found
    return found[0][0]


def test_a_row_has_all_canonical_columns() -> None:
    assert row(SEND, seq=3, dest=["E2", "E1"], time=1.5) == {
        "execution": "x",
        "entity": "E1",
        "seq": 3,
        "event": 0,
        "message": "m",
        "dest": ["E2", "E1"],
        "sender": None,
        "time": 1_500_000_000,
        "clock": None,
        "vector": None,
        "redelivered": None,
        "view": None,
        "members": None,
        "group": None,
        "file": "t.jsonl",
        "row": 1,
        "file_order": 0,
        "by_time": None,
    }


def test_the_rest_of_the_columns() -> None:
    found = row(
        {
            "execution": 1,
            "entity": 2,
            "event": "view",
            "view": 7,
            "members": [1, 2],
        },
        redelivered=True,
        clock={"2": 1, "1": 5},
        sender=9,
    )
    expected = {
        "execution": "1",
        "entity": "2",
        "event": 6,
        "view": "7",
        "members": ["1", "2"],
    }
    assert expected.items() <= found.items()
    assert (found["redelivered"], found["sender"]) == (True, "9")
    assert found["clock"] == [("1", 5), ("2", 1)]


@pytest.mark.parametrize(
    ("written", "nanoseconds"),
    [
        ("1795818956.794679", 1795818956794679000),
        ("1795818956.794679123", 1795818956794679123),
        ("1795818956.7946791235", 1795818956794679124),
        ("1795818956.7946791225", 1795818956794679122),
        ("0.30000000000000004", 300000000),
        ("1.2345678901234567e-05", 12346),
        ("-0.5", -500000000),
        ("0", 0),
        ("-0.0", 0),
        ("12", 12000000000),
        ("1e3", 1000000000000),
        ("9223372036.854775807", 2**63 - 1),
        ('"1.5"', 1500000000),
        ('"1970-01-01T00:00:01Z"', 1000000000),
        ('"1970-01-01t00:00:01.000000001z"', 1000000001),
        ('"1970-01-01 09:00:00.5+09:00"', 500000000),
        ('"1969-12-31T23:59:59.9999999996Z"', 0),
        ('"2016-12-31T23:59:60Z"', 1483228800000000000),
        ("null", None),
    ],
)
def test_times_are_exact(written: str, nanoseconds: int | None) -> None:
    line = '{"execution":"x","entity":"E","event":"send","message":"m","time":' + written + "}\n"
    assert row(line)["time"] == nanoseconds


@pytest.mark.parametrize("value", [1, "1"])
def test_ids_are_text(value: object) -> None:
    found = row({"execution": value, "entity": value, "event": "send", "message": value, "dest": [value]})
    assert (found["execution"], found["entity"], found["message"], found["dest"]) == ("1", "1", "1", ["1"])


def test_ids_may_be_numbers_here_and_text_there() -> None:
    rows = [SEND, SEND | {"entity": 1, "message": 10**30}]
    assert read_bytes(json_lines(rows))[0]["message"].to_pylist() == ["m", str(10**30)]


def test_ids_are_not_normalised() -> None:
    composed, decomposed = "é", "é"
    assert row(SEND, message=composed)["message"] == composed
    assert row(SEND, message=decomposed)["message"] == decomposed


@pytest.mark.parametrize(
    "name", ["2026-11-27", "2026-11-27T10:00:00Z", "1.5", "true", "null", "00", "あ", "a\0b"]
)
def test_text_stays_text(name: str) -> None:
    with only_fast():
        table, _ = read_bytes(
            json_lines([SEND | {"execution": name, "message": name, "dest": [name], "group": name}])
        )
    found = table.to_pylist()[0]
    assert (found["execution"], found["message"], found["dest"], found["group"]) == (
        name,
        name,
        [name],
        [name],
    )


@pytest.mark.parametrize(
    ("columns", "code", "says"),
    [
        ({"execution": None}, "T011", "`execution` is missing"),
        ({"entity": ""}, "T014", "`entity` is an empty text"),
        ({"message": None}, "T011", "`message` is missing"),
        ({"message": 1.5}, "T012", "`message` is the number 1.5, not an id"),
        ({"message": 1.0}, "T012", "not an id"),
        ({"message": True}, "T012", "`message` is true, not an id"),
        ({"message": {"a": 1}}, "T012", "not an id"),
        ({"event": None}, "T011", "`event` is missing"),
        ({"event": "sent"}, "T013", '`event` is "sent"'),
        ({"event": 3}, "T013", "`event` is 3"),
        ({"seq": -1}, "T015", "`seq` is -1"),
        ({"seq": 1.0}, "T012", "`seq` is 1.0"),
        ({"seq": "1"}, "T012", '`seq` is "1"'),
        ({"seq": 2**63}, "T015", "`seq` is 9223372036854775808"),
        ({"dest": "E1"}, "T012", '`dest` is "E1", not a list'),
        ({"dest": ["E1", None]}, "T012", "`dest[1]` is null"),
        ({"dest": ["E1", ""]}, "T014", "`dest[1]` is an empty text"),
        ({"dest": [1.5]}, "T012", "`dest[0]` is the number 1.5"),
        ({"sender": ""}, "T014", "`sender`"),
        ({"time": "yesterday"}, "T016", '`time` is "yesterday"'),
        ({"time": ""}, "T016", '`time` is ""'),
        ({"time": True}, "T016", "`time` is true"),
        ({"time": "2026-02-30T00:00:00Z"}, "T016", "no such time"),
        ({"time": "2026-02-03T00:00:00"}, "T016", "`time`"),
        ({"time": 1795818956794}, "T015", "outside the years"),
        ({"time": 1e300}, "T015", "outside the years"),
        ({"time": "2400-01-01T00:00:00Z"}, "T015", "outside the years"),
        ({"clock": 5}, "T012", "`clock` is 5"),
        ({"clock": {"E1": -1}}, "T015", "`clock` has -1"),
        ({"clock": [1, None]}, "T015", "`clock` has null"),
        ({"clock": {"E1": 1.5}}, "T012", "`clock` is 1.5"),
        ({"redelivered": "yes"}, "T012", "`redelivered`"),
        ({"members": "E1"}, "T012", "`members`"),
    ],
)
def test_a_bad_value_is_told_with_its_row(columns: dict[str, object], code: str, says: str) -> None:
    data = json_lines([SEND, DELIVER, SEND | columns, DELIVER])
    (problem,) = told(lambda: read_bytes(data))
    assert (problem.path, problem.row, problem.code) == ("t.jsonl", 3, code)
    assert says in problem.message


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ('{"execution":"x"', "T007", "not JSON"),
        ("[1]", "T007", "a JSON array"),
        ("null", "T007", "not a JSON object"),
        ("1", "T007", "not a JSON object"),
        ('{"a":1}null', "T007", "not JSON"),
        ("{} null {}", "T007", "not JSON"),
        ("{'execution':'x'}", "T007", "not JSON"),
        (json.dumps(SEND) + json.dumps(DELIVER), "T007", "not JSON"),
        (json.dumps(SEND) + "  " + json.dumps(DELIVER), "T007", "not JSON"),
        (json.dumps(SEND)[:-1] + ',"time":NaN}', "T007", "NaN"),
        (json.dumps(SEND)[:-1] + ',"extra":NaN}', "T007", "NaN"),
        (json.dumps(SEND)[:-1] + ',"extra":[-Infinity]}', "T007", "Infinity"),
        (json.dumps(SEND)[:-1] + ',"entity":"E2"}', "T008", '"entity"'),
        (json.dumps(SEND)[:-1] + ',"extra":{"a":1,"a":2}}', "T008", '"a"'),
        (json.dumps(SEND)[:-1] + ',"sender":"\\ud800"}', "T006", "surrogate"),
        (json.dumps(SEND).replace('"m"', '"\\udc00"'), "T006", "surrogate"),
        (json.dumps(SEND).replace('"m"', '"a\\udfff"'), "T006", "surrogate"),
        (json.dumps(SEND)[:-1] + ',"seq":01}', "T007", "not JSON"),
        ("[" * 100_000 + "]" * 100_000, "T007", "the brackets are nested too deeply"),
        ('{"x":' + "[" * 1_500 + "]" * 1_500 + "}", "T007", "the brackets are nested too deeply"),
        ('{"x":' + "9" * 5000 + "}", "T011", "`execution` is missing"),
        (
            json.dumps(SEND).replace('"m"', "9" * 5000),
            "T015",
            "`message` is a whole number of too many digits",
        ),
        (json.dumps(SEND)[:-1] + ',"seq":' + "9" * 5000 + "}", "T015", "`seq` is 999"),
        (json.dumps(SEND)[:-1] + ',"time":' + "9" * 5000 + "}", "T015", "`time` is 999"),
    ],
)
def test_a_line_that_is_no_row_is_told_with_its_number(line: str, code: str, says: str) -> None:
    data = json_lines([SEND, line, DELIVER])
    (problem,) = told(lambda: read_bytes(data))
    assert (problem.row, problem.code) == (2, code)
    assert says in problem.message


def test_a_row_over_two_lines_is_refused() -> None:
    halves = ['{"execution":"x","entity":"E","event":"send","message":', '"m"}']
    for rows, first in ((halves, 1), ([SEND, *halves], 2)):
        (problem,) = told(lambda rows=rows: read_bytes(json_lines(rows)))  # type: ignore[misc]
        assert (problem.row, problem.code) == (first, "T009")
        assert f"one JSON object over lines {first} to {first + 1}" in problem.message


def test_ten_bad_rows_are_told() -> None:
    problems = told(lambda: read_bytes(json_lines([SEND | {"event": "sent"}] * 25)))
    assert [problem.row for problem in problems] == list(range(1, 11))


def test_rows_that_all_lack_a_column_are_told_once_with_the_columns_that_they_have() -> None:
    other = [{"execution": "x", "entity": "E", "type": "send", "msg": k} for k in range(25)]
    (problem,) = told(lambda: read_bytes(json_lines(other)))
    assert (problem.code, problem.row) == ("T010", 1)
    assert problem.message == "the rows have no `event`, `message`"
    assert problem.hint is not None
    assert problem.hint.startswith("they have `entity`, `execution`, `msg`, `type`")
    # Where one row can be used, the columns are not to blame.
    assert {problem.code for problem in told(lambda: read_bytes(json_lines([SEND, *other])))} == {"T011"}


@pytest.mark.parametrize(
    ("event", "meant"),
    [
        ("SEND", "send"),
        ("produce", "send"),
        ("Consumed", "deliver"),
        ("deliver ", "deliver"),
        ("sned", "send"),
        ("received", None),
    ],
)
def test_an_event_of_another_vocabulary_is_recognised(event: str, meant: str | None) -> None:
    (problem,) = told(lambda: read_bytes(json_lines([SEND | {"event": event}])))
    assert problem.code == "T013"
    assert problem.hint is not None
    assert problem.hint.startswith(f"did you mean {meant}? it is one of " if meant else "it is one of ")


def test_a_time_without_an_offset_is_told_so() -> None:
    (problem,) = told(lambda: read_bytes(json_lines([SEND | {"time": "2026-11-27T10:15:30"}])))
    assert problem.message.endswith("which has no offset")
    assert problem.hint is not None
    assert "2026-11-27T10:15:30Z is UTC" in problem.hint
    (problem,) = told(lambda: read_bytes(json_lines([SEND | {"time": "27/11/2026 10:00"}])))
    assert "offset" not in problem.message


def test_a_byte_that_is_no_text_is_told_with_its_row() -> None:
    data = json_lines([SEND, DELIVER]) + b'{"execution":"\xff"}\n'
    (problem,) = told(lambda: read_bytes(data))
    assert (problem.row, problem.code) == (3, "T006")


@pytest.mark.parametrize(
    ("data", "numbers"),
    [
        (b"", []),
        (b"\n \n\r\n", []),
        (b"\xef\xbb\xbf" + json_lines([SEND]), [1]),
        (json_lines([SEND]).rstrip(), [1]),
        (json_lines([SEND, DELIVER]).replace(b"\n", b"\r\n"), [1, 2]),
        (json_lines([SEND, "", "  ", DELIVER, ""]), [1, 4]),
        (b"  " + json_lines([SEND]), [1]),
    ],
)
def test_line_ends_and_blank_lines(data: bytes, numbers: list[int], tmp_path: Any) -> None:
    (tmp_path / "t.jsonl").write_bytes(data)
    with only_fast():
        assert read_file(tmp_path / "t.jsonl")["row"].to_pylist() == numbers


def test_unknown_columns_are_named_once() -> None:
    data = json_lines([SEND | {"payload": 1}, DELIVER | {"payload": 2, "host": "a"}, SEND])
    assert [(n.code, n.text) for n in read_bytes(data)[1]] == [
        ("T101", "column `host` is unknown and was ignored"),
        ("T101", "column `payload` is unknown and was ignored"),
    ]


def test_what_a_row_cannot_use_is_told() -> None:
    crash = {"execution": "x", "entity": "E", "event": "crash", "message": "m"}
    for reading in (only_fast, row_by_row):
        with reading():
            table, notices = read_bytes(
                json_lines([crash, DELIVER | {"dest": ["E1"]}, SEND | {"dest": ["E1"]}])
            )
        assert table["message"].to_pylist() == [None, "m", "m"]
        assert table["dest"].to_pylist() == [None, None, ["E1"]]
        assert [(n.code, n.count) for n in notices] == [("T105", 1), ("T105", 1)]


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [SEND | {"message": f"m{k}", "seq": k, "pad": "x" * (k % 50)} for k in range(60)]
    data = json_lines([*rows, "", *rows])
    whole = outcome(data)
    for size in (1, 97, 1000, 4000):
        monkeypatch.setattr(jsonlines, "BLOCK_BYTES", size)
        assert outcome(data) == whole
    problems = told(lambda: read_bytes(data + b'{"entity":"E"}\n'))
    assert [problem.row for problem in problems] == [122]


IDS = st.one_of(
    st.sampled_from(["E1", "E2", "m", "1", "", "é", "2026-01-01", "{", "}", "a}b", 'q"', "\\", "\n", "NaN"]),
    st.integers(-3, 3),
    st.sampled_from([2**70, 1.5, True, None]),
)
COLUMNS = {
    "execution": IDS,
    "entity": IDS,
    "seq": st.one_of(st.integers(-1, 5), st.sampled_from([None, 1.0, "1", 2**64])),
    "event": st.sampled_from(
        ["send", "deliver", "arrive", "discard", "crash", "recover", "view", "local", "other", None]
    ),
    "message": IDS,
    "dest": st.one_of(st.none(), st.lists(IDS, max_size=3), st.just("E1")),
    "sender": IDS,
    "time": st.one_of(
        st.none(),
        st.integers(-10, 10),
        st.floats(-1e9, 1e10),
        st.sampled_from(
            ["1.5", "2026-01-01T00:00:00Z", "2026-01-01", "+1.", "1e3", "x", True, 1e-320, 1e300]
        ),
    ),
    "clock": st.one_of(
        st.none(),
        st.lists(st.integers(-1, 3), max_size=3),
        st.dictionaries(
            st.sampled_from(["E1", "E2", "1", ""]), st.one_of(st.none(), st.integers(-1, 3)), max_size=3
        ),
    ),
    "channel": IDS,
    "redelivered": st.sampled_from([True, False, None, 1, "true"]),
    "view": IDS,
    "members": st.one_of(st.none(), st.lists(IDS, max_size=3)),
    "extra": st.sampled_from([1, "a", [1], {"a": None}, float("nan"), None]),
}
ROWS = st.fixed_dictionaries(
    {name: COLUMNS[name] for name in ("execution", "entity", "event", "message")},
    optional={
        name: strategy
        for name, strategy in COLUMNS.items()
        if name not in ("execution", "entity", "event", "message")
    },
)
PLAIN = st.fixed_dictionaries(
    {
        "execution": st.sampled_from(["x", "y"]),
        "entity": st.sampled_from(["E1", "E2"]),
        "event": st.sampled_from(["send", "deliver", "crash", "view", "local"]),
        "message": st.sampled_from(["m1", "m2"]),
    },
    optional={
        "seq": st.integers(0, 9),
        "dest": st.lists(st.sampled_from(["E1", "E2"]), max_size=3),
        "time": st.integers(-(10**15), 10**15).map(lambda n: n / 1_000_000),
        "clock": st.dictionaries(st.sampled_from(["E1", "E2"]), st.integers(0, 3)),
        "members": st.lists(st.sampled_from(["E1", "E2"])),
        "extra": st.integers(),
    },
)


@given(st.lists(st.one_of(PLAIN, ROWS), max_size=5), st.sampled_from(["\n", "\r\n", "\n\n", " \n"]))
def test_both_ways_of_reading_agree(rows: list[dict[str, object]], end: str) -> None:
    data = "".join(json.dumps(row) + end for row in rows).encode()
    found = outcome(data)
    with row_by_row():
        assert outcome(data) == found


@given(st.lists(PLAIN, min_size=1, max_size=8))
def test_plain_rows_are_read_fast(rows: list[dict[str, object]]) -> None:
    with only_fast():
        assert len(read_bytes(json_lines(rows))[0]) == len(rows)


@pytest.mark.parametrize("every", [2, 190])
def test_numbers_among_texts_as_ids_are_read_fast(every: int) -> None:
    """Also where so few are numbers that no line of the sample has one."""
    rows = [
        SEND
        | {"message": k if k % every == 1 else f"m{k}", "dest": ["a, 5", k if k % every == 1 else "E\\1"]}
        | {"note": '"message":5,', "labels": {"message": 1}, "clock": {"E1": 1}}
        for k in range(400)
    ]
    with only_fast():
        found = read_bytes(json_lines(rows))[0]
    with row_by_row():
        assert read_bytes(json_lines(rows))[0].equals(found)


@pytest.mark.parametrize(
    "written",
    ["5", "-5", "0", "-0", "05", "5.0", "5e1", "123456789012345678", "1234567890123456789", "null", "true", '"5"', '""',
     '"\\"message\\":5"', "{}", "[5]", "5 ", "  5", "\t5\t"],
)  # fmt: skip
@pytest.mark.parametrize("blank", ["", " "])
def test_numbers_and_texts_as_ids_are_read_alike_in_both_ways(written: str, blank: str) -> None:
    lines = [
        f'{{"execution":{blank}"x","entity":{blank}"E1","event":"send","message":{blank}{message}'
        f',"labels":{{"message":7}},"note":"\\\\\\"message\\":5,"}}'
        for message in ('"m"', "7", written)
    ]
    data = ("\n".join(lines) + "\n").encode()
    found = outcome(data)
    with row_by_row():
        assert outcome(data) == found


@pytest.mark.parametrize("window", [64, 1 << 18])
@pytest.mark.parametrize(
    "time",
    [
        "1.5e-5",
        "1E99",
        "1e+99",
        "1.5E-400000000",
        '"1e99"',
        "1" * 27,
        "1" * 40,
        "0." + "1" * 40,
        '"\\u0031e99"',
    ],
)
def test_arrow_never_sees_a_time_that_it_may_misread(
    monkeypatch: pytest.MonkeyPatch, time: str, window: int
) -> None:
    """Wherever it is in a window."""
    monkeypatch.setattr(byte_places, "WINDOW", window)
    for pad in range(70):
        line = f'{{"x":"{"3e5" * pad}","y":"{"7" * pad}","time":{time},"message":"3e5"}}\n'.encode()
        letters = np.frombuffer(line * 3, np.uint8)
        assert limits.fits(line * 3, letters, line_ends(letters)) is (time == "1.5e-5")


@pytest.mark.parametrize("window", [1, 5, 1 << 18])
@given(word=st.sampled_from([b"NaN", b"Inf", b"null"]), noise=st.text("NaIfnul", max_size=30))
def test_a_word_is_found_wherever_it_is(window: int, word: bytes, noise: str) -> None:
    with patch.object(byte_places, "WINDOW", window):
        for lines in (noise.encode(), noise.encode() + word, word + noise.encode()):
            assert byte_places.occurs(word, lines) is (word in lines)


def test_many_digits_and_powers_elsewhere_are_no_times() -> None:
    line = (
        b'{"message":"0' + b"3e5" * 50 + b'","took":1e-99,"time":1700000000.5,"list":[1e99,"1e5","12'
        b'34567890123456789012345678901234567890"],"number":12345678901234567890123456789012345678901}\n'
    )
    letters = np.frombuffer(line * 9, np.uint8)
    assert limits.fits(line * 9, letters, line_ends(letters))


@given(st.binary(max_size=60), st.integers(0, 200), st.integers(0, 200))
def test_no_bytes_break_a_reader(noise: bytes, start: int, stop: int) -> None:
    good = json_lines([SEND | {"dest": ["E1"], "clock": {"E1": 1}, "extra": [None]}, DELIVER])
    data = good[:start] + noise + good[stop:]
    found = outcome(data)
    with row_by_row():
        assert outcome(data) == found
