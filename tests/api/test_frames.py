"""Data frames whose columns have missing values: what pandas and polars make of them is read as it was meant."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import precedes
from precedes.api.events import tables_of
from precedes.core.formula import Attribute, AttributeSort
from precedes.traces import Notices

NAN = float("nan")
EVENTS = {
    "execution": ["x"] * 3,
    "entity": ["E1", "E2", "E2"],
    "event": ["send", "deliver", "deliver"],
    "message": ["a"] * 3,
}

COLUMNS: list[tuple[str, Any, list[object]]] = [
    ("redelivered", [NAN, 1.0, 0.0], [None, True, False]),
    ("redelivered", pd.Series([None, True, False], dtype=object), [None, True, False]),
    ("redelivered", pd.Series([NAN, True, False], dtype=object), [None, True, False]),
    ("redelivered", pd.Series([NAN, True, 0.0], dtype=object), [None, True, False]),
    ("redelivered", pd.Series([pd.NA, True, 0], dtype=object), [None, True, False]),
    ("redelivered", pd.array([None, True, False], dtype="boolean"), [None, True, False]),
    ("redelivered", [1, 1, 0], [True, True, False]),
    ("redelivered", [NAN] * 3, [None] * 3),
    ("seq", [0.0, 0.0, 1.0], [0, 0, 1]),
    ("seq", pd.array([0, 0, 1], dtype="Int64"), [0, 0, 1]),
    ("seq", pd.Series([0, 0, np.int64(1)], dtype=object), [0, 0, 1]),
    ("position", [NAN, 3.0, 4.0], [None, 3, 4]),
    ("position", [NAN, -3.0, 2.0**53 - 1], [None, -3, 2**53 - 1]),
    ("position", np.array([NAN, -3.0, 2**24 - 1], np.float32), [None, -3, 2**24 - 1]),
    ("position", pd.Series([NAN, 3, 4], dtype=object), [None, 3, 4]),
    ("position", pd.array([None, 3, 4], dtype="Int64"), [None, 3, 4]),
    ("entity", [1.0, 2.0, 2.0], ["1", "2", "2"]),
    ("message", [7.0] * 3, ["7"] * 3),
    ("sender", [NAN, 1.0, 1.0], [None, "1", "1"]),
    ("view", [NAN, 1.0, 2.0], [None, "1", "2"]),
    ("view", pd.Series([NAN, 1, "two"], dtype=object), [None, "1", "two"]),
    ("channel", [1.0, NAN, 1.0], ["1", None, "1"]),
    ("dest", [[2.0], NAN, NAN], [["2"], None, None]),
    ("dest", [np.array([2, 3]), None, None], [["2", "3"], None, None]),
    ("members", [NAN, [1.0], NAN], [None, ["1"], None]),
]


def frame_of(column: str, given: Any) -> pd.DataFrame:
    """The events with one more column; a view is installed where it has one."""
    frame = pd.DataFrame(EVENTS)
    if column == "view":
        frame["event"], frame["message"] = ["send", "view", "view"], ["a", None, None]
    frame[column] = given
    return frame


CARRIED = (Attribute("position", AttributeSort.NUMBER), Attribute("channel", AttributeSort.TEXT))


def values(events: object, column: str) -> list[object]:
    asked = [attribute for attribute in CARRIED if attribute.name == column]
    (table,) = tables_of(events, Notices(), tuple(asked))
    found: list[object] = table[f"attribute {column}" if asked else column].to_pylist()
    return found


@pytest.mark.parametrize(("column", "given", "meant"), COLUMNS)
def test_pandas(column: str, given: Any, meant: list[object]) -> None:
    frame = frame_of(column, given)
    assert values(frame, column) == meant
    assert values(frame.to_dict("records"), column) == meant


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_a_narrow_float_stands_for_its_shortest_text(kind: Any) -> None:
    times = np.array([0.1, 0.2, 0.7], kind)
    meant = [100_000_000, 200_000_000, 700_000_000]
    frame = frame_of("time", times)
    assert values(frame, "time") == meant
    assert (
        values(frame_of("view", pd.Series([NAN, 1, "two"], dtype=object)).assign(time=times), "time") == meant
    )
    rows = pd.DataFrame(EVENTS).to_dict("records")
    assert values([{**row, "time": time} for row, time in zip(rows, times, strict=True)], "time") == meant
    assert values([{**row, "dest": np.array([7, 8], kind)} for row in rows], "dest")[0] == ["7", "8"]
    with pytest.raises(precedes.PrecedesError, match=r"T012 `entity` is 16777216\.0, a float that may"):
        values([{**row, "dest": np.array([2**24], np.float32)} for row in rows], "dest")


@pytest.mark.parametrize(
    ("column", "given", "meant"),
    [
        ("redelivered", pl.Series([None, 1.0, 0.0]), [None, True, False]),
        ("redelivered", pl.Series([NAN, 1.0, 0.0]), [None, True, False]),
        ("redelivered", pl.Series([None, True, False]), [None, True, False]),
        ("position", pl.Series([NAN, 3.0, None]), [None, 3, None]),
        ("entity", pl.Series([1.0, 2.0, 2.0]), ["1", "2", "2"]),
    ],
)
def test_polars(column: str, given: pl.Series, meant: list[object]) -> None:
    assert values(pl.DataFrame(EVENTS).with_columns(given.alias(column)), column) == meant


@pytest.mark.parametrize(
    ("column", "given", "said"),
    [
        ("redelivered", [NAN, 1.0, 0.5], "row 3: T012 `redelivered` is 0.5"),
        ("redelivered", pd.Series([NAN, True, "yes"], dtype=object), 'row 3: T012 `redelivered` is "yes"'),
        ("redelivered", [0, 1, 2], "row 3: T012 `redelivered` is 2"),
        ("seq", [0.0, 0.0, 1.5], "row 3: T012 `seq` is 1.5"),
        ("position", [NAN, 1e19, 2.0], "row 2: T012 `position` is 1e+19, a float that may have been rounded"),
        (
            "position",
            [NAN, 2.0**53, 2.0],
            "row 2: T012 `position` is 9007199254740992.0, a float that may have",
        ),
        (
            "message",
            np.array([1, 2, 2**24 + 1], np.float32),
            "row 3: T012 `message` is 16777216.0, a float that may have been rounded",
        ),
        ("entity", [1.0, 2.0, 2.5], "row 3: T012 `entity` is the number 2.5"),
        ("entity", [1.0, 2.0, NAN], "row 3: T011 `entity` is missing"),
        ("dest", [[2.5], NAN, NAN], "row 1: T012 `dest[0]` is the number 2.5"),
        ("view", pd.Series([NAN, 1, b"two"], dtype=object), "row 3: T012 `view` is"),
    ],
)
def test_what_is_not_whole_is_refused_with_row_and_column(column: str, given: Any, said: str) -> None:
    frame = frame_of(column, given)
    with pytest.raises(precedes.PrecedesError) as caught:
        values(frame, column)
    assert said in str(caught.value)
    assert len(caught.value.diagnostics) == 1


@pytest.mark.parametrize(
    "wrap", [lambda huge: huge, lambda huge: [huge], lambda huge: {"a": np.array([huge, None])}]
)
def test_a_huge_decimal_beside_a_date_is_not_written_out(wrap: Callable[[object], object]) -> None:
    """Arrow alone needs hours for its digits."""
    frame = pd.DataFrame(EVENTS)
    frame["extra"] = pd.Series([date(2026, 1, 1), wrap(Decimal("1E+4000000")), None], dtype=object)
    assert precedes.verify(frame, require=["no_duplication"]).verdict is precedes.Verdict.VIOLATED


def test_times_stay_when_another_column_is_mixed() -> None:
    frame = pd.DataFrame(EVENTS)
    frame["view"] = pd.Series([NAN, 1, "two"], dtype=object)
    frame["time"] = pd.to_datetime(["2026-01-01T00:00:00.000000001Z", None, "2026-01-01T00:00:01.000000000Z"])
    first, missing, last = values(frame, "time")
    assert (missing, last) == (None, first + 999_999_999)  # type: ignore[operator]


def test_the_verdict_is_that_of_the_same_rows() -> None:
    frame = pd.DataFrame(EVENTS)
    frame["redelivered"] = [NAN, 0.0, 1.0]
    assert precedes.verify(frame, require=["no_duplication"]).verdict is precedes.Verdict.VIOLATED
