"""What data frames make of whole numbers and of true and false if values are missing, made exact again.

In pandas such a column becomes floats, with NaN for what is missing, or a mixture of Python objects. A float that is
exactly a whole number stands for it. Every other value stays as it is, so that its row is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from typing import Any, Final

from precedes.core.formula import Attribute, AttributeSort
from precedes.traces.arrow import Column, arrow, pc
from precedes.traces.formats.values import RowError, shown
from precedes.traces.schema import ID_COLUMNS, ID_LIST_COLUMNS

_WHOLE_COLUMNS: Final = frozenset({*ID_COLUMNS, "seq", "group"})
"""The columns in which a number is a whole number."""
EXACT: Final = 2**53
"""Above this, a float may be another whole number, rounded."""
_BOOLEANS: Final = (0, 1)
_MISSING: Final = frozenset({"NAType", "NaTType"})
"""The types of pandas' values for what is missing."""


def whole_columns(attributes: Iterable[Attribute]) -> frozenset[str]:
    """The columns in which a number is a whole number, those of attributes among them: texts and numbers."""
    sorts = (AttributeSort.TEXT, AttributeSort.NUMBER)
    return _WHOLE_COLUMNS.union(attribute.name for attribute in attributes if attribute.sort in sorts)


def exact_column(name: str, column: Column, whole_names: frozenset[str]) -> Column:
    """A column of floats as whole numbers, or as true and false. As it is, if a value of it is neither. `whole_names`:
    see `whole_columns`.
    """
    kind = column.type
    truths = name == "redelivered"
    if not (name in whole_names or truths):
        return column
    if truths and arrow.types.is_integer(kind):
        numbers = column
    elif arrow.types.is_floating(kind):
        floats = pc.cast(column, arrow.float64())
        numbers = pc.if_else(pc.is_nan(floats), arrow.scalar(None, arrow.float64()), floats)
        if pc.any(pc.greater(pc.abs(numbers), EXACT)).as_py():
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
    if type(value).__module__.partition(".")[0] == "numpy":
        value = value.tolist()  # type: ignore[attr-defined]
    if type(value).__name__ in _MISSING:
        return None
    if name in ID_LIST_COLUMNS and isinstance(value, list | tuple):
        return [exact_value("entity", item, whole_names) for item in value]
    if name == "redelivered" and not isinstance(value, bool) and value in _BOOLEANS:
        return bool(value)
    if isinstance(value, float) and name != "time":
        return _exact(name, value, whole_names)
    return value


def _exact(name: str, value: float, whole_names: frozenset[str]) -> object:
    if isnan(value):
        return None
    if name not in whole_names or not value.is_integer():
        return value
    if abs(value) > EXACT:
        raise RowError(
            "T012",
            f"`{name}` is {shown(value)}, a float that may have been rounded",
            'keep the column whole, as pandas does with astype("Int64")',
        )
    return int(value)
