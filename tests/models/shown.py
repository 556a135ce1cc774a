"""Which mistakes of a model a trace shows: executions of the model with the mistake, judged by the model without it.

    python -m tests.models.shown

writes the tables of docs/conform.md, in some minutes of the processor: how many executions of each model conform to it,
where the forms as written and the repaired ones part, and the first execution that shows each seeded mistake, with the
event at which the two part. Where none of those that were tried shows a mistake, the table says why.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import Execution
from precedes.core.transposition import batch_of
from precedes.core.verdict import Verdict
from precedes.jobs.conform import Judged, Judges, Question
from precedes.protocol import Conditions, Destinations, Protocol, SingleChannel, catalog
from precedes.protocol.conformance.judge import Judge
from precedes.protocol.conformance.verdicts import Deviates, Limits
from precedes.protocol.simulation.simulator import Simulator, usual
from precedes.reports.conform import first_said
from tests.models.cmd import bugs as of_cmd
from tests.models.delta_causal import bugs as of_delta_causal
from tests.models.dynamic_cluster import bugs as of_cluster
from tests.models.high_integrity import bugs as of_integrity
from tests.models.st import bugs as of_st
from tests.models.to import bugs as of_to

PAGE: Final = Path("docs/conform.md")
BEGIN: Final = "<!-- The tables below are written by `python -m tests.models.shown`. -->\n"
SECONDS: Final = 4.0
"""Of the processor: how long one mistake is looked for."""
TRIED: Final = 40
"""How many executions are tried under each conditions."""
OWN: Final = 2_000
"""How many executions of a model are judged by itself."""
AT_A_TIME: Final = 1_000

TOO_EARLY: Final = (
    "confirmations are not recorded: all may have come in at once, so that nothing is too early"
)
IN_PACKETS: Final = (
    "it shows in packets and time-outs, none of which is recorded; sends and deliveries are the same"
)
AT_THE_END: Final = "something is never delivered, which shows only at the end, and such searches are long"
RARE: Final = "needs messages, losses or crashes at certain places, which none of these executions has"
NOT_SHOWN: Final[dict[str, str]] = {
    "delta-causal-fixed-wait.NoRow": RARE,
    "st.AcknowledgesEarly": TOO_EARLY,
    "st.PreAcknowledgesEarly": TOO_EARLY,
    "st.ForgetsAnIncrement": AT_THE_END,
    "st.IgnoresOrdr": RARE,
    "st.MixesUpTheAcks": TOO_EARLY,
    "st.ForgetsWhatItSent": AT_THE_END,
    "st.GoesOnTooSoon": AT_THE_END,
    "st.StaysStopped": IN_PACKETS,
    "st.NeverAsks": IN_PACKETS,
    "to.AcknowledgesTooEarly": TOO_EARLY,
    "to.AcceptsWithGaps": RARE,
    "to.KeepsNothing": AT_THE_END,
    "to.TakesOneForAll": TOO_EARLY,
    "to.ForgetsWhatPrecedesTheLine": AT_THE_END,
    "to.JoinsWithAnOldLog": RARE,
    "dynamic-cluster.EmaskNotMerged": IN_PACKETS,
    "dynamic-cluster.AcknowledgesTooEarly": TOO_EARLY,
    "dynamic-cluster.DeletesNothing": RARE,
    "dynamic-cluster.NeverIgnores": AT_THE_END,
    "dynamic-cluster.CutsToTheMost": RARE,
    "dynamic-cluster.CountsNoStopAck": IN_PACKETS,
    "high-integrity.ConfirmsAnything": IN_PACKETS,
    "high-integrity.NamesInAnyOrder": IN_PACKETS,
    "high-integrity.ForgetsReports": IN_PACKETS,
    "high-integrity.NeverGivesUp": IN_PACKETS,
    "high-integrity.RemovesOnHearsay": IN_PACKETS,
    "high-integrity.NeverRepeats": IN_PACKETS,
    "high-integrity.NeverRemoves": IN_PACKETS,
}
"""What is likely to be the reason that no execution that was tried shows a mistake."""
FORMS_NOT_SHOWN: Final[dict[str, str]] = dict.fromkeys(
    ("dynamic-cluster", "high-integrity", "st", "to"), IN_PACKETS
)
"""The same for a form as written."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to look for a mistake, in words too."""

    said: str
    conditions: Conditions
    limits: Limits


@dataclass(frozen=True, slots=True)
class Shown:
    """What became of the executions of a model with a mistake: the first that does not conform to the other, with its
    number, and what is said of it; else how many there were of each answer.
    """

    way: str = ""
    number: int = 0
    said: str = ""
    conforming: int = 0
    undecided: int = 0


def mistakes() -> tuple[Protocol[Any], ...]:
    """Every model with a mistake."""
    found: list[Protocol[Any]] = [
        bug() for bug in (*of_cmd.OF_AUXILIARY, *of_cmd.OF_CMD, *of_cmd.OF_BASELINES)
    ]
    found += [bug for bug, *_ in of_delta_causal.BUGS]
    found += [bug for bug, *_ in of_st.BUGS]
    found += [bug() for bug in (*of_to.BUGS, of_to.JoinsWithAnOldLog)]
    found += [bug() for bug in of_cluster.BUGS]
    found += [
        of_integrity.ConfirmsAnything(),
        of_integrity.NamesInAnyOrder(),
        of_integrity.ForgetsReports(),
        of_integrity.NeverGivesUp(),
        of_integrity.RemovesOnHearsay(),
        of_integrity.NeverRepeats(),
        of_integrity.NeverRemoves(),
    ]
    return tuple(found)


def without(mistaken: Protocol[Any]) -> Protocol[Any]:
    """The model without the mistake: the class that it comes from, with the same parameters."""
    own = next(each for each in type(mistaken).__mro__ if each.__module__.startswith("precedes_models"))
    given = {each.name: getattr(mistaken, each.name) for each in fields(mistaken)}
    repaired: Protocol[Any] = own(**given)
    return repaired


def ways(mistaken: Protocol[Any]) -> Iterator[Way]:
    """Conditions that are tried, one after the other."""
    given = usual(mistaken)
    if without_timeouts(mistaken):
        few = replace(given, messages=8, destinations=Destinations.ANY)
        close = replace(few, interval=few.interval / 2, deviation=few.deviation * 3)
        four = replace(close, entities=4, messages=12)
        yield from _ways((few, ""), (close, ", close requests"), (four, ", close requests"), states=2_000)
        return
    short = replace(given, entities=2, messages=3, destinations=Destinations(type(mistaken).destinations))
    more = replace(short, entities=3)
    losing, crashing = replace(more, loss=0.1), replace(more, crash=0.5)
    # Over one channel a search that finds no run takes long for each state.
    states = 60 if isinstance(mistaken.network, SingleChannel) else 500
    yield from _ways((short, ""), (more, ""), (losing, ", losses"), (crashing, ", crashes"), states=states)


def _ways(*given: tuple[Conditions, str], states: int) -> Iterator[Way]:
    """Without, then with the knowledge that an execution was recorded to its end."""
    for quiescent in (False, True):
        for conditions, what in given:
            said = f"{conditions.entities} entities{what}{', to the end' if quiescent else ''}"
            yield Way(said, conditions, Limits(states=states, quiescent=quiescent))


def without_timeouts(protocol: Protocol[Any]) -> bool:
    """Whether no timer of a model may expire at any time."""
    return type(protocol).timers is Protocol.timers or protocol.lifetime is not None


def shown(mistaken: Protocol[Any], other: Protocol[Any]) -> Shown:
    """The first execution of a model that does not conform to another."""
    until, counts = time.process_time() + SECONDS, Counter[Verdict]()
    for way in ways(mistaken):
        judge = Judge(other, way.limits)
        for number, execution in _executions(mistaken, way.conditions, until):
            answer, naming = judge.judge(execution)
            counts[answer.verdict] += 1
            if isinstance(answer, Deviates):
                said = first_said(Judged(execution, answer, naming, other), answer)
                return Shown(way.said, number, said)
    return Shown(conforming=counts[Verdict.HOLDS], undecided=counts[Verdict.UNKNOWN])


def _executions(
    protocol: Protocol[Any], conditions: Conditions, until: float
) -> Iterator[tuple[int, Execution]]:
    """Executions with their numbers, until a time of the processor; none under conditions that the network does not
    know. Those without an end are left out.
    """
    try:
        simulator = Simulator(protocol, conditions, most_steps=500)
    except PrecedesError:
        return
    for number in range(1, TRIED + 1):
        if time.process_time() > until:
            return
        try:
            execution = simulator.run(1, number).execution
        except PrecedesError:
            continue
        yield number, execution


def of_itself(protocol: Protocol[Any], executions: int) -> tuple[Conditions, dict[Verdict, int]]:
    """How many executions of a model have which verdict by itself; of few requests where a search has to find a run."""
    conditions, limits = usual(protocol), Limits()
    if protocol.lifetime is not None:
        conditions = replace(conditions, messages=4)
    elif not without_timeouts(protocol):
        conditions, limits = replace(conditions, messages=2), Limits(losses=0)
    judges, simulator = Judges([protocol], Question(limits, max_shown=0)), Simulator(protocol, conditions)
    parts = range(1, executions + 1, AT_A_TIME)
    batches = (
        batch_of(
            [simulator.run(7, k).execution for k in range(first, min(first + AT_A_TIME, executions + 1))]
        )
        for first in parts
    )
    return conditions, judges.tally(batches).counts


def tables(executions: int = OWN) -> Iterator[str]:
    """The tables of the page, in lines."""
    yield from _of_themselves(executions)
    yield from _parts()
    yield from _mistakes()


def _of_themselves(executions: int) -> Iterator[str]:
    yield "## Every model conforms to itself"
    yield ""
    yield "Simulated executions of each model, repaired where it has two forms, judged by that model:"
    yield ""
    yield "| model | entities | requests | executions | conform | undecided |"
    yield "|---|--:|--:|--:|--:|--:|"
    for name in catalog.installed():
        conditions, counts = of_itself(catalog.models(name)[-1], executions)
        sizes = (conditions.entities, conditions.messages, executions)
        found = (counts[Verdict.HOLDS], counts[Verdict.UNKNOWN])
        assert not counts[Verdict.VIOLATED], name
        yield f"| {name} | {' | '.join(f'{number:,}' for number in (*sizes, *found))} |"
    yield ""


def _parts() -> Iterator[str]:
    yield "## The forms as written do not conform"
    yield ""
    yield "Simulated executions of each form as written, judged by the repaired one. This is the first that"
    yield "does not conform, and where the two part:"
    yield ""
    yield "| model | execution | of | first event, or the likely reason why there is none |"
    yield "|---|--:|---|---|"
    for name in catalog.installed():
        written = catalog.models(name, as_written=True)[-1]
        if type(written).repaired:
            why = FORMS_NOT_SHOWN.get(name, "")
            yield _row(name, shown(written, catalog.models(name)[-1]), why)
    yield ""


def _mistakes() -> Iterator[str]:
    yield "## Seeded mistakes"
    yield ""
    yield "The tests have models with one handler broken each. Their executions, judged by the model without"
    yield 'the mistake; "to the end" is `--quiescent`:'
    yield ""
    yield "| mistake | execution | of | first event, or the likely reason why there is none |"
    yield "|---|--:|---|---|"
    for mistaken in mistakes():
        why = NOT_SHOWN.get(key(mistaken), "")
        yield _row(title(mistaken), shown(mistaken, without(mistaken)), why)


def key(mistaken: Protocol[Any]) -> str:
    """The model and the name of the mistake: `st.NeverAsks`."""
    return f"{without(mistaken).name}.{type(mistaken).__name__}"


def title(mistaken: Protocol[Any]) -> str:
    """The model, and what the mistake is, in its first sentence."""
    said = " ".join((type(mistaken).__doc__ or "").split())
    return f"{without(mistaken).name}: {said.partition('. ')[0].removesuffix('.')}"


def _row(name: str, found: Shown, why: str = "") -> str:
    if found.said:
        said = found.said.removesuffix(", and no run has that")
        return f"| {name} | {found.number} | {found.way} | {said} |"
    tried = f"{found.conforming:,} conform, {found.undecided:,} undecided"
    return f"| {name} | | {tried} | {why} |"


def written(page: str, lines: Iterable[str]) -> str:
    """The page with these lines below the mark."""
    return page.partition(BEGIN)[0] + BEGIN + "\n" + "\n".join(lines) + "\n"


def main() -> None:
    """Write the page."""
    lines: list[str] = []
    for line in tables():
        print(line, flush=True)
        lines.append(line)
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), lines), encoding="utf-8")


if __name__ == "__main__":
    main()
