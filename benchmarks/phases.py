"""Where the time of a scan goes: `python -m benchmarks.phases`. ST on the laid-out trace, one row group after another.

Time of the processor, in one thread and with machine code at hand, so that what else the machine does counts little;
then that of a whole process. Writes build/phases.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks import inside, traces
from benchmarks.measuring import PRECEDES, once
from benchmarks.workload import Workload
from precedes.engines.columnar.batch_scan import scan_source
from precedes.engines.columnar.fast_path.row_group import row_group
from precedes.engines.columnar.fast_path.screen import Screen
from precedes.engines.scan.partials import judge
from precedes.logic.plan import Plan
from precedes.traces import Notices, expand
from precedes.traces.layout.columnar_file import ColumnarFile, layout_of


class Phases:
    """Seconds by what is done."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def take(self, what: str, action: Callable[[], Any]) -> Any:
        """Do it, and add the time to what it is part of."""
        start = time.process_time()
        result = action()
        self.seconds[what] = self.seconds.get(what, 0.0) + time.process_time() - start
        return result


def measure(path: Path) -> dict[str, float]:
    """The phases of all row groups, the first judged once beforehand."""
    layout = layout_of(expand([path])[0])
    if layout is None:
        raise RuntimeError(f"{path} is not laid out")
    prepared = inside.required("ST")
    both = inside.required("ST", "causal_order")
    with closing(ColumnarFile(layout)) as file:
        _take(file, 0, prepared, both, Phases())
        phases = Phases()
        for number in range(len(layout.groups)):
            _take(file, number, prepared, both, phases)
    return phases.seconds


def _take(file: ColumnarFile, number: int, prepared: Plan, both: Plan, phases: Phases) -> None:
    options = inside.OPTIONS
    phases.take("read five columns", lambda: file.coded(number, time=False))
    one, two = Screen(prepared, options), Screen(both, options)
    _, others = phases.take("read and screen", lambda: one.decided(file, number, Notices()))
    phases.take("judge who is left", lambda: judge(others, prepared, 0))
    phases.take("read and screen, causal order too", lambda: two.decided(file, number, Notices()))
    group = phases.take("read and make columns", lambda: row_group(file, number, options, ()))
    phases.take("judge by columns", lambda: scan_source(group, prepared))


def _processor(arguments: Sequence[str]) -> float:
    return statistics.median(once(arguments).processor for _ in range(3))


def _verifying(path: Path) -> float:
    return _processor([PRECEDES, "verify", str(path), "--require", "ST"])


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--executions", type=int, default=1_000_000)
    given = parser.parse_args()
    path = traces.laid_out(Workload(given.executions))
    document = {
        "phases": measure(path),
        "processes": {
            "says its version": _processor([PRECEDES, "--version"]),
            "verifies 1,000 events": _verifying(traces.plain(Workload(40))),
            "verifies 500,000 events of a columnar file": _verifying(traces.laid_out(Workload(20_000))),
            "verifies the whole trace": _verifying(path),
        },
    }
    print(json.dumps(document, indent=2))
    Path("build/phases.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
