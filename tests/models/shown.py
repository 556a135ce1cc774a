"""Which mistakes of a model a trace shows: executions of the model with the mistake, judged by the model without it.

    python -m tests.models.shown ['st.*' high-integrity.form ...]

writes the tables of docs/conform.md, in some minutes of the processor, or only the rows whose keys fit: how many
executions of each model conform to it, where the forms as written and the repaired ones part, and the first execution
that shows each seeded mistake, with the event at which the two part. Executions are simulated where no time-out may
expire at any time; of the other models they are those that an exploration finds (`counterexamples`). Where none shows a
mistake, the table says why.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import Execution
from precedes.core.transposition import batch_of
from precedes.core.verdict import Verdict
from precedes.jobs.conform import Judged, Judges, Question
from precedes.protocol import Conditions, Destinations, Protocol, catalog
from precedes.protocol.conformance.judge import Judge
from precedes.protocol.conformance.verdicts import Deviates, Limits
from precedes.protocol.simulation.simulator import Simulator, usual
from precedes.reports.conform import first_said
from tests.models import counterexamples
from tests.models.cmd import bugs as of_cmd
from tests.models.counterexamples import Case, Tried, limits_said, tried
from tests.models.delta_causal import bugs as of_delta_causal

PAGE: Final = Path("docs/conform.md")
BEGIN: Final = "<!-- The tables below are written by `python -m tests.models.shown`. -->\n"
SECONDS: Final = 4.0
"""Of the processor: how long one mistake is looked for."""
TRIED: Final = 40
"""How many executions are tried under each conditions."""
OWN: Final = 10_000
"""How many executions of a model are judged by itself."""
AT_A_TIME: Final = 1_000

_PDU: Final = re.compile(r'\{[^{}]*"message": "(\w+)"[^{}]*\}')
"""A PDU in a recorded state, which is too long for a table."""
TOO_SOON: Final = "the model does the same where a time-out expires too soon, and time-outs are not recorded"
NOT_SHOWN: Final[dict[str, str]] = {
    "st.StaysStopped": "who stays stopped refuses what it is asked to send, and a request that is refused is no event",
    "dynamic-cluster.form": "what an answer says stands in packets, which are not recorded",
    "dynamic-cluster.EmaskNotMerged": TOO_SOON,
    "dynamic-cluster.CountsNoStopAck": TOO_SOON,
    "dynamic-cluster.NeverIgnores": TOO_SOON,
    "high-integrity.ConfirmsAnything": "what is confirmed stands in packets, which are not recorded",
    "high-integrity.NamesInAnyOrder": "the order of the numbers stands in a packet, which is not recorded",
    "high-integrity.NeverGivesUp": "an alarm is no event",
    "high-integrity.RemovesOnHearsay": "it notes who is removed in the state of the origin, which is no event",
    "high-integrity.NeverRepeats": TOO_SOON,
    "high-integrity.NeverRemoves": TOO_SOON,
}
"""Why the executions that break something conform to the model without the mistake, or to the repaired form."""
UNDECIDED: Final = frozenset(
    {
        "to.JoinsWithAnOldLog",
        "dynamic-cluster.CutsToTheMost",
    }
)
"""Of which some execution is undecided, and none does not conform."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to look for a mistake, in words too."""

    said: str
    conditions: Conditions
    limits: Limits


@dataclass(frozen=True, slots=True)
class Shown:
    """What became of the executions of a model with a mistake: the first that does not conform to the other, with its
    number, and what is said of it. An empty `said`: there is none, and `undecided` says what is known of it, if
    anything.
    """

    way: str = ""
    execution: str = ""
    said: str = ""
    broken: tuple[str, ...] = ()
    undecided: str = ""


def mistakes() -> tuple[Protocol[Any], ...]:
    """Every model with a mistake."""
    found: list[Protocol[Any]] = [
        bug() for bug in (*of_cmd.OF_AUXILIARY, *of_cmd.OF_CMD, *of_cmd.OF_BASELINES)
    ]
    found += [bug for bug, *_ in of_delta_causal.BUGS]
    known = set(map(key, found))
    return (*found, *(case.mistaken for name, case in explored().items() if name not in known))


@cache
def explored() -> dict[str, Case]:
    """The mistakes that are looked for in explorations."""
    return {key(case.mistaken): case for case in counterexamples.mistakes()}


def without(mistaken: Protocol[Any]) -> Protocol[Any]:
    """The model without the mistake: the class that it comes from, with the same parameters."""
    own = next(each for each in type(mistaken).__mro__ if each.__module__.startswith("precedes_models"))
    given = {each.name: getattr(mistaken, each.name) for each in fields(mistaken)}
    repaired: Protocol[Any] = own(**given)
    return repaired


def ways(mistaken: Protocol[Any]) -> Iterator[Way]:
    """Conditions that are tried, one after the other."""
    given = usual(mistaken)
    few = replace(given, messages=8, destinations=Destinations.ANY)
    close = replace(few, interval=few.interval / 2, deviation=few.deviation * 3)
    four = replace(close, entities=4, messages=12)
    yield from _ways((few, ""), (close, ", close requests"), (four, ", close requests"), states=2_000)


def _ways(*given: tuple[Conditions, str], states: int) -> Iterator[Way]:
    """Without, then with the knowledge that an execution was recorded to its end."""
    for quiescent in (False, True):
        for conditions, what in given:
            said = f"{conditions.entities} entities{what}{', to the end' if quiescent else ''}"
            yield Way(said, conditions, Limits(states=states, quiescent=quiescent))


def without_timeouts(protocol: Protocol[Any]) -> bool:
    """Whether no timer of a model may expire at any time."""
    return type(protocol).timers is Protocol.timers or protocol.lifetime is not None


def shown(mistaken: Protocol[Any]) -> Shown:
    """The first execution of a model with a mistake that does not conform to the model without it."""
    case, other = explored().get(key(mistaken)), without(mistaken)
    return simulated(mistaken, other) if case is None else of_exploration(case, other)


def form_shown(name: str) -> Shown:
    """The first execution of a form as written that does not conform to the repaired one."""
    case = counterexamples.FORMS.get(name)
    if case is not None:
        return of_exploration(case, replace(case.mistaken, as_written=False))
    return simulated(catalog.models(name, as_written=True)[-1], catalog.models(name)[-1])


def of_exploration(case: Case, other: Protocol[Any]) -> Shown:
    """The first of those that an exploration finds."""
    found: list[Tried] = []
    for each in tried(case, other):
        if each.verdict is Verdict.VIOLATED:
            return Shown(limits_said(case, each.limits), "found", each.said)
        found.append(each)
    undecided = next((each for each in found if each.verdict is Verdict.UNKNOWN), None)
    broken = tuple(dict.fromkeys(each.broken for each in ([undecided] if undecided else found)))
    way = limits_said(case, (undecided or found[-1]).limits)
    return Shown(way, broken=broken, undecided="" if undecided is None else undecided.said)


def simulated(mistaken: Protocol[Any], other: Protocol[Any]) -> Shown:
    """The first of some simulated ones."""
    until = time.process_time() + SECONDS
    for way in ways(mistaken):
        judge = Judge(other, way.limits)
        for number, execution in _executions(mistaken, way.conditions, until):
            answer, naming = judge.judge(execution)
            if isinstance(answer, Deviates):
                said = first_said(Judged(execution, answer, naming, other), answer)
                return Shown(way.said, str(number), said)
    return Shown()


def _executions(
    protocol: Protocol[Any], conditions: Conditions, until: float
) -> Iterator[tuple[int, Execution]]:
    """Executions with their numbers, until a time of the processor. Those without an end are left out."""
    simulator = Simulator(protocol, conditions, most_steps=500)
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


Rows = Mapping[str, str]
"""Rows by their keys: `st.itself`, `st.form`, `st.NeverAsks`."""


def tables(kept: Rows = MappingProxyType({})) -> Iterator[str]:
    """The tables of the page, in lines, with the rows that are kept as they are."""
    yield from _of_themselves(kept)
    yield from _parts(kept)
    yield from _mistakes(kept)


def _of_themselves(kept: Rows) -> Iterator[str]:
    yield "## Every model conforms to itself"
    yield ""
    yield "Simulated executions of each model, repaired where it has two forms, judged by that model:"
    yield ""
    yield "| model | entities | requests | executions | conform | undecided |"
    yield "|---|--:|--:|--:|--:|--:|"
    for name in catalog.installed():
        yield kept.get(f"{name}.itself") or _row_of_itself(name)
    yield ""


def _row_of_itself(name: str) -> str:
    protocol = catalog.models(name)[-1]
    conditions, counts = of_itself(protocol, OWN)
    sizes = (conditions.entities, conditions.messages, OWN)
    found = (counts[Verdict.HOLDS], counts[Verdict.UNKNOWN])
    assert not counts[Verdict.VIOLATED], name
    return f"| {name} | {' | '.join(f'{number:,}' for number in (*sizes, *found))} |"


def _parts(kept: Rows) -> Iterator[str]:
    yield "## The forms as written do not conform"
    yield ""
    yield "Executions of each form as written, judged by the repaired one. This is the first that does not"
    yield 'conform, and where the two part. A number is that of a simulated execution. "Found" means: a'
    yield "shortest execution in which an exploration finds a violation. The limits are those in the column"
    yield '"of": with more time-outs (`--timeouts`), some conform. `--state` compares the fields after "with";'
    yield 'a PDU stands there as its message. "To the end" is `--quiescent`:'
    yield ""
    yield "| model | execution | of | first event, or why there is none |"
    yield "|---|--:|---|---|"
    for name in forms():
        yield kept.get(f"{name}.form") or _row(name, form_shown(name), f"{name}.form")
    yield ""


def forms() -> Iterator[str]:
    """The models that have a form as written."""
    return (name for name in catalog.installed() if type(catalog.models(name)[-1]).repaired)


def _mistakes(kept: Rows) -> Iterator[str]:
    yield "## Seeded mistakes"
    yield ""
    yield "The tests have models with one handler broken each. Their executions, judged by the model without"
    yield "the mistake, in the same words:"
    yield ""
    yield "| mistake | execution | of | first event, or why there is none |"
    yield "|---|--:|---|---|"
    for mistaken in mistakes():
        name = key(mistaken)
        yield kept.get(name) or _row(title(mistaken), shown(mistaken), name)


def key(mistaken: Protocol[Any]) -> str:
    """The model and the name of the mistake: `st.NeverAsks`."""
    return f"{without(mistaken).name}.{type(mistaken).__name__}"


def title(mistaken: Protocol[Any]) -> str:
    """The model, and what the mistake is, in its first sentence."""
    said = " ".join((type(mistaken).__doc__ or "").split())
    return f"{without(mistaken).name}: {said.partition('. ')[0].removesuffix('.')}"


def _row(name: str, found: Shown, of: str) -> str:
    said = _PDU.sub(r"\1", found.said.removesuffix(", and no run has that"))
    if not said:
        broken = " and ".join(f'"{each}"' for each in found.broken)
        why = f"undecided: {found.undecided}" if found.undecided else f"conforms: {NOT_SHOWN[of]}"
        said = f"breaks {broken}; {why}"
    return f"| {name} | {found.execution} | {found.way} | {said} |"


def written(page: str, lines: Iterable[str]) -> str:
    """The page with these lines below the mark."""
    return page.partition(BEGIN)[0] + BEGIN + "\n" + "\n".join(lines) + "\n"


def rows_of(page: str) -> dict[str, str]:
    """The rows of the page, by their keys."""
    own, form, mistake = page.partition(BEGIN)[2].split("\n## ")[1:]
    sections = (
        (own, {name: f"{name}.itself" for name in catalog.installed()}),
        (form, {name: f"{name}.form" for name in forms()}),
        (mistake, {title(mistaken): key(mistaken) for mistaken in mistakes()}),
    )
    firsts = (
        (line, line[2:].partition(" |")[0], keys) for text, keys in sections for line in text.split("\n")
    )
    return {keys[name]: line for line, name, keys in firsts if name in keys}


def main(patterns: Sequence[str] = ()) -> None:
    """Write the page, or those of its rows whose keys fit one of the patterns."""
    page = PAGE.read_text(encoding="utf-8")
    kept = {
        name: row
        for name, row in (rows_of(page) if patterns else {}).items()
        if not any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    lines: list[str] = []
    for line in tables(kept=kept):
        print(line, flush=True)
        lines.append(line)
    PAGE.write_text(written(page, lines), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
