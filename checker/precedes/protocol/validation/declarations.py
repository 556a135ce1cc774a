"""Checks of what a model declares: `claims`, `destinations` and others have the right type, and a handler
transmits only if `answers` allows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.formula import AttributeSort
from precedes.core.suggestions import Synonyms, did_you_mean
from precedes.language.library import standard_library
from precedes.protocol.bounds import Destinations
from precedes.protocol.invariants import Invariant
from precedes.protocol.model import ARRIVALS, TIMEOUTS, Here, Protocol
from precedes.protocol.network import Network
from precedes.protocol.validation import errors
from precedes.protocol.validation.carried_values import with_attributes

_MEANT: Final[Synonyms] = {("all", "everyone", "everybody"): ("broadcast",), ("one",): ("unicast",)}
"""Words for destinations that are spelt in another way altogether."""


def check(protocol: Protocol[Any]) -> None:
    """PrecedesError M012, with all that is of the wrong kind."""
    found = [
        *_claims(protocol),
        *_invariants(protocol, "invariants"),
        *_invariants(protocol, "further"),
        *_yes_or_no(protocol, "answers"),
        *_yes_or_no(protocol, "symmetric"),
        *_destinations(protocol),
        *_attributes(protocol),
        *_fair(protocol),
        *_network(protocol),
    ]
    if found:
        raise PrecedesError(
            tuple(
                Diagnostic("M012", f"{protocol.name}: {message}", hint=meant_instead)
                for message, meant_instead in found
            )
        )


def answered(
    protocol: Protocol[Any],
    handler: str,
    at: Here,
    arguments: tuple[Any, ...],
    packet: object,
    receiver: int,
) -> PrecedesError:
    """M013: a handler other than `send` transmitted, and `answers` says that none does."""
    given = "".join(f"\n        {errors.short(argument)}" for argument in (at, *arguments))
    return errors.mistake(
        protocol,
        "M013",
        f"{handler} of {protocol.name_of(at.entity)} transmits {errors.short(packet)} to "
        f"{protocol.name_of(receiver)}, but answers is False",
        "take `answers = False` out of the model: it says that only send transmits, and the search leaves out what "
        f"cannot matter then; {handler} was called with{given}",
    )


def _claims(protocol: Protocol[Any]) -> list[tuple[str, str]]:
    claims: object = protocol.claims
    if isinstance(claims, str):
        quoted = repr(claims) if '"' in claims else f'"{claims}"'
        return [
            (
                f"claims is the text {errors.short(claims)}",
                f"it must be a tuple, and a tuple of one claim has a comma: claims = ({quoted},)",
            )
        ]
    if not isinstance(claims, tuple | list) or not all(isinstance(claim, str) for claim in claims):
        return [
            (
                f"claims is {errors.short(claims)}",
                'it is a tuple of requirements, each as text: claims = ("causal_order", "no_duplication")',
            )
        ]
    return []


def _invariants(protocol: Protocol[Any], name: str) -> list[tuple[str, str]]:
    invariants: object = getattr(protocol, name)
    if isinstance(invariants, tuple | list) and all(isinstance(each, Invariant) for each in invariants):
        return []
    return [
        (
            f"{name} is {errors.short(invariants)}",
            "it is a tuple of OfEntity(...), OfPair(...), OfStep(...) and OfState(...), with a comma where it is one",
        )
    ]


def _yes_or_no(protocol: Protocol[Any], name: str) -> list[tuple[str, str]]:
    value: object = getattr(protocol, name)
    if isinstance(value, bool):
        return []
    return [(f"{name} is {errors.short(value)}", f"write {name} = True or {name} = False")]


def _destinations(protocol: Protocol[Any]) -> list[tuple[str, str]]:
    given: object = protocol.destinations
    known = [each.value for each in Destinations]
    if given in known or isinstance(given, Destinations):
        return []
    meant = did_you_mean(str(given), known, _MEANT)
    hint = f"it is one of {', '.join(known)}"
    return [(f"destinations is {errors.short(given)}", hint if meant is None else f"{meant} {hint}")]


def _attributes(protocol: Protocol[Any]) -> list[tuple[str, str]]:
    given: object = protocol.attributes
    sorts = [sort.value for sort in AttributeSort]
    if not isinstance(given, Mapping) or not all(
        isinstance(name, str) and sort in sorts for name, sort in given.items()
    ):
        return [
            (
                f"attributes is {errors.short(given)}",
                f'it has the sort of each attribute: attributes = {{"key": "text"}}; the sorts are {", ".join(sorts)}',
            )
        ]
    if not given:
        return []
    try:
        with_attributes(protocol, standard_library())
    except PrecedesError as error:
        return [
            (f"attributes: {diagnostic.message}", diagnostic.hint or "give it another name")
            for diagnostic in error.diagnostics
        ]
    return []


def _fair(protocol: Protocol[Any]) -> list[tuple[str, str]]:
    given: object = protocol.fair
    kinds = (ARRIVALS, TIMEOUTS)
    if not isinstance(given, Mapping) or not all(isinstance(reason, str) for reason in given.values()):
        return [
            (
                f"fair is {errors.short(given)}",
                f'it has the reason for each kind of step ({" or ".join(kinds)}): fair = {{"{ARRIVALS}": "..."}}',
            )
        ]
    return [
        (
            f"fair says {errors.short(kind)}",
            did_you_mean(str(kind), kinds) or f"the kinds are {' and '.join(kinds)}",
        )
        for kind in given
        if kind not in kinds
    ]


def _network(protocol: Protocol[Any]) -> list[tuple[str, str]]:
    network: object = protocol.network
    if isinstance(network, Network):
        return []
    return [
        (
            f"network is {errors.short(network)}",
            "it is Reliable(...), SingleChannel(...) or Timed(...), with the parentheses",
        )
    ]
