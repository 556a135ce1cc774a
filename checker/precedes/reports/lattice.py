"""What `precedes lattice` prints: text, a Markdown page, JSON. The diagrams are drawn by `hasse_text` and
`hasse_svg`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from precedes.core.diagnostics import usage
from precedes.core.outcome import Shown
from precedes.core.printable import json_text
from precedes.engines.solver import NoCounterexample
from precedes.jobs.lattice import Lattice, Pair, Refutation, Violation
from precedes.reports.answers import explained, pasteable
from precedes.reports.hasse.svg import svg
from precedes.reports.hasse.text import diagram


def as_form(lattice: Lattice, form: str) -> str:
    """The lattice as text, markdown, svg or json."""
    match form:
        case "markdown":
            return as_markdown(lattice, None)
        case "svg":
            return svg(lattice)
        case "json":
            return as_json(lattice)
        case _:
            return as_text(lattice)


def write(lattice: Lattice, form: str, path: str) -> None:
    """Write it to a file; the diagram of a Markdown page into a folder beside it, named as the page. PrecedesError
    where they cannot be written.
    """
    page = Path(path)
    texts = {page: as_form(lattice, form)}
    if form == "markdown":
        picture = page.with_suffix("" if page.suffix else ".files") / "diagram.svg"
        address = quote(picture.relative_to(page.parent).as_posix())
        texts = {picture: svg(lattice), page: as_markdown(lattice, address)}
    try:
        for file, text in texts.items():
            if file != page:
                file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise usage(f"cannot write {error.filename}: {error.strerror}") from error


def as_text(lattice: Lattice) -> str:
    """The executions that refute, then what is known in other ways or not at all, then the diagram."""
    lines: list[str] = []
    for number, refutation in enumerate(lattice.refutations, start=1):
        lines.append(f"figure {number}")
        lines += [f"  {line}" for line in _reasons(refutation)]
        lines += [f"    {line}" for line in figure(refutation).splitlines()]
        lines.append("")
    lines.append("does not imply")
    for node in lattice.nodes:
        refuted = _refuted_by(lattice, node.name)
        if refuted:
            lines.append(f"  {node.name}")
            lines += [f"    {', '.join(names)}: figure {number}" for number, names in refuted.items()]
    for heading, entries in (
        ("decided up to bounds, or not at all", _open(lattice)),
        ("not asked about", [f"{name}: {reason}" for name, reason in lattice.apart.items()]),
    ):
        if entries:
            lines += ["", heading, *(f"  {entry}" for entry in entries)]
    lines += [
        "",
        "a name implies the names that a line leads to below it; after the arrow, the same in words",
        "",
    ]
    return "\n".join(lines) + "\n" + text_diagram(lattice) + "\n" + summary(lattice) + "\n"


def as_markdown(lattice: Lattice, picture: str | None) -> str:
    """A page with the diagram: the picture of that address, or text where there is none."""
    lines = [
        "# Which name implies which",
        "",
        "Written by `precedes lattice --format markdown`, not by hand.",
        "",
        summary(lattice),
        "",
        "A proof is for every number of entities and messages. A refutation is an execution on which one name",
        "holds and the other does not.",
        "",
        "A name implies the names that a line leads to below it. Equivalent names share a box. Services are blue.",
        "",
        *(
            [f"![The diagram of all implications]({picture})"]
            if picture
            else ["```text", *_drawn(lattice), "```"]
        ),
        "",
        "## The names",
        "",
        "| name | says |",
        "|---|---|",
        *(f"| {_joined(node.names, ' = ')} | {_cell(node.title or '')} |" for node in lattice.nodes),
        "",
        "## Proved",
        "",
        "Each line of the diagram, and what follows from several lines.",
        "",
        "| name | implies | and therefore |",
        "|---|---|---|",
    ]
    for node in lattice.nodes:
        direct = [right for left, right in lattice.edges if left == node.name]
        rest = [name for name in lattice.implied[node.name] if name not in direct]
        if direct:
            lines.append(f"| `{node.name}` | {_joined(direct)} | {_joined(rest)} |")
    lines += ["", "## Refuted", "", "| name | does not imply |", "|---|---|"]
    for node in lattice.nodes:
        refuted = _refuted_by(lattice, node.name)
        cells = (
            f"[figure {number}](#figure-{number}): {_joined(names)}" for number, names in refuted.items()
        )
        if refuted:
            lines.append(f"| `{node.name}` | {'<br>'.join(cells)} |")
    lines += ["", "## Decided up to bounds, or not at all", ""]
    bounded = [node.name for node in lattice.nodes if node.is_bounded]
    if bounded:
        lines += [
            f"{_joined(bounded)} speak of happens-before or of cycles, which is beyond first order.",
            "If there is no proof, the answer is up to bounds.",
            "",
        ]
    lines += _listed(_open(lattice)) or ["No pair."]
    apart = [f"`{name}`: {reason}" for name, reason in lattice.apart.items()]
    lines += ["", "## Not asked about", "", *(_listed(apart) or ["Nothing."])]
    lines += [
        "",
        "## Figures",
        "",
        "The simplest come first. You can paste each into a .prec file, and `precedes check` judges it.",
        "The marks show why the first name above the figure is violated.",
    ]
    for number, refutation in enumerate(lattice.refutations, start=1):
        lines += ["", f"### Figure {number}", "", *_listed(_reasons(refutation, "`"))]
        lines += ["", "```prec", *figure(refutation).splitlines(), "```"]
    return "\n".join(lines) + "\n"


def as_json(lattice: Lattice) -> str:
    """The same for programs. Figures are numbered from 1."""
    document: dict[str, Any] = {
        "schema": 1,
        "nodes": [
            {"names": node.names, "title": node.title, "implies": lattice.implied[node.name]}
            for node in lattice.nodes
        ],
        "edges": lattice.edges,
        "refuted": [
            {"left": left, "right": right, "figure": number}
            for (left, right), number in sorted(_figures(lattice).items())
        ],
        "figures": [
            {
                "number": number,
                "violated": {one.requirement.name: _why(refutation, one) for one in refutation.violated},
                "scenario": figure(refutation) + "\n",
            }
            for number, refutation in enumerate(lattice.refutations, start=1)
        ],
        "open": [
            {"left": left, "right": right, "answer": str(answer)}
            for (left, right), answer in lattice.open.items()
        ],
        "apart": lattice.apart,
    }
    return json_text(document)


def as_proved(lattice: Lattice) -> str:
    """What is proved and nothing else, a line for each name and its equals: `proved.json` beside the library."""
    lines = [
        json.dumps({"names": node.names, "implies": lattice.implied[node.name]}, ensure_ascii=False)
        for node in lattice.nodes
    ]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def summary(lattice: Lattice) -> str:
    """How many names, pairs and answers of each kind."""
    names = sum(len(node.names) for node in lattice.nodes)
    proved = sum(map(len, lattice.implied.values()))
    bounded = sum(isinstance(answer, NoCounterexample) for answer in lattice.open.values())
    refuted = len(_figures(lattice))
    pairs = proved + refuted + len(lattice.open)
    return (
        f"{names} names, {len(lattice.nodes)} of them different: of the {pairs} pairs of these "
        f"{proved} are proved for every size, {refuted} refuted by {len(lattice.refutations)} executions, "
        f"{bounded} without a counterexample up to bounds, {len(lattice.open) - bounded} undecided."
    )


def text_diagram(lattice: Lattice) -> str:
    """The diagram as text; after the arrow, what a name implies directly."""
    labels = {}
    for node in lattice.nodes:
        direct = ", ".join(right for left, right in lattice.edges if left == node.name)
        labels[node.name] = " = ".join(node.names) + (f"  →  {direct}" if direct else "")
    return diagram(labels, lattice.edges)


def figure(refutation: Refutation) -> str:
    """The scenario, with the places marked that show why the first of the names is violated, though others hold."""
    whole = refutation.whole
    return pasteable(Shown(refutation.execution, whole.requirement, whole.witness, refutation.scenario))


def _drawn(lattice: Lattice) -> list[str]:
    return text_diagram(lattice).splitlines()


def _reasons(refutation: Refutation, quote: str = "") -> list[str]:
    """For every name violated: what it does not follow from, and why it is violated."""
    lines = []
    for violation in refutation.violated:
        name = violation.requirement.name
        lefts = ", ".join(f"{quote}{left}{quote}" for left, right in refutation.pairs if right == name)
        why = _why(refutation, violation)
        lines.append(f"{quote}{name}{quote} does not follow from {lefts}" + (f": {why}" if why else ""))
    if refutation.by_clocks:
        judged = ", ".join(f"{quote}{name}{quote}" for name in refutation.by_clocks)
        lines.append(
            f"{judged}: by the clocks in the comments; of the scenario, which has none, it is unknown"
        )
    return lines


def _why(refutation: Refutation, violation: Violation) -> str:
    return explained(Shown(refutation.execution, violation.requirement, violation.witness, ""))


def _figures(lattice: Lattice) -> Mapping[Pair, int]:
    """The number of the figure that refutes a pair."""
    return {
        pair: number
        for number, refutation in enumerate(lattice.refutations, start=1)
        for pair in refutation.pairs
    }


def _refuted_by(lattice: Lattice, left: str) -> dict[int, list[str]]:
    """Per figure the names that a name does not imply because of it."""
    found: dict[int, list[str]] = {}
    for pair, number in _figures(lattice).items():
        if pair[0] == left:
            found.setdefault(number, []).append(pair[1])
    return found


def _open(lattice: Lattice) -> list[str]:
    return [f"{left} implies {right}: {answer}" for (left, right), answer in lattice.open.items()]


def _joined(names: Iterable[str], separator: str = ", ") -> str:
    return separator.join(f"`{name}`" for name in names)


def _listed(entries: Sequence[str]) -> list[str]:
    return [f"- {entry}" for entry in entries]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
