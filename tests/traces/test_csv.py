"""CSV: cells, line ends, quotes; what is refused; that both ways of reading agree."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from precedes.traces.formats import byte_places
from precedes.traces.formats import csv as delimited
from tests.traces.reading import only_fast, outcome, read_bytes, read_file, row_by_row, told

HEADER = "execution,entity,seq,event,message,dest,time\n"


def rows(text: str) -> list[dict[str, object]]:
    """The canonical rows of a file, which both ways of reading give."""
    found = outcome(text.encode(), "t.csv")
    with row_by_row():
        assert outcome(text.encode(), "t.csv") == found
    assert isinstance(found[0], list), found
    return found[0]


def test_cells() -> None:
    with only_fast():
        table, _ = read_bytes(
            (HEADER + "x,E1,0,send,007,E2;E3,1.5\nx,E2,1,deliver,007,,2\n").encode(), "t.csv"
        )
    first, second = table.to_pylist()
    assert (first["seq"], first["event"], first["message"], first["dest"]) == (0, 0, "007", ["E2", "E3"])
    assert (first["time"], first["row"]) == (1_500_000_000, 2)
    assert (second["dest"], second["time"], second["row"]) == (None, 2_000_000_000, 3)


@pytest.mark.parametrize(
    ("cell", "dest"),
    [
        ("", None),
        ("E2", ["E2"]),
        ("[]", []),
        ('"[""E2"",3]"', ["E2", "3"]),
        ('"[""a;b""]"', ["a;b"]),
        ('"a,b;c"', ["a,b", "c"]),
    ],
)
def test_destinations(cell: str, dest: list[str] | None) -> None:
    assert rows(f"{HEADER}x,E,,send,m,{cell},\n")[0]["dest"] == dest


def test_a_comma_in_a_destination_is_told() -> None:
    cells = ('"B,C"', "B;C", '"[""B"",""C""]"', "", '"B,C"', "B")
    data = (HEADER + "".join(f"x,E,,send,m{k},{cell},\n" for k, cell in enumerate(cells))).encode()
    for way in (only_fast, row_by_row):
        with way():
            _, notices = read_bytes(data, "t.csv")
        assert [(n.code, n.count) for n in notices] == [("T111", 2)]
        assert "B;C are two" in notices[0].text


def test_the_other_columns() -> None:
    text = (
        "execution,entity,event,message,clock,redelivered,members,view,time\n"
        'x,E,deliver,m,"{""b"":1,""a"":2}",TRUE,,,2026-11-27T10:15:30.25Z\n'
        "x,E,view,,{},,E;F,v1,\n"
    )
    first, second = rows(text)
    assert (first["clock"], first["redelivered"]) == ([("a", 2), ("b", 1)], True)
    assert first["time"] == 1795774530250000000
    assert (second["clock"], second["members"], second["view"]) == ([], ["E", "F"], "v1")
    lists = 'execution,entity,event,message,clock\nx,E,send,m,"[1,2]"\n'
    assert rows(lists)[0]["vector"] == [1, 2]


def test_a_clock_that_is_a_text_is_none() -> None:
    empty = 'execution,entity,event,message,clock\nx,E,send,m,""""""\n'
    assert [problem.code for problem in told(lambda: read_bytes(empty.encode(), "t.csv"))] == ["T012"]


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("x,E,1,sent,m,,", "T013", '`event` is "sent"'),
        ("x,E,1,,m,,", "T011", "`event` is missing"),
        (",E,1,send,m,,", "T011", "`execution` is missing"),
        ("x,E,one,send,m,,", "T012", '`seq` is "one"'),
        ("x,E,0x1F,send,m,,", "T012", "`seq`"),
        ("x,E,1.0,send,m,,", "T012", "`seq`"),
        ("x,E,-1,send,m,,", "T015", "`seq` is -1"),
        ("x,E,99999999999999999999,send,m,,", "T015", "`seq`"),
        ("x,E,1,send,m,a;;b,", "T014", "`dest[1]`"),
        ("x,E,1,send,m,[a],", "T012", "`dest`"),
        ("x,E,1,send,m,,soon", "T016", "`time`"),
        ("x,E,1,send,m", "T017", "this row has 5 cells, the header 7"),
        ("x,E,1,send,m,,,,", "T017", "this row has 9 cells"),
        ('x,E,1,send,"m"n,,', "T007", "not CSV"),
    ],
)
def test_a_bad_row_is_told(line: str, code: str, says: str) -> None:
    data = f"{HEADER}x,E,0,send,k,,\n{line}\nx,E,2,send,l,,\n".encode()
    problem, *more = told(lambda: read_bytes(data, "t.csv"))
    assert not more
    assert (problem.row, problem.code) == (3, code)
    assert says in problem.message


def test_a_file_cut_off_within_quotes_is_refused() -> None:
    (problem,) = told(lambda: read_bytes(f'{HEADER}x,E,0,send,"m'.encode(), "t.csv"))
    assert (problem.row, problem.code) == (2, "T007")


@pytest.mark.parametrize(
    ("header", "code", "says"),
    [
        ("execution,event,message", "T010", "the header lacks `entity`"),
        ("x", "T010", "`execution`, `entity`, `event`"),
        ("execution,entity,event,entity", "T008", '"entity" occurs twice'),
    ],
)
def test_a_bad_header_is_told(header: str, code: str, says: str) -> None:
    (problem,) = told(lambda: read_bytes(f"{header}\nx,y,z\n".encode(), "t.csv"))
    assert (problem.row, problem.code) == (1, code)
    assert says in problem.message
    if code == "T010":
        assert problem.hint is not None
        assert problem.hint.endswith(", ".join(f"`{name}`" for name in header.split(",")))


@pytest.mark.parametrize(
    "text",
    [
        HEADER + "x,E,0,send,m,,\n\nx,E,1,send,n,,\n\n",
        (HEADER + "x,E,0,send,m,,\nx,E,1,send,n,,\n").replace("\n", "\r\n"),
        "\ufeff" + HEADER + "x,E,0,send,m,,\nx,E,1,send,n,,",
    ],
)
def test_line_ends_blank_lines_and_byte_order_mark(text: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8", newline="")
    assert read_file(tmp_path / "t.csv")["message"].to_pylist() == ["m", "n"]


def test_an_empty_file_and_a_header_alone_have_no_rows() -> None:
    assert rows("") == []
    assert rows(HEADER) == []


def test_unknown_columns_are_named() -> None:
    _, notices = read_bytes(b"execution,entity,event,host,message\nx,E,send,h,m\n", "t.csv")
    assert [notice.text for notice in notices] == ["column `host` is unknown and was ignored"]


CELLS = st.sampled_from(
    ["", "x", "E1", "1", "send", "deliver", "crash", "a;b", "[]", '["a"]', "{}", '{"a":1}', "[1]", "1.5",
     "-1", " ", "true", 'q"q', "a\nb", "a,b", "2026-01-01T00:00:00Z", "\r", ";", "0x1", "é"]
)  # fmt: skip
COLUMNS = (
    "execution",
    "entity",
    "event",
    "message",
    "seq",
    "dest",
    "time",
    "clock",
    "redelivered",
    "members",
    "extra",
)
PLAIN = st.fixed_dictionaries(
    {
        "execution": st.sampled_from(["x", "y\nz"]),
        "entity": st.sampled_from(["E1", "E2", 'q"']),
        "event": st.sampled_from(["send", "deliver", "crash"]),
        "message": st.sampled_from(["m1", "1", "a,b"]),
    },
    optional=dict.fromkeys(COLUMNS[4:], CELLS),
)


@given(
    st.lists(st.one_of(PLAIN, st.fixed_dictionaries(dict.fromkeys(COLUMNS, CELLS))), max_size=5),
    st.sampled_from(["\n", "\r\n"]),
)
def test_both_ways_of_reading_agree(records: list[dict[str, str]], end: str) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator=end)
    writer.writeheader()
    writer.writerows(records)
    data = text.getvalue().encode()
    found = outcome(data, "t.csv")
    with row_by_row():
        assert outcome(data, "t.csv") == found


@given(st.text('xE1,"\n\r;[]{}a', max_size=40))
def test_no_text_breaks_a_reader(noise: str) -> None:
    data = f"{HEADER}x,E,0,send,m,,\n{noise}\nx,E,1,send,n,,\n".encode()
    found = outcome(data, "t.csv")
    with row_by_row():
        assert outcome(data, "t.csv") == found


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    data = (HEADER + "".join(f'x,E,{k},send,"m\n{k}",,\n' for k in range(60))).encode()
    whole = outcome(data, "t.csv")
    for size in (7, 100, 1000):
        monkeypatch.setattr(delimited, "BLOCK_BYTES", size)
        assert outcome(data, "t.csv") == whole


@pytest.mark.parametrize("window", [1, 50, 1 << 18])
@pytest.mark.parametrize("size", [1, 100, 1000])
def test_slices_make_no_difference(monkeypatch: pytest.MonkeyPatch, size: int, window: int) -> None:
    monkeypatch.setattr(delimited, "SLICE_BYTES", size)
    monkeypatch.setattr(delimited, "WINDOW", window)
    monkeypatch.setattr(byte_places, "WINDOW", window)
    records = [f'x,E,{k},send,"m{k}{chr(10) * (k % 3)}","[""E"", ""F{k}""]",{k}.5\r\n' for k in range(40)]
    data = (HEADER + "".join(records)).encode()
    with only_fast():
        table = read_bytes(data, "t.csv")[0]
    assert table["row"].to_pylist() == list(range(2, 42))
    assert table["message"].to_pylist() == [f"m{k}" + "\n" * (k % 3) for k in range(40)]
    # Blank records and what only Python reads, between slices that Arrow reads.
    odd = [*records[:9], "\n", 'x,E,9,send,m,"a,b",0x1\n', *records[10:20], "\n\n", *records[20:]]
    found = outcome((HEADER + "".join(odd).replace("0x1", "1e-3")).encode(), "t.csv")
    assert isinstance(found[0], list)
    assert [row["row"] for row in found[0]] == [*range(2, 11), *range(12, 23), *range(25, 45)]
    # Mistakes in several slices are told at once, in the order of the rows.
    bad = (HEADER + "".join([*odd[:30], "x,E,,sent,m,,\n", *odd[30:]])).encode()
    assert [(one.row, one.code) for one in told(lambda: read_bytes(bad, "t.csv"))] == [
        (12, "T016"),
        (33, "T013"),
    ]


@pytest.mark.parametrize(
    "header",
    [
        'execution,entity,"a\nb",event,message\n',
        'execution,"entity",a,event,message\r',
        "execution,entity,a,event,message\r\n",
    ],
)
def test_a_header_may_have_several_lines_and_any_line_end(header: str) -> None:
    found = rows(f"{header}x,E,a,send,m\n" + 'x,E,"a\n",deliver,m')
    assert [row["message"] for row in found] == ["m", "m"]


@pytest.mark.parametrize(
    "cell",
    ["7", "007", "9" * 18, "9" * 19, "1/2", "1.2.3", ".", "5.", ".5", "1" * 26, "0." + "1" * 24, "0." + "0" * 8 + "15",
     "1700000000.000056", "1700000000.1234567891", "-1.5", "+1", " 1", "1e-5", "٣", "2026-01-01T00:00:00Z", "1_0"],
)  # fmt: skip
def test_numbers_are_read_alike_in_both_ways(cell: str) -> None:
    for column in ("seq", "time"):
        data = f"execution,entity,event,message,{column}\nx,E,send,m,{cell}\nx,E,deliver,m,\nx,F,send,n,3\n"
        found = outcome(data.encode(), "t.csv")
        with row_by_row():
            assert outcome(data.encode(), "t.csv") == found


def test_times_with_microseconds_are_exact() -> None:
    """Also the first and the last that a float tells apart, and those around them."""
    around = [10**15, 2**31 * 10**6, 1_700_000_000_000_056]
    made = Random(7)
    micros = [one + step for one in around for step in range(-3, 4)]
    micros += [made.randrange(10**15, 2**31 * 10**6) for _ in range(2_000)]
    for part in (micros, [one for one in micros if 10**15 <= one < 2**31 * 10**6]):
        lines = [
            f"x,E,send,m{k},{one // 10**6}.{one % 10**6:06}".rstrip("0") + "\n" for k, one in enumerate(part)
        ]
        table = read_bytes(("execution,entity,event,message,time\n" + "".join(lines)).encode(), "t.csv")[0]
        assert table["time"].to_pylist() == [one * 1000 for one in part]
