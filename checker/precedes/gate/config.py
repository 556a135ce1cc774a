"""The configuration of the gate: `[tool.precedes]` in pyproject.toml, or precedes.toml.

The types below define the format. The published JSON schema is made from them, and unknown keys and values of
other types are errors. Keys have hyphens, as in other TOML files.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from precedes.core.diagnostics import Diagnostic, PrecedesError, Span, usage
from precedes.core.faults import COUNTED_OR_RATED
from precedes.core.isolation import SILENCE
from precedes.core.suggestions import Synonyms, did_you_mean
from precedes.engines.selection import AUTO, EngineName
from precedes.gate.entry import lines_of

Severity: TypeAlias = Literal["error", "warning", "note", "off"]
"""How much a rule counts. `error` fails the gate; the others are told, `off` is not."""
Unknown: TypeAlias = Literal["undecided", "violated", "accepted"]
"""What an unknown verdict, or a proof up to a bound only, means for the gate."""

Positive: TypeAlias = Annotated[int, Meta(ge=1)]
Count: TypeAlias = Annotated[int, Meta(ge=0)]
SHARE = r"^\s*\d+(\.\d+)?\s*%\s*$"
Share: TypeAlias = Annotated[str, Meta(pattern=SHARE)]
Seconds: TypeAlias = Annotated[float, Meta(gt=0)]
Rate: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
LogFormat: TypeAlias = Annotated[
    str, Meta(description="The format of logs of another system: 'kcat'. Without it, they are recognized.")
]
MappingFile: TypeAlias = Annotated[
    str, Meta(description="A file of TOML that says how logs of your own are read.")
]
Order: TypeAlias = Annotated[
    Literal["rows", "clocks"],
    Meta(description="Which order counts if rows, times and recorded clocks disagree."),
]
DestinationSets: TypeAlias = Annotated[
    Literal["unicast", "multicast", "broadcast", "any"] | None,
    Meta(
        description="One other entity, any set of others, all entities, or any set; the default is what the model says."
    ),
]


class Specs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """Scenarios and claims to check."""

    files: Annotated[
        tuple[str, ...], Meta(min_length=1, description="Files, directories and globs of .prec files.")
    ]
    accept_bounds: Annotated[
        bool, Meta(description="Accept a claim that has no counterexample up to the bound.")
    ] = False
    timeout: Annotated[Seconds, Meta(description="Time limit for each claim, in seconds.")] = 60.0
    memory: Annotated[Positive, Meta(description="Memory limit for each claim, in megabytes.")] = 2048


class Model(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """A protocol model to explore."""

    model: Annotated[str, Meta(description="A name that `precedes list` shows, or a Python file.")]
    as_written: Annotated[
        bool, Meta(description="Use the form that follows the paper exactly, not the repaired one.")
    ] = False
    set: Annotated[dict[str, str | int | bool], Meta(description="Parameters of the model.")] = {}
    require: Annotated[
        tuple[str, ...], Meta(description="What must hold; if empty, the claims of the model.")
    ] = ()
    specs: Annotated[tuple[str, ...], Meta(description="Files of predicates of your own.")] = ()
    expect: Annotated[Literal["holds", "violated"], Meta(description="The expected result.")] = "holds"
    entities: Positive = 3
    messages: Count = 3
    destinations: DestinationSets = None
    script: Annotated[
        str | None,
        Meta(description="Explore only these sends, not every choice up to `messages`: 'a{2,3} b{1}'."),
    ] = None
    losses: Count = 0
    duplicates: Count = 0
    corruptions: Count = 0
    crashes: Count = 0
    recoveries: Count = 0
    early: Count = 0
    broken_links: Count = 0
    dead: Count = 0
    ticks: Count | None = None
    unmet: Annotated[
        tuple[str, ...],
        Meta(
            description="Properties that these bounds never exercise, so that the gate does not report them."
        ),
    ] = ()
    quiescent: Annotated[
        bool, Meta(description="Check properties of several entities only where nothing is in flight.")
    ] = False
    states: Annotated[Positive | None, Meta(description="Stop, undecided, after this many states.")] = None
    time_limit: Annotated[Seconds | None, Meta(description="Stop, undecided, after this many seconds.")] = (
        None
    )
    depends: Annotated[
        tuple[str, ...],
        Meta(description="Other files that the model reads; its imports are found automatically."),
    ] = ()


class Simulation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """A protocol model to run at random."""

    model: Annotated[str, Meta(description="A name that `precedes list` shows, or a Python file.")]
    require: Annotated[tuple[str, ...], Meta(min_length=1, description="What must hold in every execution.")]
    specs: Annotated[tuple[str, ...], Meta(description="Files of predicates of your own.")] = ()
    as_written: bool = False
    set: dict[str, str | int | bool] = {}
    executions: Positive = 1000
    seed: int = 1
    entities: Positive = 3
    messages: Positive = 12
    destinations: DestinationSets = None
    loss: Rate = 0.0
    duplication: Rate = 0.0
    corruption: Rate = 0.0
    crash: Rate = 0.0
    recovery: Rate = 0.0
    depends: tuple[str, ...] = ()


class Trace(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """Recorded executions to verify."""

    files: Annotated[
        tuple[str, ...], Meta(min_length=1, description="Files, directories and globs of traces.")
    ]
    require: Annotated[
        tuple[str, ...], Meta(min_length=1, description="What must hold in every execution.")
    ] = ()
    profile: Annotated[
        tuple[str, ...],
        Meta(min_length=1, description="Brokers whose promises must hold: 'kafka-partition'."),
    ] = ()
    specs: Annotated[tuple[str, ...], Meta(description="Files of predicates of your own.")] = ()
    budget: Annotated[
        dict[str, Share],
        Meta(description="For each requirement, the share of executions that may violate it: '0.1 %'."),
    ] = {}
    engine: EngineName = AUTO
    delta: str | None = None
    epsilon: str | None = None
    incomplete: bool = False
    delivery: Literal["deliver", "arrive"] = "deliver"
    cluster: tuple[str, ...] = ()
    groups: Annotated[
        str | None, Meta(description="A file of TOML or JSON with the members of each group.")
    ] = None
    log: LogFormat | None = msgspec.field(default=None, name="from")
    set: Annotated[
        dict[str, str], Meta(description="How these logs are read: values by the names of settings.")
    ] = {}
    mapping: MappingFile | None = None
    order: Order | None = None
    strict: bool = False


class Conformance(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """Recorded executions that have to be behaviors of a protocol model."""

    model: Annotated[str, Meta(description="A name that `precedes list` shows, or a Python file.")]
    files: Annotated[
        tuple[str, ...], Meta(min_length=1, description="Files, directories and globs of traces.")
    ]
    as_written: bool = False
    set: Annotated[dict[str, str | int | bool], Meta(description="Parameters of the model.")] = {}
    entities: Count = 0
    losses: Count = 2
    duplicates: Count = 1
    corruptions: Count = 1
    timeouts: Count = 200
    states: Positive = 5000
    quiescent: Annotated[
        bool, Meta(description="Each execution was recorded until nothing was in flight.")
    ] = False
    ignore: Annotated[
        tuple[Literal["arrive", "discard", "view", "clock", "time"], ...],
        Meta(description="What the traces mean otherwise than the model."),
    ] = ()
    state: Annotated[
        dict[str, str],
        Meta(
            description="Fields of the model's states, each with the attribute of events that has its value."
        ),
    ] = {}
    cluster: tuple[str, ...] = ()
    log: LogFormat | None = msgspec.field(default=None, name="from")
    mapping: MappingFile | None = None
    order: Order | None = None
    strict: bool = False
    depends: tuple[str, ...] = ()


class Configuration(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """The gate of one project."""

    check: Annotated[tuple[Specs, ...], Meta(description="Scenarios and claims to check.")] = ()
    explore: Annotated[tuple[Model, ...], Meta(description="Protocol models to explore.")] = ()
    simulate: Annotated[tuple[Simulation, ...], Meta(description="Protocol models to run at random.")] = ()
    verify: Annotated[tuple[Trace, ...], Meta(description="Traces to verify.")] = ()
    conform: Annotated[
        tuple[Conformance, ...], Meta(description="Traces that have to be behaviors of a model.")
    ] = ()
    unknown: Annotated[Unknown, Meta(description="What an unknown verdict or a bound counts as.")] = (
        "undecided"
    )
    severity: Annotated[
        dict[str, Severity],
        Meta(description="For each rule (G101) or requirement (causal_order), how much it counts."),
    ] = {}
    baseline: Annotated[str | None, Meta(description="The baseline file, relative to this one.")] = None
    accept: Annotated[
        tuple[str, ...],
        Meta(description="Checks and requirements whose removal or weakening is accepted, by name."),
    ] = ()
    cache: Annotated[str | None, Meta(description="Where results are kept; '' keeps none.")] = (
        ".precedes-cache"
    )
    jobs: Annotated[
        Positive | None,
        Meta(description="How many processes run at a time; the default is one for each core."),
    ] = None
    hang_limit: Annotated[
        Seconds, Meta(description="Seconds without progress after which a model has no verdict.")
    ] = SILENCE


NAMES = ("precedes.toml", "pyproject.toml")


def schema() -> dict[str, Any]:
    """The JSON schema of the configuration, draft 2020-12."""
    document = msgspec.json.schema(Configuration)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "precedes gate", **document}


def find(start: Path) -> Path:
    """The configuration that governs a directory: precedes.toml, or a pyproject.toml with [tool.precedes], there or
    in the nearest directory above. PrecedesError where there is none.
    """
    for folder in (start, *start.parents):
        for name in NAMES:
            path = folder / name
            if configures(path):
                return path
    raise usage(
        f"no precedes.toml, and no pyproject.toml with [tool.precedes], in {start} or above",
        "`precedes init` writes one",
    )


def configures(path: Path) -> bool:
    """Whether there is a configuration in a file, which may be mistaken."""
    return path.is_file() and (path.name == NAMES[0] or "precedes" in _tools(_table(path)))


def load(path: Path) -> Configuration:
    """Read a configuration. PrecedesError with every place where it is mistaken (C001 to C003)."""
    table = _table(path)
    inside = _tools(table).get("precedes", {}) if path.name == NAMES[1] else table
    try:
        configuration = msgspec.convert(inside, Configuration)
    except msgspec.ValidationError as error:
        raise PrecedesError((_mistake(path, str(error)),)) from error
    if not any(getattr(configuration, kind) for kind in _KINDS):
        raise PrecedesError(
            (
                Diagnostic(
                    "C003",
                    "there is nothing to do: no check, explore, simulate, verify or conform",
                    str(path),
                    hint='begin with [[check]] and files = ["specs"]',
                ),
            )
        )
    return configuration


def _tools(table: dict[str, Any]) -> dict[str, Any]:
    tools = table.get("tool", {})
    return tools if isinstance(tools, dict) else {}


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        found = re.search(r"line (\d+), column (\d+)", str(error))
        span = None if found is None else Span(int(found[1]), int(found[2]), int(found[2]) + 1)
        message = re.sub(r" \(at .*\)$", "", str(error))
        raise PrecedesError((Diagnostic("C001", f"not TOML: {message}", str(path), span),)) from error
    except OSError as error:
        raise usage(f"cannot read {path}: {error.strerror}") from error


_MEANT: Synonyms = {**COUNTED_OR_RATED, ("seconds",): ("time-limit",), ("spec",): ("specs",)}
_UNKNOWN = re.compile(r"unknown field `(?P<field>[^`]+)`")
_KINDS: dict[str, type[Struct]] = {
    "check": Specs,
    "explore": Model,
    "simulate": Simulation,
    "verify": Trace,
    "conform": Conformance,
}


def _mistake(path: Path, said: str) -> Diagnostic:
    """What msgspec found, with the line of the file and what would be right."""
    message, _, place = said.partition(" - at `$")
    steps = re.findall(r"[A-Za-z_-]+|\d+|\[\.\.\.\]", place.rstrip("`"))
    unknown = _UNKNOWN.search(message)
    if unknown is None:
        key = next((step for step in reversed(steps) if not step.isdigit() and step != "[...]"), None)
        message = message.replace("matching regex", "of the form").replace(repr(SHARE), "'0.1 %'")
        where = ".".join(step for step in steps if step != "[...]") or "the whole"
        said = f"{where}: {message[0].lower()}{message[1:]}"
        return Diagnostic("C003", said, str(path), _line(path, key, steps), hint=_words_hint(message, steps))
    known = _keys(_KINDS[steps[0]] if steps else Configuration)
    hint = did_you_mean(unknown["field"], known, _MEANT) or f"known here: {', '.join(known)}"
    where = f" in {steps[0]}" if steps else ""
    span = _line(path, unknown["field"], steps)
    return Diagnostic("C002", f"unknown key {unknown['field']}{where}", str(path), span, hint=hint)


_NO_WORD = re.compile(r"invalid enum value '(?P<word>[^']*)'", re.IGNORECASE)


def _words_hint(message: str, steps: list[str]) -> str | None:
    """What may stand where a word stands that may not."""
    found = _NO_WORD.search(message)
    if found is None:
        return None
    kind, named = (_KINDS[steps[0]], steps[2:]) if steps[0] in _KINDS else (Configuration, steps)
    key = next(field.name for field in msgspec.structs.fields(kind) if field.encode_name == named[0])
    words = tuple(_words(get_type_hints(kind)[key]))
    return did_you_mean(found["word"], words) or f"write one of {', '.join(words)}"


def _words(kind: object) -> Iterator[str]:
    """The words that a type names."""
    if get_origin(kind) is Literal:
        yield from map(str, get_args(kind))
        return
    for inner in get_args(kind):
        yield from _words(inner)


def _keys(kind: type[Struct]) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(kind)]


def _line(path: Path, key: str | None, steps: list[str]) -> Span | None:
    """Where a key stands: in the table that the steps name, the first such line."""
    if key is None:
        return None
    kind = steps[0] if steps and steps[0] in _KINDS else ""
    number = int(steps[1]) if len(steps) > 1 and steps[1].isdigit() else 0
    word = re.compile(rf"(?<![\w-]){re.escape(key)}(?![\w-])")
    for at, line in lines_of(path.read_text(encoding="utf-8").splitlines(), kind, number):
        found = word.search(line)
        if found is not None:
            return Span(at, found.start() + 1, found.end() + 1)
    return None
