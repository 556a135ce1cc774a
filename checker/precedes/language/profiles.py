"""Profiles: what a broker promises in one of its modes, as services that come with the program and are read when they
are asked for.

The name of a profile is that of its service, `kafka_partition`, or the same with hyphens, as in commands.
"""

from __future__ import annotations

from precedes.core.diagnostics import usage
from precedes.core.formula import Requirement
from precedes.core.suggestions import did_you_mean
from precedes.language.library import profile_library
from precedes.language.requirements import requirement
from precedes.language.syntax import DefinitionKind

ASKED = "--profile"
"""Where a profile is asked for, in messages about its text."""


def profiles() -> tuple[str, ...]:
    """The names of all profiles."""
    return _own(DefinitionKind.SERVICE)


def beside_profiles() -> tuple[str, ...]:
    """The names of the predicates that are defined beside profiles: parts of them, or asked for by themselves."""
    return _own(DefinitionKind.PREDICATE)


def _own(kind: DefinitionKind) -> tuple[str, ...]:
    known = profile_library()
    return tuple(sorted(name for name in known.own() if known.definition(name).kind is kind))


def service_of(name: str) -> str:
    """`kafka-partition` as the language writes it."""
    return name.replace("-", "_")


def profile(text: str) -> Requirement:
    """What a profile requires: `kafka-partition`, or `mqtt-qos1 per topic`. PrecedesError for one that there is not."""
    written, *rest = text.split(maxsplit=1) or [""]
    name = service_of(written)
    known = profiles()
    if name not in known:
        meant = did_you_mean(name, known)
        raise usage(
            f"there is no profile {written}",
            f"{meant or ''} `precedes list` prints the profiles".lstrip(),
        )
    return requirement(" ".join((name, *rest)), profile_library(), ASKED)
