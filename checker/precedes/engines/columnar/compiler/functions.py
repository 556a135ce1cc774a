"""From a formula to the text of a function that judges executions.

The text calls the functions of `runtime` and marks its own with the decorator `jit`. Who loads it provides
these: as they are and without a decorator it is plain Python, over lists; with numba's decorator it is
compiled, over arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, assert_never

from precedes.core.formula import Formula
from precedes.engines.columnar.compiler.enumeration import Enumeration
from precedes.engines.columnar.compiler.execution_tables import TABLES, in_order
from precedes.engines.columnar.compiler.source_text import Carried, Extent, Needs, Source
from precedes.engines.columnar.compiler.statements import Chain, Cycle, Emission, Fork, InPart, Link, Together
from precedes.engines.columnar.compiler.terms import Facts, Terms
from precedes.engines.columnar.execution_source import Sort
from precedes.engines.columnar.kernel_columns import Columns
from precedes.logic.completion import opened
from precedes.logic.universals import Clause
from precedes.logic.variables import distinct

OUTPUTS: Final = ("values", "entity_stops", "message_stops", "found_entities", "found_messages")
"""The columns that are written."""

RESULTS: Final = {
    "count": "0",
    "cycle": "0",
    "row_cycle": "0",
    "doubt": "0",
    "misfit": "0",
    "arrivals": "False",
}
"""What tables return, and what it is where they are not built."""


@dataclass(frozen=True, slots=True)
class Generated:
    """The text, and the arguments of its function `scan` after `start`, `stop` and the columns of a batch.

    reads     names of columns of a batch
    scratch   for every scratch column what it must be as long as: a name in `SIZES`
    named     columns that have the local number of an entity, message, group or view with some name: column, sort, name
    carried   columns of what messages carry, and `texts` those of which there is a column with their codes
    shown     at most so many entities, messages and cycles show a violation
    extents   of each loop, what it and the loops around it go through

    What follows are the columns that are written: values, where the witnesses of an execution end, and the
    witnesses.
    """

    text: str
    reads: tuple[str, ...]
    scratch: tuple[str, ...]
    named: tuple[tuple[str, Sort, str], ...]
    carried: tuple[Carried, ...]
    texts: tuple[str, ...]
    shown: tuple[int, int, int]
    extents: tuple[tuple[Extent, ...], ...]


@lru_cache(maxsize=256)
def generate(formula: Formula, facts: Facts, *, sought: bool = False) -> Generated:
    """The text for a closed formula, on batches of which the facts are true; `sought` as in `Emission`."""
    needs = Needs()
    body = Source(needs, depth=2, loops=1)
    emission = Emission(Terms(body, facts), sought=sought)
    judged = formula if facts.complete else opened(formula)
    body.line(f"value = {emission.value(distinct(judged), shows=False).value}")
    body.line("values[x] = value")
    if emission.chain is not None:
        with body.block("if value == -1:"):
            _write_chain(emission.chain, body)
    frame = _Frame.of(needs)
    parameters = ["start", "stop", *frame.parameters, *OUTPUTS]
    lines = [
        *needs.functions,
        f"def scan({', '.join(parameters)}):",
        *(f"    {line}" for line in frame.hoisted),
        "    entity_count = 0",
        "    message_count = 0",
        "    for x in range(start, stop):",
        *(f"        {line}" for line in frame.place),
        "        entity_stops[x] = entity_count",
        "        message_stops[x] = message_count",
        "        if unknown[x] != 0:",
        "            values[x] = unknown[x]",
        "            continue",
        *(f"        {line}" for line in frame.prelude),
        *body.lines,
        "        entity_stops[x] = entity_count",
        "        message_stops[x] = message_count",
        "",
    ]
    return frame.generated(lines, _shown(emission.chain))


@lru_cache(maxsize=256)
def generate_enumeration(clause: Clause, facts: Facts) -> Generated:
    """The text of a function that goes through everything that a clause is false of, in one execution.

    It has the arguments `x`, `capacity` and `budget` first. It writes the values of the clause's variables one after
    another, for as many bindings as there is capacity, and returns how many there are. After `budget` steps of its
    loops it gives up, and returns `~` of what it found so far.
    """
    needs = Needs()
    body = Source(needs, depth=1, loops=0)
    Enumeration(Terms(body, facts)).each(clause)
    frame = _Frame.of(needs)
    lines = [
        *needs.functions,
        f"def scan({', '.join(['x', 'capacity', 'budget', *frame.parameters, 'bindings'])}):",
        *(f"    {line}" for line in frame.hoisted),
        *(f"    {line}" for line in frame.place),
        *(f"    {line}" for line in frame.prelude),
        "    steps = 0",
        "    found = 0",
        *body.lines,
        "    return found",
        "",
    ]
    return frame.generated(lines, (0, 0, 0))


@dataclass(frozen=True, slots=True)
class _Frame:
    """What the functions of one source need together: their arguments, and what is done first in each execution."""

    reads: tuple[str, ...]
    scratch: dict[str, str]
    named: tuple[tuple[str, Sort, str], ...]
    carried: dict[Carried, str]
    texts: tuple[str, ...]
    extents: tuple[tuple[Extent, ...], ...]
    shared: tuple[str, ...]
    prelude: tuple[str, ...]
    place: tuple[str, ...] = (
        "first_entity = entity_offsets[x]",
        "first_message = message_offsets[x]",
        "n = entity_offsets[x + 1] - first_entity",
        "m = message_offsets[x + 1] - first_message",
        "here = Here(n, m, first_entity, first_message)",
    )

    @classmethod
    def of(cls, needs: Needs) -> _Frame:
        """The frame of what was written."""
        tables = in_order(needs.tables)
        scratch = {name: size for table in tables for name, size in TABLES[table].scratch.items()}
        scratch |= {f"relation_{number}": "message_pairs" for number in range(needs.relations)}
        read = dict.fromkeys(("entity_offsets", "message_offsets", "unknown", *needs.columns))
        for table in tables:
            read |= dict.fromkeys(sorted(TABLES[table].reads))
            read |= {name: None for name in TABLES[table].arguments if name in Columns._fields}
        named = tuple((f"{variable}_number", sort, name) for (sort, name), variable in needs.named.items())
        places = ("x", "n", "m", "first_entity", "first_message", "here", "columns")
        made = tuple(
            name for table in tables if (name := TABLES[table].result) is not None and name not in RESULTS
        )
        prelude = (
            *(f"{name} = {default}" for name, default in RESULTS.items()),
            *(f"{variable} = {variable}_number[x]" for variable in needs.named.values()),
            *(f"{variable} = -1" for variable in needs.chained),
            *(line for table in tables for line in TABLES[table].statements),
        )
        texts = ("text_codes",) if needs.texts else ()
        shared = (
            *(*places, *RESULTS, *made, *read, *scratch, *needs.named.values()),
            *(*needs.carried.values(), *texts),
        )
        carried, extents = dict(needs.carried), tuple(needs.extents)
        return cls(tuple(read), scratch, named, carried, tuple(needs.texts), extents, shared, prelude)

    @property
    def hoisted(self) -> tuple[str, ...]:
        """What gives columns names of their own."""
        return tuple(f"{name} = columns.{name}" for name in self.reads)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the arguments that are read, and of scratch columns."""
        texts = ("text_codes",) if self.texts else ()
        named = (column for column, _, _ in self.named)
        return ("columns", *named, *self.carried.values(), *texts, *self.scratch)

    def generated(self, lines: list[str], shown: tuple[int, int, int]) -> Generated:
        """The text with its arguments."""
        text = "\n".join(lines).replace("SHARED", ", ".join(self.shared))
        scratch, carried = tuple(self.scratch.values()), tuple(self.carried)
        return Generated(text, self.reads, scratch, self.named, carried, self.texts, shown, self.extents)


def _write_chain(chain: Chain | None, source: Source) -> None:
    match chain:
        case None:
            source.line("pass")
        case Link(entity, message, inner):
            for found, counter, shown in (
                ("entities", "entity_count", entity),
                ("messages", "message_count", message),
            ):
                if shown is not None:
                    source.line(f"found_{found}[{counter}] = {shown}")
                    source.line(f"{counter} += 1")
            if inner is not None:
                _write_chain(inner, source)
        case InPart(local, inner):
            # Where nothing else says which part it is, a message of it does.
            before = source.fresh("before")
            source.line(f"{before} = message_count")
            _write_chain(inner, source)
            with source.block(f"if message_count == {before}:"):
                source.line(f"found_messages[message_count] = {local}")
                source.line("message_count += 1")
        case Fork(chosen, branches):
            for number, branch in enumerate(branches):
                if branch is not None:
                    with source.block(f"if {chosen} == {number}:"):
                        _write_chain(branch, source)
        case Together(chains):
            for part in chains:
                _write_chain(part, source)
        case Cycle(relation):
            source.line(
                f"length = shortest_cycle(m, relation_{relation}, left, degree, waiting, cycle_messages)"
            )
            with source.block("for place in range(length):"):
                source.line("found_messages[message_count] = cycle_messages[place]")
                source.line("message_count += 1")
        case _:
            assert_never(chain)


def _shown(chain: Chain | None) -> tuple[int, int, int]:
    """How many entities, messages and cycles a chain can have at most."""
    match chain:
        case None:
            return 0, 0, 0
        case Link(entity, message, inner):
            entities, messages, cycles = _shown(inner)
            return entities + (entity is not None), messages + (message is not None), cycles
        case InPart(_, inner):
            entities, messages, cycles = _shown(inner)
            return entities, messages + 1, cycles
        case Fork(_, parts) | Together(parts):
            sizes = [_shown(part) for part in parts]
            return (
                sum(size[0] for size in sizes),
                sum(size[1] for size in sizes),
                sum(size[2] for size in sizes),
            )
        case Cycle():
            return 0, 0, 1
        case _:
            assert_never(chain)
