"""TO, recovery of lost PDUs: the agreement on a failure line, and go-back retransmission from there.

After the ST paper (1994, section 4.2, agreement on the failure line, and section 4.3, go-back), with every entity a
destination: RST makes everybody stop data transfer and tell its REQ by RST_PAK; with all of those, each cuts its log
and tells by RST_ACK; with all of those, what is left is acknowledged, and the sources send again what was cut.

The first PDU that somebody misses and somebody has, x, is where the logs begin to differ. With the minima of REQ over
the RST_PAKs an entity that has x cuts there (step 3). One that misses x itself does not know where in its log x would
have been: what it received after x from others, which nobody lost, stays as the step is written, and then comes before
x in its log. Repaired: the RST_ACKs tell REQ after the cut, and everybody cuts once more, by the minima over those.
Somebody had x and told where it cut, so all logs are then the same.

Not in the text: `epoch`, by which PDUs of an earlier reset are told apart, and the time-out by which an entity repeats
what it sent last in a reset; `again` asks whoever receives that to answer with what it sent last. And `line`, REQ where
the reset before this one has left it: one that lacks an RST_ACK of that reset may be the last in it when somebody has
gone on and begins this one. It ends the earlier reset first, by `line`. Else its log would be one from before the
cut, in another order than the others have by now: delivered so, or, where it cuts away what they have acknowledged,
missed for ever in resets without end (`two_resets` in tests/models/to/test_exploring.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from precedes.protocol import Action, Deliver, Here, Step, Transmit, replace
from precedes_models.total_order.transfer import Data, Round, Row, Transfer, emitted


@dataclass(frozen=True, slots=True)
class Rst:
    """RST: `a[k]` is REQ_k of the source; `line[k]`, in all three, where the last reset that is over there left it."""

    source: int
    epoch: int
    a: Row
    line: Row
    again: bool = False


@dataclass(frozen=True, slots=True)
class RstPak:
    """RST_PAK: `a[k]` is REQ_k of the source, before any cut."""

    source: int
    epoch: int
    a: Row
    line: Row
    again: bool = False


@dataclass(frozen=True, slots=True)
class RstAck:
    """RST_ACK: `a[k]` is REQ_k of the source, after its first cut."""

    source: int
    epoch: int
    a: Row
    line: Row
    again: bool = False


ResetPdu: TypeAlias = Rst | RstPak | RstAck


def reset(here: Here, state: Transfer) -> Step[Transfer]:
    """A loss was detected: step (1)."""
    nothing: tuple[Row | None, ...] = (None,) * here.entities
    round_ = Round(state.epoch + 1, nothing, nothing)
    return Step(
        replace(state, round=round_), (Transmit(Rst(here.entity, round_.epoch, state.req, state.agreed)),)
    )


def joined(
    here: Here, state: Transfer, pdu: ResetPdu, group: frozenset[int], *, once: bool
) -> Step[Transfer]:
    """A PDU of a reset arrives: steps (2) to (4). `once`: cut by the RST_PAKs only, as step (3) is written."""
    if pdu.epoch <= state.epoch:
        done = pdu.again and pdu.epoch == state.epoch and pdu.source != here.entity and state.round is None
        told = RstAck(here.entity, state.epoch, state.agreed, state.agreed)
        return Step(state, (Transmit(told),) if done else ())
    actions: tuple[Action, ...] = ()
    if pdu.epoch > state.epoch + 1:
        earlier = over(here, cut(state, pdu.line), pdu.epoch - 1)
        state, actions = earlier.state, earlier.actions
    round_ = state.round
    if round_ is None or round_.epoch < pdu.epoch:
        nothing: tuple[Row | None, ...] = (None,) * here.entities
        round_ = Round(pdu.epoch, nothing, nothing)
    if not round_.answered:
        round_ = replace(round_, answered=True)
        actions += (Transmit(RstPak(here.entity, round_.epoch, state.req, state.agreed)),)
    elif pdu.again and pdu.source != here.entity:
        actions = (Transmit(last_told(here, replace(state, round=round_), again=False)),)
    match pdu:
        case RstPak():
            round_ = replace(round_, told=put(round_.told, pdu.source, pdu.a))
        case RstAck():
            # Who has cut its log has told before what it had: the cut is as good, should the RST_PAK be lost.
            known = round_.told[pdu.source] or pdu.a
            round_ = replace(
                round_,
                told=put(round_.told, pdu.source, known),
                cut=put(round_.cut, pdu.source, pdu.a),
            )
        case Rst():
            pass
        case _:
            assert_never(pdu)
    if round_ != state.round:
        state = replace(state, asked=0)
    step = settled(here, replace(state, round=round_), group, once=once)
    return Step(step.state, actions + step.actions)


def settled(here: Here, state: Transfer, group: frozenset[int], *, once: bool) -> Step[Transfer]:
    """Go on in a reset as far as what has been received from `group` allows: steps (3) and (4)."""
    round_ = state.round
    if round_ is None:
        return Step(state)
    actions: tuple[Action, ...] = ()
    told = minima(round_.told, group)
    if round_.answered and not round_.settled and told is not None:
        state = replace(cut(state, told), round=replace(round_, settled=True))
        actions = (Transmit(RstAck(here.entity, round_.epoch, state.req, state.agreed)),)
    line = minima(round_.cut, group)
    if state.round is not None and state.round.settled and line is not None:
        finish = finished(here, state if once else cut(state, line), round_.epoch)
        return Step(finish.state, actions + finish.actions)
    return Step(state, actions)


def cut(state: Transfer, line: Row) -> Transfer:
    """Discard everything from the first PDU on whose SEQ has reached the line: go-back (1994, section 4.3)."""
    log = (*state.prl, *state.rrl)
    left = next((place for place, pdu in enumerate(log) if pdu.seq >= line[pdu.source]), len(log))
    req = list(state.req)
    for pdu in reversed(log[left:]):
        req[pdu.source] = pdu.seq
    before = len(state.prl)
    return replace(state, req=tuple(req), prl=log[: min(left, before)], rrl=log[before:left])


def finished(here: Here, state: Transfer, epoch: int) -> Step[Transfer]:
    """Step (4): what precedes the failure line is acknowledged, and this entity's data behind it is sent again."""
    step = over(here, state, epoch)
    actions, again = list(step.actions), step.state.kept
    state = replace(step.state, kept=())
    for _, message in again:
        sent = emitted(here, state, message)
        state = sent.state
        actions.extend(sent.actions)
    return Step(state, tuple(actions))


def over(here: Here, state: Transfer, epoch: int) -> Step[Transfer]:
    """The end of a reset: what is left of the log is acknowledged, and what is kept has not been sent."""
    matrix = tuple((value,) * here.entities for value in state.req)
    delivered = [Deliver(pdu.message) for pdu in (*state.prl, *state.rrl) if pdu.message is not None]
    state = replace(
        state,
        seq=state.req[here.entity],
        al=matrix,
        pal=matrix,
        agreed=state.req,
        rrl=(),
        prl=(),
        kept=tuple(entry for entry in state.kept if entry[0] >= state.req[here.entity]),
        epoch=epoch,
        round=None,
        asked=0,
    )
    return Step(state, tuple(delivered))


def last_told(here: Here, state: Transfer, *, again: bool = True) -> ResetPdu:
    """What this entity sent last in the reset that is under way."""
    assert state.round is not None
    epoch = state.round.epoch
    if state.round.settled:
        return RstAck(here.entity, epoch, state.req, state.agreed, again)
    if state.round.answered:
        return RstPak(here.entity, epoch, state.req, state.agreed, again)
    return Rst(here.entity, epoch, state.req, state.agreed, again)


def missing(state: Transfer, group: frozenset[int]) -> frozenset[int]:
    """The entities without whose PDUs the reset does not go on."""
    if state.round is None:
        return frozenset()
    rows = state.round.cut if state.round.settled else state.round.told
    return frozenset(k for k in group if rows[k] is None)


def stale(state: Transfer, pdu: Data) -> bool:
    """Whether a PDU is not for the state of things here: of another epoch, or data while a reset is under way."""
    return state.round is not None or pdu.epoch != state.epoch


def put(rows: tuple[Row | None, ...], index: int, row: Row) -> tuple[Row | None, ...]:
    """The rows with one of them put in."""
    return (*rows[:index], row, *rows[index + 1 :])


def minima(rows: tuple[Row | None, ...], group: frozenset[int]) -> Row | None:
    """The least of each column over the rows of a group; None while a row is missing."""
    present = [row for k, row in enumerate(rows) if k in group and row is not None]
    if not present or len(present) < len(group):
        return None
    return tuple(min(values) for values in zip(*present, strict=True))
