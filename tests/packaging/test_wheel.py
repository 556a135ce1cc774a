"""The wheel: what is in it, and that it works where only what a Spark worker has is installed."""

import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = "_precedes_pytest.py"
"""A module of its own, so that pytest does not load the package at every start."""
PACKAGES = {
    "precedes": ROOT / "checker",
    "precedes_models": ROOT / "models",
    "precedes_specs": ROOT / "specs",
}


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_every_file_of_the_packages_is_shipped(names: set[str]) -> None:
    expected = {
        str(path.relative_to(above))
        for package, above in PACKAGES.items()
        for path in (above / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    shipped = {name for name in names if ".dist-info/" not in name}
    assert shipped == expected | {PLUGIN}


def test_the_files_that_are_no_code_are_shipped(names: set[str]) -> None:
    assert "precedes/py.typed" in names
    assert "precedes/language/parsing/grammar.lark" in names
    assert {name for name in names if name.startswith("precedes_specs/") and name.endswith(".prec")}


def test_nothing_generic_reaches_site_packages(names: set[str]) -> None:
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {*PACKAGES, PLUGIN}


def test_the_metadata_say_what_users_rely_on(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        info = next(name.split("/")[0] for name in archive.namelist() if ".dist-info/" in name)
        metadata = Parser().parsestr(archive.read(f"{info}/METADATA").decode())
        scripts = archive.read(f"{info}/entry_points.txt").decode()
        licences = [name for name in archive.namelist() if name.startswith(f"{info}/licenses/")]
    assert metadata["Name"] == "precedes"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert "precedes = precedes.cli.main:main" in scripts
    assert licences == [f"{info}/licenses/LICENSE"]


# Imports the kernels as a worker does: what it has not got is refused, and the checkout is off the path.
WORKER = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"lark", "z3", "networkx", "click", "rich", "zstandard", "duckdb"}:
            raise ModuleNotFoundError(f"a worker has no {name}", name=name)

sys.meta_path.insert(0, Refuse())
sys.path[:] = [p for p in sys.path if p.rstrip("/").rpartition("/")[2] not in {"checker", "models", "specs"}]
sys.path.insert(0, WHEEL)

import importlib, pkgutil
import precedes
assert precedes.__file__.startswith(WHEEL), precedes.__file__
import precedes.engines.spark.tasks
import precedes.engines.columnar
for module in pkgutil.walk_packages(precedes.engines.columnar.__path__, "precedes.engines.columnar."):
    importlib.import_module(module.name)
"""


def test_the_wheel_scans_with_what_a_worker_has(wheel: Path) -> None:
    """Straight from the archive, too: that is how Spark hands a .zip to its workers."""
    ran = subprocess.run(
        [sys.executable, "-c", f"WHEEL = {str(wheel)!r}\n{WORKER}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
