"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from precedes.engines.selection import AUTO, NAMES

if TYPE_CHECKING:
    from precedes.traces.foreign.recognition import LogReading

SPECS = click.option(
    "--spec",
    "specs",
    multiple=True,
    metavar="FILE",
    help="A .prec file with predicates of your own; repeatable.",
)
ENGINE = click.option(
    "--engine",
    type=click.Choice(NAMES),
    default=AUTO,
    show_default=True,
    help="Run on this machine or on Spark.",
)
GROUPS = click.option(
    "--groups",
    metavar="FILE",
    help="A .toml or .json file with the members of each group: billing = ['c1', 'c2'].",
)
LOG = click.option(
    "--from",
    "log",
    metavar="FORMAT",
    help="Read a log of another system; `precedes list` prints the formats.",
)
LOG_SETTINGS = click.option(
    "--set", "parameters", multiple=True, metavar="NAME=VALUE", help="Say how such a log is read; repeatable."
)
LOG_MAPPING = click.option(
    "--mapping",
    metavar="FILE",
    help="Read a log of your own as a mapping in TOML says; `precedes map` proposes one.",
)
MASTER = click.option(
    "--master", metavar="URL", help="The Spark master; implies --engine spark.  [default: local[*]]"
)
FORM = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the output.",
)
HTML = click.option(
    "--html",
    "html",
    type=click.Path(dir_okay=False, writable=True),
    metavar="FILE",
    help="Also write the report to this file, as one page with diagrams, charts and filters.",
)
TIMEOUT = click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=60.0,
    show_default=True,
    help="Time limit for each question, in seconds.",
)
MEMORY = click.option(
    "--memory",
    type=click.IntRange(min=64),
    default=2048,
    show_default=True,
    help="Memory limit for each question, in megabytes.",
)
AS_WRITTEN = click.option(
    "--as-written", is_flag=True, help="Use the form that follows the paper exactly, not the repaired one."
)
DESTINATIONS = click.option(
    "--destinations",
    type=click.Choice(["unicast", "multicast", "broadcast", "any"]),
    help="Each message goes to one other entity (unicast), any set of others (multicast), all entities (broadcast), or"
    " any set (any).  [default: what the model says]",
)
SETTINGS = click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a parameter of the model; repeatable."
)
HANG_LIMIT = click.option(
    "--hang-limit",
    type=click.FloatRange(min=0.1),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="Give up on a model that makes no progress for this long.",
)


def log_reading(log: str | None, parameters: Sequence[str], mapping: str | None) -> LogReading:
    """How logs are read, as the options say. Raises PrecedesError (U001)."""
    from precedes.core.diagnostics import usage
    from precedes.traces.foreign.recognition import LogReading

    found: dict[str, str] = {}
    for text in parameters:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise usage(f"--set {text} has no value", "write --set NAME=VALUE")
        # Unlike a parameter of a model, a value such as a regular expression may begin or end with a space.
        found[name] = value
    return LogReading.stated(log, found, mapping)
