"""High integrity multicast: N. Kanada, K. Shiomi, Proposal of High Integrity Multicast (in Japanese).

Every node that has the data asks its neighbors whether they have it too, and tells the origin who does not confirm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from precedes.protocol import (
    Action,
    Choose,
    Deliver,
    Here,
    Invariant,
    Message,
    Outcome,
    Protocol,
    Reliable,
    Step,
    Timer,
    Transmit,
    View,
    replace,
)
from precedes_models.high_integrity.invariants import INVARIANTS, NOTICED
from precedes_models.high_integrity.neighbors import (
    RING,
    NearFar,
    Neighbourhood,
    Ring,
    Uniform,
    choices,
    named,
)
from precedes_models.high_integrity.state import (
    Answer,
    Data,
    Heard,
    Part,
    Query,
    Report,
    Request,
    State,
    digest_of,
    flipped,
    part_of,
    payload,
    stale,
    with_part,
)


@dataclass(frozen=True)
class HighIntegrity(Protocol[State]):
    """Section 3.3, steps 1 to 7, with adj as a part that is put in.

    Readings, the same in both forms: A node takes part in a round once its data has arrived, for nothing else tells
    it that a round began; a query that comes before is answered when it has, and else never. An answer with another
    hash is no confirmation (step 4). A repetition is a round of its own, whose data replaces the copy. The origin
    has its own data without a packet; what step 6 calls the confirmation that did not come is that of the origin's
    own neighbors, for it does steps 2 to 4 too. Time-outs are patient; the origin decides on a repetition once all
    requests of a round are in, not once for each. Reports are counted for each message anew.

    As written (scenarios in specs/papers/high-integrity.prec):

    - Step 7 ends when the repetitions exceed maxfail and removes k where the reports equal maxfail. A node that failed
      for good is reported more often than that, and stays (`dead_stays`); one that missed a packet once may go for it
      (`innocent_goes`). If "exceeds" is read as "would exceed", there is one report fewer: still one too many.
    - The origin does steps 2 to 4 and not 5: what it finds itself is no report. In the ring, node 1 has no other
      asker and is never removed (`unasked_stays`).
    - Two nodes between which a link is broken report each other; the reported one goes, if the count is
      met, though it has the data (`broken_link`; section 3.4.2 says so of the report).
    - A request that is lost is a failure that nobody learns of (`lost_request`): the same weakness that section 3.2
      sees in negative acknowledgements. If the origin stops after step 1 nobody raises an alarm (`origin_stops`).
    - Section 3.4.4: who is right by majority reports and does not ask for a repetition. If all askers of a node that
      missed the data are right, it never gets the data (`report_only`).

    Repaired: a report is a suspicion. From the next round on the origin asks whoever was reported, and who reported
    it, itself. A round in which it has the confirmation of all of them is over; at most maxfail repetitions are made,
    and k goes that was reported in maxfail rounds or more and did not confirm to the origin in the last one. What
    the origin finds is a report. Requests are acknowledged; one that stays without is sent again, maxfail times,
    then the node raises an alarm. Every report asks for a repetition.
    """

    adj: str | Neighbourhood = RING
    """Section 3.4; as text by its name, see `named`."""
    maxfail: int = 1
    """The paper leaves its value open (section 5)."""
    digest: str = "sha256"
    """As hashlib names it; the paper has md5 and sha1."""
    room: int = 306
    """How many numbers fit a request: 1280 octets (section 4) less the headers of IPv6 and UDP and 8 of our own,
    by 4."""
    timeout: int = 10_000
    """How long a node waits for a confirmation, in ticks; the other time-outs follow from it."""

    name: ClassVar[str] = "high-integrity"
    repaired: ClassVar[bool] = True
    source: ClassVar[str] = "Kanada, Shiomi: Proposal of High Integrity Multicast, section 3.3"
    claims: ClassVar[tuple[str, ...]] = ("no_creation", "no_duplication")
    destinations: ClassVar[str] = "broadcast"
    invariants: ClassVar[tuple[Invariant, ...]] = INVARIANTS
    further: ClassVar[tuple[Invariant, ...]] = (NOTICED,)
    fair: ClassVar[Mapping[str, str]] = {
        "arrivals": "a packet that is not lost arrives",
        "time-outs": "the origin repeats where no confirmation came; a time-out says when (section 3.3, step 6)",
    }

    def __post_init__(self) -> None:
        if isinstance(self.adj, str):
            object.__setattr__(self, "adj", named(self.adj))
        if self.maxfail < 1:
            raise ValueError(f"maxfail is {self.maxfail}; step 7 needs at least 1")
        if self.room < 1:
            raise ValueError(f"a request has room for {self.room} numbers; it needs at least 1")
        digest_of(b"", self.digest)

    @property
    def network(self) -> Reliable:
        """UDP over IP (section 4): packets overtake each other, get lost, come twice, and may be damaged."""
        return Reliable(loses=True, duplicates=True, corrupts=True)

    @classmethod
    def instances(cls, *, as_written: bool) -> Sequence[HighIntegrity]:
        """One for each of sections 3.4.1 to 3.4.4."""
        maps: tuple[Neighbourhood, ...] = (Ring(), Uniform(itself=as_written), NearFar(), Ring(2))
        return tuple(cls(as_written=as_written, adj=adj) for adj in maps)

    def start(self, here: Here) -> State:
        return ()

    def compared(self, state: State, entities: int) -> Mapping[str, Part]:
        """What a node knows of the multicasts of each origin, by its name, such as `E1.round`."""
        return {self.name_of(origin): part_of(state, origin) for origin in range(entities)}

    # ------------------------------------------------------------------------------------------- steps 1 to 4

    def send(self, here: Here, state: State, message: Message) -> Outcome[State] | None:
        """Step 1. One message at a time: the next one waits until the last one has ended."""
        before = part_of(state, here.entity)
        if before.message is not None and not before.ended:
            return None
        members = tuple(sorted((message.destinations | {here.entity}) - before.removed))
        part = Part(
            here.entity, message, 0, payload(message), members, asked=before.asked, removed=before.removed
        )
        delivered = (Deliver(message),) if here.entity in message.destinations else ()
        return self._round(here, state, part, delivered)

    def _round(
        self, here: Here, state: State, part: Part, actions: tuple[Action, ...] = ()
    ) -> Outcome[State]:
        """The origin sends the data to all and does steps 2 and 3 itself (the note in step 6)."""
        assert part.message is not None
        assert part.copy is not None
        others = frozenset(part.members) - {here.entity}
        data = Data(part.message, part.round, part.members, part.copy)
        return self._check(here, state, part, (*actions, *([Transmit(data, others)] if others else [])))

    def _check(self, here: Here, state: State, part: Part, actions: tuple[Action, ...]) -> Outcome[State]:
        """Answer who asked before the data came; choose B_i (step 2) and ask (step 3)."""
        assert part.message is not None
        assert part.copy is not None
        assert not isinstance(self.adj, str)
        due = [one for one in part.asked if one[0].message == part.message and one[0].round <= part.round]
        later = [
            one
            for one in part.asked
            if (one[0].message.number, one[0].round) > (part.message.number, part.round)
        ]
        replies = tuple(
            Transmit(self._answer(query, part.copy), frozenset({asker}))
            for query, asker in sorted(due, key=lambda one: (one[1], one[0].round))
        )
        suspects = self._suspects(part, part.reports) if here.entity == part.origin else frozenset[int]()
        options = []
        for probability, chosen in choices(self.adj, here.entity, part.members):
            neighbours = chosen | suspects
            waiting = neighbours - {here.entity}
            after = replace(
                part,
                neighbours=neighbours,
                waiting=waiting,
                differing=frozenset(),
                unconfirmed=frozenset(),
                asked=frozenset(later),
            )
            queries = tuple(
                Transmit(Query(part.message, part.round), frozenset({neighbour}))
                for neighbour in sorted(waiting)
            )
            step = Step(with_part(state, after), (*actions, *replies, *queries))
            options.append((float(probability), step))
        return options[0][1] if len(options) == 1 else Choose(tuple(options))

    def arrive(self, here: Here, state: State, packet: Hashable, sender: int) -> Outcome[State]:
        match packet:
            case Data():
                return self._data(here, state, packet)
            case Query():
                return self._query(here, state, packet, sender)
            case Answer():
                return self._confirmation(state, packet, sender)
            case Request():
                return self._request(here, state, packet, sender)
            case Heard(message, round_):
                part = part_of(state, message.sender)
                request = part.unheard
                if request is None or (request.message, request.round) != (message, round_):
                    return Step(state)
                return Step(with_part(state, replace(part, unheard=None, tries=0)))
            case _:
                raise TypeError(f"not a packet of this protocol: {packet!r}")

    def _data(self, here: Here, state: State, data: Data) -> Outcome[State]:
        part = part_of(state, data.message.sender)
        known = 0 if part.message is None else part.message.number
        if (data.message.number, data.round) <= (known, part.round):
            return Step(state)
        new = known < data.message.number and here.entity in data.message.destinations
        after = Part(
            part.origin,
            data.message,
            data.round,
            data.payload,
            data.members,
            asked=part.asked,
            alarm=part.alarm,
        )
        return self._check(here, state, after, (Deliver(data.message),) if new else ())

    def _query(self, here: Here, state: State, query: Query, asker: int) -> Step[State]:
        part = part_of(state, query.message.sender)
        if part.message == query.message and part.round >= query.round:
            assert part.copy is not None
            return Step(state, (Transmit(self._answer(query, part.copy), frozenset({asker})),))
        if part.message is not None and part.message.number > query.message.number:
            return Step(state)
        return Step(with_part(state, replace(part, asked=part.asked | {(query, asker)})))

    def _answer(self, query: Query, copy: bytes) -> Answer:
        return Answer(query.message, query.round, digest_of(copy, self.digest))

    def _confirmation(self, state: State, answer: Answer, sender: int) -> Step[State]:
        part = part_of(state, answer.message.sender)
        if (part.message, part.round) != (answer.message, answer.round) or sender not in part.waiting:
            return Step(state)
        assert part.copy is not None
        if answer.digest == digest_of(part.copy, self.digest):
            return Step(with_part(state, replace(part, waiting=part.waiting - {sender})))
        differing = frozenset(one for one in part.differing if one[0] != sender) | {(sender, answer.digest)}
        return Step(with_part(state, replace(part, differing=differing)))

    # ------------------------------------------------------------------------------------------------- step 5

    def timers(self, here: Here, state: State) -> tuple[Timer, ...]:
        """Confirmations, then (repaired) acknowledgements of requests, then the end of the round at the origin."""
        running = []
        for part in state:
            if part.waiting:
                running.append(Timer(f"confirmations {part.origin}", after=self.timeout))
            if part.unheard is not None:
                running.append(Timer(f"acknowledgement {part.origin}", after=self.timeout, patience=1))
            if part.origin == here.entity and part.message is not None and not part.ended:
                longest = self.timeout * (3 + self.maxfail)
                running.append(Timer(f"round {part.origin}", after=longest, patience=2))
        return tuple(running)

    def expire(self, here: Here, state: State, timer: Timer) -> Outcome[State]:
        kind, _, origin = timer.name.partition(" ")
        part = part_of(state, int(origin))
        match kind:
            case "confirmations":
                return self._unconfirmed(here, state, part)
            case "acknowledgement":
                return self._unacknowledged(state, part)
            case _:
                return self._round_over(here, state, part)

    def _unconfirmed(self, here: Here, state: State, part: Part) -> Step[State]:
        """Step 5; at the origin, the second half of the condition in step 6."""
        assert part.message is not None
        after = replace(part, waiting=frozenset(), unconfirmed=part.waiting)
        if here.entity == part.origin:
            found = Report(part.round, here.entity, tuple(sorted(part.waiting)))
            return Step(with_part(state, replace(after, reports=part.reports | {found})))
        failed, right = self._by_majority(here, part)
        request = Request(
            part.message,
            part.round,
            tuple(sorted(failed)[: self.room]),
            repeat=not (self.as_written and right),
        )
        if not self.as_written:
            after = replace(after, unheard=request, tries=0)
        return Step(with_part(state, after), (Transmit(request, frozenset({part.origin})),))

    def _by_majority(self, here: Here, part: Part) -> tuple[frozenset[int], bool]:
        """Section 3.4.4: whom to report, and whether the own copy is known to be right.

        A majority is more than half of the node and its neighbors, those included that are silent. Without one, and
        with one neighbor, it is as in step 5.
        """
        if len(part.neighbours) == 1:
            return part.waiting, False
        assert part.copy is not None
        own = digest_of(part.copy, self.digest)
        held = dict.fromkeys(part.confirmed | {here.entity}, own) | dict(part.differing)
        most, votes = Counter(held.values()).most_common(1)[0]
        if 2 * votes <= len(part.neighbours | {here.entity}):
            return part.waiting, False
        if most == own:
            return part.waiting, True
        silent = part.waiting - held.keys()
        return silent | {node for node, digest in held.items() if digest != most}, False

    def _unacknowledged(self, state: State, part: Part) -> Step[State]:
        request = part.unheard
        assert request is not None
        if part.tries == self.maxfail:
            return Step(with_part(state, replace(part, unheard=None, tries=0, alarm=True)))
        again = Transmit(request, frozenset({part.origin}))
        return Step(with_part(state, replace(part, tries=part.tries + 1)), (again,))

    # -------------------------------------------------------------------------------------------- steps 6 and 7

    def _request(self, here: Here, state: State, request: Request, sender: int) -> Step[State]:
        heard = (
            () if self.as_written else (Transmit(Heard(request.message, request.round), frozenset({sender})),)
        )
        part = part_of(state, here.entity)
        if part.message != request.message or (part.ended and not self.may_repeat(part)):
            return Step(state, heard)
        report = Report(request.round, sender, request.failed)
        asked_now = request.repeat and request.round == part.round
        after = replace(
            part,
            reports=part.reports | {report},
            requested=part.requested or asked_now,
            ended=part.ended and not asked_now,
        )
        return Step(with_part(state, after), heard)

    def may_repeat(self, part: Part) -> bool:
        """Step 7: as written it ends once the repetitions exceed maxfail, which is one more than maxfail."""
        return part.round <= self.maxfail if self.as_written else part.round < self.maxfail

    def _suspects(self, part: Part, reports: frozenset[Report]) -> frozenset[int]:
        """Repaired: whoever was reported, and the reporters, whose own copy or link may be what is wrong."""
        if self.as_written:
            return frozenset()
        involved = {node for report in reports for node in (report.reporter, *report.failed)}
        return frozenset(involved) & frozenset(part.members) - {part.origin}

    def _round_over(self, here: Here, state: State, part: Part) -> Outcome[State]:
        if self.as_written:
            repeat = part.requested or bool(part.unconfirmed)
        else:
            now = frozenset(report for report in part.reports if report.round == part.round)
            repeat = bool(self._suspects(part, now) - part.confirmed)
        if not repeat:
            return Step(with_part(state, replace(part, ended=True)))
        if self.may_repeat(part):
            return self._round(here, state, replace(part, round=part.round + 1, requested=False))
        gone = frozenset(node for node in part.members if self._goes(part, node))
        after = replace(part, ended=True, removed=part.removed | gone)
        remaining = frozenset(part.members) - gone
        return Step(with_part(state, after), (View(remaining),) if gone else ())

    def _goes(self, part: Part, node: int) -> bool:
        """Step 7: whether a node is removed from the group."""
        if self.as_written:
            return part.times_reported(node) == self.maxfail
        return node in part.unconfirmed and part.rounds_reported(node) >= self.maxfail

    # ------------------------------------------------------------------------------------------------- network

    def corrupted(self, packet: Hashable) -> tuple[Hashable, ...]:
        """A copy may arrive with a bit flipped, at either end, or be a stale one. What else is damaged does not
        pass UDP's checksum, which is a loss."""
        if not isinstance(packet, Data):
            return ()
        good = payload(packet.message)
        wrong = (flipped(good, 0), flipped(good, 8 * len(good) - 1), stale(packet.message))
        return tuple(replace(packet, payload=data) for data in wrong)
