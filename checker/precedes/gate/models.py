"""Protocol models as checks of the gate: explored up to bounds, and run at random."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from precedes.gate.checks import Check
from precedes.gate.configuration import Model, Simulation

if TYPE_CHECKING:
    pass


def explorations(root: Path, configuration: Path, settings: Model) -> Iterator[Check]:
    yield from ()


def simulations(root: Path, configuration: Path, settings: Simulation) -> Iterator[Check]:
    yield from ()
