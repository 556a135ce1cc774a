"""Models by the name under which they are installed, or from a file of the user."""

from __future__ import annotations

import enum
import importlib.util
import inspect
import sys
import traceback
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Final, TypeAlias

from precedes.core.diagnostics import Diagnostic, PrecedesError, usage
from precedes.core.suggestions import did_you_mean
from precedes.protocol.model import Protocol
from precedes.protocol.validation import declarations

GROUP: Final = "precedes.models"
"""The entry point group under which models are installed."""


_helpers: list[str] = []
"""Modules that stand beside the file that was read last and were imported by it."""


def installed() -> Mapping[str, EntryPoint]:
    """The installed models by name, in the order of their names."""
    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


Model: TypeAlias = str | type[Protocol[Any]] | Protocol[Any]
"""A model: the name under which it is installed, a Python file, a class, or an instance."""


def models(
    model: Model, *, as_written: bool = False, parameters: Mapping[str, object] | None = None
) -> tuple[Protocol[Any], ...]:
    """What a model runs as: with `parameters` (by field; text is read as the field's type) the one instance that they
    make, otherwise the instances that the model names. An instance is taken as it is.

    PrecedesError: M001 no such model, M002 a file without one or with several, M003 a file that cannot be run, M004 a
    parameter that it has not, or with a value that does not fit, M012 a declaration of the wrong kind.
    """
    if isinstance(model, Protocol):
        found: tuple[Protocol[Any], ...] = (model,)
    else:
        found = _instances(_class(model) if isinstance(model, str) else model, as_written, parameters)
    for protocol in found:
        declarations.check(protocol)
    return found


def model(
    name: str, *, as_written: bool = False, parameters: Mapping[str, str] | None = None
) -> Protocol[Any]:
    """The model, or the first of its instances."""
    return models(name, as_written=as_written, parameters=parameters)[0]


@dataclass(frozen=True, slots=True)
class Named:
    """A model by its name or file, as it was typed: what another process can load for itself."""

    model: str
    as_written: bool = False
    parameters: tuple[tuple[str, str], ...] = ()

    def load(self) -> tuple[Protocol[Any], ...]:
        """The instances; PrecedesError M001 to M004 and M012."""
        return models(self.model, as_written=self.as_written, parameters=dict(self.parameters))


@dataclass(frozen=True, slots=True)
class Given:
    """Instances of a model that stand in an importable module."""

    protocols: tuple[Protocol[Any], ...]

    def load(self) -> tuple[Protocol[Any], ...]:
        """The instances."""
        return self.protocols

    def refuse_unreachable(self) -> None:
        """PrecedesError U001 for a class that another process cannot import."""
        for kind in map(type, self.protocols):
            if "<locals>" in kind.__qualname__ or not _is_importable(kind.__module__):
                hint = "let it stand in a module that can be imported, or name its file instead"
                raise usage(f"another process cannot load {kind.__name__} of {kind.__module__}", hint)


def _is_importable(module: str) -> bool:
    try:
        return module != "__main__" and importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _instances(
    protocol: type[Protocol[Any]], as_written: bool, parameters: Mapping[str, object] | None
) -> tuple[Protocol[Any], ...]:
    if as_written and not protocol.repaired:
        hint = "leave out `as-written`; a model with two forms says `repaired = True`"
        raise usage(f"{protocol.name} has one form", hint)
    if not parameters:
        return tuple(protocol.instances(as_written=as_written))
    given = {name: _value(protocol, name, value) for name, value in parameters.items()}
    try:
        return (protocol(as_written=as_written, **given),)
    except (TypeError, ValueError) as error:
        raise _error("M004", f"{protocol.name} cannot be created: {error}", _fields_hint(protocol)) from None


def _class(model: str) -> type[Protocol[Any]]:
    if model.endswith(".py") or "/" in model or Path(model).is_file():
        return _from_file(model)
    known = installed()
    point = known.get(model)
    if point is None:
        hint = did_you_mean(model, known) or f"installed are {', '.join(known) or 'none'}; or name a file"
        raise _error("M001", f"there is no model {model}", hint)
    try:
        loaded = point.load()
    except Exception as error:  # noqa: BLE001 - whatever a model's module raises is told as its mistake
        raise _error("M003", f"{model} cannot be loaded: {_said(error)}", f"it is {point.value}") from None
    if not _is_model(loaded):
        raise _error("M002", f"{model} is not a protocol", f"{point.value} must be a subclass of Protocol")
    checked: type[Protocol[Any]] = loaded
    return checked


def _from_file(path: str) -> type[Protocol[Any]]:
    file = Path(path)
    if not file.is_file():
        raise _error("M001", f"no such file: {path}")
    name = f"_precedes_model_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise _error("M003", f"{path} is not a Python file", "a model is written in a file named NAME.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(file.parent.resolve())
    sys.path.insert(0, folder)
    # Another file's helper may have the name of one here.
    for helper in _helpers:
        sys.modules.pop(helper, None)
    before = set(sys.modules)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a user's file raises is told as its mistake
        del sys.modules[name]
        raise _error("M003", f"{path} cannot be run: {_said(error, file)}") from None
    finally:
        sys.path.remove(folder)
        _helpers[:] = [name for name in sys.modules.keys() - before if _beside(file, name)]
    derived = [
        value for value in vars(module).values() if _derives(value) and value.__module__ == module.__name__
    ]
    found = [kind for kind in derived if _is_model(kind)]
    if len(found) != 1:
        raise _not_one(path, found or derived)
    protocol: type[Protocol[Any]] = found[0]
    if not hasattr(protocol, "name"):
        protocol.name = file.stem
    return protocol


def _beside(file: Path, module: str) -> bool:
    """Whether a module was found in the folder of a file, and not on the way that all modules are found."""
    there = file.parent.resolve().joinpath(*module.split("."))
    loaded = sys.modules[module]
    places = (getattr(loaded, "__file__", None), *getattr(loaded, "__path__", ()))
    return f"{there}.py" in places or str(there) in places


def _not_one(path: str, found: Sequence[type[Protocol[Any]]]) -> PrecedesError:
    """That a file has no protocol, or several. `found`: the several, or what is none because something is lacking."""
    if any(map(_is_model, found)):
        named = ", ".join(kind.__name__ for kind in found)
        hint = "a model's file has one class that derives from Protocol and defines everything that is abstract there"
        return _error("M002", f"{path} has {len(found)} protocols: {named}", hint)
    lacking = [f"{kind.__name__} does not define {', '.join(_abstract(kind))}" for kind in found]
    meant = (
        f"it defines {name}: {word}"
        for kind in found
        for name in vars(kind).keys() - vars(Protocol).keys()
        if (word := did_you_mean(name, _abstract(kind)))
    )
    hint = " ".join(sorted(meant)) or "a model's file has one class that derives from Protocol"
    return _error("M002", f"{path} has no protocol{': ' if lacking else ''}{'; '.join(lacking)}", hint)


def _abstract(kind: type[Protocol[Any]]) -> list[str]:
    """What a class would have to define: first what Protocol has, in its order."""
    lacking = kind.__abstractmethods__
    return [*(name for name in vars(Protocol) if name in lacking), *sorted(lacking - vars(Protocol).keys())]


def _derives(value: object) -> bool:
    return inspect.isclass(value) and issubclass(value, Protocol)


def _is_model(value: object) -> bool:
    return _derives(value) and not inspect.isabstract(value)


def _said(error: Exception | SystemExit, file: Path | None = None) -> str:
    where = ""
    if file is not None:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == file]
        line = error.lineno if isinstance(error, SyntaxError) else frames[-1].lineno if frames else None
        where = f" (line {line})" if line is not None else ""
    return f"{type(error).__name__}: {error}{where}"


def _value(protocol: type[Protocol[Any]], name: str, value: object) -> object:
    hints = typing.get_type_hints(protocol)
    known = [field.name for field in fields(protocol)]
    if name not in known:
        meant = did_you_mean(name, known)
        hint = " ".join(part for part in (meant, _fields_hint(protocol)) if part)
        raise _error("M004", f"{protocol.name} has no parameter {name}", hint)
    if not isinstance(value, str):
        return value
    try:
        return _read(hints[name], value)
    except (ValueError, KeyError):
        raise _error(
            "M004", f"{value} is not a value for {name} of {protocol.name}", _fields_hint(protocol)
        ) from None


def _read(kind: Any, text: str) -> object:
    """A value of a type from text; ValueError or KeyError where it does not fit."""
    arguments = typing.get_args(kind)
    origin = typing.get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        if type(None) in arguments and text.lower() in ("none", "unbounded"):
            return None
        return _read(next(a for a in arguments if a is not type(None)), text)
    if origin in (tuple, frozenset):
        return origin(_read(arguments[0], part) for part in text.split(",") if part)
    if origin is typing.Literal:
        return {str(value): value for value in arguments}[text]
    if kind is bool:
        return {"true": True, "yes": True, "false": False, "no": False}[text.lower()]
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return next((m for m in kind if m.name.lower() == text.lower()), None) or kind(text)
    if kind in (int, float, str, Fraction):
        made: object = kind(text)
        return made
    raise ValueError(text)


def _fields_hint(protocol: type[Protocol[Any]]) -> str:
    hints: Sequence[str] = [
        f"{field.name}: {field.type if isinstance(field.type, str) else field.type.__name__}"
        for field in fields(protocol)
        if field.name != "as_written"
    ]
    return f"its parameters are {', '.join(hints)}" if hints else "it has no parameters"


def _error(code: str, message: str, hint: str | None = None) -> PrecedesError:
    return PrecedesError((Diagnostic(code, message, hint=hint),))
