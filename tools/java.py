"""Sees to a Java for Spark, as a part of `make setup`: uses the one there is, else installs one where it may.

Which Java counts is for `precedes.engines.spark.java` to say. Where none can be had this says so in one line and
succeeds, because everything but the Spark engine works without.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from precedes.engines.spark.java import Java, JavaNotFoundError, find_java

PINS = Path(__file__).parents[1] / "requirements" / "java.txt"


def main() -> int:
    java = found()
    if not isinstance(java, Java) and install_package():
        java = found()
    if not isinstance(java, Java) and install_with_apt():
        java = found()
    if isinstance(java, Java):
        print(f"Java {java.version} for Spark: {java.origin}")
    else:
        print(f"the Spark engine will not run: {java}", file=sys.stderr)
    return 0


def found() -> Java | str:
    """The Java there is, or what to install."""
    try:
        return find_java()
    except JavaNotFoundError as error:
        return error.diagnostics[0].message


def install_package() -> bool:
    """A Java runtime from a Python package, into the environment that runs this."""
    return run(sys.executable, "-m", "pip", "--quiet", "install", "--require-hashes", "-r", str(PINS))


def install_with_apt() -> bool:
    """A Java runtime from Debian's packages, where we may install them: in containers, mostly."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return False
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    return run("apt-get", "-qq", "update") and run(
        "apt-get", "-qq", "install", "--yes", "--no-install-recommends", "default-jre-headless"
    )


def run(*command: str) -> bool:
    # Failing is an answer here: the next way is tried, and the last line says what is missing.
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
