"""What a daily run judged: counts by day, what a scheduler is told, and metrics for Prometheus."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from precedes.core.exit_codes import Exit
from precedes.core.verdict import Verdict

_EXECUTIONS = "precedes_executions"
_ROWS = "precedes_rows"
_SECONDS = "precedes_run_seconds"
_ENDED = "precedes_run_ended_seconds"
_HELP = {
    _EXECUTIONS: "Executions of a day by predicate and verdict.",
    _ROWS: "Rows of events of a day.",
    _SECONDS: "How long the run took.",
    _ENDED: "When the last run that found something new ended, in seconds since 1970.",
}


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

    def metrics(self) -> str:
        """The counts in Prometheus' text format."""
        days = {count.day: count.rows for count in self.counts}
        samples = {
            _EXECUTIONS: [
                f'{{day="{_quoted(one.day)}",predicate="{_quoted(one.predicate)}",verdict="{verdict}"}} {number}'
                for one in self.counts
                for verdict, number in (
                    (Verdict.HOLDS.value, one.holds),
                    (Verdict.VIOLATED.value, one.violated),
                    (Verdict.UNKNOWN.value, one.unknown),
                )
            ],
            _ROWS: [f'{{day="{_quoted(day)}"}} {rows}' for day, rows in days.items()],
            _SECONDS: [f" {self.seconds:.3f}"],
            _ENDED: [f" {self.run / 1e6 + self.seconds:.3f}"],
        }
        return "".join(
            f"# HELP {name} {_HELP[name]}\n# TYPE {name} gauge\n" + "".join(f"{name}{one}\n" for one in found)
            for name, found in samples.items()
        )


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


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
