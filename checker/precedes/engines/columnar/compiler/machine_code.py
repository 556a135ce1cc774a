"""Generated text made callable: as plain Python, or as machine code.

The text is kept in the user's cache directory under its hash, so that numba finds again what it compiled
from it. Where that cannot be written, everything is compiled anew.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import cache
from itertools import chain
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from precedes.core.cache_directory import cache_directory
from precedes.engines.columnar import kernel_columns
from precedes.engines.columnar.compiler.execution_tables import RUNTIME
from precedes.engines.columnar.compiler.functions import Generated
from precedes.engines.columnar.kernel_columns import Columns, Int32, Int64
from precedes.native.compiled_functions import (
    Int32Out,
    Int64Out,
    compiled,
    digest,
    loaded,
    module_text,
    numbers_in,
)


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _loaded(text: str, path: str, names: dict[str, Any]) -> Callable[..., Any]:
    """The function of the text."""
    exec(compile(text, path, "exec"), names)  # noqa: S102 - the text was generated here
    scan: Callable[..., Any] = names["scan"]
    return scan


def plain(generated: Generated) -> Callable[..., Any]:
    """The function as plain Python, over lists, which are read several times faster than arrays."""
    names = {**_runtime_functions(), **_runtime_tuples(), "jit": _as_it_is}
    return _loaded(generated.text, "<precedes formula>", names)


def jitted(generated: Generated) -> Callable[..., None]:
    """The function that judges a batch, as machine code, over arrays.

    There is one signature, so that the cache has one entry.
    """
    return _machine_code(generated, None, 2, (Int32Out, Int64Out, Int64Out, Int32Out, Int32Out))


def jitted_enumeration(generated: Generated) -> Callable[..., int]:
    """The function that goes through what a clause is false of, likewise."""
    return _machine_code(generated, int, 3, (Int32Out,))


def _machine_code(
    generated: Generated, result: type[int] | None, numbers: int, outputs: tuple[Any, ...]
) -> Callable[..., Any]:
    """`numbers`: how many come first; `outputs`: the columns that are written, by their annotations."""
    carried = [Int64] * (len(generated.carried) + bool(generated.texts))
    written = [Int32Out] * len(generated.scratch)
    types = [int] * numbers, [Columns], [Int32] * len(generated.named), carried, written, outputs
    # The function is part of a module, for numba looks that up when it reads its cache.
    module = ModuleType(f"precedes_formula_{digest(generated.text)}")
    sys.modules[module.__name__] = module
    vars(module).update({**_runtime_tuples(), "jit": _as_it_is, "__name__": module.__name__})
    scan = _loaded(generated.text, str(kept(generated.text) or "<precedes formula>"), vars(module))

    def compilable() -> tuple[Callable[..., Any], bool]:
        import numba

        jit: Any = numba.njit
        vars(module).update({**_jitted_runtime(), "jit": jit(_nrt=False), "__name__": module.__name__})
        # What is called makes no arrays, so none are counted.
        return _loaded(generated.text, scan.__code__.co_filename, vars(module)), False

    return loaded(scan, list(chain(*types)), result, _behind(), compilable)


def _runtime_functions() -> dict[str, FunctionType]:
    """The functions of the modules in `RUNTIME`."""
    return {
        name: function
        for module in RUNTIME
        for name, function in vars(module).items()
        if isinstance(function, FunctionType)
    }


def _runtime_tuples() -> dict[str, type[tuple[Any, ...]]]:
    """The named tuples of these modules."""
    return {
        name: found
        for module in RUNTIME
        for name, found in vars(module).items()
        if isinstance(found, type) and issubclass(found, tuple)
    }


@cache
def _jitted_runtime() -> dict[str, Any]:
    """These functions for compiled code: each calls the compiled form of the others."""
    names: dict[str, Any] = {"__name__": RUNTIME[0].__name__}
    names |= {
        name: value for module in RUNTIME for name, value in vars(module).items() if isinstance(value, int)
    }
    names |= _runtime_tuples()
    for name, function in _runtime_functions().items():
        names[name] = compiled(FunctionType(function.__code__, names, name), _behind(), counted=False)
    return names


@cache
def _behind() -> str:
    """A digest of what is compiled into every formula."""
    modules = (*RUNTIME, kernel_columns)
    texts = [module_text(module.__name__) for module in modules]
    return digest("".join((*texts, *map(numbers_in, _runtime_functions().values()))))


def kept(text: str) -> Path | None:
    """The text as a file in the cache directory, which other processes may write too; None where none can be.

    Its name tells the text and that of `RUNTIME`: what numba keeps for the one has the code of the other in
    it.
    """
    name = f"formula_{digest(_behind() + text)}.py"
    folder = cache_directory()
    if folder is None:
        return None
    path = folder / name
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
                file.write(text.encode())
            Path(file.name).replace(path)
    except OSError:
        return None
    return path
