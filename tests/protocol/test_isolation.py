"""A model that does not compute what it is asked, but ends, breaks or outwits the process that it runs in: no verdict
comes of it, and never exit code 0."""

from __future__ import annotations

import contextlib
import json
import os
import py_compile
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from precedes.core import isolation
from tests.command.running import precedes
from tests.protocol.test_command import TOYS
from tests.sampling import one_in
from tests.warm_processes import AVAILABLE, job

START = "        return 0\n"
ARRIVE = "        return Step(state, (Deliver(packet),))\n"
HOSTILE = {
    "ends its process": "import os; os._exit(0)",
    "ends the program": "import sys; sys.exit(0)",
    "is a crash": "import ctypes; ctypes.string_at(0)",
    "is killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "hangs": "while True: pass",
    "hangs asleep": "import time; time.sleep(1000)",
    "stops its process": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "raises an interrupt": "raise KeyboardInterrupt",
    "raises what nobody catches": "raise type('Own', (BaseException,), {})('own')",
    "writes everywhere": (
        "import os\n"
        "        for number in range(64):\n"
        '            try: os.write(number, b\'{"type":"answer","payload":{"text":"","exit":0}}\\n\')\n'
        "            except OSError: pass\n"
        "        os._exit(0)"
    ),
    "writes half a line and hangs": (
        "import os\n"
        "        for number in range(3, 64):\n"
        "            try: os.write(number, b'half')\n"
        "            except OSError: pass\n"
        "        while True: pass"
    ),
    "leaves a process behind": (
        "import os, time\n        if os.fork() == 0: time.sleep(1000)\n        os._exit(0)"
    ),
    "closes everything": "import os; os.closerange(0, 64)",
    "patches its judge": (
        "import precedes.protocol.exploration.judgment as judging\n        judging.Judge.fail = lambda *_: None\n"
        + ARRIVE
    ),
    "patches a builtin": "import builtins; builtins.any = lambda *_: False\n" + ARRIVE,
}


@pytest.fixture(autouse=True, scope="module")
def warm_processes() -> None:
    """Here processes start as the program starts them: with a new interpreter."""


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    """But not where the test is of what is told of the process."""
    if AVAILABLE:
        monkeypatch.setattr(isolation, "_new_interpreter", job)


def written(folder: Path, what: str, line: str = ARRIVE) -> Path:
    """The greedy model, of which one line does something else."""
    path = folder / "greedy.py"
    assert line in TOYS
    path.write_text(TOYS.replace(line, f"        {what.strip()}\n"), encoding="utf-8")
    return path


QUICK = ("ends its process", "hangs", "raises an interrupt", "writes everywhere", "patches its judge")
"""One of each way to give no verdict; each takes an interpreter, and those that hang take time."""


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(what, id=name, marks=[] if name in QUICK else [pytest.mark.slow])
        for name, what in HOSTILE.items()
    ],
)
def test_a_model_without_a_verdict_does_not_pass(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolation, "_GRACE", 1.0)
    model = written(tmp_path, what)
    ended = precedes("explore", model, "--messages", 1, "--hang-limit", 1)
    assert (ended.code, ended.out) == (2, ""), ended
    assert "greedy" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.usefixtures("prepared")
@pytest.mark.parametrize(
    "what", one_in(2, ["ends its process", "hangs", "patches its judge", "raises an interrupt"])
)
def test_nor_does_a_simulation_of_it(tmp_path: Path, what: str) -> None:
    model, target = written(tmp_path, HOSTILE[what]), tmp_path / "out.parquet"
    ended = precedes("simulate", model, "--executions", 2, "--hang-limit", 1, "-o", target)
    assert (ended.code, ended.out) == (2, ""), ended
    assert "greedy" in ended.err


@pytest.mark.usefixtures("prepared")
@pytest.mark.parametrize("what", ["import os; os._exit(0)", "while True: pass"])
def test_nor_one_that_does_so_when_it_is_read(tmp_path: Path, what: str) -> None:
    model = tmp_path / "model.py"
    model.write_text(f"{what}\n", encoding="utf-8")
    for command in (("explore",), ("simulate", "-o", tmp_path / "out.parquet")):
        ended = precedes(*command, model, "--hang-limit", 1)
        assert (ended.code, "M015 no verdict on" in ended.err) == (2, True), ended


@pytest.mark.usefixtures("prepared")
def test_what_became_of_the_process_is_told(tmp_path: Path) -> None:
    model = written(tmp_path, HOSTILE["ends its process"])
    assert (
        f"M015 no verdict on explore {model}: its process ended with exit code 0"
        in precedes("explore", model).err
    )
    written(tmp_path, HOSTILE["is killed"])
    assert "its process was ended by SIGKILL" in precedes("explore", model).err
    written(tmp_path, HOSTILE["hangs"])
    said = precedes("explore", model, "--hang-limit", 1).err
    assert "its process made no progress for 1 s, in arrive (greedy.py, line 2" in said
    written(tmp_path, HOSTILE["patches its judge"])
    assert "M016" in precedes("explore", model).err
    assert (
        "the model changed precedes.protocol.exploration.judgment.Judge.fail"
        in precedes("explore", model).err
    )


@pytest.mark.usefixtures("prepared")
def test_processes_end_where_there_are_no_groups_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "killpg")
    model = written(tmp_path, HOSTILE["hangs"])
    assert "made no progress for 1 s" in precedes("explore", model, "--hang-limit", 1).err


def test_what_a_model_prints_is_not_in_the_report(tmp_path: Path) -> None:
    model = written(tmp_path, 'print("printed"); return 0', START)
    ended = precedes("explore", model, "--format", "json")
    assert json.loads(ended.out)["verdict"] == "violated"


def test_modules_of_python_that_lie_about_are_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An interpreter that is started with -c or -m looks for modules where it is started first.
    for name in ("json", "pickle", "struct", "msgspec", "precedes"):
        (tmp_path / f"{name}.py").write_text("import os; os._exit(0)\n", encoding="utf-8")
    written(tmp_path, ARRIVE)
    monkeypatch.chdir(tmp_path)
    assert precedes("explore", "greedy.py", "--messages", 2).code == 1


def test_a_compiled_file_does_not_stand_in_for_a_model(tmp_path: Path) -> None:
    """Unchecked compiled files are run whatever the text says; one can be committed beside it."""
    helper = tmp_path / "helper.py"
    helper.write_text("LIMIT = 0\n", encoding="utf-8")
    py_compile.compile(str(helper), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    helper.write_text("LIMIT = 9\n", encoding="utf-8")
    text = TOYS.replace("limit: int = 9", "limit: int = LIMIT").replace(
        "@dataclass", "from helper import LIMIT\n\n@dataclass"
    )
    (tmp_path / "greedy.py").write_text(text, encoding="utf-8")
    ended = precedes("explore", tmp_path / "greedy.py", "--messages", 2)
    assert "limit=9" in ended.out


ENDLESS = '''
from dataclasses import dataclass
from precedes.protocol import Deliver, Protocol, Reliable, Step, Transmit

@dataclass(frozen=True)
class Endless(Protocol[int]):
    """It counts its own packets without end, and delivers what comes in the order in which it comes."""

    claims = ("order_preserving", "no_duplication")
    network = Reliable()

    def start(self, here):
        return 0

    def send(self, here, state, message):
        others = frozenset({here.entity})
        return Step(state, (Transmit(message, message.destinations), Transmit("again", others)))

    def arrive(self, here, state, packet, sender):
        if packet == "again":
            return Step(state + 1, (Transmit("again", frozenset({here.entity})),))
        return Step(state, (Deliver(packet),))
'''


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    path = tmp_path / "endless.py"
    path.write_text(ENDLESS, encoding="utf-8")
    return path


UNHURRIED = ("--time-limit", "60")
"""Without a limit a search stops at some number of states, which a quick machine has before anything is asked of it."""


def begun(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "precedes", "explore", *UNHURRIED, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
@pytest.mark.parametrize("number", one_in(2, [signal.SIGINT, signal.SIGTERM], ["INT", "TERM"]))
def test_a_violation_is_told_when_it_is_found_and_an_interrupt_reports_it(endless: Path, number: int) -> None:
    process = begun(endless, "--messages", 2, "--entities", 2)
    assert process.stderr is not None
    first = process.stderr.readline()
    assert first.startswith("endless: order_preserving is violated after ")
    assert "E2 delivers" in first or "E1 delivers" in first
    assert process.poll() is None
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1, (out, err)
    assert "order_preserving is violated" in out
    assert "not all: violated; it was interrupted" in out
    assert "scenario Endless_order_preserving" in out or "scenario endless_order_preserving" in out


@pytest.mark.skipif(os.name == "nt", reason="terminals are other things there")
def test_a_terminal_shows_how_far_the_search_is(endless: Path) -> None:
    import pty

    here, there = pty.openpty()
    command = [sys.executable, "-m", "precedes", "explore", *UNHURRIED, str(endless), "--messages", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=there) as process:
        os.close(there)
        shown = b""
        while b"to expand" not in shown:
            shown += os.read(here, 65536)
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):
            while os.read(here, 65536):
                pass
        assert process.wait(60) == 3
    os.close(here)
    assert re.search(rb"endless: [\d,]+ states?, [\d,]+/s, [\d,]+ to expand", shown)


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_an_interrupt_before_anything_was_found_is_undecided(endless: Path) -> None:
    text = ENDLESS.replace("        return 0\n", "        print('begun', flush=True)\n        return 0\n")
    endless.write_text(text, encoding="utf-8")
    process = begun(endless, "--messages", 1, "--format", "json")
    assert process.stderr is not None
    assert process.stderr.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3, (out, err)
    document = json.loads(out)
    assert (document["verdict"], document["complete"], document["stopped_by"]) == (
        "unknown",
        False,
        "an interrupt",
    )
    assert document["explorations"][0]["states"] > 0


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_a_model_that_hangs_when_it_is_interrupted_ends_all_the_same(tmp_path: Path) -> None:
    process = begun(written(tmp_path, f"print('begun', flush=True)\n        {HOSTILE['hangs']}"))
    assert process.stderr is not None
    for said in ("begun", "interrupted: a report of what is known follows"):
        assert process.stderr.readline().startswith(said)
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, ""), err


def test_a_limit_is_met_by_a_search_that_was_given_none(monkeypatch: pytest.MonkeyPatch) -> None:
    from precedes.protocol import bounds

    monkeypatch.setattr(bounds, "MOST_STATES", 1000)
    assert bounds.Bounds().limited().states == 1000
    for limit in ({"depth": 3}, {"seconds": 1.0}, {"states": 9}, {"megabytes": 100}):
        assert bounds.Bounds(**limit).limited() == bounds.Bounds(**limit)
