"""Puts Python for the browser, and the wheel, beside the page "Try it" of the site: `make try`.

Python comes from the npm package pyodide, whose contents are pinned here, and is kept in build/try. Nothing of it is
part of the sources.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
KEPT: Final = ROOT / "build/try"
SITE: Final = ROOT / "build/site/try"
VERSION: Final = "314.0.7"
DIGEST: Final = "66b7949e5a0cba2250b586d7e368bf12fb482800748d182c4618254b685ffaa0"
"""SHA-256 of the package."""
NEEDED: Final = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "pyodide-lock.json",
    "python_stdlib.zip",
)


def main() -> int:
    """Get what is missing, and copy it into the site."""
    if not SITE.is_dir():
        print("there is no site yet: make site", file=sys.stderr)
        return 1
    if not all((KEPT / name).exists() for name in NEEDED):
        told = _get()
        if told is not None:
            print(f"{told}; the page will say that Python is missing", file=sys.stderr)
            return 1
    built = wheel()
    for name in NEEDED:
        shutil.copy(KEPT / name, SITE / name)
    shutil.copy(built, SITE / "precedes.whl")
    print(f"open {SITE.parent / 'try.html'} through: python -m http.server --directory {SITE.parent}")
    return 0


def _get() -> str | None:
    """Get the package; what went wrong, if something did."""
    if shutil.which("npm") is None:
        return "npm is not installed"
    KEPT.mkdir(parents=True, exist_ok=True)
    ended = subprocess.run(("npm", "pack", "--silent", f"pyodide@{VERSION}"), cwd=KEPT, check=False)
    package = KEPT / f"pyodide-{VERSION}.tgz"
    if ended.returncode or not package.exists():
        return "npm could not get pyodide"
    if hashlib.sha256(package.read_bytes()).hexdigest() != DIGEST:
        return f"{package} is not the package that is pinned"
    with tarfile.open(package) as archive:
        for name in NEEDED:
            member = archive.extractfile(f"package/{name}")
            assert member is not None
            (KEPT / name).write_bytes(member.read())
    package.unlink()
    return None


def wheel() -> Path:
    """The wheel of these sources."""
    target = KEPT / "wheel"
    shutil.rmtree(target, ignore_errors=True)
    command = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target), str(ROOT))
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (built,) = target.glob("*.whl")
    return built


if __name__ == "__main__":
    sys.exit(main())
