"""What `precedes simulate` has written, in words."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from precedes.core.counts import counted
from precedes.protocol.bounds import Conditions
from precedes.protocol.model import TICK, Protocol
from precedes.protocol.simulation.trace import Simulated, Simulation

_FATES: Final = {
    "lost": "lost",
    "duplicated": "duplicated",
    "corrupted": "corrupted",
    "vanished": "came to an entity that had stopped",
}


def as_text(path: str, protocols: Sequence[Protocol[Any]], simulation: Simulation, done: Simulated) -> str:
    """What was written, under which conditions, what happened in it, and how it is judged."""
    written, counters = done.written, done.counters
    size = f"{counted(written.executions, 'execution')}, {counted(written.rows, 'row')}"
    lines = [f"{path}: {size}, seed {simulation.seed}"]
    empty = simulation.executions - written.executions
    if empty:
        lines.append(
            f"    {empty:,} of the {simulation.executions:,} that were run {'is' if empty == 1 else 'are'} not among "
            "them: nothing was sent, delivered or logged, and an execution without events has no row"
        )
    lines += instances(protocols, simulation.conditions)
    lines += happened(counters)
    claims = " ".join(f"--require {shlex.quote(claim)}" for claim in protocols[0].claims)
    if claims:
        lines.append(f"    to judge it: precedes verify {shlex.quote(path)} {claims}{_delta(protocols)}")
    else:
        lines.append(
            f"    the model claims nothing; to judge it: precedes verify {shlex.quote(path)} --require NAME, "
            "a name of `precedes list`"
        )
    return "\n".join(lines) + "\n"


def instances(protocols: Sequence[Protocol[Any]], conditions: Sequence[Conditions]) -> list[str]:
    """A line for each instance of a model, with its conditions."""
    pairs = zip(protocols, conditions, strict=True)
    return [f"    {_instance(protocol)}: {_conditions(one)}" for protocol, one in pairs]


def happened(counters: Mapping[str, float]) -> list[str]:
    """What happened in all executions together, in lines."""
    lines = [f"    {counters['requests']:,.0f} messages sent, {_packets(counters)}"]
    if counters["refused"]:
        lines.append(f"    {counters['refused']:,.0f} requests were refused to the end of their execution")
    if counters["waiting"]:
        lines.append(f"    {counters['waiting']:,.0f} messages arrived and were never delivered: they starve")
    if counters["crashes"]:
        stops = counted(int(counters["crashes"]), "crash", "crashes")
        lines.append(f"    {stops}, {counted(int(counters['recoveries']), 'recovery', 'recoveries')}")
    return lines


def _instance(protocol: Protocol[Any]) -> str:
    parameters = dict(protocol.parameters())
    parameters.pop("as_written", None)
    form = "" if protocol.form is None else f", {protocol.form}"
    values = ", ".join(f"{name} = {value}" for name, value in parameters.items() if not callable(value))
    return f"{protocol.name}{form}{f' ({values})' if values else ''}"


def _conditions(conditions: Conditions) -> str:
    said = (
        f"{conditions.entities} entities, {conditions.messages} requests ({conditions.destinations.value}), one every "
        f"{conditions.interval:g} ticks at each, delays {conditions.delay:g} ± {conditions.deviation:g} ticks"
    )
    return said + (f", clocks {conditions.skew} ticks apart at most" if conditions.skew else "")


def _packets(counters: Mapping[str, float]) -> str:
    packets = counters["packets"]
    said = [f"{packets:,.0f} packets"]
    said += [
        f"{counters[name]:,.0f} {what} ({counters[name] / packets:.2%})"
        for name, what in _FATES.items()
        if counters[name]
    ]
    return ", ".join(said)


def _delta(protocols: Sequence[Protocol[Any]]) -> str:
    """Δ, where it is the same for all instances."""
    lifetimes = {protocol.lifetime for protocol in protocols}
    lifetime = lifetimes.pop()
    return "" if lifetimes or lifetime is None else f" --delta {lifetime * TICK // 1000}us"
