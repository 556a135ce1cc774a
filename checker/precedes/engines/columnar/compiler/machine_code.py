"""Generated text made callable: as plain Python, or as machine code.

The text is kept in the user's cache directory under its hash, so that numba finds again what it compiled
from it. Where that cannot be written, everything is compiled anew.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from pickle import UnpicklingError
from types import FunctionType, ModuleType
from typing import Any, Final

from precedes.core.cache_directory import cache_directory
from precedes.engines.columnar.compiler.execution_tables import RUNTIME
from precedes.engines.columnar.compiler.functions import Generated

COLUMN_TYPES: Final = {
    "entity_offsets": "int64",
    "message_offsets": "int64",
    "unknown": "int32",
    "sender": "int32",
    "send_logged": "bool",
    "send_position": "int32",
    "send_time": "int64",
    "to_all": "bool",
    "destination_offsets": "int64",
    "destinations": "int32",
    "sent_offsets": "int64",
    "sent": "int32",
    "delivered_offsets": "int64",
    "delivered": "int32",
    "delivered_time": "int64",
    "repeated": "bool",
    "faulty": "bool",
    "unsure_stops": "bool",
    "history_doubt": "int32",
    "order_doubt": "int32",
    "edge_offsets": "int64",
    "edge_earlier": "int64",
    "event_own": "int64",
    "event_offsets": "int64",
    "event_kind": "int8",
    "event_message": "int32",
    "event_time": "int64",
    "clock_recorded": "bool",
    "clock_offsets": "int64",
    "clock_entities": "int32",
    "clock_counts": "int64",
}
"""The element types of the columns that generated code reads; local numbers looked up by name are int32."""


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _loaded(text: str, path: str, names: dict[str, Any]) -> Callable[..., Any]:
    """The function of the text."""
    exec(compile(text, path, "exec"), names)  # noqa: S102 - the text was generated here
    scan: Callable[..., Any] = names["scan"]
    return scan


def plain(generated: Generated) -> Callable[..., Any]:
    """The function as plain Python, over lists, which are read several times faster than arrays."""
    return _loaded(generated.text, "<precedes formula>", {**_runtime_functions(), "jit": _as_it_is})


def jitted(generated: Generated) -> Callable[..., None]:
    """The function that judges a batch, as machine code, over arrays.

    The columns that it reads may be read-only. There is one signature, so that the cache has one entry.
    """
    return _machine_code(generated, "v:nn", "ILLII")


def jitted_enumeration(generated: Generated) -> Callable[..., int]:
    """The function that goes through what a clause is false of, likewise."""
    return _machine_code(generated, "n:nnn", "I")


def _machine_code(generated: Generated, first: str, last: str) -> Callable[..., Any]:
    """`first`: the letters of the result and of the first arguments, `last` those of the columns that are written.

    The letters are those of `kernels.machine_code`.
    """
    import numba
    from numba.core import types

    def column(name: str) -> Any:
        kind = COLUMN_TYPES.get(name, "int32")
        element = types.boolean if kind == "bool" else getattr(types, kind)
        return types.Array(element, 1, "C", readonly=True)

    written = {"I": types.Array(types.int32, 1, "C"), "L": types.Array(types.int64, 1, "C")}
    result, before = first.split(":")
    signature = {"v": types.void, "n": types.int64}[result](
        *[types.int64] * (len(before) + len(generated.scalars)),
        *map(column, generated.columns),
        *[written["I"]] * len(generated.scratch),
        *(written[letter] for letter in last),
    )
    path = kept(generated.text)
    # The function is part of a module, for numba looks that up when it reads its cache.
    module = ModuleType(f"precedes_formula_{_digest(generated.text)}")
    sys.modules[module.__name__] = module
    vars(module).update({**_jitted_runtime(), "jit": numba.njit, "__name__": module.__name__})
    return _cached(_loaded(generated.text, str(path or "<precedes formula>"), vars(module)), signature)


def _runtime_functions() -> dict[str, FunctionType]:
    """The functions of the modules in `RUNTIME`."""
    return {
        name: function
        for module in RUNTIME
        for name, function in vars(module).items()
        if isinstance(function, FunctionType)
    }


@cache
def _jitted_runtime() -> dict[str, Any]:
    """These functions for compiled code: each calls the compiled form of the others."""
    names: dict[str, Any] = {"__name__": RUNTIME[0].__name__}
    names |= {
        name: value for module in RUNTIME for name, value in vars(module).items() if isinstance(value, int)
    }
    for name, function in _runtime_functions().items():
        names[name] = _cached(FunctionType(function.__code__, names, name))
    return names


def _cached(function: Callable[..., Any], signature: Any = None) -> Callable[..., Any]:
    """The compiled function, kept on disk by numba where it finds a place."""
    import numba

    njit: Any = numba.njit
    compiled: Callable[..., Any]
    try:
        compiled = njit(signature, nogil=True, cache=True)(function)
    except (RuntimeError, OSError, ImportError, EOFError, UnpicklingError):
        # No place (code in an archive, a home that cannot be written), or what is there cannot be read.
        compiled = njit(signature, nogil=True)(function)
    return compiled


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


@cache
def _runtime_text() -> str:
    return "".join(map(inspect.getsource, RUNTIME))


def kept(text: str) -> Path | None:
    """The text as a file in the cache directory, which other processes may write too; None where none can be.

    Its name tells the text and that of `RUNTIME`: what numba keeps for the one has the code of the other in
    it.
    """
    name = f"formula_{_digest(_runtime_text() + text)}.py"
    folder = cache_directory()
    if folder is None:
        return None
    path = folder / name
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False) as file:
                file.write(text)
            Path(file.name).replace(path)
    except OSError:
        return None
    return path
