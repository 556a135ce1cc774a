"""The pins: they name versions and hashes, and nothing of the machine that they were made on."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))

# A URL, a path, or an option that would carry either: a lock consists of names, versions, markers and hashes.
PLACES = re.compile(
    r"://|(^|[\s='\"])(~?/)[\w.]|[A-Za-z]:\\|--(index-url|extra-index-url|find-links|trusted-host)|@ "
)


def _pins(lock: Path) -> dict[str, set[str]]:
    """Per requirement line its hashes."""
    pins: dict[str, set[str]] = {}
    current = ""
    for line in lock.read_text(encoding="utf-8").splitlines():
        stripped = line.rstrip("\\").strip()
        if stripped.startswith("--hash="):
            pins[current].add(stripped)
        elif stripped and not stripped.startswith("#"):
            current = stripped
            pins[current] = set()
    return pins


def _applying(lock: Path) -> dict[str, str]:
    """The versions that this lock gives to this Python on this platform."""
    requirements = [Requirement(line) for line in _pins(lock)]
    return {
        requirement.name: str(requirement.specifier)
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate()
    }


def test_there_are_locks_to_look_at() -> None:
    assert [lock.name for lock in LOCKS] == [
        "brokers.txt",
        "dev.txt",
        "java.txt",
        "runtime.txt",
        "worker.txt",
    ]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_a_lock_names_no_host_and_no_path(lock: Path) -> None:
    lines = lock.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if PLACES.search(line)] == []


@pytest.mark.parametrize(
    "line", ["--index-url https://registry.example/simple", "a @ file:///x", "-f /srv/wheels", "# ~/in"]
)
def test_the_search_for_places_finds_them(line: str) -> None:
    assert PLACES.search(line)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_everything_in_a_lock_is_pinned_and_hashed(lock: Path) -> None:
    for line, hashes in _pins(lock).items():
        assert re.fullmatch(r"[A-Za-z0-9._-]+==\S+( ; .+)?", line)
        assert hashes, line
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in hashes)


@pytest.mark.parametrize("name", ["runtime.txt", "worker.txt"])
def test_users_get_the_versions_that_are_tested(name: str) -> None:
    assert (
        _applying(ROOT / "requirements" / name).items()
        <= _applying(ROOT / "requirements" / "dev.txt").items()
    )


def test_the_locks_satisfy_the_project_file() -> None:
    """Whoever edits the dependencies and forgets `make lock` learns of it here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for lock, wanted in {
        "dev.txt": project["dependencies"] + extras["spark"] + extras["dev"],
        "runtime.txt": project["dependencies"] + extras["spark"],
        "java.txt": extras["java"],
    }.items():
        pinned = _applying(ROOT / "requirements" / lock)
        for requirement in map(Requirement, wanted):
            version = pinned[requirement.name].removeprefix("==")
            assert requirement.specifier.contains(version), (lock, str(requirement))


def test_a_worker_needs_neither_the_parser_nor_the_solver() -> None:
    assert set(_applying(ROOT / "requirements" / "worker.txt")) == {"numpy", "pyarrow", "numba", "llvmlite"}


def test_this_environment_is_the_locked_one() -> None:
    """Else the tests passed with other versions than those that `make setup` gives."""
    told = subprocess.run(
        [sys.executable, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"],
        capture_output=True,
        text=True,
        check=True,
    )
    installed = {_canonical(line.split("==")[0]): line.split("==")[-1] for line in told.stdout.splitlines()}
    wanted = {
        _canonical(name): pin.removeprefix("==")
        for name, pin in _applying(ROOT / "requirements" / "dev.txt").items()
    }
    assert {name: installed.get(name) for name in wanted} == wanted


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
