"""`precedes.load_library`, `names` and `explain`: definitions of your own, what there is, and what it says."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from precedes.jobs.check import library_with

if TYPE_CHECKING:
    from precedes.language.library import Library


def load_library(*paths: str | os.PathLike[str]) -> Library:
    """Load the standard library, and the predicates and services of your own .prec files.

    Args:
        paths: .prec files, or directories that have some. Without any, the result is the standard library.

    Returns:
        A library to give to the other functions as `library=`. It is immutable.

    Raises:
        PrecedesError: A file cannot be read, has a mistake, or defines a name that another one defines, too.
    """
    return library_with([os.fspath(path) for path in paths])


def names(*, library: Library | None = None) -> list[dict[str, Any]]:
    """List the predicates, services, profiles of brokers and protocol models that can be named.

    Args:
        library: Whose names are listed; the standard library unless given.

    Returns:
        A row for each: kind (`"predicate"`, `"service"`, `"profile"`, `"model"`), name, parameters, mode, title,
            source. A row of a model has its kind and its name only; the rest is None.

    Example:
        >>> [row["name"] for row in precedes.names() if row["kind"] == "service"][:3]
        ['1C', 'PO', 'TO']
    """
    from precedes.protocol.catalog import installed
    from precedes.reports.names import beside_promised, named, promised

    known = library_with(()) if library is None else library
    rows: list[dict[str, Any]] = [
        {
            "kind": kind or each.kind.value,
            "name": each.name,
            "parameters": each.parameters,
            "mode": each.mode,
            "title": each.title,
            "source": each.source,
        }
        for kind, entries in ((None, named(known)), ("profile", promised()), (None, beside_promised()))
        for each in entries
    ]
    nothing = {"parameters": None, "mode": None, "title": None, "source": None}
    return rows + [{"kind": "model", "name": name, **nothing} for name in installed()]


def explain(what: str | None = None, *, library: Library | None = None) -> str:
    """Explain a code, a predicate, a service or the profile of a broker.

    Args:
        what: A code of a message, as `"T102"`, or a name, as `"ST"` or `"kafka-partition"`. Without it, all codes are
            listed.
        library: Where names are looked up; the standard library unless given.

    Returns:
        For a code: what it means, why you see it, and what to do. For a name: what it asks, its source, what a trace
        needs for it, and what it implies.

    Raises:
        PrecedesError: There is no such code or name.
    """
    from precedes.reports.error_codes import explained, is_code, listed

    if what is None:
        return listed()
    if is_code(what):
        return explained(what)
    from precedes.reports.definitions import defined

    return defined(what, library_with(()) if library is None else library)
