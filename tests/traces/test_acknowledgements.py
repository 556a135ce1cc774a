"""`ack` and `nack` rows and every delivery, from a file of every format to verdicts that are replayed."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import precedes
from precedes.core.execution import EventKind
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.reference import evaluate
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.recognition import POSITION
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import Shape, execution
from precedes.traces import Notices, write_executions
from precedes.traces.layout.conversion import convert
from tests.traces.reading import json_lines

NAMES = (
    "every_delivery_in_order",
    "repeats_in_place",
    "only_in_flight_repeats",
    "ordered_until_acknowledged",
    "positions_never_go_back",
    "one_position_one_message",
)
ALL = [*NAMES, *(f"{name} per key" for name in NAMES)]
KINDS = {"s": "send", "d": "deliver", "a": "ack", "n": "nack"}


def rows(name: str, receiver: str, positions: str = "123") -> list[dict[str, Any]]:
    """An execution in which S sends 1, 2 and 3, and R does what is written, such as `d1 a1 d2`."""
    steps = [("S", f"s{m}") for m in "123"] + [("R", step) for step in receiver.split()]
    return [
        {
            "execution": name,
            "entity": entity,
            "event": KINDS[step[0]],
            "message": step[1],
            "position": int(positions["123".index(step[1])]),
            "key": "odd" if step[1] in "13" else "even",
        }
        for entity, step in steps
    ]


FILED = [
    *rows("in order", "d1 a1 d2 n2 d3 a3"),
    *rows("in flight", "d1 d1 a1 d2 a2 d3"),
    *rows("rewound", "d1 d2 a1 a2 d1 d3", "124"),
    *rows("settled", "d1 n1 d1 a1", "113"),
    *rows("held", "d1 d3 a1", "321"),
]
VIOLATED: dict[str, set[str]] = {
    "every_delivery_in_order": {"rewound"},
    "repeats_in_place": {"rewound"},
    "only_in_flight_repeats": {"rewound", "settled"},
    "ordered_until_acknowledged": {"rewound", "held"},
    "positions_never_go_back": {"rewound", "held"},
    "one_position_one_message": {"settled"},
    "every_delivery_in_order per key": set(),
    "repeats_in_place per key": set(),
    "only_in_flight_repeats per key": {"rewound", "settled"},
    "ordered_until_acknowledged per key": {"rewound", "held"},
    "positions_never_go_back per key": {"held"},
    "one_position_one_message per key": set(),
}


def file_of(name: str, folder: Path) -> Path:
    """The rows in a file of the format that its name says."""
    path = folder / name
    if name.endswith(".csv"):
        with path.open("w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, list(FILED[0]))
            writer.writeheader()
            writer.writerows(FILED)
        return path
    if name.endswith(".jsonl"):
        path.write_bytes(json_lines(FILED))
        return path
    pq.write_table(pa.Table.from_pylist(FILED), folder / "plain.parquet")
    if name == "laid out.parquet":
        convert([folder / "plain.parquet"], path, Notices())
        return path
    return folder / "plain.parquet"


@pytest.mark.parametrize("name", ["t.jsonl", "t.csv", "plain.parquet", "laid out.parquet"])
def test_every_format_has_acknowledgements(name: str, tmp_path: Path) -> None:
    report = precedes.verify(file_of(name, tmp_path), ALL, max_violations=50)
    executions = {row["execution"] for row in FILED}
    for asked in ALL:
        assert report[asked].unknown == 0, asked
        assert report[asked].violated == len(VIOLATED[asked]), asked
        assert report[asked].holds == len(executions) - len(VIOLATED[asked]), asked
    shown = {(one.predicate, one.execution) for one in report.violations}
    assert shown == {(asked, one) for asked, ones in VIOLATED.items() for one in ones}


@pytest.mark.parametrize("laid", [False, True])
def test_random_executions_are_judged_by_definition(laid: bool, tmp_path: Path) -> None:
    shape = Shape(messages=4, evidence=False, contradictions=False, acknowledgements=True)
    given = []
    for seed in range(240):
        one = execution(Seeded(seed), replace(shape, odd=seed % 2 == 0, attributes=(POSITION,)))
        if any(history.events for history in one.histories) and one.delivery is EventKind.DELIVER:
            given.append(replace(one, name=f"x{seed:03}", complete=True))
    path = tmp_path / "t.jsonl"
    write_executions(given, path)
    if laid:
        convert([path], tmp_path / "t.parquet", Notices())
        path = tmp_path / "t.parquet"
    report = precedes.verify(path, list(NAMES), order="rows")
    library = standard_library()
    for name in NAMES:
        formula = requirement(name, library).formula
        meant = Counter(min(int(evaluate(formula, one)), 1) for one in given)
        found = report[name]
        assert (found.holds, found.violated, found.unknown) == (meant[TRUE], meant[FALSE], meant[1]), name
        assert found.violated > 3, name


@pytest.mark.parametrize("laid", [False, True])
def test_what_is_shown_of_a_long_execution_knows_that_others_were_acknowledged(
    laid: bool, tmp_path: Path
) -> None:
    """Neither of the two messages that show it was acknowledged, and all else is too much to be replayed."""
    names = [f"{number:05}" for number in range(9_000)]
    written = [{"execution": "x", "entity": "S", "event": "send", "message": name} for name in names]
    for name in names:
        events = ("deliver",) if name in ("04000", "04001") else ("deliver", "ack")
        written += [{"execution": "x", "entity": "R", "event": event, "message": name} for event in events]
    path = tmp_path / "t.jsonl"
    path.write_bytes(json_lines(written))
    if laid:
        convert([path], tmp_path / "t.parquet", Notices())
        path = tmp_path / "t.parquet"
    report = precedes.verify(path, "ordered_until_acknowledged")
    assert report["ordered_until_acknowledged"].violated == 1
    (shown,) = report.violations
    assert set(shown.cut.messages) == {"04000", "04001"}
