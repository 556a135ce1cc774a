"""A real browser without a window, for pages that have a script."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

needs_browser = pytest.mark.skipif(BROWSER is None, reason="no chromium here: apt-get install chromium")
_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage")
_WAIT = 60


def driven(page: str, driver: str) -> str:
    """The page with one more script at its end, which its policy then allows, too."""
    allowed = base64.b64encode(hashlib.sha256(driver.encode()).digest()).decode()
    with_policy = page.replace("script-src ", f"script-src 'sha256-{allowed}' ", 1)
    return with_policy.replace("</body>", f"<script>{driver}</script>\n</body>")


def after(page: str, driver: str, folder: Path) -> str:
    """The page as it is after the driver has run, as HTML."""
    return _run(driven(page, driver), folder, "--dump-dom").stdout


def screenshot(page: str, driver: str, target: Path, *, size: str = "1250,1500", dark: bool = False) -> None:
    """A picture of the page after the driver has run."""
    more = ("--blink-settings=preferredColorScheme=0",) if dark else ()
    _run(driven(page, driver), target.parent, f"--screenshot={target}", f"--window-size={size}", *more)


def _run(page: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    assert BROWSER is not None
    (folder / "page.html").write_text(page, encoding="utf-8")
    profile = f"--user-data-dir={folder / 'profile'}"
    address = (folder / "page.html").as_uri()
    return subprocess.run(
        (BROWSER, *_FLAGS, profile, "--virtual-time-budget=4000", *options, address),
        capture_output=True,
        text=True,
        timeout=_WAIT,
        check=True,
    )


def told(dom: str) -> str:
    """What the driver wrote into the title."""
    found = re.search(r"<title>(.*?)</title>", dom, re.DOTALL)
    assert found is not None
    return found[1]
