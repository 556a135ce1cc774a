"""Views and groups: from rows of every format, and from a file of groups, to executions and back."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import precedes
from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import Execution
from precedes.core.transposition import batch_of, execution_of
from precedes.engines.columnar.fast_path import group_reader
from precedes.engines.columnar.fast_path.group_reader import GroupReader
from precedes.engines.columnar.fast_path.row_group import row_group, spans_of
from precedes.traces import Notices, TraceOptions, read_batches, write_executions
from precedes.traces.layout.columnar_file import ColumnarFile, layout_of
from precedes.traces.layout.conversion import convert
from precedes.traces.options import GroupMembers
from precedes.traces.sources import source_of
from precedes.traces.stated_groups import given_groups
from tests.traces.reading import json_lines
from tests.traces.test_assembling import same

BILLING: GroupMembers = (("billing", ("c1", "c2")),)


def row(entity: str, event: str, **more: Any) -> dict[str, Any]:
    return {"execution": "x", "entity": entity, "event": event, **more}


ROWS = [
    row("p", "view", view="v1", members=["p", "c1"]),
    row("p", "send", message="m", dest=["group:billing", "p"]),
    row("c1", "view", view="v1", members=["c1", "p"], group="billing"),
    row("c1", "deliver", message="m"),
    row("c2", "view", view="v2", members=["elsewhere", "c2"], group=["billing", "audit"]),
    row("c2", "view", view="v1"),
]


def file_of(folder: Path, rows: list[dict[str, Any]], name: str = "t.jsonl") -> str:
    path = folder / name
    path.write_bytes(json_lines(rows))
    return str(path)


def read(path: str, groups: GroupMembers = ()) -> tuple[list[Execution], list[str]]:
    notices = Notices()
    found = [
        execution_of(batch, x)
        for batch in read_batches([path], TraceOptions(groups=groups), notices)
        for x in range(batch.executions)
    ]
    return found, [notice.code for notice in notices.all()]


def contradiction(folder: Path, rows: list[dict[str, Any]]) -> str:
    (batch,) = read_batches([file_of(folder, rows)], TraceOptions(), Notices())
    return batch.contradictions[0]


def test_rows_say_who_is_in_views_and_groups(tmp_path: Path) -> None:
    (execution,), _ = read(file_of(tmp_path, ROWS))
    assert execution.entities == ("c1", "c2", "p")
    assert {view: set(members) for view, members in execution.views.items()} == {
        "v1": {"p", "c1"},
        "v2": {"c2", "elsewhere"},
    }
    assert [execution.installed(entity) for entity in execution.entities] == [
        ("v1",),
        ("v2", "v1"),
        ("v1",),
    ]
    assert execution.groups == {"audit": {"c2"}, "billing": {"c1", "c2"}}
    assert execution.messages["m"].destinations == frozenset({"p"})
    assert execution.messages["m"].groups == {"billing"}


def test_the_reader_makes_the_columns_that_values_make(tmp_path: Path) -> None:
    (batch,) = read_batches([file_of(tmp_path, ROWS)], TraceOptions(), Notices())
    again = batch_of([execution_of(batch, 0)])
    same(batch, again)


@pytest.mark.parametrize("name", ["t.jsonl", "t.csv", "t.parquet"])
def test_what_is_written_reads_back(tmp_path: Path, name: str) -> None:
    (execution,), _ = read(file_of(tmp_path, ROWS, "first.jsonl"))
    path = tmp_path / name
    write_executions([execution], path)
    assert read(str(path))[0] == [execution]


def test_the_view_of_another_row_is_ignored(tmp_path: Path) -> None:
    rows = [row("p", "send", message="m", view="v1", dest=["p"])]
    for made in (rows, [*rows, row("p", "send", message="n", time="soon")]):
        path = file_of(tmp_path, made)
        if made is rows:
            (execution,), told = read(path)
            assert (execution.views, told) == ({}, ["T102", "T105"])


def test_one_id_with_other_members_contradicts(tmp_path: Path) -> None:
    rows = [row("p", "view", view="v", members=["p", "q"]), row("q", "view", view="v", members=["p"])]
    told = contradiction(tmp_path, rows)
    assert told.startswith("the view v has the members {p,q} (")
    assert "row 1) and {p} (" in told
    assert told.endswith("row 2)")


def test_rows_that_disagree_on_groups_contradict(tmp_path: Path) -> None:
    rows = [row("p", "local", group=["b", "a"]), row("p", "local", group=["a", "b"]), row("p", "local")]
    (batch,) = read_batches([file_of(tmp_path, rows)], TraceOptions(), Notices())
    assert not batch.contradictions
    assert contradiction(tmp_path, [*rows, row("p", "local", group=[])]).startswith(
        "the groups of p are {a,b} ("
    )


def test_a_send_to_other_groups_is_another_send(tmp_path: Path) -> None:
    rows = [row("p", "send", message="m", dest=["group:a"], group=["a", "b"])]
    assert "is sent to" in contradiction(tmp_path, [*rows, row("p", "send", message="m", dest=["group:b"])])
    assert read(file_of(tmp_path, [*rows, *rows]))[1] == ["T102", "T104"]


def test_a_group_of_which_nobody_is_known_is_an_error(tmp_path: Path) -> None:
    rows = [row("p", "local"), row("p", "send", message="m", dest=["group:billing"])]
    path = file_of(tmp_path, rows)
    with pytest.raises(PrecedesError) as raised:
        read(path)
    (told,) = raised.value.diagnostics
    assert (told.code, told.path, told.row) == ("T021", path, 2)
    (execution,), _ = read(path, BILLING)
    assert execution.groups == {"billing": frozenset()}


def test_groups_are_stated_beside_rows_too(tmp_path: Path) -> None:
    rows = [row("c1", "local", group="audit"), row("p", "send", message="m", dest=["group:billing", "c2"])]
    (execution,), _ = read(file_of(tmp_path, rows), BILLING)
    assert execution.groups == {"audit": {"c1"}, "billing": {"c1", "c2"}}


def test_a_file_of_groups_is_toml_or_json(tmp_path: Path) -> None:
    toml, other, text = (tmp_path / name for name in ("groups.toml", "groups.json", "groups.txt"))
    toml.write_text('billing = ["c2", "c1"]\n')
    other.write_text('{"billing": ["c1", "c2", "c1"]}')
    text.write_text("billing: c1")
    assert (
        given_groups(toml) == given_groups(str(other)) == given_groups({"billing": ["c1", "c2"]}) == BILLING
    )
    assert given_groups(None) == ()
    assert codes(text) == ["T002"]
    assert codes(tmp_path / "none.toml") == ["T003"]


@pytest.mark.parametrize("text", ["[]", '{"a": "c1"}', '{"a": [1.5]}', '{"a": [""]}', "{", '{"a": {}}'])
def test_a_mistaken_file_of_groups_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "groups.json"
    path.write_text(text)
    assert codes(path) == ["T022"]


def test_a_name_that_stands_twice_in_a_file_of_groups_is_named(tmp_path: Path) -> None:
    path = tmp_path / "groups.json"
    path.write_text('{"b": ["c1"], "b": ["c2"]}')
    with pytest.raises(PrecedesError, match="T022 the name b occurs twice in the file of groups"):
        given_groups(path)


def codes(path: Path) -> list[str]:
    with pytest.raises(PrecedesError) as raised:
        given_groups(path)
    return [told.code for told in raised.value.diagnostics]


def test_the_face_takes_groups(tmp_path: Path) -> None:
    rows = [row("p", "send", message="m", dest=["group:billing"]), row("c1", "deliver", message="m")]
    path = file_of(tmp_path, rows)
    for how in ({"billing": ["c1", "c2"]}, tmp_path / "groups.json"):
        (tmp_path / "groups.json").write_text(json.dumps({"billing": ["c1", "c2"]}))
        (execution,) = precedes.read(path, groups=how)
        assert execution.groups == {"billing": {"c1"}}
        assert precedes.verify(path, "no_creation", groups=how).verdict is precedes.Verdict.HOLDS
        # Who of the group is to deliver it is not known, and so nothing is lost.
        asked = precedes.verify(path, "selectively_information_preserving", groups=how)
        assert asked.verdict is precedes.Verdict.UNKNOWN


# ---- columnar files ----


def converted(folder: Path, groups: GroupMembers = ()) -> str:
    target = folder / "columnar.parquet"
    convert([file_of(folder, ROWS)], target, Notices(), groups=groups)
    return str(target)


def opened(path: str) -> ColumnarFile:
    layout = layout_of(source_of(path))
    assert layout is not None
    return ColumnarFile(layout)


def test_a_columnar_file_keeps_views_and_groups(tmp_path: Path) -> None:
    (execution,), _ = read(file_of(tmp_path, ROWS))
    assert read(converted(tmp_path))[0] == [execution]


def test_a_columnar_file_keeps_groups_that_were_stated_beside_the_trace(tmp_path: Path) -> None:
    path = converted(tmp_path, (("shipping", ("c1", "nowhere")),))
    (execution,), _ = read(path)
    assert execution.groups["shipping"] == {"c1"}
    again = tmp_path / "again.parquet"
    convert([path], again, Notices())
    assert read(str(again))[0] == [execution]


OF_MEMBERSHIP = (
    "to_group_offsets", "to_groups", "group_offsets", "group_member_offsets", "group_members", "view_offsets",
    "view_member_offsets", "view_members", "event_view", "view_of_event", "installed_offsets", "installed_views",
    "installed_again", "installed_unknown",
)  # fmt: skip


def test_a_row_group_has_the_columns_of_a_batch(tmp_path: Path) -> None:
    from precedes.engines.columnar.execution_source import BatchSource

    plain = [row("p", "send", message="m", dest=["p"])]
    for rows in (ROWS, plain):
        target = tmp_path / "columnar.parquet"
        convert([file_of(tmp_path, rows)], target, Notices())
        (batch,) = read_batches([str(target)], TraceOptions(), Notices())
        with closing(opened(str(target))) as file:
            found = row_group(file, 0, TraceOptions(), OF_MEMBERSHIP).columns(OF_MEMBERSHIP)
        expected = BatchSource(batch).columns(OF_MEMBERSHIP)
        for name in OF_MEMBERSHIP:
            assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name


def test_an_excerpt_of_a_large_execution_keeps_views_and_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_reader, "LARGE", 1)
    path = converted(tmp_path)
    (execution,), _ = read(path)
    with closing(opened(path)) as file:
        coded = file.coded(0, time=False)
        reader = GroupReader(file, 0, TraceOptions(), spans_of(coded), coded.message)
        assert list(reader.ids(0)[0]) == list(execution.entities)
        ((_, (excerpt,)),) = reader.excerpts({0: [[0]]})
    assert excerpt.cut.groups == execution.groups
    assert excerpt.cut.views == execution.views
    assert excerpt.cut.messages == execution.messages
