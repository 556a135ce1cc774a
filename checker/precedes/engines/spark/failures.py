"""Messages for failures of Spark: from the exception and the output of the JVM to a code and a hint.

This module imports nothing of Spark, so it can also report that Spark is missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from precedes.core.diagnostics import Diagnostic

_LONGEST: Final = 300
"""Letters of a message that are Spark's own."""


@dataclass(frozen=True, slots=True)
class _Sign:
    """A pattern in what Spark says, and what it stands for. Its groups stand in the message by their names."""

    pattern: re.Pattern[str]
    code: str
    message: str
    hint: str


def _sign(pattern: str, code: str, message: str, hint: str) -> _Sign:
    return _Sign(re.compile(pattern, re.MULTILINE), code, message, hint)


_SAME_PYTHON: Final = (
    "set PYSPARK_PYTHON to a Python that every worker has, of the same minor version as this one"
)
_SHIP: Final = (
    "install requirements/worker.txt and the wheel on the workers, or ship them: docs/how-to/spark-cluster.md"
)
_SAME: Final = (
    "workers need the precedes of the driver: ship one archive to both, as docs/how-to/spark-cluster.md does"
)
_MORE: Final = "give the executors more memory or fewer cores, or convert the trace with `precedes convert`"
_AGAIN: Final = "run it again; if this happens again, read the logs of its machine or of the cluster"
_MASTER: Final = (
    "check that it runs, and that it has the Spark version of this pyspark; without --master Spark runs here"
)

_SIGNS: Final = (
    _sign(r"PrecedesError: K003 (?P<said>[^\n]*)", "K003", "{said}", _SAME),
    _sign(
        r"PYTHON_VERSION_MISMATCH.*?(?P<there>\d+\.\d+)\D+?(?P<here>\d+\.\d+)",
        "K003",
        "the workers run Python {there}, but the driver runs Python {here}",
        _SAME_PYTHON,
    ),
    _sign(
        r'Cannot run program "(?P<program>[^"]*)"',
        "K003",
        "the workers have no Python {program}",
        _SAME_PYTHON,
    ),
    _sign(
        r"(?:ModuleNotFoundError|ImportError): No module named '(?P<module>precedes[\w.]*)'",
        "K003",
        "the Python of a worker has no {module}",
        _SAME,
    ),
    _sign(
        r"AttributeError: Can't get attribute .* on <module '(?P<module>precedes[\w.]*)'",
        "K003",
        "the workers have another version of {module}",
        _SAME,
    ),
    _sign(
        r"(?:ModuleNotFoundError|ImportError): No module named '(?P<module>[\w.]+)'",
        "K003",
        "the Python of a worker has no {module}",
        _SHIP,
    ),
    _sign(
        r"\[?(?:PACKAGE_NOT_INSTALLED|UNSUPPORTED_PACKAGE_VERSION)\]? (?P<said>[^\n]*)",
        "K003",
        "the Python of a worker is not suitable: {said}",
        _SHIP,
    ),
    _sign(
        r"Error from python worker:[\s\S]*?^\s*(?P<said>\w+(?:Error|Exception): [^\n]*)",
        "K003",
        "the Python of a worker does not start: {said}",
        _SHIP,
    ),
    _sign(
        r"\bImportError: (?P<said>[^\n]*)",
        "K003",
        "the Python of a worker is not suitable: {said}",
        _SHIP,
    ),
    _sign(
        r"java\.lang\.OutOfMemoryError: (?P<said>[^\n]*)", "K005", "Spark ran out of memory: {said}", _MORE
    ),
    _sign(
        r"^(?:\w+\.)*(?:MemoryError|_ArrayMemoryError|ArrowMemoryError)\b:? ?(?P<said>[^\n]*)",
        "K005",
        "the Python of a worker ran out of memory: {said}",
        _MORE,
    ),
    _sign(
        r"ExecutorLostFailure \(executor (?P<which>\S+) exited.*?Reason: (?P<said>[^\n]*(?:137|143|memory|OOM)[^\n]*)",
        "K005",
        "executor {which} was ended, probably for lack of memory: {said}",
        _MORE,
    ),
    _sign(
        r"ExecutorLostFailure \(executor (?P<which>\S+) exited.*?Reason: (?P<said>[^\n]*)",
        "K004",
        "executor {which} was lost: {said}",
        _AGAIN,
    ),
    _sign(
        r"Python worker (?:exited unexpectedly|process terminated)|Failed to get the worker's socket|EOFException",
        "K004",
        "the Python of a worker ended in the middle of its work",
        f"if the system ended it for lack of memory: {_MORE}",
    ),
    _sign(r"All masters are unresponsive", "K001", "the Spark master does not answer", _MASTER),
    _sign(
        r"Application has been killed. Reason: (?P<said>[^\n]*)",
        "K002",
        "the cluster refused the application: {said}",
        "see what the logs of the master say",
    ),
    _sign(
        r"(?P<said>Master must either be [^\n]*|Could not parse Master URL: [^\n]*|When running with master[^\n]*)",
        "K002",
        "{said}",
        "masters are spark://HOST:PORT, local[N], yarn and k8s://...",
    ),
    _sign(
        r"BindException: (?P<said>[^\n:]*)",
        "K002",
        "the address of this machine cannot be used: {said}",
        "SPARK_LOCAL_IP=127.0.0.1 is right for local masters; for a cluster, an address that the workers reach",
    ),
    _sign(
        r"(?P<said>Failed to create (?:a temp|local) dir[^\n]*|No space left on device)",
        "K002",
        "Spark cannot write its temporary files: {said}",
        "set SPARK_LOCAL_DIRS to a folder with room",
    ),
    _sign(
        r"(?:ConnectException|UnknownHostException|UnresolvedAddressException)(?:: (?P<said>[^\n]*))?",
        "K001",
        "nothing answers at the address given to Spark: {said}",
        _MASTER,
    ),
)

_GONE: Final = re.compile(
    "Py4JNetworkError|Answer from Java side is empty|Connection refused|Connection reset|Broken pipe"
    "|JAVA_GATEWAY_EXITED"
)
"""An exception that says nothing but that there is no JVM: what it died of is in the log, if anywhere."""

_OWN: Final = re.compile(
    r'File "[^"]*[/\\]precedes[/\\][^"]*", line \d+.*?^(?P<said>\w[\w.]*(?:Error|Exception)\b[^\n]*)',
    re.DOTALL | re.MULTILINE,
)
"""A traceback through this program."""

_CRASHED: Final = re.compile(
    r"Python worker exited unexpectedly \(crashed\): Fatal Python error: (?P<how>[^\n]*)"
)
_TASK: Final = re.compile(r"\bTask (?P<number>\d+) in stage ")
_READING: Final = re.compile(
    r'File "[^"]*[/\\]precedes[/\\]engines[/\\]spark[/\\]tasks\.py", line \d+ in (?:read|_judged)\b'
)
"""The functions of a worker that read files, in what its Python says of its end."""

_CAUSES: Final = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (r"^Caused by: (.*)", r'^Exception in thread "main" (.*)', r"^Error: (.*)", r"^: (.*)")
)
"""Where the innermost cause stands, else what the JVM ended with."""


_RAISED: Final = re.compile(
    r"\bPrecedesError: (?P<said>.*?)(?=\n\s*\n|\n\tat |\nJVM stacktrace|\Z)", re.DOTALL
)
_MISTAKE: Final = re.compile(
    r"(?:(?P<path>.+?)(?:: row (?P<row>\d+))?: )?(?P<code>[A-Z]\d{3}) (?P<message>.*)"
)


def mistakes(said: str) -> tuple[Diagnostic, ...]:
    """The mistakes that a worker raised, in what Spark says of its end; none if it ended otherwise."""
    found: list[Diagnostic] = []
    raised = _RAISED.search(said)
    for line in "" if raised is None else raised["said"].splitlines():
        if mistake := _MISTAKE.fullmatch(line):
            row = None if mistake["row"] is None else int(mistake["row"])
            found.append(Diagnostic(mistake["code"], mistake["message"], mistake["path"], row=row))
        elif found and line.startswith("    "):
            found[-1] = replace(found[-1], hint=line.strip())
    return tuple(found)


def failure(said: str, log: str, *, started: bool) -> Diagnostic:
    """What is told of a failure of Spark, which has `started` or not: `said` by the exception, `log` by the JVM."""
    gone = _GONE.search(said) is not None
    text = log if gone else said
    for sign in _SIGNS:
        if found := sign.pattern.search(text):
            given = {name: short(value or "") for name, value in found.groupdict().items()}
            return Diagnostic(sign.code, sign.message.format_map(given).rstrip(": "), hint=sign.hint)
    if own := _OWN.search(text):
        hint = "this is a defect of precedes; PRECEDES_DEBUG=1 shows where"
        return Diagnostic("I001", f"internal error in a worker of Spark: {short(own['said'])}", hint=hint)
    if gone and started:
        hint = f"if the system ended it for lack of memory, give it more (spark.driver.memory); else {_AGAIN}"
        return Diagnostic("K004", "the JVM of the driver ended in the middle of the work", hint=hint)
    hint = "PRECEDES_DEBUG=1 shows all that Spark says"
    if started:
        return Diagnostic("K006", f"Spark failed: {_cause(text)}", hint=hint)
    return Diagnostic("K002", f"Spark did not start: {_cause(text)}", hint=hint)


def died_reading(said: str) -> tuple[int, str] | None:
    """The number of a task whose worker machine code ended while it read files, and how; None for any other failure."""
    task, crashed = _TASK.search(said), _CRASHED.search(said)
    if task is None or crashed is None or not _READING.search(said, crashed.end()):
        return None
    return int(task["number"]), short(crashed["how"])


def _cause(text: str) -> str:
    """The line that says most, else the first one."""
    for pattern in _CAUSES:
        if found := pattern.findall(text):
            return short(found[-1])
    return short(text.strip().partition("\n")[0])


def short(text: str) -> str:
    """One line, without the packages of Java's classes."""
    line = re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Z]\w*(?:Exception|Error)\b)", "", " ".join(text.split()))
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."
