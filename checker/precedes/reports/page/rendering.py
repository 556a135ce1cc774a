"""A report as one HTML file: nothing is fetched, and nothing that a trace contains becomes markup.

Cases are data for the script of the page, as JSON. The policy of the page lets its own script and style run and nothing
else, by their hashes. Where cases or their drawings would make the file too large, the rest is counted.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from precedes.core.printable import printable, printable_json
from precedes.core.verdict import Verdict
from precedes.reports.page.contents import Case, Page
from precedes.reports.prose.times import duration_text
from precedes.reports.space_time.dark_colors import dark_rules
from precedes.reports.space_time.picture import as_svg, small_picture

_OWN: Final = "precedes.reports.page"
LARGEST: Final = 5_000_000
"""Bytes of a page."""
_FOR_CASES: Final = 2_600_000
"""Bytes of the sentences and what they can be filtered by; drawings have what is left."""
_FOR_REST: Final = 200_000
"""Bytes of the tables, the script and the style. What is longer is cut."""
MOST_DRAWN: Final = 600
"""Cases that are drawn: nobody looks at more, and each takes some milliseconds to draw."""
_DETAIL: Final = 20_000
"""Characters of text of a case."""

OUTCOMES: Final = {Verdict.HOLDS: "holds", Verdict.VIOLATED: "violated", Verdict.UNKNOWN: "undecided"}
_ESCAPES: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def html(page: Page) -> str:
    """The page."""
    cases, drawings = _data(page.cases)
    script = asset("diagram.js") + asset("page.js")
    style = asset("diagram.css") + asset("page.css") + dark_style(".diagram svg")
    return printable(
        environment()
        .get_template("page.html")
        .render(
            page=page,
            outcome=OUTCOMES[page.verdict],
            sections=[(section, _cut(section.lines)) for section in page.sections],
            notices=_cut(page.notices),
            listed=len(cases["cases"]),
            drawn=len(drawings),
            cases=_json(cases),
            drawings=_json(drawings),
            script=script,
            style=style,
            policy=policy(script, style),
        )
    )


def environment(*others: str) -> Environment:
    """The templates of this package, and of others that build on them. Values are escaped."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in (_OWN, *others)]),
        keep_trailing_newline=True,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )


@cache
def asset(name: str) -> str:
    """A script or a style sheet of the page."""
    return files(_OWN).joinpath("templates", name).read_text(encoding="utf-8")


def dark_style(within: str) -> str:
    """Drawings in the dark, where the reader has it so."""
    return f"@media screen and (prefers-color-scheme: dark) {{\n{dark_rules(within)}\n}}\n"


def policy(script: str, style: str) -> str:
    """What a browser lets the page do: run this script, with this style."""
    hashes = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style))
    ran, seen = (f"'sha256-{each}'" for each in hashes)
    return f"default-src 'none'; script-src {ran}; style-src {seen}; base-uri 'none'; form-action 'none'"


def _json(document: Any) -> str:
    """JSON that can stand in a script element, whatever is in it."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return printable_json(text).translate(_ESCAPES)


def _cut(lines: Sequence[Any]) -> Sequence[Any]:
    """The first of some lines, a few hundred bytes each."""
    return lines[: _FOR_REST // 400]


def _data(cases: Sequence[Case]) -> tuple[dict[str, Any], list[str]]:
    """The cases that there is room for, and the drawings of the first of each name and the first of all."""
    told = _Told({}, {})
    kept: list[dict[str, Any]] = []
    size = 0
    for case in cases:
        value = told.value(case)
        size += len(_json(value).encode())
        if size > _FOR_CASES:
            break
        kept.append(value)
    drawings: list[str] = []
    room = (
        LARGEST - _FOR_REST - len(_json(kept).encode()) - len(_json([*told.names, *told.entities]).encode())
    )
    for number in _first_of_each([case.name for case in cases[: len(kept)]]):
        case = cases[number]
        if case.execution is None:
            continue
        drawn = as_svg(small_picture(case.execution, case.marks))
        room -= len(_json(drawn).encode()) + 1
        if room < 0 or len(drawings) == MOST_DRAWN:
            break
        kept[number]["g"] = len(drawings)
        drawings.append(drawn)
    return {"names": [*told.names], "entities": [*told.entities], "cases": kept}, drawings


@dataclass(slots=True)
class _Told:
    """Cases as values for the script, with the names and entities that they are about, each written once."""

    names: dict[str, int]
    entities: dict[str, int]

    def value(self, case: Case) -> dict[str, Any]:
        """A case; what it lacks is left out."""
        every = {
            "n": _number(self.names, case.name),
            "x": case.where,
            "s": case.told,
            "d": case.day,
            "k": case.part,
            "p": [_number(self.entities, one) for pair in case.pairs for one in pair],
            "l": case.lag,
            "t": "" if case.lag is None else duration_text(case.lag),
            "m": case.detail[:_DETAIL],
        }
        return {
            key: printable(value) if isinstance(value, str) else value
            for key, value in every.items()
            if value not in ("", [], None)
        }


def _number(known: dict[str, int], one: str) -> int:
    return known.setdefault(printable(one), len(known))


def _first_of_each(names: Sequence[str]) -> Iterator[int]:
    """The places of the first of each name, then of the second, and so on."""
    met: dict[str, int] = {}
    rounds: dict[int, list[int]] = {}
    for place, name in enumerate(names):
        turn = met[name] = met.get(name, -1) + 1
        rounds.setdefault(turn, []).append(place)
    for turn in sorted(rounds):
        yield from rounds[turn]
