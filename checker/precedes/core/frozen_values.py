"""Frozen values and copies of them in which some fields differ, made faster than `dataclasses` makes them.

A frozen dataclass sets each field of a new value through `object.__setattr__`, which looks the field up by its name.
Here a new value sets its fields through the slots themselves. A copy is made as a value of a twin, a class with the
same fields that is not frozen, and then becomes one of its own class. Models make a new state in every step, and most
of its fields stay.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeAlias, TypeVar

_T = TypeVar("_T")
_Copy: TypeAlias = Callable[[Any, dict[str, Any]], Any]
_COPIES: Final[dict[tuple[type | str, ...], _Copy]] = {}
"""What copies the values of a class, by the class and the fields that differ."""


def made_by_slots(of: type[_T]) -> type[_T]:
    """A frozen dataclass with `slots=True` whose `__init__` takes half as long: a decorator that stands before the one
    of `dataclasses`, for classes of which hundreds of thousands of values are made.

    Raises:
        TypeError: not only the values of its fields make a value, or a default is made anew for each.
    """
    fields = dataclasses.fields(of)  # type: ignore[arg-type]
    plain = all(one.init and not one.kw_only and one.default_factory is dataclasses.MISSING for one in fields)
    if not plain or "__slots__" not in vars(of) or hasattr(of, "__post_init__"):
        raise TypeError(f"{of.__name__} has other fields than slots that are given one after the other")
    defaults = tuple(one.default for one in fields if one.default is not dataclasses.MISSING)
    names = [one.name for one in fields]
    setters = {f"set_{name}": getattr(of, name).__set__ for name in names}
    lines = [f"def __init__(self, {', '.join(names)}):", *(f"    set_{name}(self, {name})" for name in names)]
    made: dict[str, Any] = {}
    exec("\n".join(lines), setters, made)  # noqa: S102 - of names of fields, as dataclasses does it
    made["__init__"].__defaults__ = defaults
    made["__init__"].__annotations__ = of.__init__.__annotations__
    made["__init__"].__qualname__ = f"{of.__qualname__}.__init__"
    of.__init__ = made["__init__"]  # type: ignore[method-assign]
    return of


def replace(value: _T, /, **changes: Any) -> _T:
    """A copy of a dataclass in which some fields differ, as `dataclasses.replace` makes it.

    It is faster for a class with `slots=True` that has no `__post_init__` and no parent with fields.

    Raises:
        TypeError: it has no such field, or is no dataclass.
    """
    of: type = type(value)
    copy = _COPIES.get((of, *changes))
    if copy is None:
        copy = _COPIES[of, *changes] = _copying(of, tuple(changes))
    copied: _T = copy(value, changes)
    return copied


def _copying(of: type, differing: tuple[str, ...]) -> _Copy:
    """What copies the values of a class in which these fields differ."""
    twin = _twin(of)
    if twin is None:
        return lambda value, changes: dataclasses.replace(value, **changes)
    names = twin.__slots__
    if not set(differing) <= set(names):
        raise TypeError(f"{of.__name__} has no field {', '.join(sorted(set(differing) - set(names)))}")
    given = {name: f"changes[{name!r}]" if name in differing else f"value.{name}" for name in names}
    lines = [
        "def copied(value, changes):",
        "    copy = new(twin)",
        *(f"    copy.{name} = {field}" for name, field in given.items()),
        "    copy.__class__ = of",
        "    return copy",
    ]
    made: dict[str, Any] = {"of": of, "twin": twin, "new": object.__new__}
    exec("\n".join(lines), made)  # noqa: S102 - of names of fields, as dataclasses does it
    copying: _Copy = made["copied"]
    return copying


@cache
def _twin(of: type) -> Any | None:
    """A class with the fields of a frozen class that is not frozen. None: only the class itself knows how a value is
    made, or it has fields elsewhere.
    """
    if not dataclasses.is_dataclass(of) or "__slots__" not in vars(of):
        return None
    if hasattr(of, "__post_init__") or of.__new__ is not object.__new__ or not of.__dataclass_params__.init:  # type: ignore[attr-defined]
        return None
    fields = dataclasses.fields(of)
    names = [field.name for field in fields]
    if not all(field.init for field in fields):
        return None
    twin = dataclasses.make_dataclass(of.__name__, names, slots=True)
    try:
        twin(*names).__class__ = of
    except TypeError:
        return None
    return twin
