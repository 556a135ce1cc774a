"""Runs checks: the cheap ones in this process, the others in parallel processes.

A check that runs code of the project has a process of its own. Other checks share some processes. If a
process gives no verdict, its check is an error, never a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import assert_never

import msgspec
from msgspec import Struct

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.isolation import Channel, Isolation
from precedes.gate.checks.check import Check, Doing
from precedes.gate.findings import Item
from precedes.gate.reads import Reads

TOGETHER = 8
"""Checks without code of the project that one process carries out at most."""


class Result(Struct, frozen=True):
    """What a check came to: its items, or why it has none. `covered`: it read nothing that its key does not cover."""

    items: tuple[Item, ...] = ()
    mistakes: tuple[Diagnostic, ...] = ()
    covered: bool = True


class _Carried(Struct, frozen=True, tag="carried"):
    """The result of one check of a share, by its place there."""

    place: int
    result: Result


@dataclass(frozen=True, slots=True)
class _Share:
    """Checks that one process carries out, one after the other."""

    checks: tuple[Check, ...]

    @property
    def about(self) -> str:
        return self.checks[0].name

    def run(self, channel: Channel) -> bytes:
        for place, check in enumerate(self.checks):
            channel.tell(msgspec.json.encode(_Carried(place, result(check, channel))))
        return b"null"


def result(check: Check, channel: Channel) -> Result:
    """Carry out a check in this process."""
    code = check.code
    reads = None if code is None else Reads()
    try:
        items = check.run(channel)
    except PrecedesError as error:
        return Result(mistakes=error.diagnostics)
    covered = reads is None or code is None or reads.paths <= {path.resolve() for path in code}
    return Result(items, covered=covered)


class Workers:
    """Processes that carry checks out, up to `jobs` at a time. After `silence` seconds a model counts as hung."""

    def __init__(self, jobs: int, silence: float) -> None:
        self._jobs = jobs
        self._silence = silence
        self._running: set[Isolation] = set()
        self._ending = False

    def results(self, checks: Sequence[Check], tell: Callable[[str], None]) -> Iterator[tuple[int, Result]]:
        """The result of each check by its number, in any order. `tell` is called with what is being done."""
        numbers = range(len(checks))
        here = [number for number in numbers if checks[number].cost == 0]
        alone = [number for number in numbers if checks[number].code is not None]
        others = [number for number in numbers if number not in {*here, *alone}]
        if self._jobs == 1 or len(others) == 1:
            # To start another process costs more than it gains.
            here, others = sorted([*here, *others]), []
        size = max(1, min(TOGETHER, len(others) // (2 * self._jobs)))
        shares = [others[start : start + size] for start in range(0, len(others), size)]
        shares += [[number] for number in alone]
        with ThreadPoolExecutor(self._jobs) as pool:
            running: list[Future[list[tuple[int, Result]]]] = []
            try:
                running += [pool.submit(self._carried, checks, share, tell) for share in shares]
                for number in here:
                    tell(checks[number].name)
                    yield number, result(checks[number], Channel())
                for share, future in zip(shares, running, strict=True):
                    tell(checks[share[0]].name)
                    yield from future.result()
            except BaseException:
                self._end()
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _carried(
        self, checks: Sequence[Check], share: Sequence[int], tell: Callable[[str], None]
    ) -> list[tuple[int, Result]]:
        """What becomes of a share. The check on which a process ends is a mistake, those after it get another one."""
        found: list[tuple[int, Result]] = []
        while len(found) < len(share) and not self._ending:
            rest = tuple(share[len(found) :])

            def heard(note: bytes, rest: tuple[int, ...] = rest) -> None:
                said: _Carried | Doing = msgspec.json.decode(note, type=_Carried | Doing)
                match said:
                    case Doing(text):
                        tell(text)
                    case _Carried(place, result):
                        found.append((rest[place], result))
                    case _:
                        assert_never(said)

            job = _Share(tuple(checks[number] for number in rest))
            before = len(found)
            try:
                self._answered(job, heard)
            except PrecedesError as error:
                found.append((rest[len(found) - before], Result(mistakes=error.diagnostics)))
        return found

    def _answered(self, job: _Share, heard: Callable[[bytes], None]) -> None:
        has_code = job.checks[0].code is not None
        with Isolation(job, silence=self._silence if has_code else None, heard=heard) as process:
            self._running.add(process)
            if self._ending:
                process.end()
            try:
                process.answer()
            finally:
                self._running.discard(process)

    def _end(self) -> None:
        self._ending = True
        for process in tuple(self._running):
            process.end()
