"""The wheel, built once for the tests of what is shipped."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as `make wheel` builds it, in a folder of its own."""
    into = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(into), str(ROOT)],
        check=True,
        capture_output=True,
    )
    (built,) = into.glob("precedes-*-py3-none-any.whl")
    return built
