"""Running the command inside this process."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass

from precedes.cli.main import cli, run


@dataclass(frozen=True)
class Ended:
    """How the command ended."""

    code: int
    out: str
    err: str


def precedes(*arguments: object) -> Ended:
    """Run `precedes` with these arguments."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(lambda: cli.main([str(argument) for argument in arguments], standalone_mode=False))
    return Ended(int(code), out.getvalue(), err.getvalue())
