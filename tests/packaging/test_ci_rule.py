"""The rule of tests/conftest.py that under CI no Spark test may be skipped, tried on tests made for it."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"

MADE = {
    "test_inside.py": """
        import pytest
        @pytest.fixture
        def spark():
            pass
        @pytest.mark.spark
        def test_it():
            pytest.skip("no Java here")
    """,
    "test_by_mark.py": """
        import pytest
        @pytest.mark.spark
        @pytest.mark.skip(reason="no Java here")
        def test_it():
            pass
    """,
    "test_in_fixture.py": """
        import pytest
        @pytest.fixture
        def spark():
            pytest.skip("no Java here")
        def test_it(spark):
            pass
    """,
    "test_whole.py": """
        import pytest
        pytest.skip("no Java here", allow_module_level=True)
        pytestmark = pytest.mark.spark
    """,
    "test_other.py": """
        import pytest
        @pytest.fixture
        def spark():
            pass
        def test_it():
            pytest.skip("nothing to do with Spark")
        @pytest.mark.spark
        @pytest.mark.xfail(reason="known")
        def test_known():
            assert False
    """,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("made")
    shutil.copy(CONFTEST, made)
    for name, text in MADE.items():
        (made / name).write_text(textwrap.dedent(text), encoding="utf-8")
    (made / "pytest.ini").write_text("[pytest]\nmarkers =\n    spark: a Spark test\n", encoding="utf-8")
    return made


def _run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    environ = {
        name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST")
    }
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "--continue-on-collection-errors",
            "-rsfE",
        ],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | environment,
        check=False,
    )


def test_a_skipped_spark_test_fails_under_ci(folder: Path) -> None:
    ran = _run(folder, CI="true")
    assert ran.returncode == 1, ran.stdout
    assert "1 failed, 1 skipped, 1 xfailed, 3 errors" in ran.stdout
    assert ran.stdout.count("under CI") >= 4
    for name in MADE:
        assert (f"FAILED {name}" in ran.stdout or f"ERROR {name}" in ran.stdout) == (
            name != "test_other.py"
        ), name


@pytest.mark.parametrize("environment", [{}, {"CI": ""}, {"CI": "false"}], ids=str)
def test_elsewhere_it_is_skipped(folder: Path, environment: dict[str, str]) -> None:
    ran = _run(folder, **environment)
    assert ran.returncode == 0, ran.stdout
    assert "5 skipped, 1 xfailed" in ran.stdout
