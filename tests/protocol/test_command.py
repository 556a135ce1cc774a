"""`precedes explore`: exit codes, the report, and the scenario that `check` confirms."""

from __future__ import annotations

import json
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.protocol import Protocol, catalog
from precedes.protocol.catalog import installed
from tests.command.running import precedes

TOYS = """
from dataclasses import dataclass
from precedes.protocol import Deliver, Protocol, Reliable, Step, Transmit

@dataclass(frozen=True)
class Greedy(Protocol[int]):
    claims = ("order_preserving", "no_duplication")
    limit: int = 9

    @property
    def network(self):
        return Reliable()

    def start(self, here):
        return 0

    def send(self, here, state, message):
        return Step(state + 1, (Transmit(message, message.destinations),)) if state < self.limit else None

    def arrive(self, here, state, packet, sender):
        return Step(state, (Deliver(packet),))
"""


@pytest.fixture
def greedy(tmp_path: Path) -> Path:
    path = tmp_path / "greedy.py"
    path.write_text(TOYS, encoding="utf-8")
    return path


def scenario_in(text: str) -> str:
    lines = [line.removeprefix("    ") for line in text.splitlines() if line.startswith("    ")]
    start = next(k for k, line in enumerate(lines) if line.startswith("scenario "))
    stop = next(k for k, line in enumerate(lines) if k > start and line.startswith("expect "))
    return "\n".join(lines[start : stop + 1]) + "\n"


def test_a_violation_is_shown_and_check_confirms_it(greedy: Path, tmp_path: Path) -> None:
    ended = precedes("explore", greedy, "--destinations", "unicast")
    assert ended.code == 1
    assert "order_preserving is violated" in ended.out
    assert "no_duplication    always     holds" in ended.out
    shown = tmp_path / "found.prec"
    shown.write_text(scenario_in(ended.out), encoding="utf-8")
    checked = precedes("check", shown)
    assert checked.code == 0, checked.out
    shown.write_text(shown.read_text(encoding="utf-8").replace("expect not", "expect"), encoding="utf-8")
    assert precedes("check", shown).code == 1


def test_steps_histories_and_diagram(greedy: Path) -> None:
    out = precedes("explore", greedy, "--script", "a{2} a{2}").out
    assert " 3  a2 from E1 arrives at E2: delivers a2" in out
    assert "SL1: < a1{2} a2{2} ]" in out
    assert "● a2{2} ──▶ ● a2" in out or "▶ ● a2" in out


def test_json(greedy: Path) -> None:
    ended = precedes("explore", greedy, "--format", "json", "--messages", 2)
    document = json.loads(ended.out)
    assert (ended.code, document["verdict"]) == (1, "violated")
    (explored,) = document["explorations"]
    assert explored["properties"]["no_duplication"]["verdict"] == "holds"
    (violation,) = explored["violations"]
    assert violation["property"] == "order_preserving"
    assert violation["scenario"].startswith("scenario ")
    assert explored["parameters"] == {"as_written": "False", "limit": "9"}


def test_a_limit_is_undecided(greedy: Path) -> None:
    ended = precedes("explore", greedy, "--require", "no_duplication", "--depth", 3)
    assert ended.code == 3
    assert "to depth 3, not all: undecided" in ended.out


def test_everything_holds(greedy: Path) -> None:
    ended = precedes("explore", greedy, "--require", "no_duplication", "--require", "CO", "--messages", 1)
    assert ended.code == 3
    assert "never exercised" in ended.out
    assert precedes("explore", greedy, "--require", "no_duplication").code == 0


def test_an_invariant_is_asked_for_by_its_name() -> None:
    given = ("explore", "st", "--entities", 2, "--script", "a{1,2}", "--format", "json")
    ended = precedes(*given, "--require", "acceptance: (1) implies (2)", "--require", "no_creation")
    assert ended.code == 0
    (explored,) = json.loads(ended.out)["explorations"]
    assert explored["asked"] == ["no_creation", "acceptance: (1) implies (2)"]
    further = "everything is acknowledged in the end"
    (explored,) = json.loads(precedes(*given).out)["explorations"]
    assert further not in explored["asked"]
    literal = precedes(*given, "--set", "letters=DISCARDING", "--require", further, "--script", "a{2}")
    assert json.loads(literal.out)["explorations"][0]["asked"] == [further]


@pytest.mark.parametrize(("value", "code"), [("go-back", 3), ("selective", 3), ("go_back", 2)])
def test_a_parameter_that_is_one_of_several_words(value: str, code: int) -> None:
    given = ("--entities", 2, "--script", "a{1,2} b{1,2}", "--losses", 1, "--set", "confirms=false")
    ended = precedes("explore", "st", *given, "--set", f"retransmission={value}")
    assert ended.code == code
    assert ("M004 go_back is not a value for retransmission" in ended.err) == (code == 2)


def test_requests_that_are_refused_for_ever(greedy: Path) -> None:
    ended = precedes("explore", greedy, "--set", "limit=1", "--entities", 2, "--require", "no_duplication")
    assert ended.code == 1
    assert "every remaining request is refused" in ended.out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("nothing",), "M001", "there is no model nothing"),
        (("cmd-auxilary",), "M001", "did you mean cmd-auxiliary?"),
        (("missing.py",), "M001", "no such file"),
        (("GREEDY", "--set", "limt=3"), "M004", "limit: int"),
        (("GREEDY", "--set", "limit=x"), "M004", "x is not a value for limit"),
        (("GREEDY", "--set", "limit"), "U001", "NAME=VALUE"),
        (("GREEDY", "--script", "a{9}"), "U001", "does not exist"),
        (("GREEDY", "--script", "{2}"), "U001", "cannot be read"),
        (("GREEDY", "--losses", "1"), "U001", "has no losses"),
        (("GREEDY", "--crashes", "1", "--recoveries", "1"), "U001", "no entity of greedy that has stopped"),
        (("GREEDY", "--early", "1"), "U001", "because it has no timers"),
        (("GREEDY", "--ticks", "2"), "U001", "the network of greedy has no time"),
        (("GREEDY", "--as-written"), "U001", "greedy has one form"),
        (("GREEDY", "--depth", "1", "--order", "depth"), "U001", "depth first"),
        (("GREEDY", "--require", "ordr"), "N", "ordr"),
    ],
)
def test_mistakes(greedy: Path, arguments: tuple[str, ...], code: str, says: str) -> None:
    ended = precedes("explore", *(str(greedy) if a == "GREEDY" else a for a in arguments))
    assert ended.code == 2
    assert code in ended.err
    assert says in ended.err


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x = 1", "M002"),
        ("1 / 0", "M003"),
        ("def", "M003"),
        (TOYS + TOYS.replace("Greedy", "Other"), "M002"),
        (TOYS.replace("(Deliver(packet),)", "(Deliver(packet.nothing),)"), "M005"),
        (
            TOYS.replace("def start", "def strt"),
            "model.py has no protocol: Greedy does not define start\n    it defines strt: did you mean start?\n",
        ),
        (
            TOYS.replace("def start", "def begin").replace("def send", "def request"),
            "model.py has no protocol: Greedy does not define start, send\n    a model's file has one class",
        ),
    ],
)
def test_mistakes_in_a_file(tmp_path: Path, text: str, code: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(text, encoding="utf-8")
    ended = precedes("explore", path)
    assert ended.code == 2
    assert code in ended.err
    assert "Traceback" not in ended.err


def test_installed_models_are_listed() -> None:
    assert "  cmd-auxiliary" in precedes("list").out.split("models\n")[1]


def reads_as_written(code: CodeType) -> bool:
    """Whether a function, or one within it, reads the field."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return "as_written" in code.co_names or any(map(reads_as_written, inner))


@pytest.mark.parametrize("name", sorted(installed()))
def test_a_model_names_its_form_exactly_where_it_has_two(name: str) -> None:
    protocol = type(catalog.model(name))
    functions = [
        function
        for cls in protocol.__mro__
        if cls not in (Protocol, *Protocol.__mro__)
        for defined, each in vars(cls).items()
        if not defined.startswith("__")
        for function in (each, getattr(each, "fget", None), getattr(each, "__func__", None))
        if isinstance(function, FunctionType) and function.__module__.startswith("precedes_models")
    ]
    assert protocol.repaired is any(reads_as_written(function.__code__) for function in functions)
    if protocol.repaired:
        assert catalog.model(name, as_written=True).form == "as written"
    else:
        with pytest.raises(PrecedesError, match="has one form"):
            catalog.model(name, as_written=True)
    assert catalog.model(name).form == ("repaired" if protocol.repaired else None)


@pytest.mark.parametrize(
    ("model", "heading"),
    [
        ("raynal-schiper-toueg", "raynal-schiper-toueg: 2 entities"),
        ("birman-schiper-stephenson", "birman-schiper-stephenson"),
        (
            "cmd-auxiliary",
            "cmd-auxiliary (repaired, readings=None, queue=True, confirmations=False): 2 entities",
        ),
    ],
)
def test_the_heading_of_a_report_has_the_form(model: str, heading: str, tmp_path: Path) -> None:
    ended = precedes("explore", model, "--entities", 2, "--messages", 1)
    assert ended.out.startswith(heading)
    simulated = precedes("simulate", model, "--executions", 2, "-o", tmp_path / "t.parquet")
    for out in (ended.out, simulated.out):
        assert ("repaired" in out) is (model == "cmd-auxiliary"), out
