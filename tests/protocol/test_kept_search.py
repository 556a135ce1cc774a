"""A search that met its limit goes on from a file, and comes to what it would have come to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.protocol import Protocol, SingleChannel
from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration import found_states, state_search
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.result import Exploration, Observer
from precedes_models.cmd.auxiliary import Auxiliary
from precedes_models.delta_causal.protocol import DeltaCausal
from precedes_models.dynamic_cluster.protocol import DynamicCluster
from precedes_models.st.protocol import SelectiveTotalOrder
from precedes_models.total_order.protocol import TotalOrder
from tests.protocol.toys import InTurn, Plain

MULTICAST = Destinations.MULTICAST
CASES: dict[str, tuple[Protocol[Any], Bounds, int, dict[str, Any]]] = {
    "reduced": (Auxiliary(), Bounds(3, 3), 40, {}),
    "every interleaving": (Auxiliary(queue=False), Bounds(3, 2), 60, {"plain": True}),
    "violated": (Plain(), Bounds(3, 3), 60, {"requirements": ["order_preserving", "causal_order"]}),
    "starving": (Auxiliary(as_written=True), Bounds(3, 2), 4, {}),
    "losses": (InTurn(), Bounds(2, 2, MULTICAST, losses=1, duplicates=1), 8, {"plain": True}),
    "a channel": (Plain(given=SingleChannel()), Bounds(2, 2, MULTICAST, losses=1), 8, {}),
}


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search of few states stops at its limit, too."""
    monkeypatch.setattr(found_states, "CHUNK", 16)
    monkeypatch.setattr(state_search, "CHUNK", 16)


def explored(
    protocol: Protocol[Any], bounds: Bounds, requirements: list[str] | None = None, **how: Any
) -> Exploration:
    """What a search comes to."""
    known = standard_library()
    asked = None if requirements is None else [requirement(each, known) for each in requirements]
    return explore(protocol, bounds, asked, **how)


def in_pieces(
    protocol: Protocol[Any], bounds: Bounds, step: int, how: dict[str, Any], file: Path
) -> tuple[Exploration, int]:
    """What a search comes to that stops again and again, and how often it stopped."""
    limit, stops = step, 0
    while True:
        found = explored(protocol, replace(bounds, states=limit), resume=file, **how)
        if found.complete:
            return found, stops
        assert (found.kept, file.exists()) == (str(file), True)
        limit, stops = found.states + step, stops + 1


def without_times(found: Exploration) -> Exploration:
    """A result but for how long it took."""
    return replace(found, seconds=0.0, kept=None)


@pytest.mark.parametrize(
    ("case", "by_machine"),
    [*((case, False) for case in CASES), ("violated", True)],
    ids=[*CASES, "by machine"],
)
def test_what_goes_on_comes_to_the_same(
    case: str, by_machine: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(found_states, "PLAIN", -1 if by_machine else 1_000_000)
    protocol, bounds, step, how = CASES[case]
    found, stops = in_pieces(protocol, bounds, step, how, tmp_path / "search")
    assert stops
    assert without_times(found) == without_times(explored(protocol, bounds, **how))
    assert not (tmp_path / "search").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "bounds", "how"),
    [
        (Auxiliary(), Bounds(3, 5), {}),
        (Auxiliary(queue=False), Bounds(3, 5), {"plain": True}),
        (Auxiliary(as_written=True), Bounds(3, 4), {}),
        (DeltaCausal(), Bounds(2, 2), {}),
        (SelectiveTotalOrder(confirms=False), Bounds(2, 2, MULTICAST, losses=1), {"quiescent": True}),
        (TotalOrder(), Bounds(2, 2, Destinations.BROADCAST, losses=1), {}),
    ],
    ids=["reduced", "every interleaving", "as written", "time", "st", "to"],
)
def test_what_models_do_comes_to_the_same_in_pieces(
    protocol: Protocol[Any], bounds: Bounds, how: dict[str, Any], tmp_path: Path
) -> None:
    whole = explored(protocol, bounds, **how)
    found, stops = in_pieces(protocol, bounds, max(1000, whole.states // 4), how, tmp_path / "search")
    assert stops > 0 or whole.states < 1000
    assert without_times(found) == without_times(whole)


def test_an_answer_may_be_about_an_earlier_round(tmp_path: Path) -> None:
    """A crash is asked about in one round, and the time-outs of the same state in another."""
    protocol = DynamicCluster(as_written=True, attempts=1)
    bounds = Bounds(2, 1, Destinations.BROADCAST, crashes=1, states=8_000)
    more = replace(bounds, states=10_000)
    explored(protocol, bounds, plain=True, resume=tmp_path / "search")
    found = explored(protocol, more, plain=True, resume=tmp_path / "search")
    whole = explored(protocol, more, plain=True)
    assert (found.states, found.transitions, found.depth) == (whole.states, whole.transitions, whole.depth)


class Interrupter(Observer):
    """Ends a search at once."""

    def interrupts(self) -> bool:
        """At once."""
        return True


def test_an_interrupted_search_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "search"
    stopped = explored(InTurn(), Bounds(3, 3), resume=file, observer=Interrupter())
    assert (stopped.kept, stopped.complete) == (str(file), False)
    assert without_times(explored(InTurn(), Bounds(3, 3), resume=file)) == without_times(
        explored(InTurn(), Bounds(3, 3))
    )


def refusal(file: Path, protocol: Protocol[Any], bounds: Bounds, **how: Any) -> str:
    """What is said where a search cannot go on."""
    with pytest.raises(PrecedesError) as caught:
        explored(protocol, bounds, resume=file, **how)
    (diagnostic,) = caught.value.diagnostics
    return f"{diagnostic.code}: {diagnostic.message}"


def test_a_search_goes_on_from_its_own_file_only(tmp_path: Path) -> None:
    file = tmp_path / "search"
    explored(InTurn(), Bounds(3, 3, states=20), resume=file)
    for protocol, bounds, how in (
        (InTurn(), Bounds(3, 2), {}),
        (InTurn(mistake="again"), Bounds(3, 3), {}),
        (InTurn(), Bounds(3, 3), {"plain": True}),
        (InTurn(), Bounds(3, 3), {"requirements": ["no_creation"]}),
    ):
        assert refusal(file, protocol, bounds, **how).startswith(
            f"U008: {file} has a search of another model"
        )
    assert refusal(file, InTurn(), Bounds(3, 3), order="depth").startswith(
        "U001: only a search breadth first"
    )
    for damaged in (b"", b"PK\x03\x04", b"no search", file.read_bytes()[:200]):
        file.write_bytes(damaged)
        assert refusal(file, InTurn(), Bounds(3, 3)) == f"U008: {file} is no search that was kept"


def test_a_search_that_cannot_be_kept_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = refusal(tmp_path / "nowhere" / "search", InTurn(), Bounds(3, 3))
    assert said == f"U001: {tmp_path / 'nowhere' / 'search'} cannot be written"

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    found = explored(InTurn(), Bounds(3, 3, states=20), resume=tmp_path / "search")
    assert (found.kept, found.complete) == (None, False)
    assert found.stopped_by == "the limit of 20 states (not kept: No space left on device)"
    assert not list(tmp_path.iterdir())


def test_a_file_has_no_objects(tmp_path: Path) -> None:
    file = tmp_path / "search"
    explored(InTurn(), Bounds(3, 3, states=20), resume=file)
    with np.load(file, allow_pickle=False) as kept:
        assert all(kept[name].dtype.kind in "iub" for name in kept.files)
