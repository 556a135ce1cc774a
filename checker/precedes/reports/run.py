"""What `precedes run` has run and found, in words."""

from __future__ import annotations

import json
from typing import Any, Final

from precedes.core.counts import counted
from precedes.core.printable import json_text
from precedes.jobs.run import Ran
from precedes.protocol.network import Timed
from precedes.reports import conform as conformed
from precedes.reports import verify as verified
from precedes.reports.prose.times import duration_text
from precedes.reports.simulate import happened, instances

JSON_SCHEMA: Final = 1


def as_text(ran: Ran) -> str:
    """What was run, under which conditions, what happened in it, and the two judgments."""
    report = [*_lines(ran), ""]
    if ran.verified is not None:
        report += [*verified.as_text(ran.verified, (), ran.totals.seconds).rstrip("\n").split("\n"), ""]
    report += conformed.as_text(ran.conformed, ()).rstrip("\n").split("\n")
    return "\n".join(report) + "\n"


def _lines(ran: Ran) -> list[str]:
    workload, totals = ran.workload, ran.totals
    where = "" if ran.path is None else f"{ran.path}: "
    said = (
        f"{where}{counted(workload.executions, 'execution')} in {counted(totals.processes, 'process', 'processes')}, "
        f"{counted(ran.events, 'row')}, seed {workload.seed}"
    )
    lines = [said]
    empty = workload.executions - ran.executions
    if empty:
        lines.append(f"    in {empty:,} of them nothing happened, and an execution without events has no row")
    lines += instances(ran.protocols, workload.conditions)
    lines.append(f"    a tick is {duration_text(workload.tick)}{_lifetime(ran)}")
    lines += happened(totals.counters)
    rate = totals.counters["requests"] / totals.seconds if totals.seconds else 0.0
    at_once = "one execution" if workload.at_once == 1 else f"{workload.at_once} executions"
    lines.append(f"    {totals.seconds:.1f} s, {rate:,.0f} messages a second, {at_once} at a time")
    if totals.killed:
        lines.append(
            f"    {counted(totals.killed, 'process', 'processes')} killed, and "
            f"{counted(int(totals.counters['recoveries']), 'entity', 'entities')} started again in another"
        )
    if totals.late:
        lines.append(
            f"    {counted(totals.late, 'attempt')} put aside and run again: a packet or a timer was later than the "
            "model allows"
        )
    if totals.resent:
        lines.append(
            f"    {counted(totals.resent, 'datagram')} sent again: the system had lost them, or was slow"
        )
    return lines


def _lifetime(ran: Ran) -> str:
    """Δ in real time, where the model has one and the network has time."""
    protocol = ran.protocols[0]
    if not isinstance(protocol.network, Timed) or protocol.lifetime is None:
        return ""
    return f", so Δ is {duration_text(protocol.lifetime * ran.workload.tick)}"


def as_json(ran: Ran) -> str:
    """One JSON object, with a line break at its end."""
    protocol = ran.protocols[0]
    document: dict[str, Any] = {
        "schema": JSON_SCHEMA,
        "verdict": ran.verdict.value,
        "model": protocol.name,
        "form": protocol.form,
        "trace": ran.path,
        "executions": ran.workload.executions,
        "events": ran.events,
        "seed": ran.workload.seed,
        "tick_nanoseconds": ran.workload.tick,
        "counters": dict(ran.totals.counters),
        "processes": ran.totals.processes,
        "killed": ran.totals.killed,
        "late": ran.totals.late,
        "resent": ran.totals.resent,
        "seconds": round(ran.totals.seconds, 3),
        "verify": None
        if ran.verified is None
        else json.loads(verified.as_json(ran.verified, (), ran.totals.seconds)),
        "conform": json.loads(conformed.as_json(ran.conformed, ())),
    }
    return json_text(document)
