"""`precedes infer`: the strongest of all named guarantees that recorded executions satisfy.

Every name is judged. The proofs about the library (`specs/precedes_specs/proved.json`) only say which
satisfied names follow from others, and which violated names cause others to be violated.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.formula import HappensBefore, Requirement, VectorTime
from precedes.core.suggestions import did_you_mean
from precedes.core.traversal import walk
from precedes.core.verdict import Reason, Verdict, reasons
from precedes.engines.scan.partials import Report
from precedes.jobs.check import library_with
from precedes.jobs.verify import Advance, Question, verify
from precedes.language.library import Library
from precedes.language.requirements import requirement
from precedes.language.sorts.inference import declaration
from precedes.logic.plan import Plan, plan
from precedes.logic.premises import premise_of
from precedes.traces import Notice
from precedes.traces.notices import NO_ATTRIBUTE, no_attribute

SHOWN = 40
"""Doubts that are kept, for their reasons: those of the first executions that have any."""


EVERYBODY_CORRECT: Final = "forall i: not faulty(i)"
Implies = Callable[[str, str], bool]
"""Whether a name is proved to imply another."""
OF_CRASHES: Final = frozenset(
    {
        "nonuniform_integrity",
        "nonuniform_total_order",
        "nonuniform_fifo_delivery",
        "nonuniform_local_order",
        "nonuniform_causal_delivery",
    }
)
"""Names that ask correct entities only. Where everybody is correct, others ask the same, and these are left out."""


@dataclass(frozen=True, slots=True)
class Proved:
    """What is proved of the standard library for every size: the `names` it speaks of, of which the first of equal ones
    stands for all (`equal`), and which implies which.
    """

    equal: Mapping[str, tuple[str, ...]]
    implied: Mapping[str, frozenset[str]]

    def stands_for(self, name: str) -> str:
        """The name that stands for this one and its equals."""
        return next((first for first, names in self.equal.items() if name in names), name)

    def implies(self, left: str, right: str) -> bool:
        """Whether it is proved that one implies the other; of equal names it is."""
        first, second = self.stands_for(left), self.stands_for(right)
        return first == second or second in self.implied.get(first, frozenset())


@dataclass(frozen=True, slots=True)
class Inferred:
    """What a trace keeps. `kept` are the strongest names that hold in every execution, each with the names that follow
    from it; `broken` the weakest that some execution violates, those that are nearly kept first, each with those that
    are broken with it; `open` the weakest that are unknown somewhere and violated nowhere, with a reason; `untested`
    names that hold vacuously: their premise, or that of a part of them, was met in no execution.

    Of an incomplete trace, `fitting` are the strongest names that hold in every execution if no row is missing, and
    `lacking` the weakest that some execution violates then, though not for certain. `per` are the attributes for whose
    values every name was asked by itself.
    """

    report: Report
    titles: Mapping[str, str]
    kept: Mapping[str, tuple[str, ...]]
    broken: Mapping[str, tuple[str, ...]]
    open: Mapping[str, str]
    untested: tuple[str, ...]
    fitting: Mapping[str, tuple[str, ...]]
    lacking: Mapping[str, tuple[str, ...]]
    per: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Holds where something is kept and there was something to check; unknown otherwise."""
        return Verdict.HOLDS if self.kept and self.report.checked else Verdict.UNKNOWN

    def violated_as_recorded(self, name: str) -> int:
        """In how many executions a name is violated if no row is missing."""
        return self.report.as_recorded[name].violated

    def violated(self, name: str) -> int:
        """In how many executions a name is violated."""
        return self.report.counts[name].violated

    def unknown(self, name: str) -> int:
        """In how many executions a name is unknown."""
        return self.report.counts[name].unknown


def infer(
    question: Question, advance: Advance, per: Sequence[str] = ()
) -> tuple[Inferred, tuple[Notice, ...]]:
    """Judge every name of the library that can be asked of a trace, and of the question's files. `per`: of the messages
    of each value of these attributes. PrecedesError for what cannot be read, and N016.
    """
    library = library_with(question.specs)
    names = askable(library)
    report, notices = verify(question, advance, planned(names, library, per))
    return inferred(report, names, library, per), told(notices, per)


def told(notices: Iterable[Notice], per: Sequence[str] = ()) -> tuple[Notice, ...]:
    """The notices of an inference. An attribute that only names of the library ask for stands in the reasons of these
    names.
    """
    asked = {no_attribute(name, parted=True) for name in per}
    return tuple(each for each in notices if each.code != NO_ATTRIBUTE or each.text in asked)


def planned(names: Sequence[str], library: Library, per: Sequence[str] = ()) -> Plan:
    """A plan that judges names and their premises. PrecedesError N016 for an attribute that is not declared."""
    missing = [name for name in per if library.attribute(name) is None]
    if missing:
        raise PrecedesError(
            tuple(
                Diagnostic(
                    "N016",
                    f"there is no attribute {name}",
                    "--per",
                    hint=did_you_mean(name, library.attributes()) or declaration(name),
                )
                for name in missing
            )
        )
    return _with_premises([requirement(_asked(name, per), library) for name in names], library)


def _asked(name: str, per: Sequence[str]) -> str:
    """A name as it is asked of each part."""
    attributes = tuple(dict.fromkeys(per))
    if not attributes:
        return name
    return f"{name} per ({', '.join(attributes)})" if len(attributes) > 1 else f"{name} per {attributes[0]}"


def _with_premises(requirements: Sequence[Requirement], library: Library) -> Plan:
    """A plan that judges the premises, too, and whether everybody is correct; nothing is shown of these."""
    asked = plan(requirements)
    correct = requirement(EVERYBODY_CORRECT, library)
    whole = plan([*requirements, correct], sought=[premise_of(leaf) for leaf in asked.leaves.values()])
    return replace(whole, leaves=asked.leaves)


def askable(library: Library) -> tuple[str, ...]:
    """The names that require something of a trace: those of the standard library about which something is proved, and
    those of one's own that need no arguments; services first.
    """
    known = [name for names in proved().equal.values() for name in names]
    own = [
        name for name in library.names() if library.home(name).below is not None and _closed(name, library)
    ]
    return (*own, *(name for name in known if name not in own))


def inferred(report: Report, named: Sequence[str], library: Library, per: Sequence[str] = ()) -> Inferred:
    """What the verdicts on all names come to."""
    left_out = OF_CRASHES if _everybody_is_correct(report) else frozenset()
    plain = asked_names((name for name in named if name not in left_out), per)
    names = tuple(plain)
    verdicts = {name: report.counts[name].verdict for name in names}
    holding = [name for name in names if verdicts[name] is Verdict.HOLDS and name not in report.untested]
    violated = [name for name in names if verdicts[name] is Verdict.VIOLATED]
    violated.sort(key=lambda name: report.counts[name].violated)
    unknown = [name for name in names if verdicts[name] is Verdict.UNKNOWN]
    # Of incomplete executions: what is kept, and what is broken, if no row is missing.
    recorded = {name: report.as_recorded[name].verdict for name in unknown if name in report.as_recorded}
    fitting = [
        name for name, said in recorded.items() if said is Verdict.HOLDS and name not in report.untested
    ]
    lacking = [name for name, said in recorded.items() if said is Verdict.VIOLATED]
    lacking.sort(key=lambda name: report.as_recorded[name].violated)
    unknown = [name for name in unknown if recorded.get(name) in (None, Verdict.UNKNOWN)]
    implies = implications(plain, library, per)
    why = first_reasons(report)
    return Inferred(
        report,
        {name: library.definition(known).title or "" for name, known in plain.items()},
        above(holding, implies),
        above(violated, lambda left, right: implies(right, left)),
        {
            name: why.get(name) or _asked_alone(name)
            for name in above(unknown, lambda left, right: implies(right, left))
        },
        tuple(name for name in names if name in report.untested),
        above(fitting, implies),
        above(lacking, lambda left, right: implies(right, left)),
        tuple(per),
    )


def _asked_alone(name: str) -> str:
    """What is said of a name of which no reason was kept: of a large file of columns, others were kept before."""
    return f"`precedes verify --require '{name}'` says why"


def first_reasons(report: Report) -> dict[str, str]:
    """Why names are unknown: the first reason of each, if there is one then a reason that is not about missing rows."""
    missing = reasons(Reason.INCOMPLETE)
    return {
        each.predicate: next((one for one in each.why if one not in missing), each.why[0])
        for each in reversed(report.unknowns)
        if each.why
    }


def asked_names(named: Iterable[str], per: Sequence[str] = ()) -> dict[str, str]:
    """Names of the library by what is asked of a trace: `ST per key` is asked for `ST`."""
    return {_asked(name, per): name for name in named}


def implications(plain: Mapping[str, str], library: Library, per: Sequence[str] = ()) -> Implies:
    """Whether one of some names as they are asked is proved to imply another."""
    # A file may define a name of the library anew; nothing is proved of that one.
    own = frozenset(name for name, known in plain.items() if library.home(known).below is not None)
    parts = _Parts({name: requirement(name, library) for name in plain}) if per else None

    def implies(left: str, right: str) -> bool:
        if left == right or {left, right} & own:
            return left == right
        return proved().implies(plain[left], plain[right]) and (parts is None or parts.imply(left, right))

    return implies


def _everybody_is_correct(report: Report) -> bool:
    """In every execution, as far as rows say."""
    said = report.as_recorded.get(EVERYBODY_CORRECT, report.counts[EVERYBODY_CORRECT])
    return said.verdict is Verdict.HOLDS


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a proof of two names says of the same two asked per value.

    A part is an execution, but its happens-before is that of the whole, which messages of other parts may make. What is
    proved of the names speaks of happens-before as the messages at hand make it.
    """

    requirements: Mapping[str, Requirement]

    def imply(self, left: str, right: str) -> bool:
        """Whether what is proved of two names holds of them asked per value."""
        one, other = self.requirements[left], self.requirements[right]
        if one.formula == other.formula or other.name in _names_in(one):
            return True
        return not (_of_happens_before(one) or _of_happens_before(other))


def _names_in(whole: Requirement) -> set[str]:
    return {whole.name}.union(*map(_names_in, whole.parts))


def _of_happens_before(asked: Requirement) -> bool:
    return any(isinstance(node, HappensBefore | VectorTime) for node in walk(asked.formula))


def above(names: Sequence[str], implies: Implies) -> dict[str, tuple[str, ...]]:
    """Those that no other one implies, with what they imply; of equal ones the first."""
    found: dict[str, tuple[str, ...]] = {}
    for place, name in enumerate(names):
        beaten = any(
            implies(other, name) and (not implies(name, other) or number < place)
            for number, other in enumerate(names)
            if other != name
        )
        if not beaten:
            found[name] = tuple(other for other in names if other != name and implies(name, other))
    return found


@cache
def proved() -> Proved:
    """What is proved of the standard library, as it is shipped."""
    text = files("precedes_specs").joinpath("proved.json").read_text(encoding="utf-8")
    nodes = json.loads(text)
    return Proved(
        {node["names"][0]: tuple(node["names"]) for node in nodes},
        {node["names"][0]: frozenset(node["implies"]) for node in nodes},
    )


def _closed(name: str, library: Library) -> bool:
    try:
        requirement(name, library)
    except PrecedesError:
        return False
    return True
