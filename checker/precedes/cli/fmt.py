"""`precedes fmt`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from precedes.cli.terminal import put
from precedes.core.exit_codes import Exit

if TYPE_CHECKING:
    pass


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--check", "only_checks", is_flag=True, help="Write nothing; exit code 1 if a file would change."
)
@click.option("--diff", "shows", is_flag=True, help="The same, and show what would change.")
def fmt(files: tuple[str, ...], *, only_checks: bool, shows: bool) -> Exit:
    """Format .prec files, or directories of such files, in the one layout that there is.

    Spaces and line breaks change, words and comments do not. `-` reads a file from standard input and writes it to
    standard output.

    Exit code 0: every file has the layout, or was given it. 1: with --check or --diff, some file would change.
    """
    from precedes.core.counts import counted
    from precedes.core.diagnostics import usage
    from precedes.jobs.check import source_files
    from precedes.jobs.fmt import layouts, write

    writes = not (only_checks or shows)
    if "-" in files:
        if len(files) > 1:
            raise usage("standard input is formatted alone", "precedes fmt - < FILE")
        return _standard_input(writes=writes, shows=shows)
    found = layouts(source_files(files))
    changed = [one for one in found if one.changes]
    for one in changed:
        if writes:
            write(one)
        if shows:
            put(one.diff())
        else:
            put(f"{'formatted' if writes else 'would format'} {one.path}")
    rest = counted(len(found) - len(changed), "file")
    put(f"{counted(len(changed), 'file')} {'formatted' if writes else 'to format'}, {rest} in order")
    return Exit.VIOLATED if changed and not writes else Exit.HOLDS


def _standard_input(*, writes: bool, shows: bool) -> Exit:
    from precedes.jobs.fmt import layout

    one = layout(sys.stdin.buffer.read(), "<stdin>")
    if writes:
        # A file, and not a text for a terminal: what is not printable in it stays.
        sys.stdout.buffer.write(one.after.encode())
        return Exit.HOLDS
    if shows and one.changes:
        put(one.diff())
    return Exit.VIOLATED if one.changes else Exit.HOLDS
