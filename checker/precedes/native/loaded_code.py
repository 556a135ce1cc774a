"""Object code that is loaded and called without numba.

LLVM's loader is a tenth of what numba takes to import, and needs half of the memory.
"""

from __future__ import annotations

import ctypes
import pickle
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

ENTRY: Final = "precedes_entry"
"""The name of the way in."""

_NOTHING: Final = ctypes.c_char * 0


@dataclass(slots=True)
class Given:
    """Arguments in cells of 8 bytes, and what must live as long as the call: the cells of tuples that are given by
    their address.
    """

    cells: list[int] = field(default_factory=list)
    tuples: list[array[int]] = field(default_factory=list)


Taker: TypeAlias = Callable[[Any, Given], None]
"""Lays an argument out in cells."""


class LoadedCode:
    """A function as machine code, which is called as the function is. It releases the GIL."""

    def __init__(self, name: str, code: bytes, takers: Sequence[Taker], returned: Any) -> None:
        """`returned`: `int`, `bool` or None.

        Raises:
            RuntimeError: the code cannot be loaded.
        """
        self._name, self._takers, self._returned = name, takers, returned
        self._engine = _engine_with(code)
        """As long as it is there, the code is."""
        signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
        self._way_in = signature(self._engine.get_function_address(ENTRY))

    def __call__(self, *arguments: Any) -> Any:
        """Call the function.

        Raises:
            TypeError: an argument is not what the function takes.
        """
        if len(arguments) != len(self._takers):
            raise TypeError(f"{self._name} takes {len(self._takers)} arguments, not {len(arguments)}")
        given = Given()
        for take, argument in zip(self._takers, arguments, strict=True):
            take(argument, given)
        cells, result = array("q", given.cells), array("q", [0, 0, 0])
        code = self._way_in(cells.buffer_info()[0], result.buffer_info()[0])
        if code:
            raise self._error(*result[1:])
        value = result[0]
        if self._returned is bool:
            return bool(value)
        return value if self._returned is int else None

    def _error(self, where: int, length: int) -> BaseException:
        """The error that a function raised: the compiler has written it into the code."""
        if not where:
            return SystemError(f"{self._name} failed, and does not say why")
        error, arguments, _ = pickle.loads(ctypes.string_at(where, length))  # noqa: S301 - it is part of the code
        made: BaseException = error(*(arguments or ()))
        return made


def _engine_with(code: bytes) -> Any:
    """What has loaded object code."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def number(value: Any, given: Given) -> None:
    """Lay out a whole number."""
    given.cells.append(index(value))


def truth(value: Any, given: Given) -> None:
    """Lay out a truth value."""
    given.cells.append(bool(value))


def array_of(element: npt.DTypeLike, dimensions: int, *, written: bool) -> Taker:
    """What lays out an array: nobody counts it; its size, that of an element, its address, its shape and strides."""
    dtype = np.dtype(element)
    size = dtype.itemsize

    def take(value: Any, given: Given) -> None:
        if (
            type(value) is not np.ndarray
            or value.dtype != dtype
            or value.ndim != dimensions
            or not value.flags.c_contiguous
        ):
            raise TypeError(
                f"this is no contiguous array of {dtype} of {dimensions} dimensions: {value!r:.80}"
            )
        # `ctypes.data` says the same and takes three times as long; the other refuses what cannot be written, too.
        buffer: Any = value
        address = ctypes.addressof(_NOTHING.from_buffer(buffer)) if written else buffer.ctypes.data
        given.cells += (0, 0, value.size, size, address, *value.shape, *value.strides)

    return take


def tuple_of(takers: Sequence[Taker]) -> Taker:
    """What lays out a tuple: its fields, one after the other."""

    def take(value: Any, given: Given) -> None:
        for each, part in zip(takers, value, strict=True):
            each(part, given)

    return take


def address_of(takers: Sequence[Taker]) -> Taker:
    """What lays out the address of a tuple, whose fields are in cells of their own."""
    fields = tuple_of(takers)

    def take(value: Any, given: Given) -> None:
        own = Given(tuples=given.tuples)
        fields(value, own)
        cells = array("q", own.cells)
        given.tuples.append(cells)
        given.cells.append(cells.buffer_info()[0])

    return take
