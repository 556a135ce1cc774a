"""The page "Try it": what it runs, and that it says so where Python for the browser is missing."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

from tools import try_page

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/try.md"
SCENARIO = "scenario s\ncluster E1 E2\nSL1: < a b ]\nRL2: < b a ]\nexpect order_preserving"


def test_what_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    judge = runpy.run_path(str(ROOT / "docs/try/judge.py"))["judge"]
    text, drawings = judge(SCENARIO)
    assert text.startswith("scenario.prec\n  s  0 of 1 as stated\n")
    assert [drawing[:4] for drawing in drawings] == ["<svg"]
    assert judge(f"{SCENARIO}x") == (judge(f"{SCENARIO}x")[0], [])
    assert "N001 there is no predicate or service order_preservingx" in judge(f"{SCENARIO}x")[0]


def test_the_page_has_what_its_script_looks_for_and_fetches_nothing_from_elsewhere() -> None:
    page, script = PAGE.read_text(encoding="utf-8"), (ROOT / "docs/try/try.js").read_text(encoding="utf-8")
    parts = set(re.findall(r'part\("(\w+)"\)', script))
    assert parts == {"run", "source", "output", "drawings"}
    assert all(f'id="try-{part}"' in page for part in parts)
    assert "//" not in re.sub(r"(?m)^ *//.*", "", page + script)
    assert "make try" in script
    assert not list((ROOT / "docs/try").glob("pyodide*"))


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("node") is None or not all((try_page.KEPT / name).exists() for name in try_page.NEEDED),
    reason="no node, or no Python for the browser: make try",
)
def test_python_for_the_browser_runs_it(tmp_path: Path) -> None:
    wheel = try_page.wheel()
    script = tmp_path / "run.mjs"
    script.write_text(
        f"""
        import fs from "fs";
        import {{ loadPyodide }} from "{try_page.KEPT / "pyodide.mjs"}";
        const python = await loadPyodide();
        python.unpackArchive(new Uint8Array(fs.readFileSync("{wheel}")), "wheel");
        python.runPython(fs.readFileSync("{ROOT / "docs/try/judge.py"}", "utf8"));
        const [text, drawings] = python.globals.get("judge")({SCENARIO!r}).toJs();
        console.log(text, drawings.length, "drawing");
        """,
        encoding="utf-8",
    )
    ended = subprocess.run(("node", script), capture_output=True, text=True, check=False, timeout=400)
    assert "s  0 of 1 as stated" in ended.stdout, ended.stderr[-2000:]
    assert "1 drawing" in ended.stdout
