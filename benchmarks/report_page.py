"""A report as a page, of a large trace: `python -m benchmarks.report_page [--executions 1000000]`.

One execution in a hundred violates ST. `precedes verify` with and without `--html` in turns, the size of the page, and
how long a browser without a window takes to open it: by the page's own clock until its script has run and it is laid
out, and as a whole process, beside one that opens an empty page. It needs chromium. Writes build/report_page.json.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks import traces
from benchmarks.measuring import PRECEDES, middle, once
from benchmarks.workload import Workload
from tests.reports.browser import BROWSER, driven

_FLAGS: Final = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom")
_ASKING: Final = "document.body.getBoundingClientRect(); document.title = String(performance.now());"
"""Writes the page's clock into its title, once its own script has run and it is laid out."""


def opened(page: str, folder: Path) -> tuple[float, str]:
    """The seconds of a browser that opens a page and ends, and the page as it is then."""
    assert BROWSER is not None
    (folder / "page.html").write_text(page, encoding="utf-8")
    profile = f"--user-data-dir={folder / 'profile'}"
    start = time.perf_counter()
    command = (BROWSER, *_FLAGS, profile, "--timeout=20000", (folder / "page.html").as_uri())
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return time.perf_counter() - start, ended.stdout


def own_clock(dom: str) -> float:
    """The seconds that the page wrote into its title."""
    found = re.search(r"<title>([0-9.]+)</title>", dom)
    if found is None:
        raise RuntimeError("the page was not laid out before the browser ended")
    return float(found[1]) / 1000


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--executions", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=3, help="of the two commands")
    parser.add_argument("--times", type=int, default=5, help="that a browser opens the page")
    given = parser.parse_args()
    workload = Workload(given.executions, violations=0.01)
    trace = traces.laid_out(workload)
    with TemporaryDirectory() as name:
        folder = Path(name)
        report = folder / "report.html"
        plain = (PRECEDES, "verify", str(trace), "--require", "ST")
        turns = [(once(plain), once((*plain, "--html", str(report)))) for _ in range(given.turns)]
        verified, shown = map(middle, zip(*turns, strict=True))
        page = report.read_text(encoding="utf-8")
        empty = "<!doctype html><meta http-equiv='Content-Security-Policy' content=\"script-src 'none'\"><body></body>"
        runs = [
            (opened(driven(page, _ASKING), folder), opened(driven(empty, _ASKING), folder))
            for _ in range(given.times)
        ]
        measured = {
            "executions": given.executions,
            "violating": len(workload.violating),
            "verify": verified.seconds,
            "verify with a page": shown.seconds,
            "verify, processor": verified.processor,
            "verify with a page, processor": shown.processor,
            "peak MiB": verified.peak_mib,
            "peak MiB with a page": shown.peak_mib,
            "bytes": len(page.encode()),
            "compressed": _compressed(report),
            "laid out after": [own_clock(dom) for (_, dom), _ in runs],
            "empty laid out after": [own_clock(dom) for _, (_, dom) in runs],
            "browser": [seconds for (seconds, _), _ in runs],
            "browser, empty page": [seconds for _, (seconds, _) in runs],
            "load": os.getloadavg()[0],
        }
    text = json.dumps(measured, indent=1)
    Path("build").mkdir(exist_ok=True)
    Path("build/report_page.json").write_text(text, encoding="utf-8")
    print(text)


def _compressed(report: Path) -> int:
    return (
        Path(shutil.make_archive(str(report.with_suffix("")), "zip", report.parent, report.name))
        .stat()
        .st_size
    )


if __name__ == "__main__":
    main()
