"""What the messages of a model carry: in explorations, figures, simulated executions and traces."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.transposition import execution_of
from precedes.core.verdict import Verdict
from precedes.jobs.explore import Search, explored
from precedes.jobs.simulate import simulate
from precedes.language.library import standard_library
from precedes.language.loader import compile_text
from precedes.language.scenario_printer import as_scenario
from precedes.protocol import (
    Conditions,
    Deliver,
    Here,
    Message,
    Network,
    Protocol,
    Reliable,
    Step,
    Transmit,
    run,
)
from precedes.protocol.bounds import Bounds
from precedes.protocol.catalog import Given
from precedes.protocol.exploration.result import Exploration
from precedes.protocol.simulation.trace import Simulation
from precedes.protocol.validation.carried_values import declared
from precedes.traces import Notices, TraceOptions, expand, read_batches
from tests.language.judging import wrong


@dataclass(frozen=True)
class Keyed(Protocol[int]):
    """What is sent is delivered as it comes in, and the network keeps no order."""

    keys: int = 1
    """How many keys there are: the requests of an entity take turns."""
    how: str = ""

    name: ClassVar[str] = "keyed"
    claims: ClassVar[tuple[str, ...]] = ("no_creation",)
    answers: ClassVar[bool] = False
    symmetric: ClassVar[bool] = True
    attributes: ClassVar[Mapping[str, str]] = {
        "key": "text",
        "tenant": "text",
        "weight": "number",
        "wait": "duration",
    }

    @property
    def network(self) -> Network:
        return Reliable(fifo=False)

    def start(self, here: Here) -> int:
        return 0

    def send(self, here: Here, state: int, message: Message) -> Step[int]:
        return Step(state, (Transmit(message, message.destinations),))

    def arrive(self, here: Here, state: int, packet: Hashable, sender: int) -> Step[int]:
        assert isinstance(packet, Message)
        return Step(state, (Deliver(packet),))

    def carries(self, message: Message) -> Mapping[str, str | int]:
        if self.how:
            return _mistaken(self.how, message)
        values: dict[str, str | int] = {"weight": message.number, "wait": 3}
        return values if message.number > 2 else {**values, "key": f"k{message.number % self.keys}"}

    def renamed(self, state: int, names: tuple[int, ...]) -> int:
        return state

    def renamed_packet(self, packet: Hashable, names: tuple[int, ...]) -> Hashable:
        assert isinstance(packet, Message)
        return packet.renamed(names)


@dataclass(frozen=True)
class Bare(Keyed):
    """The same without attributes."""

    attributes: ClassVar[Mapping[str, str]] = {}

    def carries(self, message: Message) -> Mapping[str, str | int]:
        return {}


def _mistaken(how: str, message: Message) -> Mapping[str, str | int]:
    return {
        "raises": lambda: {"key": str(1 // (message.number - 1))},
        "undeclared": lambda: {"hue": "red"},
        "number": lambda: {"key": 3},
        "text": lambda: {"weight": "heavy"},
        "fraction": lambda: {"weight": 1.5},
        "large": lambda: {"weight": 2**63},
        "nothing": lambda: None,
        "names": lambda: {"key": f"k{message.sender}"},
    }[how]()  # type: ignore[no-any-return, operator]


def explore(protocol: Protocol[int], *required: str, messages: int = 2, plain: bool = False) -> Exploration:
    bounds = Bounds(entities=2, messages=messages)
    return explored(protocol, bounds, required, standard_library(), Search(plain=plain)).found


# ---- explorations


def test_order_is_asked_per_key() -> None:
    one, two = "order_preserving per key", "order_preserving"
    assert explore(Keyed(keys=1), one, two).verdicts[one] is Verdict.VIOLATED
    found = explore(Keyed(keys=2), one, two, "no_creation per key")
    assert (found.of(two), found.of("no_creation per key")) == (Verdict.VIOLATED, Verdict.HOLDS)
    # Two messages have two keys: no part has two of which the order could be another.
    assert found.of(one) is Verdict.UNKNOWN
    assert not found.exercised[one]


def test_a_counterexample_is_a_scenario_with_what_messages_carry() -> None:
    found = explored(
        Keyed(),
        Bounds(entities=2, messages=2),
        ["order_preserving per tenant", "order_preserving per key"],
        standard_library(),
        Search(),
    )
    [finding] = found.found.findings
    assert finding.property == "order_preserving per key"
    assert finding.execution.messages["a1"].attributes
    assert found.definitions.splitlines() == [
        "attribute tenant of message: text",
        "attribute weight of message: number",
        "attribute wait of message: duration",
    ]
    text = found.definitions + as_scenario(
        finding.execution, "found", ["expect not order_preserving per key"]
    )
    [scenario] = compile_text(text).scenarios
    assert scenario.execution.messages["a1"].attributes == finding.execution.messages["a1"].attributes
    assert wrong(compile_text(text)) == []


@pytest.mark.parametrize("plain", [True, False])
def test_the_search_is_the_same_with_and_without(plain: bool) -> None:
    asked = ("order_preserving", "no_duplication", "selectively_information_preserving")
    with_attributes, without = (
        explore(protocol, *asked, messages=3, plain=plain) for protocol in (Keyed(keys=2), Bare())
    )
    assert (with_attributes.states, with_attributes.transitions) == (without.states, without.transitions)
    assert with_attributes.verdicts == without.verdicts


@pytest.mark.parametrize(
    "required", ["order_preserving per key", "ST per key", "order_preserving per weight"]
)
def test_what_is_asked_per_value_is_so_without_reductions(required: str) -> None:
    found = [explore(Keyed(keys=2), required, messages=3, plain=plain).verdicts for plain in (True, False)]
    assert found[0] == found[1]


# ---- mistakes


@pytest.mark.parametrize(
    ("how", "code", "says"),
    [
        ("raises", "M005", "carries raised ZeroDivisionError"),
        ("undeclared", "M017", "a1 carries 'hue', which the model does not declare"),
        ("number", "M017", "key of a1 is 3"),
        ("text", "M017", "weight of a1 is 'heavy'"),
        ("fraction", "M017", "weight of a1 is 1.5"),
        ("large", "M017", "weight of a1 is 9223372036854775808"),
        ("nothing", "M017", "carries returned None for a1"),
    ],
)
def test_mistakes_are_told(how: str, code: str, says: str) -> None:
    for ask in (
        lambda: explore(Keyed(how=how), "order_preserving"),
        lambda: run(Keyed(how=how), Conditions(messages=3), 1),
    ):
        with pytest.raises(PrecedesError) as caught:
            ask()
        [diagnostic] = caught.value.diagnostics
        assert diagnostic.code == code
        assert says in diagnostic.message
        assert diagnostic.hint


def test_what_a_message_carries_does_not_depend_on_names() -> None:
    with pytest.raises(PrecedesError, match="a1 carries key=k0, and key=k1 when") as caught:
        explore(Keyed(how="names"), "order_preserving")
    assert caught.value.diagnostics[0].code == "M014"
    assert explore(Keyed(how="names"), "order_preserving", plain=True).complete


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("key",), "attributes is"),
        ({"key": "words"}, "attributes is"),
        ({"key": "number"}, "key is already declared with another sort"),
        ({"time": "time"}, "time is built in"),
    ],
)
def test_declarations_are_checked(given: object, says: str) -> None:
    wrongly = type("Wrong", (Bare,), {"attributes": given})
    with pytest.raises(PrecedesError) as caught:
        explore(wrongly(), "order_preserving")
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.code == "M012"
    assert says in diagnostic.message


# ---- simulated executions


def test_a_simulated_execution_has_what_messages_carry() -> None:
    execution = run(Keyed(keys=2), Conditions(messages=4), 1).execution
    assert execution.messages
    for message in execution.messages.values():
        carried = {attribute.name: value for attribute, value in message.attributes.items()}
        number = int(message.name[1:])
        expected = {"weight": number, "wait": 3_000} | ({"key": f"k{number % 2}"} if number <= 2 else {})
        assert carried == expected


def test_a_trace_has_what_messages_carry(tmp_path: Path) -> None:
    path, protocol = tmp_path / "runs.parquet", Keyed(keys=2)
    simulation = Simulation(Given((protocol, replace(protocol, keys=1))), (Conditions(messages=4),) * 2, 7, 6)
    simulate(simulation, path)
    attributes = tuple(declared(protocol).values())
    options = TraceOptions(attributes=attributes)
    read = [
        execution_of(batch, x)
        for batch in read_batches(expand([str(path)]), options, Notices())
        for x in range(batch.executions)
    ]
    assert len(read) == 6
    for number, execution in enumerate(read, 1):
        instance = protocol if number % 2 else replace(protocol, keys=1)
        expected = run(instance, Conditions(messages=4), 7, number).execution
        assert {m.name: m.attributes for m in execution.messages.values()} == {
            m.name: m.attributes for m in expected.messages.values()
        }
