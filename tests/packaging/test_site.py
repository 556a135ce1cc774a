"""The site: generated pages are current, every page has its place, and it builds with nothing missing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import griffe
import pytest

import precedes
import precedes.record
from tools import pages

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", pages.PAGES)
def test_a_generated_page_is_current(name: str) -> None:
    written = (pages.FOLDER / name).read_text(encoding="utf-8")
    assert written == pages.PAGES[name](), "python tools/pages.py"


def test_the_page_of_the_python_face_is_its_all() -> None:
    page = (pages.FOLDER / "api.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^::: precedes\.(\w+)$", page, re.MULTILINE)) == sorted(precedes.__all__)
    assert page.count(":::") == len(precedes.__all__)


def test_the_page_of_recording_has_what_the_page_of_python_lacks() -> None:
    page = (pages.FOLDER / "record.md").read_text(encoding="utf-8")
    shown = re.findall(r"^::: precedes\.record\.(\w+)$", page, re.MULTILINE)
    assert sorted(shown) == sorted(
        name for name in precedes.record.__all__ if name not in precedes.__all__ and not name.isupper()
    )


def test_every_docstring_of_the_face_names_every_parameter() -> None:
    face = griffe.load(
        "precedes", search_paths=[ROOT / "checker"], resolve_aliases=True, resolve_external=False
    )
    compared = 0
    for name in precedes.__all__:
        found = face[name].final_target
        assert found.docstring is not None, name
        if found.is_function:
            sections = {section.kind.value: section for section in found.docstring.parse("google")}
            documented = (
                {each.name for each in sections["parameters"].value} if "parameters" in sections else set()
            )
            assert documented == {parameter.name for parameter in found.parameters}, name
            assert "returns" in sections, name
            compared += 1
    assert compared > 15


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
    assert f"precedes {precedes.__version__}" in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert 'data="lattice/diagram.svg"' in (tmp_path / "lattice.html").read_text(encoding="utf-8")
    reference = (tmp_path / "reference/library.html").read_text(encoding="utf-8")
    diagram = (tmp_path / "lattice/diagram.svg").read_text(encoding="utf-8")
    led = re.findall(r'<a href="\.\./reference/library\.html#([^"]+)"', diagram)
    assert len(led) == diagram.count("<g") > 40
    assert all(f'<h3 id="{anchor}"' in reference for anchor in led)
    shown = re.findall(
        r'<h3 id="precedes\.(\w+)"', (tmp_path / "reference/api.html").read_text(encoding="utf-8")
    )
    assert sorted(shown) == sorted(precedes.__all__)
