"""What a daily run judged: counts by day, what a scheduler is told, and metrics for Prometheus and OpenTelemetry."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from precedes.core.exit_codes import Exit
from precedes.core.verdict import Verdict


class Gauge(Protocol):
    """What `create_gauge` of OpenTelemetry makes."""

    def set(self, amount: float, attributes: Mapping[str, str] | None = None, /) -> None:
        """Take a value for some attributes."""
        ...


class Meter(Protocol):
    """What `record` needs of a meter of OpenTelemetry. This project imports nothing of it."""

    def create_gauge(self, name: str, unit: str = "", description: str = "") -> Gauge:
        """Make a gauge, or give the one of this name."""
        ...


@dataclass(frozen=True, slots=True)
class Metric:
    """One quantity and its samples, each with its attributes.

    The name and the unit are OpenTelemetry's. A collector makes the name of Prometheus from both, which so is the same
    in a file (https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/).
    """

    name: str
    unit: str
    description: str
    samples: tuple[tuple[dict[str, str], float], ...]

    @property
    def of_prometheus(self) -> str:
        """The name in Prometheus: units in braces are notes, and are no part of it."""
        return self.name.replace(".", "_") + ("_seconds" if self.unit == "s" else "")


@dataclass(frozen=True, slots=True)
class DayCount:
    """How many executions of a day hold, violate and leave open one predicate.

    Attributes:
        day: The value of the column of days.
        predicate: The name, or the formula.
        rows: Rows of events that the day has.
        holds: Executions in which it holds.
        violated: Executions that violate it.
        unknown: Executions in which it is unknown.
    """

    day: str
    predicate: str
    rows: int
    holds: int
    violated: int
    unknown: int


@dataclass(frozen=True, slots=True)
class DailyRun:
    """What one run judged.

    Attributes:
        run: The number of the run, as in the tables: microseconds since 1970 at its beginning.
        judged: Executions that were judged.
        counts: The counts of the days that have a new verdict, or new rows, by day and predicate. Executions that were
            judged before count, too.
        seconds: How long it took.
    """

    run: int
    judged: int
    counts: tuple[DayCount, ...]
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """Of all executions of these days together; unknown if there was nothing new."""
        if any(count.violated for count in self.counts):
            return Verdict.VIOLATED
        held = any(count.holds for count in self.counts)
        return Verdict.HOLDS if held and not any(c.unknown for c in self.counts) else Verdict.UNKNOWN

    @property
    def exit_code(self) -> int:
        """What a scheduler is told: 0 holds, 1 violated, 3 unknown or nothing new."""
        return int(Exit.of(self.verdict))

    def text(self) -> str:
        """The counts in lines, for a log."""
        if not self.counts:
            return "nothing new"
        lines = [
            f"{one.day}  {one.predicate}: {one.holds:,} hold, {one.violated:,} violated, {one.unknown:,} unknown"
            for one in self.counts
        ]
        return "\n".join([f"{self.judged:,} executions judged in {self.seconds:.1f} s", *lines])

    def measured(self) -> tuple[Metric, ...]:
        """What metrics say of the run."""
        executions = tuple(
            ({"day": one.day, "predicate": one.predicate, "verdict": verdict.value}, number)
            for one in self.counts
            for verdict, number in (
                (Verdict.HOLDS, one.holds),
                (Verdict.VIOLATED, one.violated),
                (Verdict.UNKNOWN, one.unknown),
            )
        )
        rows = {count.day: count.rows for count in self.counts}
        ended = round(self.run / 1e6 + self.seconds, 3)
        return (
            Metric(
                "precedes.executions",
                "{execution}",
                "Executions of a day by predicate and verdict.",
                executions,
            ),
            Metric(
                "precedes.rows",
                "{row}",
                "Rows of events of a day.",
                tuple(({"day": day}, number) for day, number in rows.items()),
            ),
            Metric("precedes.run", "s", "How long the run took.", (({}, round(float(self.seconds), 3)),)),
            Metric(
                "precedes.run.ended",
                "s",
                "When the last run that found something new ended, in seconds since 1970.",
                (({}, ended),),
            ),
        )

    def metrics(self) -> str:
        """The counts in Prometheus' text format."""
        lines: list[str] = []
        for metric in self.measured():
            name = metric.of_prometheus
            lines += [f"# HELP {name} {metric.description}", f"# TYPE {name} gauge"]
            lines += [f"{name}{_labels(attributes)} {_number(value)}" for attributes, value in metric.samples]
        return "".join(f"{line}\n" for line in lines)

    def record(self, meter: Meter) -> None:
        """Set gauges of OpenTelemetry to what the file for Prometheus says. A run that found nothing new sets none, so
        that what a run before told stays.
        """
        for metric in self.measured() if self.counts else ():
            gauge = meter.create_gauge(metric.name, metric.unit, metric.description)
            for attributes, value in metric.samples:
                gauge.set(value, attributes)


def write_metrics(run: DailyRun, path: str | os.PathLike[str]) -> None:
    """Write the metrics to a file at once, for it may be read at any time. What a run before told stays where this one
    found nothing new.
    """
    target = Path(path)
    if not run.counts and target.exists():
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    beside.write_text(run.metrics(), encoding="utf-8")
    beside.replace(target)


def _labels(attributes: Mapping[str, str]) -> str:
    labels = ",".join(f'{name}="{_quoted(value)}"' for name, value in attributes.items())
    return f"{{{labels}}}" if labels else ""


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.3f}"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
