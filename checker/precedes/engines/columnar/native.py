"""Functions of the subset of Python that numba compiles, as machine code that is kept beside their source.

The types of the machine code are those of the annotations: `int` and `bool` are numbers, an array is one that is only
read, or one of `Written` if it is also written, and a named tuple is a tuple of these. There is one signature, so that
code is compiled once and the cache has one entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Written:
    """A mark of arrays that are written, and how many dimensions they have."""

    dimensions: int = 1


Int32Out = Annotated[npt.NDArray[np.int32], Written()]
Int64Out = Annotated[npt.NDArray[np.int64], Written()]
Int8Out = Annotated[npt.NDArray[np.int8], Written()]
UInt32Out = Annotated[npt.NDArray[np.uint32], Written()]
BoolOut = Annotated[npt.NDArray[np.bool_], Written()]
MatrixOut = Annotated[npt.NDArray[np.int32], Written(2)]


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array, contiguous, as one that is only read."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


@cache
def machine_code(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as machine code. It releases the GIL."""
    import numba

    njit: Any = numba.njit  # its types do not know of `_nrt`
    for helper in helpers(function):
        _callable(helper)
    hints = get_type_hints(function, include_extras=True)
    counted = makes_arrays(function)
    signature = machine_type(hints.pop("return"))(*map(machine_type, hints.values()))
    try:
        compiled: Callable[..., Any] = njit(signature, nogil=True, cache=True, _nrt=counted)(function)
    except RuntimeError:
        # numba has nowhere to keep a cache: code in an archive, a home that cannot be written.
        compiled = njit(signature, nogil=True, _nrt=counted)(function)
    return compiled


@cache
def _callable(helper: Callable[..., Any]) -> None:
    """Let machine code call a function. What makes no arrays need not count who has them."""
    from numba.extending import register_jitable

    counted = makes_arrays(helper)
    register_jitable(_nrt=counted, forceinline=not counted)(helper)


def makes_arrays(function: Callable[..., Any]) -> bool:
    """Whether a function or one of its helpers makes arrays."""
    return not names_used(function).isdisjoint({"empty", "zeros", "full", "copy"})


@cache
def helpers(function: Callable[..., Any]) -> tuple[FunctionType, ...]:
    """The functions that a function calls, directly or not, callees first."""
    assert isinstance(function, FunctionType)
    found: dict[FunctionType, None] = {}
    for name in function.__code__.co_names:
        callee = function.__globals__.get(name)
        if isinstance(callee, FunctionType):
            found |= dict.fromkeys((*helpers(callee), callee))
    return tuple(found)


def names_used(function: Callable[..., Any]) -> frozenset[str]:
    """The names of all that a function and its helpers use: of values of a module, and of fields of tuples."""
    assert isinstance(function, FunctionType)
    return frozenset(name for one in (function, *helpers(function)) for name in one.__code__.co_names)


def machine_type(hint: Any) -> Any:
    """The type that numba has for an annotation."""
    from numba import from_dtype
    from numba.core import types

    tuple_of: Any = types.BaseTuple.from_types
    numbers: dict[Any, Any] = {
        int: types.int64,
        bool: types.boolean,
        type(None): types.void,
        None: types.void,
    }
    if hint in numbers:
        return numbers[hint]
    if isinstance(hint, type) and issubclass(hint, tuple):
        fields = get_type_hints(hint, include_extras=True)
        return tuple_of([machine_type(field) for field in fields.values()], hint)
    written = None
    if get_origin(hint) is Annotated:
        hint, written = get_args(hint)
    element = from_dtype(np.dtype(element_type(hint)))
    return types.Array(element, 1 if written is None else written.dimensions, "C", readonly=written is None)


def element_type(array: Any) -> Any:
    """The type of the elements of an array by its annotation."""
    return get_args(get_args(array)[1])[0]
