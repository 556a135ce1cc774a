"""Functions of the subset of Python that numba compiles, as machine code that is kept beside their source.

What is kept has the code of the functions that it calls in it. numba looks at the function's own file only, so the key
under which it is kept also tells the text of theirs: else old code would judge after they have changed.

The types of the machine code are those of the annotations: `int` and `bool` are numbers, an array is one that is only
read, or one of `Written` if it is also written, and a named tuple is a tuple of these, or its address (`by_address`).
There is one signature, so that code is compiled once and the cache has one entry.
"""

from __future__ import annotations

import dis
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pickle import UnpicklingError
from types import FunctionType, ModuleType
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from precedes.native.kept_objects import kept_or_made
from precedes.native.loaded_code import LoadedCode, Taker, address_of, array_of, number, truth, tuple_of
from precedes.native.prefetching import prefetch


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


_Tuple = TypeVar("_Tuple", bound=type[tuple[Any, ...]])
_BY_ADDRESS: Final[set[type]] = set()
_LOADED: Final[set[Callable[..., Any]]] = set()
_Helper = TypeVar("_Helper", bound=Callable[..., Any])
_INLINED: Final[set[Callable[..., Any]]] = set()


def by_address(tuple_type: _Tuple) -> _Tuple:
    """Let machine code take a named tuple by its address. For one of many arrays, which is handed on often."""
    _BY_ADDRESS.add(tuple_type)
    return tuple_type


def inlined(helper: _Helper) -> _Helper:
    """Let machine code have a function in each place that calls it, also one that takes a tuple by its address. For a
    short one that is called for each byte or cell: a call takes longer than what it does.
    """
    _INLINED.add(helper)
    return helper


def load_llvm() -> None:
    """Load what loads machine code. For who will need it in any case, before others ask whether it is there."""
    import llvmlite.binding  # noqa: F401


def llvm_is_loaded() -> bool:
    """Whether that is loaded, so that machine code costs no more than its own loading."""
    return "llvmlite.binding" in sys.modules


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array, contiguous, as one that is only read."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


@cache
def machine_code(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as machine code. It releases the GIL."""
    hints = get_type_hints(function, include_extras=True)
    returned = hints.pop("return")
    made = loaded(
        function,
        list(hints.values()),
        returned,
        _text_behind(function),
        lambda: (_calling_machine_code(function), makes_arrays(function)),
    )
    _LOADED.add(function)
    return made


def is_loaded(function: Callable[..., Any]) -> bool:
    """Whether this process has the function as machine code already."""
    return function in _LOADED


@cache
def _called(helper: FunctionType) -> Callable[..., Any]:
    """A function as what machine code calls, compiled for the types that it is called with.

    It is kept by itself, so that the next function that calls it does not compile it again. It is inlined, so that no
    tuple is handed on in parts; LLVM decides where none is.
    """
    if helper is prefetch:
        from precedes.native.prefetch_instruction import prefetch_instruction

        asked: Callable[..., Any] = prefetch_instruction
        return asked
    counted = makes_arrays(helper)
    by_address = not _BY_ADDRESS.isdisjoint(get_type_hints(helper).values())
    always = not counted and (helper in _INLINED or not by_address)
    function = _calling_machine_code(helper)
    return compiled(function, _text_behind(helper), counted=counted, inlined=always)


def _calling_machine_code(function: Callable[..., Any]) -> FunctionType:
    """The function, which finds machine code under the names of those that it calls."""
    assert isinstance(function, FunctionType)
    called = {name: _called(callee) for name, callee in _callees(function).items()}
    return FunctionType(function.__code__, function.__globals__ | called, function.__name__)


def loaded(
    function: Callable[..., Any],
    parameters: Sequence[Any],
    returned: Any,
    behind: str,
    compilable: Callable[[], tuple[Callable[..., Any], bool]],
) -> LoadedCode:
    """A function as machine code: as it is kept, or compiled now.

    `parameters` and `returned` are annotations. `behind` tells the text of everything that is compiled into it.
    `compilable` is asked where nothing is kept: for the function as numba compiles it, and whether it makes arrays.
    """
    assert isinstance(function, FunctionType)

    def make() -> bytes:
        from precedes.native.entry_compiler import object_code

        called, counted = compilable()
        signature = machine_type(returned)(*map(machine_type, parameters))
        made: Any = compiled(called, behind, counted=counted)
        made.compile(signature)
        code: bytes = object_code(made.overloads[signature.args])
        return code

    code = kept_or_made(function, behind, make)
    return LoadedCode(function.__name__, code, [_taker(each) for each in parameters], returned)


def _taker(hint: Any) -> Taker:
    """What lays out an argument for machine code, by its annotation."""
    if hint is int:
        return number
    if hint is bool:
        return truth
    if isinstance(hint, type) and issubclass(hint, tuple):
        fields = [_taker(field) for field in get_type_hints(hint, include_extras=True).values()]
        return address_of(fields) if hint in _BY_ADDRESS else tuple_of(fields)
    written = None
    if get_origin(hint) is Annotated:
        hint, written = get_args(hint)
    return array_of(
        element_type(hint), 1 if written is None else written.dimensions, written=written is not None
    )


def compiled(
    function: Callable[..., Any], behind: str, *, counted: bool, inlined: bool = False
) -> Callable[..., Any]:
    """A function as what machine code calls, kept where numba finds a place for it, and compiled when it is called.

    `behind` tells the text of everything that is compiled into it. `counted`: it makes arrays, so that numba counts who
    has them. `inlined`: it becomes part of what calls it, always.
    """
    import numba

    from precedes.native.helper_compiler import HelperCompiler

    njit: Any = numba.njit  # its types do not know of `_nrt`
    made = njit(
        nogil=True,
        _nrt=counted,
        # Neither Python nor C calls it: the ways in for these would be compiled, too.
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        forceinline=inlined,
        pipeline_class=HelperCompiler,
    )(function)
    # There is no place where code is in an archive, or the home cannot be written.
    with suppress(RuntimeError):
        made._cache = _place(function, behind)
    result: Callable[..., Any] = made
    return result


def _place(function: Callable[..., Any], behind: str) -> Any:
    """Where the machine code of a function is kept. What cannot be read there is made again.

    Raises:
        RuntimeError: there is no such place.
    """
    from numba.core import caching

    kept: Any = caching.FunctionCache

    class KeyedCache(kept):  # type: ignore[misc]
        def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
            return (*super()._index_key(sig, codegen), behind)

        @contextmanager
        def _guard_against_spurious_io_errors(self) -> Iterator[None]:
            try:
                yield
            except (ImportError, AttributeError, EOFError, UnpicklingError):
                # It was damaged, or another version left it, and would be read again whenever something is kept.
                with suppress(OSError):
                    self.flush()
            except OSError:
                pass

    return KeyedCache(function)


def _text_behind(function: Callable[..., Any]) -> str:
    """A digest of the modules of a function, of those that it calls and of its tuples, and of the numbers that all of
    these functions compute with: numba takes the numbers of a module for constants, wherever they come from.
    """
    functions: tuple[Callable[..., Any], ...] = (function, *helpers(function))
    modules = {one.__module__ for one in (*functions, *get_type_hints(function).values())}
    modules -= {"builtins", "numpy", "typing"}
    return digest("".join((*map(module_text, sorted(modules)), *map(numbers_in, functions))))


def numbers_in(function: Callable[..., Any]) -> str:
    """The numbers, texts and arrays that a function has by names of its module, or of a module that it names."""
    assert isinstance(function, FunctionType)
    named = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    for module in [each for each in named.values() if isinstance(each, ModuleType)]:
        named |= {name: vars(module).get(name) for name in function.__code__.co_names if name in vars(module)}
    numbers = {
        name: value.tobytes() if isinstance(value, np.ndarray) else value
        for name, value in named.items()
        if isinstance(value, int | float | str | bytes | tuple | np.generic | np.ndarray)
    }
    return f"{function.__qualname__} {numbers}"


@cache
def module_text(name: str) -> str:
    """The source of a module."""
    return inspect.getsource(import_module(name))


def digest(text: str) -> str:
    """What tells one text from another."""
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def makes_arrays(function: Callable[..., Any]) -> bool:
    """Whether a function or one of its helpers makes arrays."""
    return not names_used(function).isdisjoint({"empty", "zeros", "full", "copy"})


@cache
def helpers(function: Callable[..., Any]) -> tuple[FunctionType, ...]:
    """The functions that a function calls, directly or not, callees first."""
    found: dict[FunctionType, None] = {}
    for callee in _callees(function).values():
        found |= dict.fromkeys((*helpers(callee), callee))
    return tuple(found)


@cache
def _callees(function: Callable[..., Any]) -> dict[str, FunctionType]:
    """The functions that a function calls itself, by their names in its module."""
    assert isinstance(function, FunctionType)
    values = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    functions = {name: value for name, value in values.items() if isinstance(value, FunctionType)}
    if not functions:
        return {}
    # Names of fields are among them, and a field may be called as a function is.
    loaded = {each.argval for each in dis.get_instructions(function) if each.opname == "LOAD_GLOBAL"}
    return {name: value for name, value in functions.items() if name in loaded}


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
        whole = tuple_of([machine_type(field) for field in fields.values()], hint)
        if hint in _BY_ADDRESS:
            from precedes.native.tuple_address import address_type

            return address_type(hint, whole)
        return whole
    written = None
    if get_origin(hint) is Annotated:
        hint, written = get_args(hint)
    element = from_dtype(np.dtype(element_type(hint)))
    return types.Array(element, 1 if written is None else written.dimensions, "C", readonly=written is None)


def element_type(array: Any) -> Any:
    """The type of the elements of an array by its annotation."""
    return get_args(get_args(array)[1])[0]
