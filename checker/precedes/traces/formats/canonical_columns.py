"""Conversion to the canonical table: from whole columns of any accepted Arrow type, and from rows of Python
values.

`canonical` is the fast way. It never decides that a row is wrong. If it is not certain about a value, the
value is `Irregular`, and the caller lets `precedes.traces.formats.values` read the rows one by one. Both ways
give the same table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, assert_never

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from precedes.core.execution import EVENT_CODES, FIRST_WITHOUT_MESSAGE, LAST_WITHOUT_MESSAGE, EventKind
from precedes.core.formula import AttributeSort
from precedes.traces import notices as notice
from precedes.traces.arrow import Column, arrow, flattened, pc
from precedes.traces.formats import letters, limits
from precedes.traces.formats.column_types import is_text
from precedes.traces.formats.inexact_values import EXACT, widened
from precedes.traces.formats.values import (
    DEST_IGNORED,
    INT64_MAX,
    MESSAGE_IGNORED,
    NANOSECONDS,
    TIME_MIN,
    VIEW_IGNORED,
    Row,
    as_text,
    seconds,
)
from precedes.traces.notices import Notices
from precedes.traces.schema import (
    ATTRIBUTE,
    BY_TIME,
    CODED_IDS,
    EVENT_NAMES,
    ID_COLUMNS,
    ID_LIST_COLUMNS,
    INPUT_COLUMNS,
    REQUIRED_COLUMNS,
    TABLE_SCHEMA,
    WHERE_READ,
    column_of,
    kept_schema,
    schema_of,
)
from precedes.traces.sources import TraceSource

# Years in which nanoseconds fit for certain, and seconds without a leap: the rest is read one by one.
_RFC_3339: Final = (
    r"^(1[7-9]|20|21)\d\d-\d\d-\d\d[T ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?"
    r"(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$"
)
_EVENTS: Final = arrow.array(EVENT_NAMES)
_DICTIONARY: Final = arrow.dictionary(arrow.int32(), arrow.string())
_VIEW: Final = EVENT_CODES[EventKind.VIEW]
_MOST_CLOCK_FIELDS: Final = 256
_PER_UNIT: Final = {"s": NANOSECONDS, "ms": 10**6, "us": 10**3, "ns": 1}
_WHOLE_TEXT: Final = "^-?[0-9]{1,18}$"
_MOST_DIGITS: Final = 18
_FITS: Final = 26
"""Digits, and perhaps a point, that fit a decimal of 38 digits of which nine are decimal places."""
_WITH_MICROSECONDS: Final = len("1700000000.000001")
_TEN_DIGITS, _BELOW = 1e9, 2.0**31
_FINE: Final = arrow.decimal128(38, limits.PLACES)
_NANOSECONDS: Final = arrow.decimal128(38, 9)

Columns = dict[str, Column]


class Irregular(Exception):
    """Something in these rows needs a closer look. `rows` are the places to look at, where they are known."""

    def __init__(self, rows: npt.NDArray[np.int64] | None = None) -> None:
        super().__init__()
        self.rows = rows


def canonical(
    table: pa.Table,
    source: TraceSource,
    rows: npt.NDArray[np.int64],
    notices: Notices,
) -> pa.Table:
    """The canonical table of rows with the input's column names; `rows` are their numbers in the source.

    Raises Irregular.
    """
    try:
        return _canonical(table, source, rows, notices)
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError, arrow.ArrowTypeError) as error:
        # What Arrow cannot do with a type, Python can with its values.
        raise Irregular from error


def _canonical(
    table: pa.Table, source: TraceSource, rows: npt.NDArray[np.int64], notices: Notices
) -> pa.Table:
    given: Columns = {name: table[name] for name in table.column_names}
    attributes = {each.name: each for each in source.attributes}
    for name, value in source.partition:
        beside = name not in INPUT_COLUMNS and name not in given
        if name not in ID_COLUMNS and name != "event" and not beside:
            raise Irregular
        given[name] = _filled(given.get(name), value, len(table))
    if any(name not in given for name in REQUIRED_COLUMNS):
        raise Irregular
    coded = CODED_IDS if source.coded else ()
    columns: dict[str, Any] = {
        name: _ids(given[name], coded=name in coded) for name in ID_COLUMNS if name in given
    }
    columns |= {
        name: _id_lists(_listed(given[name]) if name == "group" else given[name])
        for name in ID_LIST_COLUMNS
        if name in given
    }
    columns["event"] = _events(given["event"])
    for name in ("execution", "entity"):
        _refuse(pc.is_null(columns[name]))
    _messages(columns, notices)
    if "view" in columns:
        _views(columns, notices)
    if "seq" in given:
        columns["seq"] = _whole(given["seq"])
        _refuse(pc.less(columns["seq"], 0))
    if "redelivered" in given:
        columns["redelivered"] = _booleans(given["redelivered"])
    if "time" in given:
        columns["time"] = nanoseconds(given["time"])
    if "clock" in given:
        columns |= _clocks(given["clock"])
    for name, each in attributes.items():
        if name in given:
            columns[column_of(each)] = attribute_column(given[name], each.sort)
    if source.every:
        columns |= _kept(given, notices)
    columns["file"] = _one_text(source.shown, len(table), coded=source.coded)
    columns["row"] = arrow.array(rows, arrow.int64())
    columns["file_order"] = arrow.array(np.full(len(table), source.order, np.int32))
    schema = schema_of(source.attributes) if not source.every else kept_schema(columns)
    for name in (*coded, "file"):
        if name in columns:
            place = schema.get_field_index(name)
            schema = schema.set(place, schema.field(place).with_type(columns[name].type))
    arrays = [columns[f.name] if f.name in columns else arrow.nulls(len(table), f.type) for f in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _one_text(text: str, length: int, *, coded: bool) -> Column:
    """So many times one text; `coded`: the text once, and as many numbers."""
    if not coded:
        return arrow.repeat(text, length)
    return arrow.DictionaryArray.from_arrays(np.zeros(length, np.int32), arrow.array([text]))


def table_of(rows: Iterable[tuple[int, Row]], source: TraceSource) -> pa.Table:
    """The canonical table of rows that were read one by one, each with its number."""
    numbered = list(rows)
    columns: dict[str, list[object]] = {
        name: [getattr(row, name) for _, row in numbered]
        for name in TABLE_SCHEMA.names
        if name not in (*WHERE_READ, BY_TIME)
    }
    columns["file"] = [source.shown] * len(numbered)
    columns["row"] = [number for number, _ in numbered]
    columns["file_order"] = [source.order] * len(numbered)
    names = dict.fromkeys(name for _, row in numbered for name in row.attributes)
    columns |= {f"{ATTRIBUTE}{name}": [row.attributes.get(name) for _, row in numbered] for name in names}
    schema = kept_schema(columns) if source.every else schema_of(source.attributes)
    arrays = [
        arrow.array(columns[field.name], field.type)
        if field.name in columns
        else arrow.nulls(len(numbered), field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _kept(given: Columns, notices: Notices) -> Columns:
    """The columns that nobody has declared yet, as text; those that are none are told."""
    texts = {name: text_of(column) for name, column in given.items() if name not in INPUT_COLUMNS}
    for name in (name for name, text in texts.items() if text is None):
        notices.once(notice.UNKNOWN_COLUMN, notice.unknown_column(name))
    return {f"{ATTRIBUTE}{name}": text for name, text in texts.items() if text is not None}


def text_of(column: Column) -> Column | None:
    """A column as `as_text` has its values; None for one of a type that no attribute has."""
    kind = column.type
    if arrow.types.is_dictionary(kind):
        return text_of(pc.cast(column, kind.value_type))
    if is_text(kind) or arrow.types.is_integer(kind) or arrow.types.is_null(kind) or _truths(column):
        return pc.cast(column, arrow.string())
    try:
        if arrow.types.is_timestamp(kind):
            return _each(nanoseconds(column), seconds)
        if arrow.types.is_floating(kind) or arrow.types.is_decimal(kind):
            return _each(column, as_text)
    except Irregular:
        pass
    return None


def _each(column: Column, text: Callable[[Any], str | None]) -> Column:
    """The text of each value, once for equal ones."""
    coded = column.combine_chunks().dictionary_encode()
    return arrow.array(map(text, coded.dictionary.to_pylist()), arrow.string()).take(coded.indices)


def attribute_column(column: Column, sort: AttributeSort) -> Column:
    """The values of an attribute: texts, whole numbers or nanoseconds. Raises Irregular."""
    match sort:
        case AttributeSort.TEXT:
            return _attempt_cast(column, arrow.string()) if _truths(column) else _text(column)
        case AttributeSort.NUMBER:
            return _numbers(column)
        case AttributeSort.TIME:
            return nanoseconds(column)
        case AttributeSort.DURATION:
            return _durations(column)
        case _:
            assert_never(sort)


def _truths(column: Column) -> bool:
    return bool(arrow.types.is_boolean(column.type))


def _numbers(column: Column) -> Column:
    kind = column.type
    if arrow.types.is_dictionary(kind):
        return _numbers(_attempt_cast(column, kind.value_type))
    if arrow.types.is_floating(kind):
        # Larger ones stand for other numbers than they are: for the shortest text that means them.
        _refuse(pc.greater_equal(pc.abs(column), float(EXACT)))
    elif is_text(kind):
        column = whole_numbers(pc.cast(column, arrow.string()))
    elif not (
        arrow.types.is_integer(kind)
        or arrow.types.is_decimal(kind)
        or arrow.types.is_null(kind)
        or _truths(column)
    ):
        raise Irregular
    numbers = _attempt_cast(column, arrow.int64())
    _refuse(pc.less(numbers, TIME_MIN))
    return numbers


def whole_numbers(texts: Column) -> Column:
    """The whole numbers that texts are, as int64. Raises Irregular where one is none, or a long one."""
    plain = all(
        letters.are_digits(chunk) and letters.longest(chunk) <= _MOST_DIGITS for chunk in texts.chunks
    )
    # To look at letters takes fewer steps than a pattern.
    if not plain and pc.all(pc.match_substring_regex(texts, _WHOLE_TEXT)).as_py() is False:
        raise Irregular
    return _attempt_cast(texts, arrow.int64())


def _durations(column: Column) -> Column:
    if arrow.types.is_timestamp(column.type) or arrow.types.is_dictionary(column.type):
        raise Irregular
    if is_text(column.type) and pc.any(pc.match_substring(column, ":")).as_py():
        raise Irregular
    return nanoseconds(column)


def nanoseconds(column: Column) -> Column:
    """A column of times as int64 nanoseconds: numbers are seconds, naive timestamps are UTC.

    Raises Irregular.
    """
    kind = column.type
    if arrow.types.is_null(kind):
        return pc.cast(column, arrow.int64())
    if arrow.types.is_timestamp(kind):
        return _scaled(pc.cast(column, arrow.int64()), _PER_UNIT[kind.unit])
    if arrow.types.is_integer(kind):
        return _scaled(_attempt_cast(column, arrow.int64()), NANOSECONDS)
    if arrow.types.is_floating(kind):
        # By way of the shortest text that means the float: the times are those of the same trace as JSON.
        return nanoseconds(pc.cast(widened(column), arrow.string()))
    if arrow.types.is_decimal(kind):
        return _of_decimals(column)
    if is_text(kind):
        text = pc.cast(column, arrow.string())
        if (plain := _of_plain(text)) is not None:
            return plain
        if pc.all(pc.match_substring_regex(text, limits.NUMBER)).as_py() is not False:
            return _of_decimals(_attempt_cast(text, _FINE))
        if pc.all(pc.match_substring_regex(text, _RFC_3339)).as_py() is not False:
            return nanoseconds(_attempt_cast(text, arrow.timestamp("ns", "UTC")))
    raise Irregular


def _of_plain(texts: Column) -> Column | None:
    """The nanoseconds of texts that are digits and points, and short; None where these are not all, or do not fit."""
    chunks = texts.chunks
    longest = max((letters.longest(chunk) for chunk in chunks), default=0)
    if longest > _FITS or not all(letters.are_digits_and_points(chunk) for chunk in chunks):
        return None
    try:
        found = _of_microseconds(texts) if longest <= _WITH_MICROSECONDS else None
        return _of_decimals(pc.cast(texts, _NANOSECONDS)) if found is None else found
    except arrow.ArrowInvalid:
        # Two points, or more decimal places.
        return None


def _of_microseconds(texts: Column) -> Column | None:
    """The nanoseconds of times from 2001 to 2038 of at most so many letters as those with microseconds have; None for
    others.

    They have ten digits, a point and at most six decimal places. Of a number below 2**31 a float is off by less than
    2**-23; of a million times as much, rounding included, by less than a quarter. So the nearest whole number is the
    one that is written.
    """
    seconds = pc.cast(texts, arrow.float64())
    span = pc.min_max(seconds).as_py()
    if span["min"] is None or span["min"] < _TEN_DIGITS or span["max"] >= _BELOW:
        return None
    return pc.multiply(pc.cast(pc.round(pc.multiply(seconds, 1e6)), arrow.int64()), 1000)


def _of_decimals(column: Column) -> Column:
    if not 0 <= column.type.scale <= limits.LARGEST_POWER:
        raise Irregular
    if column.type.scale > 9:
        column = pc.round(_attempt_cast(column, arrow.decimal128(38, column.type.scale)), 9, "half_to_even")
    exact = _attempt_cast(column, arrow.decimal128(38, 9))
    return arrow.chunked_array([_unscaled(chunk) for chunk in exact.chunks], arrow.int64())


def _unscaled(decimals: Column) -> Column:
    """The 128-bit numbers of decimals with scale 9, which are nanoseconds, as int64."""
    if len(decimals) == 0:
        return arrow.array([], arrow.int64())
    halves = np.frombuffer(decimals.buffers()[1], np.int64)[2 * decimals.offset :][: 2 * len(decimals)]
    low, high = halves[::2], halves[1::2]
    missing = decimals.is_null().to_numpy(zero_copy_only=False)
    if (((high != low >> 63) | (low < TIME_MIN)) & ~missing).any():
        raise Irregular
    return arrow.array(np.ascontiguousarray(low), mask=missing)


def _scaled(numbers: Column, factor: int) -> Column:
    """Numbers of some unit as nanoseconds."""
    most = INT64_MAX // factor
    _refuse(pc.or_(pc.less(numbers, -most), pc.greater(numbers, most)))
    return pc.multiply(numbers, factor)


def _attempt_cast(column: Any, kind: pa.DataType) -> Any:
    try:
        return pc.cast(column, kind)
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError) as error:
        raise Irregular from error


def _refuse(mask: Any) -> None:
    """Raise Irregular with the places where the mask is true."""
    if pc.any(mask).as_py():
        raise Irregular(np.flatnonzero(pc.fill_null(mask, False).to_numpy()))


def _text(column: Any) -> Any:
    """Ids as text; a column of another type than text or whole numbers is irregular."""
    kind = column.type
    if arrow.types.is_dictionary(kind):
        return _text(_attempt_cast(column, kind.value_type))
    if is_text(kind) or arrow.types.is_integer(kind) or arrow.types.is_null(kind):
        return _attempt_cast(column, arrow.string())
    raise Irregular


def _ids(column: Column, *, coded: bool = False) -> Column:
    """Ids as text; as a dictionary of texts where it is one, and may be (`coded`)."""
    if coded and column.type == _DICTIONARY:
        dictionaries = [chunk.dictionary for chunk in column.chunks]
        if all(not each.null_count and letters.none_is_empty(each) for each in dictionaries):
            return column
    text = _text(column)
    if not all(map(letters.none_is_empty, text.chunks)):
        _refuse(pc.equal(pc.binary_length(text), 0))
    return text


def _id_lists(column: Column) -> Column:
    kind = column.type
    if arrow.types.is_null(kind):
        return pc.cast(column, arrow.list_(arrow.string()))
    if arrow.types.is_fixed_size_list(kind) or arrow.types.is_large_list(kind):
        column = _attempt_cast(column, arrow.list_(kind.value_type))
    elif not arrow.types.is_list(kind):
        raise Irregular
    chunks: list[Column] = []
    for chunk in column.chunks:
        flat, lengths = flattened(chunk)
        values = _text(flat)
        if values.null_count or not letters.none_is_empty(values):
            raise Irregular
        chunks.append(_lists(chunk, values, lengths))
    return arrow.chunked_array(chunks, arrow.list_(arrow.string()))


def _listed(groups: Column) -> Column:
    """Lists of groups, of which a column may also have one for each row."""
    kind = groups.type
    if not (is_text(kind) or arrow.types.is_integer(kind) or arrow.types.is_dictionary(kind)):
        return groups
    chunks = [_list_of_one(chunk) for chunk in _text(groups).chunks]
    return arrow.chunked_array(chunks, arrow.list_(arrow.string()))


def _list_of_one(values: Column) -> Column:
    present = values.is_valid().to_numpy(zero_copy_only=False)
    offsets = np.append(0, np.cumsum(present)).astype(np.int32)
    missing = arrow.array(~present)
    return arrow.ListArray.from_arrays(arrow.array(offsets), values.drop_null(), mask=missing)


def _lists(like: Column, values: Column, lengths: npt.NDArray[Any]) -> Column:
    """Lists of these lengths over values that stand one after the other, null where those of `like` are."""
    offsets = np.zeros(len(like) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    mask = like.is_null() if like.null_count else None
    return arrow.ListArray.from_arrays(arrow.array(offsets), values, mask=mask)


def _events(column: Column) -> Column:
    if column.type == _DICTIONARY:
        known = [
            pc.index_in(chunk.dictionary, value_set=_EVENTS).take(chunk.indices) for chunk in column.chunks
        ]
        codes = arrow.chunked_array(known, arrow.int32())
    else:
        codes = pc.index_in(_text(column), value_set=_EVENTS)
    _refuse(pc.is_null(codes))
    return pc.cast(codes, arrow.int8())


def _messages(columns: dict[str, Any], notices: Notices) -> None:
    """Which kinds of event have a message and destinations; what others state is dropped, and told."""
    events = columns["event"]
    needs = pc.or_(pc.less(events, FIRST_WITHOUT_MESSAGE), pc.greater(events, LAST_WITHOUT_MESSAGE))
    message = columns.get("message")
    _refuse(needs if message is None else pc.and_(needs, pc.is_null(message)))
    if message is not None:
        idle = pc.sum(pc.and_(pc.invert(needs), pc.is_valid(message))).as_py() or 0
        if idle:
            columns["message"] = pc.if_else(needs, _text(message), arrow.scalar(None, arrow.string()))
            notices.count(notice.VALUE_IGNORED, MESSAGE_IGNORED, idle)
    if "dest" in columns:
        sends = pc.equal(events, 0)
        idle = pc.sum(pc.and_(pc.invert(sends), pc.is_valid(columns["dest"]))).as_py() or 0
        if idle:
            columns["dest"] = pc.if_else(
                sends, columns["dest"], arrow.scalar(None, arrow.list_(arrow.string()))
            )
            notices.count(notice.VALUE_IGNORED, DEST_IGNORED, idle)


def _views(columns: dict[str, Any], notices: Notices) -> None:
    """Drop what rows say of a view that install none, and tell it."""
    installs = pc.equal(columns["event"], _VIEW)
    idle = pc.sum(pc.and_(pc.invert(installs), pc.is_valid(columns["view"]))).as_py() or 0
    if idle:
        columns["view"] = pc.if_else(installs, columns["view"], arrow.scalar(None, arrow.string()))
        notices.count(notice.VALUE_IGNORED, VIEW_IGNORED, idle)


def _whole(column: Column) -> Column:
    if arrow.types.is_integer(column.type) or arrow.types.is_null(column.type):
        return _attempt_cast(column, arrow.int64())
    raise Irregular


def _booleans(column: Column) -> Column:
    if arrow.types.is_boolean(column.type) or arrow.types.is_null(column.type):
        return pc.cast(column, arrow.bool_())
    raise Irregular


def _clocks(column: Column) -> dict[str, Column]:
    kind = column.type
    maps, lists = arrow.map_(arrow.string(), arrow.int64()), arrow.list_(arrow.int64())
    if arrow.types.is_null(kind):
        return {}
    if arrow.types.is_struct(kind):
        return {"clock": arrow.chunked_array([_map_of_struct(chunk) for chunk in column.chunks], maps)}
    if arrow.types.is_map(kind):
        return {"clock": arrow.chunked_array([_sorted_map(chunk) for chunk in column.chunks], maps)}
    if arrow.types.is_list(kind) or arrow.types.is_large_list(kind) or arrow.types.is_fixed_size_list(kind):
        narrow = _attempt_cast(column, arrow.list_(kind.value_type))
        flat = [(chunk, *flattened(chunk)) for chunk in narrow.chunks]
        chunks = [_lists(chunk, _counts(values), lengths) for chunk, values, lengths in flat]
        return {"vector": arrow.chunked_array(chunks, lists)}
    raise Irregular


def _counts(values: Any) -> Any:
    if not (arrow.types.is_integer(values.type) or arrow.types.is_null(values.type)):
        raise Irregular
    counts = _attempt_cast(values, arrow.int64())
    if counts.null_count or pc.any(pc.less(counts, 0)).as_py():
        raise Irregular
    return counts


def _map_of_struct(structs: Column) -> Column:
    """A map that has the fields of each struct that are not null, by name."""
    names = sorted(structs.type.field(k).name for k in range(structs.type.num_fields))
    if len(names) > _MOST_CLOCK_FIELDS or "" in names or len(set(names)) < len(names):
        raise Irregular
    fields = dict(zip((f.name for f in structs.type), structs.flatten(), strict=True))
    for name in names:
        if not (arrow.types.is_integer(fields[name].type) or arrow.types.is_null(fields[name].type)):
            raise Irregular
    if not names:
        return _map(
            structs,
            np.zeros(len(structs), np.int64),
            arrow.array([], arrow.string()),
            arrow.array([], arrow.int64()),
        )
    counts = np.stack(
        [_attempt_cast(fields[n], arrow.int64()).fill_null(-1).to_numpy() for n in names], axis=1
    )
    present = np.stack([fields[n].is_valid().to_numpy(zero_copy_only=False) for n in names], axis=1)
    if (counts[present] < 0).any():
        raise Irregular
    keys = arrow.array(names, arrow.string()).take(arrow.array(np.nonzero(present)[1]))
    return _map(structs, present.sum(axis=1), keys, arrow.array(counts[present]))


def _sorted_map(maps: Column) -> Column:
    """The same maps with text for keys, whole numbers that are present for values, keys in order."""
    lists = pc.cast(
        maps, arrow.list_(arrow.struct([("key", maps.type.key_type), ("value", maps.type.item_type)]))
    )
    entries = lists.flatten()
    keys, values = _text(entries.field("key")), entries.field("value")
    if (
        keys.null_count
        or not arrow.types.is_integer(values.type)
        or pc.any(pc.equal(pc.binary_length(keys), 0)).as_py()
    ):
        raise Irregular
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy().astype(np.int64)
    row = np.repeat(np.arange(len(maps)), lengths)
    order = pc.sort_indices(
        arrow.table({"row": row, "key": keys}), sort_keys=[("row", "ascending"), ("key", "ascending")]
    )
    keys, values = keys.take(order), _attempt_cast(values, arrow.int64()).take(order)
    if pc.any(pc.and_(pc.equal(keys[1:], keys[:-1]), arrow.array(row[1:] == row[:-1]))).as_py():
        raise Irregular
    present = values.is_valid().to_numpy(zero_copy_only=False)
    lengths = np.bincount(row[present], minlength=len(maps))
    return _map(
        maps, lengths, keys.filter(arrow.array(present)), _counts(values.filter(arrow.array(present)))
    )


def _map(like: Column, lengths: npt.NDArray[np.int64], keys: Column, values: Column) -> Column:
    offsets = np.zeros(len(like) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    # A null offset is a null map.
    missing = np.append(like.is_null().to_numpy(zero_copy_only=False), False)
    return arrow.MapArray.from_arrays(arrow.array(offsets, mask=missing), keys, values)


def _filled(column: Column | None, value: str, length: int) -> Column:
    """A column that the path of the file states too; where a row states it as well, the two must agree."""
    if column is None:
        return arrow.chunked_array([arrow.repeat(value, length)])
    text = _text(column)
    _refuse(pc.not_equal(text, value))
    return pc.fill_null(text, value)
