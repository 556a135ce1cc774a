"""An independent oracle: the papers' sentences, transcribed over plain lists.

It shares nothing with the formula tree or with any engine: no import from the project, other data (lists of
names), other methods (filtered lists are compared, sets are compared, closures are taken with bit sets). It
knows complete, possible executions only, in which every send was logged: what is unknown elsewhere is not its
business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise, permutations


@dataclass
class Run:
    """One execution. `histories[i]` is a list of (what, message, time), what being "send", "deliver",
    "arrive", "local", "ack" or "nack", or (`"view"`, id, time), where the id is empty if nobody recorded it.

    `to[m]` is the set of the numbers of m's destinations. `clocks` is aligned with `histories`: a list of
    counts or None. `crashed` are the numbers of those that stopped and did not come back. `marks[i]` is the number of
    messages in RL_i before its `||`. `carried[m]` has the values of the attributes of every m, by their names. `only`
    are the messages that are looked at, all where it is None: events of the others stay and order those that are.
    `members` and `groups` have the numbers of those in a view or group that somebody installs or that there is, and
    `to_groups[m]` the names of the groups that m is addressed to.
    """

    histories: list[list[tuple[str, str, float | None]]]
    to: dict[str, set[int]]
    delta: float | None = None
    clocks: list[list[list[int] | None]] = field(default_factory=list)
    crashed: set[int] = field(default_factory=set)
    marks: list[int] | None = None
    carried: dict[str, dict[str, str | int]] = field(default_factory=dict)
    only: set[str] | None = None
    members: dict[str, set[int]] = field(default_factory=dict)
    groups: dict[str, set[int]] = field(default_factory=dict)
    to_groups: dict[str, set[str]] = field(default_factory=dict)

    def looks_at(self, m: str) -> bool:
        return self.only is None or m in self.only

    @property
    def position(self) -> dict[str, int]:
        """What the system says of the places of messages."""
        found = {m: values.get("position") for m, values in self.carried.items() if self.looks_at(m)}
        return {m: value for m, value in found.items() if isinstance(value, int)}

    @property
    def acknowledged(self) -> bool:
        return any(what in ("ack", "nack") for history in self.histories for what, _, _ in history)

    @property
    def unviewed(self) -> bool:
        """Nobody installs a view, or somebody one of which nobody recorded which it is."""
        return not all(v for log in self.installed for v in log) or not any(self.installed)

    @property
    def vl(self) -> list[list[str]]:
        """What each installs, each view once."""
        return [list(dict.fromkeys(log)) for log in self.installed]

    @property
    def installed(self) -> list[list[str]]:
        return [[v for what, v, _ in history if what == "view"] for history in self.histories]

    def chosen(self, m: str) -> set[int]:
        """Those of whom nobody knows whether m is for them: it is for one of their group."""
        return {i for group in self.to_groups.get(m, ()) for i in self.groups[group]} - self.to.get(m, set())

    @property
    def n(self) -> int:
        return len(self.histories)

    @property
    def sl(self) -> list[list[str]]:
        return self._logs("send")

    @property
    def received(self) -> list[list[str]]:
        return self._logs("deliver")

    def _logs(self, kind: str) -> list[list[str]]:
        return [
            [m for what, m, _ in history if what == kind and self.looks_at(m)] for history in self.histories
        ]

    @property
    def rl(self) -> list[list[str]]:
        return [list(dict.fromkeys(log)) for log in self.received]


# ---- what is asked per value ---------------------------------------------------------------------------------


def parts(run: Run, names: tuple[str, ...]) -> dict[tuple[str | int, ...], Run]:
    """The run of the messages of each value, where these messages are all that there is. Nothing else changes."""
    found: dict[tuple[str | int, ...], set[str]] = {}
    for m in messages(run):
        carried = run.carried.get(m, {})
        if set(names) <= set(carried):
            found.setdefault(tuple(carried[name] for name in names), set()).add(m)
    return {
        value: replace(run, only=only, to={m: to for m, to in run.to.items() if m in only})
        for value, only in found.items()
    }


def messages(run: Run) -> set[str]:
    return {m for m in run.carried if run.looks_at(m)}


def per(run: Run, names: tuple[str, ...], question: Callable[[Run], bool | None]) -> bool | None:
    """The question asked of every part. None, not known: some answers are not and none is no, or no message has the
    attributes and there are messages."""
    answers = [question(part) for part in parts(run, names).values()]
    if not answers:
        return None if messages(run) else True
    return False if False in answers else None if None in answers else True


# ---- 1994, §2.2: order and information ---------------------------------------------------------------------


def order_equivalent(run: Run) -> bool:
    """ "p and q in both RL_i and RL_j: p before q in RL_i if and only if p before q in RL_j": what they
    share, they have as one list."""
    return all(_common(a, b) == _common(b, a) for a in run.rl for b in run.rl)


def _common(log: list[str], other: list[str]) -> list[str]:
    shared = set(other)
    return [m for m in log if m in shared]


def information_equivalent(run: Run) -> bool:
    """RL_i and RL_j have the same set of PDUs."""
    return len({frozenset(log) for log in run.rl}) <= 1


def equivalent(run: Run) -> bool:
    return order_equivalent(run) and information_equivalent(run)


def order_preserving(run: Run) -> bool:
    """What E_i received from E_j stands in RL_i as it stands in the log of the sender."""
    return all(_common(received, sent) == _common(sent, received) for received in run.rl for sent in run.sl)


def information_preserving(run: Run) -> bool:
    """RL_i is made of the union of the PDUs in SL_1, ..., SL_n."""
    union = {m for log in run.sl for m in log}
    return all(set(log) == union for log in run.rl)


def selectively_information_preserving(run: Run) -> bool:
    """The PDUs of RL_i are the union of those of SL_1i, ..., SL_ni."""
    return all(
        set(log) == {m for sent in run.sl for m in sent if i in run.to[m]} for i, log in enumerate(run.rl)
    )


def correct(run: Run) -> bool:
    return order_preserving(run) and information_preserving(run)


def selectively_correct(run: Run) -> bool:
    return order_preserving(run) and selectively_information_preserving(run)


def preserving(run: Run) -> bool:
    """ "RL_i, being order-preserving and information-preserving, preserves.\""""
    return order_preserving(run) and information_preserving(run)


def selectively_correct_literal(run: Run) -> bool:
    """ "A correct RL_i that is selectively information-preserving is selectively correct", as it is printed."""
    return correct(run) and selectively_information_preserving(run)


def reliable(run: Run) -> bool:
    """Every receipt log is correct, or every one is selectively correct (§2.2, last paragraph)."""
    return correct(run) or selectively_correct(run)


def no_creation(run: Run) -> bool:
    return {m for log in run.rl for m in log} <= {m for log in run.sl for m in log}


def no_duplication(run: Run) -> bool:
    return run.received == run.rl


def delivered_where_addressed(run: Run) -> bool:
    """What an entity receives is destined to it (abstract); what nobody sent has no destinations."""
    return all(
        i in run.to[m] for i, log in enumerate(run.rl) for m in log if any(m in sent for sent in run.sl)
    )


def broadcast(run: Run) -> bool:
    return all(run.to[m] == set(range(run.n)) for log in run.sl for m in log)


def acyclic_order(run: Run) -> bool:
    """Global total order (guarantees.md, §3.3): a message that nothing precedes can be taken away, until none
    is left."""
    logs = run.rl
    while any(logs):
        late = {m for log in logs for m in log[1:]}
        first = {log[0] for log in logs if log} - late
        if not first:
            return False
        logs = [[m for m in log if m not in first] for log in logs]
    return True


# ---- 1994, §4.1: the failure line --------------------------------------------------------------------------


def _channel(run: Run) -> dict[str, set[str]]:
    """What comes before each message on the single channel: in some SL or RL, or before what comes before it."""
    before: dict[str, set[str]] = {m: set() for log in (*run.sl, *run.rl) for m in log}
    for log in (*run.sl, *run.rl):
        for k, m in enumerate(log):
            before[m].update(log[:k])
    for middle, earliest in before.items():
        for earlier in before.values():
            if middle in earlier:
                earlier |= earliest
    return before


def _failures(run: Run, before: dict[str, set[str]]) -> dict[int, tuple[int, str]] | None:
    """Of each E_i with a direct failure point, the index from 0 in RL_i at which it failed to receive a PDU that is
    addressed to it, and which that is. None where the order of the channel does not say which came first."""
    found = {}
    for i, log in enumerate(run.rl):
        lost = {m for m, to in run.to.items() if i in to and m not in log}
        for k, m in enumerate(log):
            missed = lost & before[m]
            if missed:
                first = [one for one in missed if not missed & before[one]]
                if len(first) != 1:
                    return None
                found[i] = (k, first[0])
                break
    return found


def _line(run: Run, failures: dict[int, tuple[int, str]], turn: list[int]) -> list[int]:
    """Steps (1) to (6), of the E_h in turn, as indexes from 0. A log that has the lost PDU fails there; any other
    where it has the first PDU that stands in RL_h from the failure point on."""
    logs = run.rl
    line = [len(log) - 1 for log in logs]
    again = True
    while again:
        again = False
        for h in turn:
            if h not in failures or failures[h][0] >= line[h]:
                continue
            index, lost = failures[h]
            line[h] = index
            for j, log in enumerate(logs):
                at = [lost] if lost in log else [m for m in logs[h][index:] if m in log]
                if j != h and at:
                    line[j] = min(line[j], log.index(at[0]))
            again = True
            break
    return line


def failure_line_of(run: Run) -> list[int] | None:
    """How many messages stand before the failure point in each log; None where the text leaves it open: the channel's
    order has a circle or does not say which PDU was lost first, or it matters with which E_h step (2) begins."""
    before = _channel(run)
    if any(m in earlier for m, earlier in before.items()):
        return None
    failures = _failures(run, before)
    if failures is None:
        return None
    numbers = list(range(run.n))
    line = _line(run, failures, numbers)
    return [max(f, 0) for f in line] if line == _line(run, failures, numbers[::-1]) else None


def failure_line(run: Run) -> bool:
    """The marks stand there."""
    return run.marks == failure_line_of(run)


# ---- 1994, §2.4, and the dynamic cluster paper: services ---------------------------------------------------


def one_channel(run: Run) -> bool:
    return order_preserving(run) and order_equivalent(run)


def total_order(run: Run) -> bool:
    return correct(run) and order_equivalent(run)


def selectively_total(run: Run) -> bool:
    return selectively_correct(run) and order_equivalent(run)


# ---- Δ-causal paper, Definitions 1 to 4, Theorems 1, 2, 4 --------------------------------------------------


class Causality:
    """Definition 1: e1 -> e2 within a process, from a send to its receipts, and through any event between."""

    def __init__(self, run: Run) -> None:
        self.events = [(i, k) for i, history in enumerate(run.histories) for k in range(len(history))]
        number = {event: at for at, event in enumerate(self.events)}
        sends: dict[str, int] = {}
        self.receipt: dict[tuple[str, int], int] = {}
        for (i, k), at in number.items():
            what, m, _ = run.histories[i][k]
            if what == "send":
                sends[m] = at
            elif what == "deliver":
                self.receipt.setdefault((m, i), at)
        self.past = [0] * len(self.events)
        direct: list[list[int]] = [[] for _ in self.events]
        for (i, k), at in number.items():
            what, m, _ = run.histories[i][k]
            if k:
                direct[at].append(number[i, k - 1])
            if what == "deliver" and m in sends:
                direct[at].append(sends[m])
        self.send = {m: at for m, at in sends.items() if run.looks_at(m)}
        self.receipt = {(m, i): at for (m, i), at in self.receipt.items() if run.looks_at(m)}
        changed = True
        while changed:
            changed = False
            for at, before in enumerate(direct):
                past = self.past[at]
                for b in before:
                    past |= self.past[b] | 1 << b
                if past != self.past[at]:
                    self.past[at] = past
                    changed = True

    @property
    def possible(self) -> bool:
        """No event is before itself."""
        return not any(past >> at & 1 for at, past in enumerate(self.past))

    def before(self, e1: int, e2: int) -> bool:
        return bool(self.past[e2] >> e1 & 1)

    def precedes(self, m1: str, m2: str) -> bool:
        """Definition 2: m1 -> m2 if s(m1) -> s(m2)."""
        return m1 in self.send and m2 in self.send and self.before(self.send[m1], self.send[m2])


def possible(run: Run) -> bool:
    return Causality(run).possible


def causal_order(run: Run) -> bool:
    """Definition 3: if m1 -> m2, then for all r(m1), r(m2), not r(m2) -> r(m1)."""
    causality = Causality(run)
    receipts: dict[str, list[int]] = {}
    for (m, _), at in causality.receipt.items():
        receipts.setdefault(m, []).append(at)
    return not any(
        causality.precedes(m1, m2)
        for m1, first in receipts.items()
        for m2, second in receipts.items()
        if any(causality.before(r2, r1) for r1 in first for r2 in second)
    )


def process_causal_order(run: Run) -> bool:
    """Theorem 1: of any m1 -> m2 received by one process, m1 is received before m2."""
    causality = Causality(run)
    return not any(causality.precedes(m1, m2) for log in run.rl for k, m1 in enumerate(log) for m2 in log[:k])


def _times(run: Run) -> tuple[dict[str, float], dict[tuple[str, int], float]]:
    sent: dict[str, float] = {}
    received: dict[tuple[str, int], float] = {}
    for i, history in enumerate(run.histories):
        for what, m, time in history:
            assert time is not None
            if not run.looks_at(m):
                continue
            if what == "send":
                sent[m] = time
            elif what == "deliver":
                received.setdefault((m, i), time)
    return sent, received


def delta_causal_order(run: Run) -> bool:
    """Theorem 2 over Definition 4: of what a process got within Δ, m1 is received before m2 if m1 -> m2 and
    m2 was sent within Δ of m1."""
    assert run.delta is not None
    sent, received = _times(run)
    causality = Causality(run)
    for i, log in enumerate(run.rl):
        timely = [m for m in log if m in sent and received[m, i] <= sent[m] + run.delta]
        for k, m1 in enumerate(timely):
            for m2 in timely[:k]:
                if causality.precedes(m1, m2) and sent[m1] + run.delta >= sent[m2]:
                    return False
    return True


def in_time(run: Run) -> bool:
    """What a destination got, it got within Δ of the send: not discarded by step (R1)."""
    assert run.delta is not None
    sent, received = _times(run)
    return all(
        received[m, i] - sent[m] <= run.delta for m, to in run.to.items() for i in to if (m, i) in received
    )


def deadline(run: Run) -> bool:
    assert run.delta is not None
    sent, received = _times(run)
    return all(m not in sent or time <= sent[m] + run.delta for (m, _), time in received.items())


def timely_delivery(run: Run) -> bool:
    """Theorem 4: what arrives within Δ is delivered."""
    assert run.delta is not None
    sent, _ = _times(run)
    for i, history in enumerate(run.histories):
        arrived: set[str] = set()
        for what, m, time in history:
            if what != "arrive" or m in arrived or not run.looks_at(m):
                continue
            arrived.add(m)
            assert time is not None
            if i in run.to.get(m, set()) and time <= sent[m] + run.delta and m not in run.rl[i]:
                return False
    return True


def vector_time(run: Run) -> bool:
    """CMD paper, computation of vector time: rules 1 to 3 give every recorded clock."""
    current = [[0] * run.n for _ in range(run.n)]
    attached: dict[str, list[int]] = {}
    sent = {m for history in run.histories for what, m, _ in history if what == "send"}
    at = [0] * run.n
    moved = True
    while moved:
        moved = False
        for i, history in enumerate(run.histories):
            while at[i] < len(history):
                what, m, _ = history[at[i]]
                first = what == "deliver" and m not in [e[1] for e in history[: at[i]] if e[0] == "deliver"]
                if what == "deliver" and m not in attached and m in sent:
                    break
                if what in CLOCKED:
                    for k, count in enumerate(attached.get(m, ()) if what == "deliver" else ()):
                        current[i][k] = max(current[i][k], count)
                    current[i][i] += 1
                    if what == "send":
                        attached[m] = list(current[i])
                    asked = run.looks_at(m) and (what == "send" or (first and m in attached))
                    if asked and run.clocks[i][at[i]] != current[i]:
                        return False
                at[i] += 1
                moved = True
    return True


# ---- textbook names: guarantees.md, §3.1 to §3.3 -----------------------------------------------------------


def _strict(run: Run, prior: Callable[[str, str], bool], entities: Iterable[int]) -> bool:
    """None of the entities delivers m2 unless it has delivered each m1 that is addressed to it and comes before."""
    sent = [m for log in run.sl for m in log]
    for i in entities:
        for k, m2 in enumerate(run.rl[i]):
            have = set(run.rl[i][:k])
            if any(m1 not in have and i in run.to[m1] and prior(m1, m2) for m1 in sent):
                return False
    return True


def _sent_before(run: Run) -> Callable[[str, str], bool]:
    return lambda m1, m2: any(m1 in log and m2 in log[log.index(m1) + 1 :] for log in run.sl)


def _delivered_before_sending(run: Run) -> Callable[[str, str], bool]:
    causality = Causality(run)

    def prior(m1: str, m2: str) -> bool:
        return any(
            m2 in log
            and (m1, p) in causality.receipt
            and causality.before(causality.receipt[m1, p], causality.send[m2])
            for p, log in enumerate(run.sl)
        )

    return prior


def fifo_delivery(run: Run) -> bool:
    """ "If a process broadcasts m before m', no process, correct or faulty, delivers m' unless it has delivered
    m.\""""
    return _strict(run, _sent_before(run), range(run.n))


def causal_delivery(run: Run) -> bool:
    """ "If bcast(m) -> bcast(m') then no process, correct or faulty, delivers m' unless it has delivered m.\""""
    return _strict(run, Causality(run).precedes, range(run.n))


def local_order(run: Run) -> bool:
    """ "If p delivers m before broadcasting m', no process, correct or faulty, delivers m' unless it has delivered
    m.\""""
    return _strict(run, _delivered_before_sending(run), range(run.n))


def nonuniform_fifo_delivery(run: Run) -> bool:
    return _strict(run, _sent_before(run), _correct(run))


def nonuniform_causal_delivery(run: Run) -> bool:
    return _strict(run, Causality(run).precedes, _correct(run))


def nonuniform_local_order(run: Run) -> bool:
    return _strict(run, _delivered_before_sending(run), _correct(run))


def nonuniform_total_order(run: Run) -> bool:
    """ "If correct p and q both deliver m and m', then p delivers m before m' if and only if q does.\""""
    logs = [run.rl[i] for i in _correct(run)]
    return all(_common(a, b) == _common(b, a) for a in logs for b in logs)


def nonuniform_integrity(run: Run) -> bool:
    """ "Every correct process delivers m at most once, and only if m was broadcast.\""""
    sent = {m for log in run.sl for m in log}
    return all(run.received[i] == run.rl[i] and set(run.rl[i]) <= sent for i in _correct(run))


def _correct(run: Run) -> set[int]:
    return set(range(run.n)) - run.crashed


def agreement(run: Run) -> bool:
    """ "If a correct process delivers m then every correct process in Dest(m) eventually delivers m.\""""
    have = [set(log) for log in run.rl]
    return all(len({m in have[i] for i in run.to[m] - run.crashed}) <= 1 for log in run.sl for m in log)


def uniform_agreement(run: Run) -> bool:
    """ "If any process delivers m then every correct process in Dest(m) eventually delivers m.\""""
    for log in run.sl:
        for m in log:
            without = {i for i in run.to[m] if m not in run.rl[i]}
            if without - run.crashed and without != run.to[m]:
                return False
    return True


def validity(run: Run) -> bool:
    """What a correct process sends is delivered by some destination; a message to nobody owes nothing."""
    have = [set(log) for log in run.rl]
    return all(
        i in run.crashed or not run.to[m] or any(m in have[j] for j in run.to[m])
        for i, log in enumerate(run.sl)
        for m in log
    )


def _addressed_to_both(run: Run) -> Iterator[tuple[list[str], list[str], set[str]]]:
    for i in range(run.n):
        for j in range(run.n):
            both = {m for m, to in run.to.items() if i in to and j in to}
            yield [m for m in run.rl[i] if m in both], [m for m in run.rl[j] if m in both], both


def begins(run: Run) -> bool:
    """hist(p) is a prefix of hist(q), of what is addressed to both, whichever p and q are: so they are one."""
    return all(a == b for a, b, _ in _addressed_to_both(run))


def prefix_order(run: Run) -> bool:
    """ "hist(p) is a prefix of hist(q) or the reverse", of what is addressed to both."""
    return all(a[: len(b)] == b or b[: len(a)] == a for a, b, _ in _addressed_to_both(run))


def gap_free_order(run: Run) -> bool:
    """ "If some process delivers m' after m, then any process delivers m' only after it has delivered m",
    over what both are sent."""
    for a, b, _ in _addressed_to_both(run):
        for k, later in enumerate(a):
            if later in b and not set(a[:k]) <= set(b[: b.index(later)]):
                return False
    return True


# ---- every delivery, acknowledgements, positions -----------------------------------------------------------


def every_delivery_in_order(run: Run) -> bool:
    """No rewinding: what comes from one sender is delivered, again or not, at ascending places of its log."""
    places = [[sent.index(m) for m in log if m in sent] for log in run.received for sent in run.sl]
    return all(found == sorted(found) for found in places)


def repeats_in_place(run: Run) -> bool:
    """Deliveries of one message follow each other: written once each, no message is left twice."""
    once = [[m for k, m in enumerate(log) if log[k - 1 : k] != [m]] for log in run.received]
    return all(len(set(log)) == len(log) for log in once)


def only_in_flight_repeats(run: Run) -> bool:
    """MQTT 5, 4.4: what was acknowledged is not sent again."""
    for history in run.histories:
        delivered: set[str] = set()
        done: set[str] = set()
        for what, m, _ in history:
            if not run.looks_at(m):
                continue
            if what == "deliver":
                if m in done:
                    return False
                delivered.add(m)
            elif what in ("ack", "nack"):
                done |= {m} & delivered
    return True


def ordered_until_acknowledged(run: Run) -> bool:
    """SQS: "no message of a group while an earlier one is in flight", a group being what one entity sent."""
    for history in run.histories:
        flying: set[str] = set()
        for what, m, _ in history:
            if what == "deliver":
                if any(flying & set(sent[: sent.index(m)]) for sent in run.sl if m in sent):
                    return False
                flying.add(m)
            elif what in ("ack", "nack"):
                flying.discard(m)
    return True


def positions_never_go_back(run: Run) -> bool:
    """Offsets ascend, or stay."""
    claimed = [[run.position[m] for m in log] for log in run.received]
    return all(found == sorted(found) for found in claimed)


def one_position_one_message(run: Run) -> bool:
    """An offset stands for one message."""
    return len(set(run.position.values())) == len(run.position)


def generic_order(run: Run) -> bool:
    """Pedone and Schiper 1999, what one entity sent being what interferes: what two logs share of it, they have as one
    list.
    """
    of_senders = [[[m for m in log if m in sent] for log in run.rl] for sent in run.sl]
    return all(_common(a, b) == _common(b, a) for logs in of_senders for a in logs for b in logs)


# ---- Chockler, Keidar and Vitenberg 2001: views ------------------------------------------------------------


def _sections(run: Run) -> list[list[tuple[str, list[tuple[str, str]]]]]:
    """The history of each entity cut at its installations: of each piece the view, empty before the first, and the
    sends and first deliveries in it."""
    cut = []
    for history in run.histories:
        pieces: list[tuple[str, list[tuple[str, str]]]] = [("", [])]
        delivered = set()
        for what, m, _ in history:
            if what == "view":
                pieces.append((m, []))
            elif what in ("send", "deliver") and run.looks_at(m) and (what == "send" or m not in delivered):
                pieces[-1][1].append((what, m))
                delivered |= {m} if what == "deliver" else set()
        cut.append(pieces)
    return cut


def _delivered_in(run: Run) -> list[dict[str, str]]:
    """Of each entity, the view in which it delivers each message."""
    return [
        {m: view for view, events in pieces for what, m in events if what == "deliver"}
        for pieces in _sections(run)
    ]


def _sent_in(run: Run) -> dict[str, str]:
    pieces = [piece for of_entity in _sections(run) for piece in of_entity]
    return {m: view for view, events in pieces for what, m in events if what == "send"}


def next_view(run: Run) -> bool:
    """As it is asked here: every process goes on from some view to another."""
    return all(len(log) > 1 for log in run.vl)


def self_inclusion(run: Run) -> bool:
    """Self Inclusion: a process that installs a view is a member of it."""
    return all(i in run.members[v] for i, log in enumerate(run.vl) for v in log)


def number_of(view: str) -> int | None:
    """The number by which a view is called, as `str` would write it; none of more than 64 bits, and not the least."""
    try:
        number = int(view)
    except ValueError:
        return None
    return number if str(number) == view and -(2**63) < number < 2**63 else None


def comparable(run: Run) -> bool:
    """Whether every process that installs two views installs views with numbers only."""
    return all(len(log) < 2 or None not in map(number_of, log) for log in run.vl)


def local_monotonicity(run: Run) -> bool:
    """Local Monotonicity: a process installs a view after another only if its id is greater. Of views without numbers
    nothing is said.
    """
    in_order = all(
        later > earlier
        for log in run.vl
        for earlier, later in combinations([n for n in map(number_of, log) if n is not None], 2)
    )
    return in_order and run.installed == run.vl


def one_view_order(run: Run) -> bool:
    """What Local Monotonicity has for a consequence: no two processes install two views in two orders, and nobody
    installs a view again."""
    once = run.installed == run.vl
    return once and all(_common(a, b) == _common(b, a) for a in run.vl for b in run.vl)


def initial_view_event(run: Run) -> bool:
    """Initial View Event: whatever is sent or received is so within some view."""
    return not any(pieces[0][1] for pieces in _sections(run))


def same_view_delivery(run: Run) -> bool:
    """Same View Delivery: all who receive a message receive it in one view, or all in none."""
    found: dict[str, set[str]] = {}
    for of_entity in _delivered_in(run):
        for m, view in of_entity.items():
            found.setdefault(m, set()).add(view)
    return all(len(views) == 1 for views in found.values())


def sending_view_delivery(run: Run) -> bool:
    """Sending View Delivery: what is sent in a view is received in that view, if in any."""
    sent = _sent_in(run)
    return all(
        not (view and sent.get(m)) or view == sent[m]
        for found in _delivered_in(run)
        for m, view in found.items()
    )


def virtual_synchrony(run: Run) -> bool:
    """Virtual Synchrony: two who go from one view to the same next one have received the same messages in the first."""
    received: dict[tuple[str, str], list[set[str]]] = {}
    for log, found in zip(run.vl, _delivered_in(run), strict=True):
        for previous, new in pairwise(log):
            received.setdefault((previous, new), []).append(
                {m for m, view in found.items() if view == previous}
            )
    return all(one == found[0] for found in received.values() for one in found)


# ---- Moser, Amir, Melliar-Smith and Agarwal 1994: extended virtual synchrony -------------------------------


def self_delivery(run: Run) -> bool:
    """Self-Delivery: a process delivers what it sent in a configuration, also to itself, in that configuration, unless
    it fails.
    """
    for i, (pieces, found) in enumerate(zip(_sections(run), _delivered_in(run), strict=True)):
        sent = [
            (view, m) for view, events in pieces for what, m in events if what == "send" and i in run.to[m]
        ]
        if i not in run.crashed and any(view and found.get(m) != view for view, m in sent):
            return False
    return True


def extended_virtual_synchrony(run: Run) -> bool:
    return (
        self_inclusion(run)
        and one_view_order(run)
        and initial_view_event(run)
        and sending_view_delivery(run)
        and virtual_synchrony(run)
        and self_delivery(run)
    )


# ---- groups ------------------------------------------------------------------------------------------------


def named_groups(run: Run) -> dict[str, set[int]]:
    """All but the one of which nobody knows who is in it."""
    return {name: inside for name, inside in run.groups.items() if name != "?"}


def once_per_group(run: Run) -> bool:
    """A message is delivered once to a group, by one member and not again."""
    return all(
        len(taken) == len(set(taken))
        for inside in named_groups(run).values()
        for taken in ([m for i in inside for m in run.received[i]],)
    )


def owed_by_another(run: Run) -> bool:
    """A message is for somebody of one group who is in another one, to which it may be lost: nobody knows."""
    return any(
        run.chosen(m) & inside and not inside & run.to.get(m, set()) and group not in run.to_groups.get(m, ())
        for m in messages(run)
        for group, inside in named_groups(run).items()
    )


def kept_by_groups(run: Run) -> bool:
    """Every group that a message is for has a member that delivers it."""
    for m in messages(run):
        groups = (run.to_groups.get(m, set()) & named_groups(run).keys()) | {
            g for g, inside in named_groups(run).items() if inside & run.to.get(m, set())
        }
        if any(all(m not in run.rl[i] for i in run.groups[g]) for g in groups):
            return False
    return True


def bounded_disorder(run: Run) -> bool:
    """A window of two: what overtakes a message was sent to the entity right after it."""
    for i, log in enumerate(run.rl):
        for sent in run.sl:
            to_i = [m for m in sent if i in run.to[m]]
            for p, q in permutations([m for m in log if m in to_i], 2):
                if log.index(q) < log.index(p) and to_i.index(q) > to_i.index(p) + 1:
                    return False
    return True


def causal_service(run: Run) -> bool:
    return causal_order(run) and no_creation(run) and no_duplication(run)


CLOCKED = ("send", "deliver", "local")
"""What has a vector time."""

LOGS: dict[str, Callable[[Run], bool]] = {
    "order_equivalent": order_equivalent,
    "information_equivalent": information_equivalent,
    "equivalent": equivalent,
    "order_preserving": order_preserving,
    "information_preserving": information_preserving,
    "selectively_information_preserving": selectively_information_preserving,
    "correct": correct,
    "preserving": preserving,
    "selectively_correct": selectively_correct,
    "selectively_correct_literal": selectively_correct_literal,
    "delivered_where_addressed": delivered_where_addressed,
    "reliable": reliable,
    "no_creation": no_creation,
    "no_duplication": no_duplication,
    "broadcast": broadcast,
    "acyclic_order": acyclic_order,
    "1C": one_channel,
    "PO": correct,
    "TO": total_order,
    "SP": selectively_correct,
    "ST": selectively_total,
    "fifo_delivery": fifo_delivery,
    "agreement": agreement,
    "uniform_agreement": uniform_agreement,
    "nonuniform_fifo_delivery": nonuniform_fifo_delivery,
    "nonuniform_total_order": nonuniform_total_order,
    "nonuniform_integrity": nonuniform_integrity,
    "validity": validity,
    "begins": begins,
    "prefix_order": prefix_order,
    "gap_free_order": gap_free_order,
    "generic_order": generic_order,
    "bounded_disorder": bounded_disorder,
    "every_delivery_in_order": every_delivery_in_order,
    "repeats_in_place": repeats_in_place,
}
"""What SL, RL and destinations say."""

CAUSAL: dict[str, Callable[[Run], bool]] = {
    "causal_order": causal_order,
    "process_causal_order": process_causal_order,
    "causal_delivery": causal_delivery,
    "local_order": local_order,
    "nonuniform_causal_delivery": nonuniform_causal_delivery,
    "nonuniform_local_order": nonuniform_local_order,
    "CO": causal_service,
}
"""What needs happens-before: of possible executions only."""

TIMED: dict[str, Callable[[Run], bool]] = {
    "delta_causal_order": delta_causal_order,
    "deadline": deadline,
    "in_time": in_time,
}
"""What needs every time and a delta; the first, a possible execution too."""

ACKNOWLEDGED: dict[str, Callable[[Run], bool]] = {
    "only_in_flight_repeats": only_in_flight_repeats,
    "ordered_until_acknowledged": ordered_until_acknowledged,
}
"""What needs acknowledgements."""

PLACED: dict[str, Callable[[Run], bool]] = {
    "positions_never_go_back": positions_never_go_back,
    "one_position_one_message": one_position_one_message,
}
"""What needs the position of every message."""

DESTINED = frozenset(
    {
        *(
            "selectively_information_preserving",
            "selectively_correct",
            "selectively_correct_literal",
            "reliable",
        ),
        *(
            "SP",
            "ST",
            "delivered_where_addressed",
            "broadcast",
            "bounded_disorder",
            "fifo_delivery",
            "causal_delivery",
            "local_order",
        ),
        *("nonuniform_fifo_delivery", "nonuniform_causal_delivery", "nonuniform_local_order"),
        *("agreement", "uniform_agreement", "validity", "begins", "prefix_order", "gap_free_order"),
        *("in_time", "timely_delivery", "failure_line"),
        *("self_delivery", "extended_virtual_synchrony"),
    }
)
"""What needs to know whom each message is for."""

VIEWS: dict[str, Callable[[Run], bool]] = {
    "next_view": next_view,
    "self_inclusion": self_inclusion,
    "local_monotonicity": local_monotonicity,
    "one_view_order": one_view_order,
    "initial_view_event": initial_view_event,
    "same_view_delivery": same_view_delivery,
    "sending_view_delivery": sending_view_delivery,
    "virtual_synchrony": virtual_synchrony,
    "self_delivery": self_delivery,
    "extended_virtual_synchrony": extended_virtual_synchrony,
}
"""What needs the id of every view that is installed."""

GROUPS: dict[str, Callable[[Run], bool]] = {
    "once_per_group": once_per_group,
    "kept_by_groups": kept_by_groups,
}
"""What groups say."""

ALL = {
    **LOGS,
    **VIEWS,
    **GROUPS,
    **CAUSAL,
    **TIMED,
    **ACKNOWLEDGED,
    **PLACED,
    "timely_delivery": timely_delivery,
    "vector_time": vector_time,
    "failure_line": failure_line,
}
