"""Whether an engine says what the reference evaluator says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from precedes.core.counts import counted
from precedes.core.verdict import Reason, Verdict, reasons, verdict
from precedes.engines.engine import Answer, Engine, Unsupported
from precedes.engines.reference import evaluate
from precedes.testing.numbered_cases import KINDS, Case, Kind, batches

SHOWN = 20
"""So many disagreements are listed; the smallest case among all is printed in full."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A case on which an engine does not say what the reference evaluator says.

    Attributes:
        case: The case.
        answer: What the engine says.
        value: The value by definition (`precedes.core.verdict`).
    """

    case: Case
    answer: object
    value: int

    def __str__(self) -> str:
        case = self.case
        return (
            f"case {case.number} of kind {case.kind}, {case.requirement.name} on {case.execution.name}: "
            f"{_said(self.answer)}, by definition {_meant(self.value)}"
        )


@dataclass(slots=True)
class Conformance:
    """What `check_engine` found.

    Attributes:
        engine: The engine's name.
        judged: How many cases were judged and agree, by kind and verdict.
        unsupported: How many cases the engine does not support, by kind and reason.
        disagreements: Where it does not agree.
    """

    engine: str
    judged: Counter[tuple[Kind, Verdict]] = field(default_factory=Counter)
    unsupported: Counter[tuple[Kind, str]] = field(default_factory=Counter)
    disagreements: list[Disagreement] = field(default_factory=list)

    def __str__(self) -> str:
        total = f"{self.engine}: {counted(self.judged.total(), 'case')} of {self._asked():,} judged"
        return "\n".join((f"{total}, {counted(len(self.disagreements), 'disagreement')}", *self._kinds()))

    def _asked(self) -> int:
        return self.judged.total() + self.unsupported.total() + len(self.disagreements)

    def _kinds(self) -> Iterator[str]:
        for kind in KINDS:
            counts = [f"{self.judged[kind, one]:,} {one.value}" for one in Verdict if self.judged[kind, one]]
            counts += [
                f"{count:,} not supported ({why})"
                for (of, why), count in self.unsupported.most_common()
                if of == kind
            ]
            if counts:
                yield f"  {kind}: {', '.join(counts)}"

    def raise_for_disagreements(self) -> None:
        """Raise NotConforming, an AssertionError, if something disagrees or nothing was judged."""
        if self.disagreements:
            smallest = min((one.case for one in self.disagreements), key=lambda case: len(str(case)))
            listed = [str(one) for one in self.disagreements[:SHOWN]]
            if len(self.disagreements) > SHOWN:
                listed.append(f"... and {len(self.disagreements) - SHOWN:,} more")
            again = f"check_engine(engine, cases=1, first={smallest.number}, kinds=({smallest.kind!r},))"
            raise NotConforming(
                "\n".join((str(self), *listed, "the smallest:", str(smallest), f"to judge it again: {again}"))
            )
        if not self.judged:
            raise NotConforming(f"{self}\nthe engine has judged nothing: this says nothing of it")


class NotConforming(AssertionError):
    """An engine does not agree, has not given one answer for each case, or has judged none."""


def check_engine(
    engine: Engine, *, cases: int = 512, first: int = 0, kinds: Sequence[Kind] = KINDS
) -> Conformance:
    """Compare an engine with the reference evaluator on numbered random cases.

    The verdict must be the same, unknown included; a `Reason` must be the very one. What the engine does not support it
    answers with `Unsupported`: this is counted under the reason and is no disagreement.

    Args:
        engine: The engine. It is asked in batches: up to 8 requirements on up to 8 executions at once.
        cases: How many cases of each kind.
        first: The number of the first. Other numbers are other cases.
        kinds: What cases are made of (see `precedes.testing.Kind`).

    Returns:
        How many cases were judged, with which verdicts, and what is not supported. `print` shows it.

    Raises:
        AssertionError: The engine disagrees, has not given one answer for each case, or has judged none. Each
            disagreement is listed with the number that reproduces it, the smallest is printed so that it can be pasted.
            What the engine itself raises passes through, with a note that says of which cases.

    Example:
        ```python
        def test_conformance():
            check_engine(MyEngine(), cases=2_000)
        ```
    """
    found = Conformance(engine.name)
    for kind in kinds:
        for batch in batches(cases, first, kind):
            _judge(engine, batch, found)
    found.raise_for_disagreements()
    return found


def _judge(engine: Engine, batch: Sequence[Case], found: Conformance) -> None:
    requirements = list({case.requirement.name: case.requirement for case in batch}.values())
    executions = list({case.execution.name: case.execution for case in batch}.values())
    asked = f"cases {batch[0].number} to {batch[-1].number} of kind {batch[0].kind}"
    try:
        answers = engine.verdicts(requirements, executions)
    except Exception as error:
        error.add_note(f"while {engine.name} judged {asked}")
        raise
    if [len(row) for row in answers] != [len(requirements)] * len(executions):
        raise NotConforming(
            f"{engine.name} has not answered for each of {counted(len(executions), 'execution')} by each of "
            f"{counted(len(requirements), 'requirement')}: {asked}"
        )
    rows = {one.name: row for one, row in zip(executions, answers, strict=True)}
    columns = {one.name: place for place, one in enumerate(requirements)}
    for case in batch:
        _compare(case, rows[case.execution.name][columns[case.requirement.name]], found)


def _compare(case: Case, answer: Answer, found: Conformance) -> None:
    if isinstance(answer, Unsupported):
        found.unsupported[case.kind, answer.reason] += 1
        return
    value = int(evaluate(case.requirement.formula, case.execution))
    meant = verdict(value)
    if answer is meant or (isinstance(answer, Reason) and answer == value > 0):
        found.judged[case.kind, meant] += 1
    else:
        found.disagreements.append(Disagreement(case, answer, value))


def _said(answer: object) -> str:
    if isinstance(answer, Verdict):
        return f"the engine says {answer.value}"
    if isinstance(answer, Reason):
        return f"the engine says unknown ({'; '.join(reasons(int(answer)))})"
    return f"the engine answers {answer!r}, which is no verdict"


def _meant(value: int) -> str:
    why = "; ".join(reasons(value))
    return verdict(value).value + (f" ({why})" if why else "")
