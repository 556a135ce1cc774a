"""The command `precedes`: arguments in, exit code out. Commands import the code that does the work when they run.

Exit codes: 0, everything that was asked holds; 1, something is violated; 2, it could not run; 3, undecided. If several
apply, 2 takes precedence over 1, and 1 over 3. Where a command has its own, its help says so.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import click

from precedes.cli.conform import conform
from precedes.cli.draw import draw
from precedes.cli.explore import explore
from precedes.cli.fmt import fmt
from precedes.cli.gate import explain, gate, init
from precedes.cli.lsp import lsp
from precedes.cli.mapping import map_sample, show_trial
from precedes.cli.options import (
    FORM,
    GROUPS,
    LOG,
    LOG_MAPPING,
    LOG_SETTINGS,
    MEMORY,
    SPECS,
    TIMEOUT,
    log_reading,
)
from precedes.cli.run import run as run_model
from precedes.cli.simulate import simulate
from precedes.cli.terminal import put
from precedes.cli.verify import infer, verify
from precedes.cli.watch import watch
from precedes.core.exit_codes import Exit

if TYPE_CHECKING:
    from precedes.traces.foreign.recognition import LogReading


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="precedes", prog_name="precedes")
def cli() -> None:
    """Check message order in scenarios, claims, protocol models and recorded traces, with one set of formulas.

    Exit codes: 0 holds, 1 violated, 2 could not run, 3 undecided. Where a command has its own, its help
    says so: `search`, `infer`, `lattice`, `fmt`.
    """


@cli.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@FORM
@click.option(
    "-v", "--verbose", is_flag=True, help="Also show figures for statements that came out as stated."
)
@click.option(
    "--accept-bounds", is_flag=True, help="Accept a claim that has no counterexample up to a bound."
)
@TIMEOUT
@MEMORY
def check(
    files: tuple[str, ...], form: str, verbose: bool, accept_bounds: bool, timeout: float, memory: int
) -> Exit:
    """Judge the scenarios and claims in .prec files, or in directories of such files."""
    from precedes.core.outcome import Limits
    from precedes.jobs import check as checking
    from precedes.reports import check as printed
    from precedes.reports.progress import progress_line

    with progress_line() as tell:
        limits = Limits(timeout, memory, accept_bounds, tell)
        results = checking.check(checking.source_files(files), limits)
    text = printed.as_json(results) if form == "json" else printed.as_text(results, verbose=verbose)
    put(text)
    return Exit.of(checking.verdict_of(results))


@cli.command()
@click.argument("formula")
@SPECS
@click.option(
    "--entities",
    type=click.IntRange(min=1),
    metavar="N",
    help="Search executions of at most this many entities.  [default: 4]",
)
@click.option(
    "--messages",
    type=click.IntRange(min=0),
    metavar="N",
    help="Search executions of at most this many messages.  [default: 6]",
)
@FORM
@TIMEOUT
@MEMORY
def search(
    formula: str,
    *,
    specs: tuple[str, ...],
    entities: int | None,
    messages: int | None,
    form: str,
    timeout: float,
    memory: int,
) -> Exit:
    """Ask the solver for the smallest possible execution for which FORMULA is true.

    Exit code 0: there is one; it is printed as a scenario. 1: there is none. 3: none was found up to the bounds.
    """
    from precedes.core.outcome import VERDICTS, Limits
    from precedes.jobs import claims
    from precedes.jobs.check import library_with
    from precedes.language.requirements import requirement
    from precedes.reports import answers as printed
    from precedes.reports.progress import progress_line

    library = library_with(specs)
    with progress_line() as tell:
        limits = Limits(timeout, memory, progress=tell)
        answer = claims.search(requirement(formula, library), library, entities, messages, limits)
    put(printed.search_json(answer) if form == "json" else printed.search_text(answer))
    return Exit.of(VERDICTS[answer.outcome])


@cli.command()
@SPECS
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "svg", "json"]),
    default="text",
    show_default=True,
    help="Format of the output.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, writable=True),
    metavar="FILE",
    help="Write to this file. The diagram of NAME.md goes to NAME/diagram.svg.",
)
@TIMEOUT
@MEMORY
def lattice(specs: tuple[str, ...], form: str, output: str | None, timeout: float, memory: int) -> Exit:
    """Find out which services and predicates imply which others.

    Each implication has a proof, or an execution that refutes it. Exit code 0: every pair is proved or refuted. 3: some
    pairs are not, or only up to a bound.
    """
    from precedes.core.outcome import Limits
    from precedes.jobs.check import library_with
    from precedes.jobs.lattice import lattice as answered
    from precedes.reports import lattice as printed
    from precedes.reports.progress import progress_line

    library = library_with(specs)
    with progress_line() as tell:
        found = answered(library, Limits(timeout, memory, progress=tell))
    if output is None:
        put(printed.as_form(found, form))
    else:
        printed.write(found, form, output)
    return Exit.UNDECIDED if found.open else Exit.HOLDS


@cli.command()
@click.argument("traces", nargs=-1, required=True, metavar="TRACE...")
@click.option("-o", "--output", metavar="FILE", help="The .parquet or .shiviz file to write.")
@LOG
@LOG_SETTINGS
@LOG_MAPPING
@GROUPS
@click.option("--try", "tried", is_flag=True, help="Write nothing; show what the first rows become.")
def convert(
    traces: tuple[str, ...], output: str | None, groups: str | None, tried: bool, **reading: Any
) -> Exit:
    """Convert a trace to one columnar Parquet file, which `verify` reads many times faster.

    The verdicts stay the same. If the name of FILE ends with .shiviz, a log for ShiViz is written instead, with the
    clocks that the messages imply. With --try, nothing is written, and you see what the first rows of a log become.
    """
    from precedes.core.diagnostics import usage
    from precedes.traces.sources import expand

    log = log_reading(**reading)
    if tried:
        return max(show_trial(source, 5) for source in expand(traces, log=log))
    if output is None:
        raise usage("there is no file to write", "name it with -o FILE.parquet, or use --try")
    return _converted(traces, output, log, groups)


def _converted(traces: tuple[str, ...], output: str, log: LogReading, groups: str | None) -> Exit:
    from precedes.core.counts import counted
    from precedes.jobs.convert import write_for_shiviz
    from precedes.reports.progress import progress
    from precedes.traces import Notices
    from precedes.traces.layout.conversion import convert as converted
    from precedes.traces.stated_groups import given_groups
    from precedes.traces.writer import is_shiviz

    notices = Notices()
    members = given_groups(groups)
    if is_shiviz(output):
        count = write_for_shiviz(traces, output, notices, members, log)
        for notice in notices.all():
            put(f"notice {notice.render()}")
        put(f"{output}: {counted(count, 'event')}")
        return Exit.HOLDS
    with progress() as advance:
        result = converted(traces, output, notices, advance, groups=members, log=log)
    for notice in notices.all():
        put(f"notice {notice.render()}")
    put(f"{output}: {counted(result.executions, 'execution')}, {counted(result.rows, 'row')}")
    if result.irregular:
        several = counted(result.irregular, "execution")
        put(f"the rows of {several} repeat or contradict each other; all of them are kept")
    return Exit.HOLDS


@cli.command("list")
@SPECS
def list_names(specs: tuple[str, ...]) -> Exit:
    """Print the names of all predicates, services, profiles, models and formats."""
    from precedes.gate.outputs import FORMATS
    from precedes.jobs import check as checking
    from precedes.protocol.catalog import installed
    from precedes.reports.names import listing

    put(listing(checking.library_with(specs), installed(), FORMATS))
    return Exit.HOLDS


for command in (
    verify,
    infer,
    watch,
    explore,
    draw,
    fmt,
    lsp,
    simulate,
    run_model,
    conform,
    gate,
    explain,
    init,
    map_sample,
):
    cli.add_command(command)


READ_FILES: Final = frozenset({"verify", "infer", "watch", "convert", "gate", "map"})
"""The commands that read traces: their work is done in a process of its own."""


def main() -> None:
    """Run the command and exit. No traceback reaches a user, unless PRECEDES_DEBUG is set."""
    from precedes.core.pandas_guard import leave_pandas_out

    leave_pandas_out()

    def work() -> int:
        return run(lambda: cli.main(standalone_mode=False))

    if sys.argv[1:2] and sys.argv[1] in READ_FILES:
        from precedes.core.supervision import supervised

        sys.exit(supervised(work, lambda told: put(told.render(), error=True)))
    sys.exit(work())


def run(command: Callable[[], Any]) -> int:
    """The exit code of a command. Errors are printed on standard error."""
    from precedes.core.diagnostics import PrecedesError, diagnosed

    try:
        result = command()
        if sys.stdout is not None:
            sys.stdout.flush()
        return int(result or 0)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        put(shown.getvalue(), error=True)
        return Exit.COULD_NOT_RUN
    except (click.Abort, KeyboardInterrupt):
        put("interrupted", error=True)
        return 130
    except BrokenPipeError:
        # The reader of our output went away (`| head`). Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.COULD_NOT_RUN
    except Exception as error:
        if os.environ.get("PRECEDES_DEBUG") and not isinstance(error, (PrecedesError, OSError)):
            raise
        for diagnostic in diagnosed(error):
            put(diagnostic.render(), error=True)
        return Exit.COULD_NOT_RUN
