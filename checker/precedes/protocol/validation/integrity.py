"""Whether a model changed the program that judges it.

A model is Python code in the process of its judge, so it can replace parts of the judge, by mistake or on
purpose. This module compares the functions and classes of the judge before the model is read with those after
the model was judged. It finds replaced functions and classes, but it is not a sandbox: docs/gate.md says what
a reviewer must check.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any, Final

from precedes.core.diagnostics import Diagnostic, PrecedesError

EXPLORING: Final = ("precedes.protocol.exploration.explorer",)
JUDGES: Final = (*EXPLORING, "precedes.protocol.simulation.simulator", "precedes.engines.scan.partials")
"""What is loaded before a model is, with all that it imports, so that what is compared is theirs."""
COMPARED: Final = (FunctionType, property, classmethod, staticmethod, type)


class Integrity:
    """The program as it is now; to be made before a model is read.

    `judges` are the modules that judge it. What an exploration does not need takes a quarter of a second to load.
    """

    def __init__(self, judges: Sequence[str] = JUDGES) -> None:
        for judge in judges:
            importlib.import_module(judge)
        self._before = dict(_parts())

    def verify(self, about: str) -> None:
        """PrecedesError M016 for the first part that was replaced."""
        now = dict(_parts())
        for name, part in self._before.items():
            if now.get(name) != part:
                said = f"no verdict on {about}: the model changed {name}, which judges it"
                hint = "a model defines its own classes and functions, and leaves those of others as they are"
                raise PrecedesError((Diagnostic("M016", said, hint=hint),))


def _parts() -> Iterator[tuple[str, tuple[int, ...]]]:
    """What can be replaced, by its name, and what it is."""
    modules = [module for name, module in sorted(sys.modules.items()) if name.partition(".")[0] == "precedes"]
    for module in (builtins, *modules):
        yield from _of(module.__name__, vars(module), module)


def _of(name: str, namespace: Mapping[str, Any], module: ModuleType) -> Iterator[tuple[str, tuple[int, ...]]]:
    for key, value in namespace.items():
        if isinstance(value, COMPARED) or callable(value):
            yield f"{name}.{key}", _identity(value)
        if isinstance(value, type) and value.__module__ == module.__name__ and module is not builtins:
            yield from _of_class(f"{name}.{key}", value)


def _of_class(name: str, owner: type) -> Iterator[tuple[str, tuple[int, ...]]]:
    for key, value in vars(owner).items():
        if isinstance(value, COMPARED):
            yield f"{name}.{key}", _identity(value)


def _identity(value: Any) -> tuple[int, ...]:
    """What is another number exactly if the part was replaced, or its code was."""
    if isinstance(value, FunctionType):
        return id(value), id(value.__code__)
    if isinstance(value, property):
        inner: tuple[Any, ...] = (value.fget, value.fset)
    elif isinstance(value, (classmethod, staticmethod)):
        inner = (value.__func__,)
    else:
        return (id(value),)
    return (id(value), *(id(part.__code__) for part in inner if isinstance(part, FunctionType)))
