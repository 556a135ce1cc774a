"""What data frames make of whole numbers and of true and false if values are missing, made exact again.

In pandas such a column becomes floats, with NaN for what is missing, or a mixture of Python objects. A float that is
exactly a whole number stands for it. Every other value stays as it is, so that its row is refused.

Any other float stands for the shortest decimal text that means it. For a float of 16 or 32 bits that is a shorter one
than for the same number in 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite, isnan
from typing import Any, Final

import numpy as np

from precedes.core.formula import Attribute, AttributeSort
from precedes.traces.arrow import Column, arrow, pc
from precedes.traces.formats.values import RowError, shown
from precedes.traces.schema import ID_COLUMNS, ID_LIST_COLUMNS

_WHOLE_COLUMNS: Final = frozenset({*ID_COLUMNS, "seq", "group"})
"""The columns in which a number is a whole number."""
EXACT: Final = 2**53
"""From this on, a float may be another whole number, rounded."""
_EXACT_BY_BYTES: Final = {2: 2**11, 4: 2**24}
"""The same for floats of so many bytes, which are fewer."""
_BOOLEANS: Final = (0, 1)
_MISSING: Final = frozenset({"NAType", "NaTType"})
"""The types of pandas' values for what is missing."""


def whole_columns(attributes: Iterable[Attribute]) -> frozenset[str]:
    """The columns in which a number is a whole number, those of attributes among them: texts and numbers."""
    sorts = (AttributeSort.TEXT, AttributeSort.NUMBER)
    return _WHOLE_COLUMNS.union(attribute.name for attribute in attributes if attribute.sort in sorts)


def widened(column: Column) -> Column:
    """A column of floats, each of 64 bits, with the same texts; any other as it is."""
    kind = column.type
    if arrow.types.is_dictionary(kind) and arrow.types.is_floating(kind.value_type):
        return widened(pc.cast(column, kind.value_type))
    if kind == arrow.float32():
        return pc.cast(pc.cast(column, arrow.string()), arrow.float64())
    if kind == arrow.float16():
        # Arrow writes all digits of these.
        values, place = np.unique(column.fill_null(0).to_numpy(), return_inverse=True)
        wide = np.array([float(str(value)) for value in values], np.float64)
        return arrow.chunked_array([arrow.array(wide[place], mask=column.is_null().to_numpy())])
    return column


def rounded(column: Column) -> tuple[int, str] | None:
    """The place of the first whole number of a column, or of a list in it, that a float of 16 or 32 bits may stand for
    by rounding only, and the float; None if there is none.
    """
    kind = column.type
    held = getattr(kind, "value_type", kind)
    if held not in (arrow.float16(), arrow.float32()):
        return None
    if arrow.types.is_dictionary(kind):
        return rounded(pc.cast(column, held))
    nested = held != kind
    floats = pc.list_flatten(column) if nested else column
    wide = pc.cast(floats, arrow.float64())
    large = pc.greater_equal(pc.abs(wide), _EXACT_BY_BYTES[held.bit_width // 8])
    place = pc.index(pc.and_(large, pc.is_finite(wide)), True).as_py()
    if place < 0:
        return None
    row = pc.list_parent_indices(column)[place].as_py() if nested else place
    return row, shown(wide[place].as_py())


def may_be_rounded(name: str, value: str) -> RowError:
    """What is wrong with a float that may have been a whole number, rounded."""
    return RowError(
        "T012",
        f"`{name}` is {value}, a float that may have been rounded",
        'keep the column whole, as pandas does with astype("Int64")',
    )


def exact_column(name: str, column: Column, whole_names: frozenset[str]) -> Column:
    """A column of floats as whole numbers, or as true and false, and of ids that are decimals without places, as ids.
    As it is, if a value of it is neither. `whole_names`: see `whole_columns`.
    """
    kind = column.type
    truths = name == "redelivered"
    if not (name in whole_names or truths):
        return column
    if arrow.types.is_decimal(kind) and kind.scale == 0 and name in ID_COLUMNS:
        return pc.cast(column, arrow.string())
    if truths and arrow.types.is_integer(kind):
        numbers = column
    elif arrow.types.is_floating(kind):
        floats = pc.cast(column, arrow.float64())
        numbers = pc.if_else(pc.is_nan(floats), arrow.scalar(None, arrow.float64()), floats)
        if pc.any(pc.greater_equal(pc.abs(numbers), EXACT)).as_py():
            return column
    else:
        return column
    try:
        whole = pc.cast(numbers, arrow.int64())
    except arrow.ArrowInvalid:
        return column
    if not truths:
        return whole
    within = pc.is_in(whole, value_set=arrow.array([*_BOOLEANS, None], arrow.int64()))
    return pc.cast(whole, arrow.bool_()) if pc.all(within).as_py() is not False else column


def exact_value(name: str, value: object, whole_names: frozenset[str]) -> Any:
    """The value of a column that a Python object of a data frame stands for; None for what is missing. `whole_names`:
    see `whole_columns`.

    Raises RowError for a float that may have been rounded.
    """
    if isinstance(value, np.ndarray):
        value = list(value) if _narrow(value.dtype) else value.tolist()
    elif isinstance(value, np.generic):
        bare = value.tolist()
        if _narrow(value.dtype):
            if name in whole_names and isfinite(bare) and abs(bare) >= _EXACT_BY_BYTES[value.dtype.itemsize]:
                raise may_be_rounded(name, shown(bare))
            bare = float(str(value))
        value = bare
    if type(value).__name__ in _MISSING:
        return None
    if name in ID_LIST_COLUMNS and isinstance(value, list | tuple):
        return [exact_value("entity", item, whole_names) for item in value]
    if name == "redelivered" and not isinstance(value, bool) and value in _BOOLEANS:
        return bool(value)
    if isinstance(value, float) and name != "time":
        return _exact(name, value, whole_names)
    return value


def _narrow(kind: np.dtype[Any]) -> bool:
    """Whether values of a type are floats of fewer than 64 bits."""
    return kind.kind == "f" and kind.itemsize in _EXACT_BY_BYTES


def _exact(name: str, value: float, whole_names: frozenset[str]) -> object:
    if isnan(value):
        return None
    if name not in whole_names or not value.is_integer():
        return value
    if abs(value) >= EXACT:
        raise may_be_rounded(name, shown(value))
    return int(value)
