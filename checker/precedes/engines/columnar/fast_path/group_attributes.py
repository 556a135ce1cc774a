"""What the messages and events of a regular row group carry, from the columns that are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from precedes.core.columns import NO_ATTRIBUTES, NOT_RECORDED, Attributes, Int64, Names, of_carrier
from precedes.core.formula import Attribute, AttributeSort, Carrier
from precedes.native.codes import NO_VALUE
from precedes.native.compiled_functions import Int64Out, machine_code, read_only
from precedes.traces import TraceOptions
from precedes.traces.arrow import arrow
from precedes.traces.layout.columnar_file import Coded, ColumnarFile


def spread(
    execution: npt.NDArray[np.int32],
    message: npt.NDArray[np.int32],
    message_offsets: npt.NDArray[np.int64],
    recorded: npt.NDArray[np.int64],
    values: Int64Out,
) -> int:
    """Give messages what their rows record; how many rows record something."""
    count = 0
    for row in range(len(message)):
        if message[row] >= 0 and recorded[row] != NO_VALUE:
            values[message_offsets[execution[row]] + message[row]] = recorded[row]
            count += 1
    return count


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the rows of a regular row group, or some of them, record of the attributes that are asked for.

    `columns` has the values by row, of an attribute that no row has none. Texts are places in `texts`.
    """

    asked: tuple[Attribute, ...]
    columns: Mapping[Attribute, Int64]
    texts: Names

    def of_rows(self, chosen: Int64) -> Recorded:
        """The same of some rows."""
        return replace(self, columns={each: column[chosen] for each, column in self.columns.items()})

    def attributes(self, coded: Coded, message_offsets: Int64) -> Attributes:
        """What the messages and events of the rows carry; `message_offsets` are those of a batch of them.

        The rows of a message in a regular row group agree: any of them will do. And each row is an event, in its place.
        """
        if not self.asked:
            return NO_ATTRIBUTES
        of_messages, of_events = (of_carrier(self.asked, carrier) for carrier in Carrier)
        values = np.full((len(of_messages), int(message_offsets[-1])), NOT_RECORDED, np.int64)
        event_values = np.full((len(of_events), len(coded.message)), NOT_RECORDED, np.int64)
        rows = [read_only(column) for column in (coded.execution, coded.message, message_offsets)]
        for each, recorded in self.columns.items():
            if each.carrier is Carrier.EVENT:
                event_values[of_events.index(each)] = recorded
            else:
                machine_code(spread)(*rows, read_only(recorded), values[of_messages.index(each)])
        return Attributes(of_messages, values, self.texts, of_events, event_values)


def recorded_in(file: ColumnarFile, number: int, options: TraceOptions) -> Recorded:
    """What the rows of a row group record. Raises PrecedesError for values that cannot be read."""
    texts: dict[str, int] = {}
    columns: dict[Attribute, Int64] = {}
    for each in options.attributes:
        recorded = _recorded(file, number, each, texts)
        if recorded is not None:
            columns[each] = recorded
    known = np.empty(len(texts), np.object_)
    known[:] = list(texts)
    return Recorded(options.attributes, columns, known)


def _recorded(file: ColumnarFile, number: int, attribute: Attribute, texts: dict[str, int]) -> Int64 | None:
    """The value of an attribute in each row, or the place of its text in `texts`; None where no row has one."""
    column = file.attribute(number, attribute)
    if column is None:
        return None
    if attribute.sort is not AttributeSort.TEXT:
        numbers: Int64 = column.fill_null(arrow.scalar(NOT_RECORDED)).to_numpy()
        return numbers
    coded = column.combine_chunks().dictionary_encode()
    places = [texts.setdefault(text, len(texts)) for text in coded.dictionary.to_pylist()]
    lookup = np.array([*places, NOT_RECORDED], np.int64)
    found: Int64 = lookup[coded.indices.fill_null(arrow.scalar(-1, coded.indices.type)).to_numpy()]
    return found
