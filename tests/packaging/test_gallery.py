"""The gallery: its pictures are there, it is current, and each scenario comes out as it states."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import precedes
from tools import gallery

FENCE = re.compile(r"^```\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_every_picture_is_shown_once() -> None:
    shown = re.findall(r"\(gallery/([^)]+)\)", gallery.PAGE.read_text(encoding="utf-8"))
    assert len(shown) > 50
    assert sorted(shown) == sorted(path.name for path in gallery.PICTURES.iterdir())


@pytest.mark.slow
def test_the_gallery_is_current() -> None:
    text, pictures = gallery.page()
    assert gallery.PAGE.read_text(encoding="utf-8") == text, "python -m tools.gallery"
    for name, svg in pictures.items():
        assert (gallery.PICTURES / name).read_text(encoding="utf-8") == svg, "python -m tools.gallery"


@pytest.mark.slow
def test_every_scenario_can_be_pasted_and_comes_out_as_stated(tmp_path: Path) -> None:
    found = FENCE.findall(gallery.PAGE.read_text(encoding="utf-8"))
    file = tmp_path / "one.prec"
    for text in found:
        file.write_text(text, encoding="utf-8")
        outcomes = {row["outcome"] for row in precedes.check(file).rows()}
        assert outcomes == {"as stated"}, text
    assert len(found) > 50
