"""Starts Spark for a command, in a session of its own, and reports its failures as other mistakes are
reported.

Nothing of Spark is imported before that. The output of the JVM goes to a file, because the stack traces of a
JVM do not help a user whose master does not answer.
"""

from __future__ import annotations

import atexit
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from precedes.core.diagnostics import Diagnostic, PrecedesError, usage
from precedes.core.pandas_guard import allow_pandas
from precedes.engines.spark.failures import failure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PATIENCE: Final = 10.0
"""Seconds in which a master takes a connection."""

_LOOKED_AT: Final = 1 << 18
"""Bytes at the end of the log."""

_FITTING: Final = "pip install 'precedes[spark]' installs versions that work together"


@contextmanager
def entered(master: str | None) -> Iterator[SparkSession]:
    """The running session, or a new one on `master`.

    What Spark raises within becomes a PrecedesError (K001 to K008); so does Java that is missing (U002).
    """
    _refuse_missing()
    from precedes.engines.spark import session
    from precedes.engines.spark.silence import silenced

    if master is not None:
        _refuse_silent(master)
    debug = bool(os.environ.get("PRECEDES_DEBUG"))
    started = False
    with nullcontext() if debug else silenced():
        try:
            spark = _started(master, None if debug else _log())
            started = True
            yield spark
        except PrecedesError:
            raise
        except KeyboardInterrupt:
            session.cancel()
            raise _error(
                "K008", "interrupted: the Spark job was canceled", "its results are discarded"
            ) from None
        except ImportError as error:
            said = f"pyspark does not work with the installed packages: {error}"
            raise _error("K007", said, _FITTING) from error
        except session.FAILURES as error:
            if debug:
                raise
            told = failure(session.text_of(error), _end_of_log(), started=started)
            raise PrecedesError((told,)) from error


def _started(master: str | None, log: Path | None) -> SparkSession:
    from precedes.engines.spark.session import session

    try:
        return session(master, log)
    except ConnectionError:
        raise
    except OSError as error:
        of = f": {error.filename}" if error.filename else ""
        hint = "SPARK_HOME, where it is set, is the folder of a Spark; without it Spark is that of pyspark"
        raise _error("K002", f"Spark cannot be started: {error.strerror or error}{of}", hint) from error


def _refuse_missing() -> None:
    """Raise PrecedesError where Spark cannot be imported."""
    allow_pandas()
    try:
        for module in ("session", "files"):
            import_module(f"precedes.engines.spark.{module}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pyspark", "py4j", "pandas"):
            raise
        raise usage("the Spark engine needs pyspark", "pip install 'precedes[spark]'") from error
    except Exception as error:
        said = f"pyspark cannot be loaded with the installed packages: {type(error).__name__}: {error}"
        raise _error("K007", said, _FITTING) from error


def _refuse_silent(master: str) -> None:
    """Raise PrecedesError (K001) where nobody takes a connection at the addresses of a standalone master.

    Spark itself takes a minute to find out. A server of Spark Connect (U001) is no master: the command needs a session
    in its own process.
    """
    if master.startswith("sc://"):
        raise usage(
            f"{master} is a server of Spark Connect, and the command needs a session in its own process",
            "name the master of the cluster, or call precedes.verify on a DataFrame of a session of the server",
        )
    if not master.startswith("spark://"):
        return
    said: list[str] = []
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal():
            return
        try:
            with socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE):
                return
        except (OSError, OverflowError) as error:
            said.append(f"{address} ({error.strerror or error})" if isinstance(error, OSError) else address)
    raise _error(
        "K001",
        f"no Spark master answers at {', '.join(said)}",
        "check that it runs and can be reached from here; without --master Spark runs on this machine",
    )


@cache
def _log() -> Path:
    """The file for the words of this process's JVM."""
    number, path = tempfile.mkstemp(prefix="precedes-spark-", suffix=".log")
    os.close(number)
    atexit.register(_remove, path)
    return Path(path)


def _remove(path: str) -> None:
    with suppress(OSError):
        Path(path).unlink()


def _end_of_log() -> str:
    with _log().open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _LOOKED_AT))
        return file.read().decode(errors="replace")


def _error(code: str, message: str, hint: str) -> PrecedesError:
    return PrecedesError((Diagnostic(code, message, hint=hint),))
