"""A search that met its limit, in a file from which it goes on.

The file has numbers and a header of text, and nothing else: no value of a model and no code. Of what handlers said it
has the questions, in their order. They are asked again, so that every state and packet gets the number that it had, and
what follows from the answers is read back. Whoever goes on from a file of somebody else runs the model that is named in
the command, and nothing from the file.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, TypeAlias
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.formula import Requirement
from precedes.core.version import VERSION
from precedes.protocol.bounds import Bounds
from precedes.protocol.invariants import Invariant
from precedes.protocol.model import Protocol

Kept: TypeAlias = dict[str, npt.NDArray[Any]]
"""Arrays by name. What is no array is in `header`, as JSON."""

FORMAT: Final = 4
LIMITS: Final = frozenset({"depth", "seconds", "states", "megabytes"})
"""The bounds that may differ when a search goes on."""


def question(
    protocol: Protocol[Any],
    bounds: Bounds,
    requirements: Iterable[Requirement],
    invariants: Iterable[Invariant],
    options: Mapping[str, object],
) -> str:
    """A digest of what is explored and asked, limits left out."""
    file = getattr(sys.modules.get(type(protocol).__module__), "__file__", None)
    said = (
        f"{VERSION} {FORMAT} {type(protocol).__qualname__} {sorted(protocol.parameters().items())!r}",
        "" if file is None else Path(file).read_text(encoding="utf-8"),
        *(
            f"{field.name}={getattr(bounds, field.name)!r}"
            for field in fields(bounds)
            if field.name not in LIMITS
        ),
        *(f"{each.name}: {each.formula!r}" for each in requirements),
        *(each.name for each in invariants),
        repr(sorted(options.items())),
    )
    return hashlib.sha256("\0".join(said).encode()).hexdigest()


def write(path: Path, asked: str, kept: Kept, header: Mapping[str, Any]) -> None:
    """Write what a search needs to go on. The file is there as a whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    text = json.dumps({"format": FORMAT, "question": asked, **header}).encode()
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
        try:
            np.savez(file, allow_pickle=False, header=np.frombuffer(text, np.uint8), **kept)
        except BaseException:
            Path(file.name).unlink()
            raise
    Path(file.name).replace(path)


def read(path: Path, asked: str) -> tuple[Kept, dict[str, Any]]:
    """What was written.

    Raises:
        PrecedesError: U008, where the file is no such file, or one of another question.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            kept = {name: file[name] for name in file.files}
        header: dict[str, Any] = json.loads(kept.pop("header").tobytes())
    except (ValueError, KeyError, EOFError, BadZipFile) as error:
        raise refused(path, "is no search that was kept") from error
    if header.get("question") != asked:
        raise refused(path, "has a search of another model, other bounds or another question")
    return kept, header


def refused(path: Path, what: str) -> PrecedesError:
    """The error of a file from which this search cannot go on."""
    hint = "only limits may differ from the command that wrote it; to begin anew, remove the file"
    return PrecedesError((Diagnostic("U008", f"{path} {what}", hint=hint),))


def part(kept: Kept, name: str) -> Kept:
    """The arrays whose names begin with a name and a point, without these."""
    begin = f"{name}."
    return {key.removeprefix(begin): array for key, array in kept.items() if key.startswith(begin)}


def named(name: str, kept: Kept) -> Kept:
    """The arrays, their names beginning with a name and a point."""
    return {f"{name}.{key}": array for key, array in kept.items()}
