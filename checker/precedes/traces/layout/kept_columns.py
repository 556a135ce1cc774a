"""The other columns of a trace in a columnar file, which are text: what an attribute reads from them."""

from __future__ import annotations

from precedes.core.columns import Int64
from precedes.core.formula import Attribute
from precedes.traces.arrow import Column, arrow
from precedes.traces.formats.canonical_columns import Irregular, attribute_column
from precedes.traces.formats.values import RowError, attribute_value
from precedes.traces.problems import unreadable
from precedes.traces.sources import TraceSource


def values_of(column: Column, attribute: Attribute, source: TraceSource, numbers: Int64) -> Column:
    """The values of an attribute in rows with these numbers. Raises PrecedesError for the first text that is none."""
    try:
        if not arrow.types.is_dictionary(column.type):
            return attribute_column(column, attribute.sort)
        coded = column.combine_chunks()
        known = arrow.chunked_array([coded.dictionary])
        return attribute_column(known, attribute.sort).take(coded.indices)
    except Irregular:
        coded = column.cast(arrow.string()).combine_chunks().dictionary_encode()
    values: list[object] = []
    for place, text in enumerate(coded.dictionary.to_pylist()):
        try:
            values.append(attribute_value(text, attribute))
        except RowError as error:
            row = int(numbers[coded.indices.index(place).as_py()])
            raise unreadable(error.code, error.message, source.shown, error.hint, row) from error
    return arrow.array(values, arrow.int64()).take(coded.indices)
