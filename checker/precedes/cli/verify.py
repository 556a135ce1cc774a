"""`precedes verify` and `precedes infer`: what is asked of recorded executions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import click

from precedes.cli.options import (
    ENGINE,
    FORM,
    GROUPS,
    HTML,
    LOG,
    LOG_MAPPING,
    LOG_SETTINGS,
    MASTER,
    SPECS,
    log_reading,
)
from precedes.cli.terminal import put, write_page
from precedes.core.exit_codes import Exit

Command = TypeVar("Command", bound=Callable[..., Any])

ROWS = (
    SPECS,
    click.option(
        "--delta", metavar="TIME", help="Longest time that a message may take, such as 100ms or 2s."
    ),
    click.option("--epsilon", metavar="TIME", help="How far clocks may be apart."),
    click.option(
        "--incomplete",
        is_flag=True,
        help="Rows may be missing. A verdict that a missing row could change is unknown.",
    ),
    click.option(
        "--delivery",
        type=click.Choice(["deliver", "arrive"]),
        default="deliver",
        show_default=True,
        help="Which event counts as a delivery.",
    ),
    click.option(
        "--cluster",
        multiple=True,
        metavar="NAME[,NAME...]",
        help="Entities that belong to every execution, even without a row.",
    ),
    GROUPS,
    click.option(
        "--order",
        type=click.Choice(["rows", "clocks"]),
        help="Follow the rows, or the recorded clocks, if they disagree or if times run against the rows.  [default: "
        "neither; what depends on their order is unknown]",
    ),
    click.option("--strict", is_flag=True, help="Stop if rows contradict each other."),
)
"""How rows become executions."""

_READ = (LOG, LOG_SETTINGS, LOG_MAPPING, *ROWS)
_JUDGED = (
    click.argument("traces", nargs=-1, required=True, metavar="TRACE..."),
    ENGINE,
    MASTER,
    FORM,
)


REQUIRED = (
    click.option(
        "--require", "required", multiple=True, metavar="NAME|FORMULA", help="What must hold; repeatable."
    ),
    click.option(
        "--profile",
        multiple=True,
        metavar="NAME",
        help="What a broker promises must hold, as in --profile kafka-partition; repeatable.",
    ),
)


def most_violations(more: str = "") -> Callable[[Command], Command]:
    """How many violations a report shows; `more` is what a command adds to the help."""
    return click.option(
        "--max-violations",
        type=click.IntRange(min=0),
        default=10,
        show_default=True,
        help=f"How many violations to show.{more}",
    )


def with_options(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """A decorator that gives a command arguments and options, in their order."""

    def decorated(command: Command) -> Command:
        for decorate in reversed(options):
            command = decorate(command)
        return command

    return decorated


def refuse_nothing(required: tuple[str, ...], profile: tuple[str, ...]) -> None:
    """Raise PrecedesError where nothing is required."""
    from precedes.core.diagnostics import usage

    if not required and not profile:
        raise usage(
            "nothing is required", "say what must hold, as in --require ST; `precedes list` prints the names"
        )


def read_as_traces(command: Command) -> Command:
    """How traces are read."""
    return with_options(*_READ)(command)


def reads_traces(command: Command) -> Command:
    """The traces, how they are read, and by which engine they are judged."""
    return with_options(*_JUDGED)(read_as_traces(command))


def with_log(options: dict[str, Any]) -> dict[str, Any]:
    """The options, with how logs are read as a question has it."""
    of_log = {name: options[name] for name in ("log", "parameters", "mapping")}
    rest = {name: value for name, value in options.items() if name not in of_log}
    return {**rest, "log": log_reading(**of_log)}


@click.command()
@with_options(*REQUIRED)
@reads_traces
@click.option(
    "--out",
    metavar="DIR",
    help="Write verdicts.parquet to this folder: what does not hold, with its witness.",
)
@click.option("--all-verdicts", is_flag=True, help="With --out: also write the executions that hold.")
@click.option(
    "--all-violations",
    is_flag=True,
    help="Count everything that violates a name in an execution. With --out, also write violations.parquet.",
)
@most_violations(" With --all-violations, also how many of one name in one execution.")
@HTML
def verify(
    traces: tuple[str, ...], required: tuple[str, ...], form: str, html: str | None, **options: Any
) -> Exit:
    """Judge recorded executions.

    TRACE is a file, a glob or a directory, in JSON Lines, CSV or Parquet, or a log of another system; `-` is JSON Lines
    on standard input.
    """
    from precedes.jobs import verify as verification
    from precedes.reports import verify as printed
    from precedes.reports.page.contents import MOST_CASES
    from precedes.reports.page.verify_page import verify_page
    from precedes.reports.progress import commentary

    refuse_nothing(required, options["profile"])
    started = time.perf_counter()
    options = with_log(options)
    question = verification.Question(traces=traces, required=required, **options)
    prepared = question.plan(everywhere=question.out is not None)
    wanted = (
        question
        if html is None
        else replace(question, max_violations=max(MOST_CASES, question.max_violations))
    )
    with commentary() as said:

        def advance(executions: int, events: int) -> None:
            said.now(f"{executions:,} executions, {events:,} events")

        report, notices = verification.verify(wanted, advance, prepared, aloud=said.say)
    seconds = time.perf_counter() - started
    text = printed.as_json if form == "json" else printed.as_text
    put(text(report.first(question.max_violations), notices, seconds))
    if html is not None:
        write_page(html, verify_page(report, notices, seconds))
    return Exit.of(report.verdict)


@click.command()
@reads_traces
@click.option(
    "--per",
    default="",
    metavar="ATTRIBUTE[,ATTRIBUTE]",
    help="Try every name on the messages of each value by themselves, as in --per key.",
)
@click.option(
    "--against",
    metavar="BASELINE",
    help="Compare with an earlier trace, or with the JSON that infer printed of it: what is no longer satisfied, and"
    " since when.",
)
@HTML
def infer(
    traces: tuple[str, ...], form: str, per: str, against: str | None, html: str | None, **options: Any
) -> Exit:
    """Find the strongest guarantees that recorded executions satisfy, and the weakest that they violate.

    Exit code 0: they satisfy some. 3: there was nothing to check, or nothing is satisfied for certain. With --against,
    0: they satisfy everything that the baseline satisfies. 1: something of it is violated. 3: something of it could not
    be judged.
    """
    from precedes.jobs import drift as comparison
    from precedes.jobs import infer as inference
    from precedes.jobs.verify import Question
    from precedes.reports import drift as differing
    from precedes.reports import infer as printed
    from precedes.reports.page.contents import MOST_CASES
    from precedes.reports.page.infer_page import infer_page
    from precedes.reports.progress import progress

    started = time.perf_counter()
    options = with_log(options)
    most = inference.SHOWN if html is None else MOST_CASES
    question = Question(traces=traces, required=(), max_violations=most, **options)
    attributes = tuple(filter(None, per.split(",")))
    drift = None
    with progress() as advance:
        if against is None:
            found, notices = inference.infer(question, advance, attributes)
        else:
            found, drift, notices = comparison.compared(question, against, advance, attributes)
    seconds = time.perf_counter() - started
    if form == "json":
        put(printed.as_json(found, notices, seconds, question, drift))
    elif drift is None:
        put(printed.as_text(found, notices, seconds, question))
    else:
        put(differing.as_text(found, drift, notices, seconds, question))
    if html is not None:
        write_page(html, infer_page(found, notices, seconds, drift))
    return Exit.of(found.verdict if drift is None else drift.verdict)
