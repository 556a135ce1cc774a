"""What is imported when: the rules between the modules, and the packages that a command may load."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Runs the command as its script does, then names the packages it has loaded, on the last line.
LOADED = """
import sys
from precedes.cli.main import main
sys.argv = ["precedes", *sys.argv[1:]]
try:
    main()
finally:
    print()
    print("loaded", *sorted({name.partition(".")[0] for name in sys.modules}))
"""


def _loaded(program: str, *arguments: str) -> set[str]:
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert ran.returncode == 0, ran.stderr
    last = ran.stdout.splitlines()[-1].split()
    assert last[0] == "loaded"
    return set(last[1:])


@pytest.mark.parametrize(
    "arguments", [("--help",), ("--version",), ("check", "--help"), ("verify", "--help")]
)
def test_asking_for_help_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert (
        _loaded(LOADED, *arguments)
        & {"z3", "lark", "pyspark", "numpy", "pyarrow", "numba", "networkx", "pygls"}
        == set()
    )


# Where only Python and click are installed, as in a browser there is only Python.
ALONE = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
import precedes
assert precedes.check(sys.argv[2]).verdict is precedes.Verdict.HOLDS
assert "<svg" in precedes.draw(sys.argv[2]).svg
"""
PACKAGES = {
    "jinja2",
    "junitparser",
    "lark",
    "msgspec",
    "networkx",
    "numba",
    "numpy",
    "pyarrow",
    "rich",
    "z3",
    "zstandard",
}


def test_scenarios_are_checked_and_drawn_without_any_other_package(tmp_path: Path) -> None:
    figure = tmp_path / "figure.prec"
    figure.write_text(
        "scenario s\ncluster E1 E2\nSL1: < a b ]\nRL2: < a b ]\nexpect order_preserving\n", encoding="utf-8"
    )
    program = ALONE.format(packages=sorted(PACKAGES)) + LOADED
    assert _loaded(program, "check", str(figure)) & PACKAGES == set()


def test_the_package_itself_loads_next_to_nothing() -> None:
    loaded = _loaded(
        "import sys; before = set(sys.modules); import precedes\n"
        "print('loaded', *sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    assert (
        loaded & {"z3", "lark", "pyspark", "numpy", "pyarrow", "numba", "networkx", "click", "rich"} == set()
    )


def test_imports_follow_the_rules() -> None:
    ran = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
