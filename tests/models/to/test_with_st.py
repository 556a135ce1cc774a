"""TO and ST where every entity is a destination: the paper's section 5 has TO as ST with d = n."""

from __future__ import annotations

from functools import cache
from itertools import product
from statistics import mean
from typing import Any

import pytest

from precedes.core.transposition import batch_of
from precedes.core.verdict import TRUE
from precedes.engines.columnar.batch_scan import scan
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import plan
from precedes.protocol import Protocol, Transmit
from precedes.protocol.bounds import Bounds, Conditions, Destinations
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.invariants import OfState
from precedes.protocol.model import Message
from precedes.protocol.simulation.simulator import Simulator
from precedes_models.st.protocol import SelectiveTotalOrder
from precedes_models.total_order.protocol import TotalOrder
from tests.models.dynamic_cluster.exploring import bounds
from tests.models.to.bugs import ForgetsWhatPrecedesTheLine
from tests.models.to.channel import Channel
from tests.sampling import one_in

GO_BACK = SelectiveTotalOrder(retransmission="go-back")
SELECTIVE = SelectiveTotalOrder()

Logs = tuple[tuple[str, ...], ...]


@cache
def in_quiescence(protocol: Protocol[Any], within: Bounds) -> set[Logs]:
    """What the entities have delivered wherever nothing is under way."""
    found: set[Logs] = set()

    def look(_: Any, situation: Any) -> bool | None:
        delivered: tuple[tuple[Message, ...], ...] = situation.delivered
        found.add(tuple(tuple(message.name for message in log) for log in delivered))
        return None

    assert explore(protocol, within, (), invariants=(OfState("logs", "", look, quiescent=True),)).complete
    return found


@pytest.mark.parametrize("st", [GO_BACK, SELECTIVE], ids=["go-back", "selective"])
@pytest.mark.parametrize(
    ("losses", "script", "logs"),
    [(0, "aa", 3), (0, "ab", 5), pytest.param(1, "ab", 5, marks=pytest.mark.slow), (1, "aa", 3)],
)
def test_the_same_logs_come_about(st: SelectiveTotalOrder, losses: int, script: str, logs: int) -> None:
    """2 entities, 2 messages: every quiescent log of one is one of the other; entities agree in each of them."""
    within = bounds(2, script=script, losses=losses)
    found = in_quiescence(TotalOrder(), within)
    assert found == in_quiescence(st, within)
    assert len(found) == logs
    assert all(len(set(each)) == 1 for each in found)


def test_other_logs_would_show() -> None:
    within = bounds(2, script="aa", losses=1)
    assert in_quiescence(ForgetsWhatPrecedesTheLine(), within) > in_quiescence(GO_BACK, within)


def after_a_loss(protocol: Protocol[Any], senders: tuple[int, ...], place: int, loser: int) -> Channel:
    """All send at once; one entity misses one of the PDUs, and nothing else is lost."""
    channel = Channel(protocol, 3)
    for sender in senders:
        channel.send(sender)
    for number in range(len(senders)):
        for entity in range(3):
            if (number, entity) == (place, loser):
                channel.lose(entity)
            else:
                channel.arrive(entity)
    assert channel.rest()
    return channel


@pytest.mark.parametrize("senders", one_in(4, [(each,) for each in product(range(3), repeat=3)]))
def test_both_go_back_to_the_same_pdu(senders: tuple[int, ...]) -> None:
    """Three PDUs, any of them lost by anybody. By go-back it is sent again with all that followed it on the channel, in
    TO and in ST. Selectively it alone, and what its source sent after it, for that is not accepted without it."""
    for place, loser in product(range(3), range(3)):
        to, back, selective = (
            after_a_loss(protocol, senders, place, loser) for protocol in (TotalOrder(), GO_BACK, SELECTIVE)
        )
        sent, behind = to.transmitted[:3], to.transmitted[place:3]
        for channel in (to, back):
            assert channel.transmitted[:3] == sent
            assert sorted(channel.transmitted[3:]) == sorted(behind)
        assert selective.transmitted[3:] == [name for name in behind if name[0] == behind[0][0]]
        for channel in (to, back, selective):
            assert sorted(channel.delivered[0]) == sorted(sent)
            assert channel.delivered[1:] == channel.delivered[:1] * 2


def sent_again(protocol: Protocol[Any], executions: range) -> float:
    """How many PDUs with data are sent again in an execution, in the mean, where 5 % are lost; each execution is TO.
    Requests are the same for all protocols."""

    def data(here: Any, before: Any, cause: Any, step: Any, now: int) -> dict[str, float]:
        packets = [action.packet for action in step.actions if isinstance(action, Transmit)]
        return {"data": sum(getattr(packet, "message", None) is not None for packet in packets)}

    conditions = Conditions(loss=0.05, destinations=Destinations.BROADCAST)
    simulator = Simulator(protocol, conditions, observe=data)
    runs = [simulator.run(7, number) for number in executions]
    what = plan((requirement("TO", standard_library()),))
    assert set(map(int, scan(batch_of([run.execution for run in runs]), what).values.ravel())) == {TRUE}
    return mean(run.counters["data"] - run.counters["requests"] for run in runs)


def test_both_are_to_and_send_as_much_again() -> None:
    """12 messages of 3 entities, windows alike. The 95 % intervals of 300 executions are 15.5 +- 1.6 and 15.0 +- 1.6;
    selectively 4.6 +- 0.4."""
    to, back, selective = (
        sent_again(protocol, range(60))
        for protocol in (
            TotalOrder(),
            SelectiveTotalOrder(window=TotalOrder().window, retransmission="go-back"),
            SelectiveTotalOrder(window=TotalOrder().window),
        )
    )
    assert abs(to - back) < 4.0
    assert selective < to / 2
