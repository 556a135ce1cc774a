"""The site: generated pages are current, every page has its place, and it builds with nothing missing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import pages

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", pages.PAGES)
def test_a_generated_page_is_current(name: str) -> None:
    written = (pages.FOLDER / name).read_text(encoding="utf-8")
    assert written == pages.PAGES[name](), "python tools/pages.py"


@pytest.mark.slow
def test_the_site_builds(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    pages_made = list(tmp_path.rglob("*.html"))
    assert len(pages_made) > 15
    for page in pages_made:
        fetched = re.findall(
            r'<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)"', page.read_text(encoding="utf-8")
        )
        assert not fetched, page
