"""`precedes run`: runs a model in processes, writes what they record, and judges it: by what the model claims or what
is required, and by the model itself.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from precedes.core.formula import Requirement
from precedes.core.verdict import Verdict
from precedes.engines.scan import partials
from precedes.jobs import conform, verify
from precedes.language.durations import duration
from precedes.language.library import Library
from precedes.language.requirements import REQUIRED, requirement
from precedes.protocol.conformance.verdicts import Limits
from precedes.protocol.model import TICK, Protocol
from precedes.protocol.network import Timed
from precedes.protocol.processes.cluster import Cluster, Recorded, Totals
from precedes.protocol.processes.workload import Workload
from precedes.protocol.running import move_log
from precedes.protocol.running.encoding import Encoding
from precedes.protocol.running.move_log import MoveLog
from precedes.protocol.simulation.simulator import name_of
from precedes.protocol.validation.carried_values import with_attributes
from precedes.traces import Notices, expand, read_batches
from precedes.traces.formats.text_stream import reason
from precedes.traces.layout import conversion
from precedes.traces.problems import unreadable
from precedes.traces.sources import source_of
from precedes.traces.writer import in_place

_LIVELY: Final = 10_000_000
"""Nanoseconds of a tick in a network with time, unless it is said: what a process on a busy machine still keeps."""

Advance = Callable[[str], None]
"""Told several times a second what is being done."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is run, and how it is judged. Nothing required: what the model claims.

    `states`: the limit of the search for a run of the model. `silence`: seconds without progress after which a process
    counts as hung.
    """

    workload: Workload
    required: tuple[str | Requirement, ...]
    library: Library
    states: int = 5000
    max_violations: int = 10
    max_shown: int = 3
    silence: float = 300.0
    where: str = REQUIRED


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a run. `verified` is None where nothing is required and the model claims nothing. `path`: the trace,
    where one was asked for.
    """

    protocols: tuple[Protocol[Any], ...]
    workload: Workload
    totals: Totals
    executions: int
    events: int
    verified: partials.Report | None
    conformed: conform.Conformed
    path: str | None = None

    @property
    def verdict(self) -> Verdict:
        """Of both judgments: violated before unknown."""
        verdicts = {self.conformed.verdict} | ({self.verified.verdict} if self.verified else set())
        if Verdict.VIOLATED in verdicts:
            return Verdict.VIOLATED
        return Verdict.UNKNOWN if Verdict.UNKNOWN in verdicts else Verdict.HOLDS


def tick_of(text: str | None, protocol: Protocol[Any]) -> int:
    """How long a tick is, in nanoseconds: as it was said, or a time that fits the network. PrecedesError for what is no
    duration.
    """
    if text is not None:
        return max(1, duration(text))
    return _LIVELY if isinstance(protocol.network, Timed) else TICK


def run(question: Question, target: str | os.PathLike[str] | None, advance: Advance) -> Ran:
    """Run, record and judge. `advance` is called several times a second; what it raises ends the run.

    PrecedesError for mistakes of the model (M005 to M013, M018), a process that ends (M015), a machine that is too slow
    (M019), a target that is no trace by its name (T002) or cannot be written (T003).
    """
    path = None if target is None else _target(os.fspath(target))
    workload = question.workload
    protocols = workload.model.load()
    required = _requirements(question, protocols[0])
    with tempfile.TemporaryDirectory(prefix="precedes-run-") as folder:
        rows = str(Path(folder) / "run.jsonl")
        moves = _Moves(protocols, Path(folder) / "run.moves")
        totals = _recorded(question, folder, rows, moves, advance)
        verified = _verified(question, protocols, required, rows, advance)
        conformed = _conformed(question, protocols, totals, rows, moves, advance)
        if path is not None:
            _write(rows, path)
        with Path(rows).open("rb") as file:
            events = sum(1 for _ in file)
    return Ran(protocols, workload, totals, conformed.executions, events, verified, conformed, path)


def _target(path: str) -> str:
    """The path of a trace to be written, before anything has been run. PrecedesError T002 and T003."""
    if not path.endswith((".jsonl", ".parquet")):
        raise unreadable(
            "T002", "a run writes JSON Lines or Parquet", path, "name a .jsonl or a .parquet file"
        )
    if not Path(path).resolve().parent.is_dir():
        raise unreadable("T003", "cannot be written: there is no such folder", path)
    return path


def _requirements(question: Question, protocol: Protocol[Any]) -> list[Requirement]:
    """What is required, or what the model claims. PrecedesError for a name that there is not."""
    library = with_attributes(protocol, question.library)
    asked = question.required or protocol.claims
    where = question.where if question.required else f"the claims of {protocol.name}"
    return [one if isinstance(one, Requirement) else requirement(one, library, where) for one in asked]


class _Moves:
    """The moves of every execution, in a file."""

    def __init__(self, protocols: Sequence[Protocol[Any]], path: Path) -> None:
        self._encodings = [Encoding(protocol) for protocol in protocols]
        self.path = path
        self._places: dict[str, tuple[int, int, int]] = {}

    def write(self, file: BinaryIO, recorded: Recorded) -> None:
        """Append those of an execution."""
        which = (recorded.number - 1) % len(self._encodings)
        self._places[name_of(recorded.number)] = which, file.tell(), len(recorded.moves)
        file.write(recorded.moves)

    def of(self, execution: str) -> tuple[int, MoveLog]:
        """Those of an execution, and the instance that made them."""
        which, place, size = self._places[execution]
        with self.path.open("rb") as file:
            file.seek(place)
            return which, move_log.read(file.read(size), self._encodings[which])


def _recorded(question: Question, folder: str, rows: str, moves: _Moves, advance: Advance) -> Totals:
    """Run everything; the rows of the executions in the order of their numbers."""
    done = 0
    with Path(rows).open("wb") as file, moves.path.open("wb") as beside:

        def take(recorded: Recorded) -> None:
            nonlocal done
            done = recorded.number
            file.write(recorded.rows)
            moves.write(beside, recorded)

        cluster = Cluster(question.workload, folder, take, question.silence)
        return cluster.run(lambda: advance(f"{done:,} of {question.workload.executions:,} executions"))


def _verified(
    question: Question,
    protocols: Sequence[Protocol[Any]],
    required: Sequence[Requirement],
    rows: str,
    advance: Advance,
) -> partials.Report | None:
    if not required:
        return None
    lifetimes = {protocol.lifetime for protocol in protocols}
    lifetime = lifetimes.pop()
    asked = verify.Question(
        traces=(rows,),
        required=(),
        delta=None if lifetimes or lifetime is None else f"{lifetime * TICK}ns",
        cluster=_cluster(question, protocols[0]),
        max_violations=question.max_violations,
    )
    report, _ = verify.verify(
        asked, lambda done, _: advance(f"{done:,} executions judged"), asked.planned(required)
    )
    return report


def _conformed(
    question: Question,
    protocols: Sequence[Protocol[Any]],
    totals: Totals,
    rows: str,
    moves: _Moves,
    advance: Advance,
) -> conform.Conformed:
    """As many faults as an execution had are allowed for; and each was recorded to its end. The moves that the
    processes say they made are followed before a run is searched for.
    """
    most = {name: int(totals.most.get(counter, 0)) for name, counter in _FAULTS.items()}
    limits = Limits(**most, states=question.states, quiescent=True)
    asked = conform.Question(limits, question.workload.entities, max_shown=question.max_shown)
    reading = verify.Question(traces=(rows,), required=(), cluster=_cluster(question, protocols[0]))

    def judged(done: int) -> None:
        advance(f"{done:,} executions compared with the model")

    notices = Notices()
    batches = read_batches(expand(reading.traces, notices), asked.options(reading.options()), notices)
    judges = conform.Judges(protocols, asked, moves.of)
    return judges.conformed(judges.tally(batches, judged))


_FAULTS: Final = {"losses": "lost", "duplicates": "duplicated", "corruptions": "corrupted"}
"""For each limit of the search what is counted of it in a run."""


def _cluster(question: Question, protocol: Protocol[Any]) -> tuple[str, ...]:
    """All entities, also those that have no row."""
    return tuple(protocol.name_of(entity) for entity in range(question.workload.entities))


def _write(rows: str, path: str) -> None:
    if path.endswith(".parquet"):
        conversion.convert((rows,), path, Notices())
        return
    target = source_of(path)
    try:
        with in_place(target) as temporary:
            shutil.copyfile(rows, temporary)
    except OSError as error:
        raise unreadable("T003", f"cannot be written: {reason(error)}", target.shown) from error
