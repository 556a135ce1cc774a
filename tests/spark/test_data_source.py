"""`spark.read.format("precedes")`: the same files have the same rows and the same report as in this process."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException, PythonException
from pyspark.sql import DataFrame, SparkSession

import precedes
import precedes.spark
from precedes.core.diagnostics import PrecedesError
from precedes.core.formula import Attribute, AttributeSort
from precedes.engines.spark.read_rows import canonical_table
from precedes.traces import Notices, TraceOptions, assemble, expand, read_table
from precedes.traces.foreign.importers import BY_WORD
from precedes.traces.foreign.recognition import LogReading
from precedes.traces.schema import LIBRARY, REDELIVERED
from tests.command.documents import ROOT, File, Run, steps
from tests.sampling import one_in
from tests.traces.foreign.otlp_spans import batch, link, span
from tests.traces.foreign.otlp_spans import lines as lines_of_spans

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

PAGES = (*sorted((ROOT / "docs/formats").glob("*.md")), ROOT / "docs/how-to/own-log-format.md")
ASKED = ("no_duplication", "order_equivalent", "fifo_delivery", "causal_order", "ordered_until_acknowledged")
TEXTS = tuple(Attribute(name, AttributeSort.TEXT) for name in sorted(LIBRARY - {REDELIVERED}))


@dataclass(frozen=True)
class Asked:
    """What a page asks: of which files, read how, and what is required of them."""

    paths: tuple[str, ...]
    word: str | None
    settings: dict[str, str]
    mapping: str | None
    required: tuple[str, ...]

    def log(self) -> dict[str, Any]:
        """The arguments of `precedes.verify` and `precedes.read`."""
        return {"log": self.word, "parameters": self.settings, "mapping": self.mapping}


def asked(command: str) -> Asked:
    """What a command `precedes verify` asks."""
    words = iter(shlex.split(command)[2:])
    found: dict[str, list[str]] = {}
    paths = [word for word in words if not word.startswith("--") or not _noted(found, word, words)]
    settings = dict(each.split("=", 1) for each in found.get("--set", ()))
    word, mapping = (found.get(name, [None])[0] for name in ("--from", "--mapping"))
    return Asked(tuple(paths), word, settings, mapping, tuple(found["--require"]))


def _noted(found: dict[str, list[str]], option: str, words: Iterator[str]) -> bool:
    found.setdefault(option, []).append(next(words))
    return True


def questions(page: Path, folder: Path) -> Iterator[Asked]:
    """What a page asks of the files that it has, which are written."""
    for step in steps(page):
        match step:
            case File(name, text):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text, encoding="utf-8")
            case Run(_, command) if command.startswith("precedes verify"):
                one = asked(command)
                paths = tuple(str(folder / path) for path in one.paths)
                yield replace(
                    one, paths=paths, mapping=None if one.mapping is None else str(folder / one.mapping)
                )
            case _:
                pass


def loaded(spark: SparkSession, paths: Sequence[str], **options: str | None) -> DataFrame:
    """The rows that Spark reads."""
    precedes.spark.register(spark)
    reader = spark.read.format("precedes")
    for name, value in options.items():
        if value is not None:
            reader = reader.option(name.rstrip("_"), value)
    return reader.load(list(paths))


def canonical(frame: DataFrame) -> pa.Table:
    """The canonical table of rows that Spark read, in their order, with the attributes of the library."""
    table = canonical_table(frame.toArrow(), 1, TEXTS, Notices())
    return table.sort_by([("file_order", "ascending"), ("row", "ascending")]).combine_chunks()


def here(one: Asked) -> pa.Table:
    """The same rows, read in this process."""
    sources = expand(one.paths, Notices(), LogReading.stated(one.word, one.settings, one.mapping))
    tables = [table for source in sources for table in read_table(source.asked(TEXTS), Notices())]
    rows = pa.concat_tables(tables)
    return rows.sort_by([("file_order", "ascending"), ("row", "ascending")]).combine_chunks()


def said(report: Any) -> dict[str, Any]:
    """Everything that a report says, but for its times."""
    return {**json.loads(report.json()), "timings": None}


@pytest.mark.parametrize("page", one_in(4, PAGES, [page.stem for page in PAGES]))
def test_a_log_on_spark_is_that_in_this_process(spark: SparkSession, tmp_path: Path, page: Path) -> None:
    found = list(questions(page, tmp_path))
    assert found
    for one in found:
        settings = {f"set.{name}": value for name, value in one.settings.items()}
        frame = loaded(spark, one.paths, from_=one.word, mapping=one.mapping, **settings).cache()
        try:
            assert canonical(frame).equals(here(one))
            for required in ((*one.required, *ASKED), one.required):
                on_spark = precedes.verify(frame, required, all_violations=True)
                assert said(on_spark) == said(
                    precedes.verify(one.paths, required, all_violations=True, **one.log())
                )
        finally:
            frame.unpersist()


def test_every_format_has_a_page() -> None:
    assert {page.stem for page in PAGES[:-1]} == set(BY_WORD) - {"mapping"}


SENDER = [
    '{"execution":"x","entity":"p","event":"send","message":"a","dest":["c1","c2"]}',
    '{"execution":"x","entity":"p","event":"send","message":"b","dest":["c1","c2"]}',
]
RECEIVER = [
    '{{"execution":"x","entity":"{0}","event":"deliver","message":"{1}","sender":"?"}}',
    '{{"execution":"x","entity":"{0}","event":"deliver","message":"{2}","sender":"?"}}',
]


def lines(path: Path, rows: Sequence[str], *names: str) -> str:
    """A file with some rows."""
    path.write_text("".join(row.format(*names) + "\n" if names else row + "\n" for row in rows), "utf-8")
    return str(path)


def test_a_sender_that_another_file_names(spark: SparkSession, tmp_path: Path) -> None:
    """Nobody but the file of the sender says who sent; the log of each consumer is a partition of its own."""
    paths = [
        lines(tmp_path / "c1.jsonl", RECEIVER, "c1", "b", "a"),
        lines(tmp_path / "c2.jsonl", RECEIVER, "c2", "a", "b"),
    ]
    required = ("order_equivalent", "fifo_delivery")
    alone = precedes.verify(loaded(spark, paths), required)
    assert (alone["order_equivalent"].violated, alone["fifo_delivery"].unknown) == (1, 1)
    paths.append(lines(tmp_path / "p.jsonl", SENDER))
    frame = loaded(spark, paths)
    assert frame.rdd.getNumPartitions() == 3
    together = precedes.verify(frame, required, all_violations=True)
    assert together["fifo_delivery"].violated == 1
    assert said(together) == said(precedes.verify(paths, required, all_violations=True))
    (offender,) = precedes.spark.violations(frame, "fifo_delivery").collect()
    assert {(Path(event.file).name, event.row) for event in offender.events} >= {
        ("c1.jsonl", 1),
        ("c1.jsonl", 2),
    }


def test_equal_times_of_spans(spark: SparkSession, tmp_path: Path) -> None:
    sends = batch("p", span(1, "send", 10), span(2, "send", 20))
    got = batch("c", span(5, "process", 30, link(2)), span(6, "process", 30, link(1)))
    (tmp_path / "spans.json").write_text(lines_of_spans(sends, got), encoding="utf-8")
    path = str(tmp_path / "spans.json")
    frame = loaded(spark, [path]).cache()
    for order in (None, "rows"):
        on_spark = precedes.verify(frame, "order_preserving", order=order)
        assert said(on_spark) == said(precedes.verify(path, "order_preserving", order=order))
        assert on_spark["order_preserving"].unknown == (order is None)
        assert said(on_spark) == said(precedes.verify(path, "order_preserving", order=order, engine="spark"))
    frame.unpersist()


def test_rows_of_two_loads(spark: SparkSession, tmp_path: Path) -> None:
    """Each load numbers its files, so that nobody knows which of two comes first in an execution that both have."""
    elsewhere = [row.replace('"x"', '"y"') for row in SENDER]
    one, two = lines(tmp_path / "1.jsonl", SENDER), lines(tmp_path / "2.jsonl", elsewhere)
    apart = loaded(spark, [one]).unionByName(loaded(spark, [two]))
    assert precedes.verify(apart, "ST").executions == 2
    three = lines(tmp_path / "3.jsonl", RECEIVER, "p", "b", "a")
    with pytest.raises(
        PrecedesError, match=r"execution x has rows of .*1\.jsonl and .*3\.jsonl, which two loads"
    ):
        precedes.verify(loaded(spark, [one]).unionByName(loaded(spark, [three])), "ST")
    assert precedes.verify(loaded(spark, [one, three]), "ST").executions == 1


def test_groups_that_were_stated_beside_a_trace(spark: SparkSession, tmp_path: Path) -> None:
    path = lines(tmp_path / "t.jsonl", SENDER)
    precedes.convert(path, tmp_path / "t.parquet", groups={"billing": ["c1"]})
    with pytest.raises(AnalysisException, match="groups were stated beside the trace"):
        loaded(spark, [str(tmp_path / "t.parquet")])


def test_a_columnar_file_has_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    path = lines(tmp_path / "t.jsonl", [*SENDER, *(row.format("c1", "b", "a") for row in RECEIVER)])
    precedes.convert(path, tmp_path / "t.parquet")
    found = precedes.verify(loaded(spark, [str(tmp_path / "t.parquet")]), ASKED, all_violations=True)
    assert said(found) == said(precedes.verify(tmp_path / "t.parquet", ASKED, all_violations=True))


def test_a_mapping_travels_as_its_text(spark: SparkSession, tmp_path: Path) -> None:
    (one, *_) = questions(PAGES[-1], tmp_path)
    assert one.mapping is not None
    text = Path(one.mapping).read_text(encoding="utf-8")
    by_path = loaded(spark, one.paths, mapping=one.mapping)
    Path(one.mapping).unlink()
    by_text = loaded(spark, one.paths, mapping=text)
    assert by_path.toArrow().equals(by_text.toArrow())
    assert "T122" in [each.code for each in precedes.verify(by_text, "order_preserving").notices]


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_the_files_that_settings_name_need_not_be_on_the_workers(
    tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of files are those of the folder of the driver."""
    (one, *_) = questions(PAGES[-1], tmp_path)
    lines(tmp_path / "1.output", ["b 1"])
    lines(tmp_path / "others", ["1 localhost 11001", "2 localhost 11002"])
    monkeypatch.chdir(tmp_path)
    report = precedes.verify(one.paths, one.required, mapping="bus.toml", engine=engine)
    assert report[one.required[0]].violated == 1
    settings = {"hosts": "others"}
    report = precedes.verify("1.output", "reliable", log="broadcast-log", parameters=settings, engine=engine)
    assert report["reliable"].violated == 1


def test_row_groups_are_read_one_by_one(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from precedes.engines.spark import data_source
    from precedes.engines.spark.workers import of_this_version

    rows = [json.loads(row) | {"clock": [k + 1]} for k, row in enumerate(SENDER)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet", row_group_size=1)
    monkeypatch.setattr(data_source, "ROWS_PER_PIECE", 1)
    reader = data_source.reader_of({"path": str(tmp_path / "t.parquet")})
    parts = reader.partitions()
    assert len(parts) == 2
    found = pa.Table.from_batches([batch for part in parts for batch in reader.read(part)])
    assert found["row"].to_pylist() == [1, 2]
    assert found["vector"].to_pylist() == [[1], [2]]
    table = canonical_table(found, 1, (), Notices())
    assert assemble(table, TraceOptions(), Notices()).clocks is not None
    assert of_this_version(len)("ab") == 2


def test_times_are_exact(spark: SparkSession, tmp_path: Path) -> None:
    row = '{"execution":"x","entity":"p","event":"local","time":%s}'
    times = ["1700000000.123456789", "-3.000000001", "0", "null"]
    path = lines(tmp_path / "t.jsonl", [row % time for time in times])
    found = canonical(loaded(spark, [path]))
    assert found["time"].to_pylist() == [1700000000123456789, -3000000001, 0, None]


def test_what_a_row_carries(spark: SparkSession, tmp_path: Path) -> None:
    rows = [f'{row[:-1]},"position":{k},"colour":"red"}}' for k, row in enumerate(SENDER)]
    path = lines(tmp_path / "t.jsonl", rows)
    plain, chosen = loaded(spark, [path]), loaded(spark, [path], attributes="colour, position")
    assert "colour" not in plain.columns
    assert "key" not in chosen.columns
    assert [row.colour for row in chosen.select("colour").collect()] == ["red", "red"]
    notices = [each.text for each in precedes.verify(plain, "no_duplication").notices]
    assert "column `colour` is unknown and was ignored" in notices
    assert precedes.verify(chosen, "positions_never_go_back")["positions_never_go_back"].unknown == 0


def test_a_row_that_cannot_be_read_is_told_with_its_place(spark: SparkSession, tmp_path: Path) -> None:
    path = lines(
        tmp_path / "t.jsonl", [*SENDER, '{"execution":"x","entity":"p","event":"sned","message":"c"}']
    )
    frame = loaded(spark, [path])
    with pytest.raises(PrecedesError) as caught:
        precedes.verify(frame, "ST")
    (told,) = caught.value.diagnostics
    assert (told.code, told.path, told.row) == ("T013", path, 3)
    assert told.hint
    for look in (frame, precedes.spark.verify(frame, "ST")):
        with pytest.raises(PythonException) as raised:
            look.collect()
        assert f"{path}: row 3: T013" in str(raised.value)
        assert "Traceback" not in str(raised.value)
        assert ".py" not in str(raised.value)


def test_a_value_that_somebody_changed_is_told_where_it_was_read(spark: SparkSession, tmp_path: Path) -> None:
    path = lines(tmp_path / "t.jsonl", [row[:-1] + ',"position":"high"}' for row in SENDER])
    frame = loaded(spark, [path])
    with pytest.raises(PrecedesError) as caught:
        precedes.verify(frame, "positions_never_go_back")
    assert [(told.path, told.row) for told in caught.value.diagnostics] == [(path, 1), (path, 2)]
    with pytest.raises(PrecedesError, match=r"T011 `seq` is missing"):
        precedes.verify(frame.drop("file"), "ST")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"form": "kcat"}, "U001 there is no option form\n    did you mean from?"),
        ({"from_": "kafkacat"}, "U001 there is no format kafkacat"),
        ({"set.entity": "c"}, "U001 --set says how a log is read, and there is no --from"),
        ({"attributes": "row"}, "U001 `row` cannot be an attribute"),
        ({"mapping": "no.toml"}, "no.toml: U005 the mapping cannot be read"),
        ({"mapping": 'entity = "e"\nmesage = "m"\n'}, "mapping:2:1: U005 unknown key mesage"),
        ({"mapping": 'entity = "e"\nmessage = "m"\n'}, "U006 nothing says which rows are which events"),
    ],
)
def test_what_is_wrong_with_options_is_told_before_anything_is_read(
    spark: SparkSession, tmp_path: Path, options: dict[str, str], says: str
) -> None:
    path = lines(tmp_path / "t.jsonl", SENDER)
    with pytest.raises(AnalysisException) as caught:
        loaded(spark, [path], **options)
    assert says in str(caught.value)
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize("first", ["a", "z"], ids=["the first", "the last"])
@pytest.mark.parametrize(
    "text", ["", "execution,entity,event,message\n"], ids=["without a byte", "a header alone"]
)
def test_a_file_without_rows_is_told_and_tells_what_was_told_before(
    spark: SparkSession, tmp_path: Path, first: str, text: str
) -> None:
    empty = tmp_path / f"{first}.csv"
    empty.write_text(text, "utf-8")
    lines(tmp_path / "t.jsonl", SENDER)
    (tmp_path / "notes.txt").write_text("what we saw\n", "utf-8")
    report = precedes.verify(loaded(spark, [str(tmp_path)]), "ST")
    told = {each.text for each in report.notices}
    assert told > {f"{empty} has no rows"}
    assert said(report) == said(precedes.verify([str(tmp_path)], "ST"))


def test_a_load_without_any_row_has_none(spark: SparkSession, tmp_path: Path) -> None:
    assert not loaded(spark, [lines(tmp_path / "t.jsonl", [])]).collect()


def test_a_file_that_is_not_there_and_a_schema_of_ones_own(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(AnalysisException, match=r"no\.jsonl: T001 there is no such file"):
        loaded(spark, [str(tmp_path / "no.jsonl")])
    path = lines(tmp_path / "t.jsonl", SENDER)
    with pytest.raises(AnalysisException, match="U001 the columns of a trace are not chosen by a schema"):
        spark.read.format("precedes").schema("a int").load(path).collect()
