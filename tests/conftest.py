"""What all tests share: one Spark session, how they are distributed, and the rule that under CI no Spark test may be
skipped."""

import gc
import os
import shlex
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The tests start hundreds of processes. Where nothing is written, each of them compiles the whole package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A program that a shell starts in the background ignores interrupts, and so does whatever it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test depends on how busy the machine is.
settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
settings.load_profile("unhurried")

pytest_plugins = ["pytester"]

# The .prec files below are what tests read; some are mistaken on purpose. The plugin has tests of its own.
collect_ignore_glob = ["*.prec"]

UNDER_CI = os.environ.get("CI", "").lower() not in ("", "0", "false")
LONGEST = (
    "spark",
    *("tests/command/test_documents.py", "tests/columnar/test_kernels.py", "tests/gate/test_attacks.py"),
    *("tests/papers/test_rows.py", "tests/models/cmd/test_exploring.py"),
    *(f"tests/gate/test_{name}.py" for name in ("models", "pipelines")),
    *(f"tests/conformance/test_{name}.py" for name in ("engines", "kit")),
    *("tests/columnar/test_compiler.py", "tests/traces/test_hostile.py", "tests/protocol/test_isolation.py"),
    *("tests/reports/test_printed_ids.py", "tests/columnar/test_compiler_parts.py"),
    *("tests/packaging/test_platforms.py", "tests/completions/test_completions.py"),
    *("tests/columnar/test_offenders.py", "tests/completions/test_membership.py"),
)
"""The group and the files that take longest, the longest first, and those that take more than five seconds and have few
tests. If one came last, the other process would wait for it."""
ELSEWHERE = "the recorded traces are not here"
"""Why a test is skipped that reads what lies beside the project."""


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    """The one Spark session of a test run, small and quiet. Tests that use it are marked `spark`.

    Skips where there is no Java; under CI that skip is a failure.
    """
    from precedes.engines.spark.java import JavaNotFoundError, use_java

    try:
        use_java()
    except JavaNotFoundError as error:
        pytest.skip(str(error))

    # The workers run the Python that runs the tests, and not the first `python3` on PATH.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

    from precedes.engines.spark.session import session

    scratch = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYSPARK_SUBMIT_ARGS", f"{shlex.join(_submitted(scratch))} pyspark-shell")
        # As a command starts it, with two workers: the least with which anything is shuffled.
        started = session("local[2]")
    # 200 partitions for a handful of rows is a second of scheduling per query.
    started.conf.set("spark.sql.shuffle.partitions", "2")
    # As the users' sessions are: Arrow between the JVM and Python, ANSI at its default.
    started.conf.set("spark.sql.execution.arrow.pyspark.enabled", "true")
    # Times of the traces are compared with literals, wherever the tests run.
    started.conf.set("spark.sql.session.timeZone", "UTC")
    yield started
    started.stop()


def _submitted(scratch: Path) -> Iterator[str]:
    """What `spark-submit` is told for the session of the tests."""
    settings = {
        # Loopback only: the name of a container often resolves to an address that it cannot reach.
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        # No JVM of tests lives long enough to be worth more than the first compiler.
        "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        # Nothing is left in the folder where the tests were started.
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.local.dir": str(scratch / "local"),
    }
    for name, value in settings.items():
        yield from ("--conf", f"{name}={value}")


@pytest.fixture(autouse=True)
def _spark_where_marked(request: pytest.FixtureRequest) -> None:
    """A command that a test runs on Spark finds the session of the tests."""
    if request.node.get_closest_marker("spark"):
        request.getfixturevalue("spark")


# Before pytest-xdist's own hook, which reads the groups.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the Spark tests in one process: a session takes ten seconds to start, and much memory."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()) and item.get_closest_marker("spark") is None:
            item.add_marker(pytest.mark.spark)
        if item.get_closest_marker("spark") and config.pluginmanager.has_plugin("xdist"):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.hookimpl(wrapper=True)
def pytest_collection_finish(session: pytest.Session) -> Generator[None]:
    """pytest-xdist 3.8 writes the group of a test where pytest 9.2 no longer reads its id: then no group would hold."""
    for item in session.items:
        grouped = getattr(item, "_nodeid", item.nodeid)
        if grouped != item.nodeid:
            path, _, name = grouped.partition("::")
            item._id = type(item._id)(path=path, names=(name,))
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """What was imported and collected stays to the end. To look for garbage in it took a sixth of the processor's time
    (measured on tests/language)."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file goes to one process as a whole: what its tests share is made once. So does a group. The longest go first,
    and then those with most tests."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class ByFile(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            scope = super()._split_scope(nodeid)
            return scope if scope != nodeid else nodeid.partition("::")[0]

        def _assign_work_unit(self, node: Any) -> None:
            longest = next((scope for scope in LONGEST if scope in self.workqueue), None)
            if longest is not None:
                self.workqueue.move_to_end(longest, last=False)
            super()._assign_work_unit(node)

    return ByFile(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Under CI, a Spark test that is skipped has failed: else a broken set-up would look like a success. Traces
    that are no part of the project may be missing everywhere."""
    report = yield
    skipped = report.skipped and not hasattr(report, "wasxfail") and ELSEWHERE not in _reason(report)
    if UNDER_CI and skipped and item.get_closest_marker("spark"):
        report.outcome = "failed"
        report.longrepr = f"skipped under CI, where every Spark test must run: {_reason(report)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Under CI, so has a module with Spark tests that is skipped as a whole, as by `pytest.importorskip`.

    Its marks were never made then, so its text is asked for them.
    """
    report = yield
    if UNDER_CI and report.skipped and "mark.spark" in _text(collector):
        report.outcome = "failed"
        report.longrepr = f"skipped as a whole under CI, with Spark tests in it: {_reason(report)}"
    return report


def _text(collector: pytest.Collector) -> str:
    return collector.path.read_text(encoding="utf-8") if isinstance(collector, pytest.Module) else ""


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
