"""What a model says of itself and does not keep, and what nobody asked: told, never a pass."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.verdict import Verdict
from precedes.protocol import (
    Arrive,
    Choose,
    Deliver,
    Here,
    Message,
    OfEntity,
    Protocol,
    Step,
    Timer,
    Transmit,
)
from precedes.protocol.bounds import Bounds, Conditions, Destinations
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.reductions import Reduction
from precedes.protocol.simulation.simulator import run
from precedes.protocol.validation import symmetry_check
from tests.command.running import precedes
from tests.gate.projects import gate
from tests.protocol.toys import InTurn, Plain

SMALL = Bounds(entities=3, messages=1, destinations=Destinations.BROADCAST)

ECHO = """
from dataclasses import dataclass

from precedes.protocol import Deliver, Protocol, Reliable, Step, Transmit


@dataclass(frozen=True)
class Echo(Protocol[frozenset]):
    claims = ("no_duplication",)
    destinations = "broadcast"
    network = Reliable()
    answers = False

    def start(self, here):
        return frozenset()

    def send(self, here, state, message):
        others = message.destinations - {here.entity}
        return Step(state | {message}, (Transmit(message, others), Deliver(message)))

    def arrive(self, here, state, packet, sender):
        actions = () if packet in state else (Deliver(packet),)
        if here.entity == 2 and sender == 1:
            actions += (Transmit(packet, frozenset({0})),)
        return Step(state, actions)
"""
"""E3 hands what it has from E2 on to E1, where it is delivered twice."""


@pytest.fixture
def echo(tmp_path: Path) -> Path:
    path = tmp_path / "echo.py"
    path.write_text(ECHO, encoding="utf-8")
    return path


def changed(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def told(call: Callable[[], Any]) -> str:
    with pytest.raises(PrecedesError) as error:
        call()
    assert all(diagnostic.hint for diagnostic in error.value.diagnostics)
    return str(error.value)


# ---- answers ----


@pytest.mark.parametrize("options", [(), ("--plain",), ("--order", "depth")])
def test_a_model_that_answers_and_denies_it(echo: Path, options: tuple[str, ...]) -> None:
    ended = precedes("explore", echo, "--messages", 1, *options)
    assert ended.code == 2
    assert re.search(
        r"M013 echo: arrive of E3 transmits Message\(sender=1.* to E1, but answers is False", ended.err
    )
    assert "take `answers = False` out of the model" in ended.err
    changed(echo, "    answers = False\n", "")
    ended = precedes("explore", echo, "--messages", 1, *options)
    assert ended.code == 1
    assert "no_duplication is violated" in ended.out


@dataclass(frozen=True)
class Denies(Plain):
    """Transmits where it says that it does not."""

    where: str = "arrive"
    to: frozenset[int] | None = frozenset({0})
    symmetric: ClassVar[bool] = False

    def _said(self, handler: str, state: int) -> tuple[Transmit, ...]:
        return (Transmit(("echo", handler), self.to),) if handler == self.where and state < 9 else ()

    def arrive(self, here: Here, state: int, packet: Hashable, sender: int) -> Any:
        step = Step(state, self._said("arrive", state))
        return Choose(((1.0, Step(state)), (1.0, step)))

    def timers(self, here: Here, state: int) -> tuple[Timer, ...]:
        return (Timer("once"),) if state == 0 else ()

    def expire(self, here: Here, state: int, timer: Timer) -> Step[int]:
        return Step(1, self._said("expire", state))

    def crash(self, here: Here, state: int) -> int:
        return state

    def recover(self, here: Here, state: int) -> Step[int]:
        return Step(state, self._said("recover", state))


@pytest.mark.parametrize("where", ["arrive", "expire", "recover"])
def test_every_handler_is_held_to_it(where: str) -> None:
    protocol = Denies(where=where)
    said = f"M013 plain: {where} of E"
    assert said in told(lambda: explore(protocol, replace(SMALL, crashes=1, recoveries=1), []))
    conditions = Conditions(messages=5, crash=0.9, recovery=1.0)
    assert said in told(lambda: [run(protocol, conditions, 1, number) for number in range(1, 9)])


def test_what_is_transmitted_to_nobody_is_no_answer() -> None:
    protocol = Denies(to=frozenset())
    assert explore(protocol, SMALL).complete
    assert run(protocol, Conditions(messages=5), 1).counters["packets"] > 0


# ---- symmetric ----


@dataclass(frozen=True)
class Ranked(InTurn):
    """Right, but for a difference between entities that it denies."""

    how: str = ""

    def start(self, here: Here) -> Any:
        state = super().start(here)
        return replace(state, sent=(here.entity,) * here.entities) if self.how == "start" else state

    def send(self, here: Here, state: Any, message: Message) -> Any:
        if self.how == "send" and here.entity == 0 and sum(state.delivered):
            return None
        return super().send(here, state, message)

    def arrive(self, here: Here, state: Any, packet: Hashable, sender: int) -> Any:
        step = super().arrive(here, state, packet, sender)
        if self.how == "state" and sender < here.entity:
            return replace(step, state=state)
        if self.how == "delivers" and here.entity == 1:
            return replace(step, actions=())
        if self.how == "transmits":
            return replace(step, actions=(Transmit(packet, frozenset({0})),))
        if self.how == "chooses" and here.entity == 2:
            return Choose(((1.0, step), (1.0, Step(state))))
        return step

    def renamed_packet(self, packet: Hashable, names: tuple[int, ...]) -> Any:
        if self.how == "renamed":
            raise KeyError("renamed")
        return packet if self.how == "packet" else super().renamed_packet(packet, names)


@dataclass(frozen=True)
class Answering(Ranked):
    """Ranked, and may answer."""

    answers: ClassVar[bool] = True


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("start", "M014 in-turn: start of E2"),
        ("send", "M014 in-turn: send of E"),
        ("state", "M014 in-turn: arrive of E"),
        ("delivers", "M014 in-turn: arrive of E"),
        ("transmits", "M014 in-turn: arrive of E"),
        ("chooses", "M014 in-turn: arrive of E"),
        ("packet", "M014 in-turn: "),
        ("renamed", "M005 in-turn: renamed_packet raised KeyError"),
    ],
)
def test_a_model_that_is_not_symmetric_and_says_so(how: str, said: str) -> None:
    message = told(lambda: explore(Answering(how=how), Bounds(entities=3, messages=2)))
    assert said in message
    assert "symmetric = True" in message


def test_every_renaming_of_every_call_is_tried_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symmetry_check, "ALL_OF", 0)
    monkeypatch.setattr(symmetry_check, "EVERY", 1_000_000)
    bounds = Bounds(entities=3, messages=2)
    assert explore(Answering(how="delivers"), bounds, []).complete
    with pytest.raises(PrecedesError, match="arrive of E"):
        explore(Answering(how="delivers"), bounds, [], check_purity=True)
    assert explore(Answering(), bounds, [], check_purity=True).complete


def test_a_symmetric_model_is_explored() -> None:
    found = explore(Ranked(), Bounds(entities=3, messages=2))
    assert Reduction.SYMMETRY.value in found.reductions
    assert not found.findings


def test_renaming_is_asked_only_where_entities_are_exchanged() -> None:
    assert explore(Ranked(how="renamed"), Bounds(entities=3, messages=1), plain=True).complete


# ---- what stands in the class ----


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('claims = ("no_duplication")', 'claims = ("no_duplication",)'),
        ("claims = {'no_duplication'}", "a tuple of requirements, each as text"),
        ("claims = (1,)", "a tuple of requirements, each as text"),
        ("invariants = (1,)", "it is a tuple of OfEntity(...)"),
        ('answers = "no"', "write answers = True or answers = False"),
        ("symmetric = 1", "write symmetric = True or symmetric = False"),
        ('destinations = "all"', "did you mean broadcast?"),
        ('destinations = "brodcast"', "did you mean broadcast?"),
        ("destinations = 3", "it is one of unicast, multicast, broadcast, any"),
        ("network = Reliable", "Reliable(...), SingleChannel(...) or Timed(...)"),
    ],
)
def test_what_is_of_the_wrong_kind(echo: Path, tmp_path: Path, line: str, said: str) -> None:
    name = line.partition(" ")[0]
    lines = [one for one in ECHO.splitlines() if not one.startswith(f"    {name} = ")]
    lines.insert(lines.index("class Echo(Protocol[frozenset]):") + 1, f"    {line}")
    echo.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for command in (("explore", echo), ("simulate", echo, "-o", tmp_path / "runs.parquet")):
        ended = precedes(*command)
        assert ended.code == 2
        assert f"M012 echo: {name} is " in ended.err
        assert said in ended.err


def test_values_are_looked_at_where_no_file_is_read() -> None:
    class Forgot(Plain):
        claims = "no_creation"  # type: ignore[assignment]

    assert "M012" in told(lambda: explore(Forgot(), SMALL))
    assert "M012" in told(lambda: run(Forgot(), Conditions(), 1))


# ---- what handlers return ----


@dataclass(frozen=True)
class Returns(Plain):
    """Returns what it is given."""

    outcome: Any = None
    answers: ClassVar[bool] = True
    symmetric: ClassVar[bool] = False

    def arrive(self, here: Here, state: int, packet: Hashable, sender: int) -> Any:
        return self.outcome


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Step(0, (Transmit(1, frozenset({"E1"})),)), "transmitted to entity E1"),  # type: ignore[arg-type]
        (Step(0, (Transmit(1, frozenset({"E1", 1})),)), "transmitted to entity E1"),  # type: ignore[arg-type]
        (Step(0, (Transmit(1, 2),)), "the receivers are a set of entities"),  # type: ignore[arg-type]
        (Step(0, (Transmit(1, "E1"),)), "the receivers are a set of entities"),  # type: ignore[arg-type]
        (Step(0, Transmit(1)), "the actions of a step are Transmit"),  # type: ignore[arg-type]
        (Step(0, (Message(0, 1, frozenset()),)), "an action of a step is Message"),  # type: ignore[arg-type]
        (Step(0, (Deliver("a1"),)), "an action of a step is Deliver"),  # type: ignore[arg-type]
        (Step(0, (Deliver(Message("E1", 1, frozenset({1}))),)), "an action of a step is about Message"),  # type: ignore[arg-type]
        (Step(0, (Deliver(Message(0, "1", frozenset({1}))),)), "an action of a step is about Message"),  # type: ignore[arg-type]
        (Step(0, (Deliver(Message(0, 1, {1})),)), "an action of a step is about Message"),  # type: ignore[arg-type]
        (Step(0, (Arrive(Message(0, 1, frozenset({"E2"}))),)), "an action of a step is about Message"),  # type: ignore[arg-type]
        (Choose((Step(0),)), "an option of Choose is Step"),  # type: ignore[arg-type]
        ((0, ()), "a handler returned (0, ())"),
    ],
)
def test_what_no_handler_may_return(outcome: Any, said: str) -> None:
    for call in (
        lambda: explore(Returns(outcome=outcome), SMALL),
        lambda: run(Returns(outcome=outcome), Conditions(messages=2), 1),
    ):
        message = told(call)
        assert message.startswith("M006 plain: ")
        assert said in message


# ---- nothing asked, nobody heard ----


def test_nothing_claimed_and_nothing_required_is_undecided(echo: Path) -> None:
    changed(echo, "    answers = False\n", "")
    changed(echo, '    claims = ("no_duplication",)\n', "")
    ended = precedes("explore", echo, "--messages", 1)
    assert ended.code == 3
    assert "no deadlock    quiescent  holds" in ended.out
    assert "undecided: no order was asked for; give the model claims, or say with --require" in ended.out
    assert precedes("explore", echo, "--messages", 1, "--require", "no_duplication").code == 1
    assert '"asked": []' in precedes("explore", echo, "--messages", 1, "--format", "json").out


def test_what_is_violated_in_any_case_is_told_where_nothing_is_asked(echo: Path) -> None:
    changed(echo, '    claims = ("no_duplication",)\n', "    def waiting(self, state): return state\n")
    changed(echo, "    answers = False\n", "")
    ended = precedes("explore", echo, "--messages", 1)
    assert ended.code == 1
    assert "no starvation is violated" in ended.out


def test_an_invariant_is_something_to_ask() -> None:
    class Bounded(Plain):
        claims = ()
        invariants = (OfEntity("small", "made for this test", lambda protocol, here, state: state < 9),)

    found = explore(Bounded(), SMALL)
    assert (found.verdict, found.asked) == (Verdict.HOLDS, ("small",))


def test_the_gate_leaves_it_undecided(echo: Path) -> None:
    changed(echo, "    answers = False\n", "")
    changed(echo, '    claims = ("no_duplication",)\n', "")
    settings = echo.with_name("precedes.toml")
    settings.write_text('[[explore]]\nmodel = "echo.py"\nmessages = 1\n', encoding="utf-8")
    ended = gate(echo.parent)
    assert ended.code == 3
    assert "echo.py:1: G301 " in ended.out
    assert "no order was asked for" in ended.out
    settings.write_text(
        settings.read_text(encoding="utf-8") + 'require = ["no_creation"]\n', encoding="utf-8"
    )
    assert gate(echo.parent).code == 0


@dataclass(frozen=True)
class Deaf(Plain):
    """Accepts what entity `accepting` is asked, or what all are."""

    accepting: int | None = 0
    symmetric: ClassVar[bool] = False

    def send(self, here: Here, state: int, message: Message) -> Any:
        return super().send(here, state, message) if self.accepting in (None, here.entity) else None


def test_an_entity_that_is_never_heard_leaves_no_deadlock_open() -> None:
    found = explore(Deaf(), SMALL)
    assert found.of("no deadlock") is Verdict.UNKNOWN
    assert found.open["no deadlock"] == (
        "no request of E2 and E3 was accepted in any state; a script says who sends",
    )
    plain = explore(Deaf(), SMALL, plain=True)
    assert plain.open == found.open
    one = ((Message(0, 1, frozenset({1})),), (), ())
    assert explore(Deaf(), replace(SMALL, script=one)).of("no deadlock") is Verdict.HOLDS
    both = ((Message(0, 1, frozenset({1})),), (Message(1, 1, frozenset({0})),), ())
    assert explore(Deaf(), replace(SMALL, script=both)).of("no deadlock") is Verdict.VIOLATED


@pytest.mark.parametrize("protocol", [Plain(), Deaf(accepting=None)])
def test_who_is_heard_is_not_open(protocol: Protocol[Any]) -> None:
    for messages in (1, 2):
        assert not explore(protocol, replace(SMALL, messages=messages)).open
