"""The gallery of orders: `python -m tools.gallery` writes docs/gallery.md and the pictures in docs/gallery.

Scenarios come from specs/, and what brokers did from traces/brokers. Everything that the page says of one is computed:
the picture, the scenario, the verdicts, and the sentence. Only which are shown is written here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import precedes
from precedes.core.counts import counted
from precedes.core.execution import Execution
from precedes.core.verdict import verdict
from precedes.engines.reference import explain
from precedes.jobs.check import answer_of
from precedes.language.loader import CompiledFile, Expectation, Scenario, compile_text
from precedes.language.requirements import requirement
from precedes.reports.space_time.marks import marked
from precedes.reports.space_time.picture import Picture, as_svg, execution_picture, scenario_picture

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs/gallery.md"
PICTURES: Final = ROOT / "docs/gallery"
RECORDED: Final = ROOT / "traces/brokers"

SHOWN: Final[dict[str, tuple[tuple[str, tuple[str, ...]], ...]]] = {
    "Figures of the papers": (
        ("papers/st-1994.prec", ("figure_2", "figure_3", "figure_4", "figure_6")),
        (
            "papers/delta-causal.prec",
            ("figure_1", "figure_1_held_back", "figure_3", "figure_3_delivered_late"),
        ),
        ("papers/cmd.prec", ("condition_1", "condition_1_broken", "definition_2")),
        ("papers/dynamic-cluster.prec", ("to_service", "to_without_one_order", "one_stopped")),
        ("papers/high-integrity.prec", ("origin_stops",)),
    ),
    "The textbook: crashes": (
        (
            "library/crashes.prec",
            (
                "two_orders_and_a_crash",
                "answer_without_question",
                "repeated_at_a_correct_entity",
                "delivered_before_a_crash",
                "delivered_by_one",
                "delivered_by_nobody",
            ),
        ),
    ),
    "The textbook: groups and views": (
        ("library/groups.prec", ("shared", "taken_twice", "lost")),
        ("library/views.prec", ("joined", "overtaken", "late", "carried_over", "missed")),
    ),
    "Every delivery": (
        (
            "library/deliveries.prec",
            (
                "again_in_order",
                "rewound",
                "one_at_a_time",
                "accepted_and_sent_again",
                "two_in_flight",
                "offsets_descend",
            ),
        ),
    ),
    "Promises of brokers": (
        (
            "profiles/brokers.prec",
            (
                "partition_reread",
                "partition_overtaken",
                "two_readings",
                "gap",
                "returned",
                "groups_overtaken",
            ),
        ),
        ("profiles/sessions.prec", ("read_goes_back", "beyond_the_window")),
        ("profiles/real_time.prec", ("against_the_clock",)),
    ),
}
"""Which scenarios are shown, by the heading and the file in specs/."""

ANOMALIES: Final = (
    "order_preserving",
    "order_equivalent",
    "every_delivery_in_order",
    "selectively_information_preserving",
    "no_duplication",
    "ordered_until_acknowledged",
)
"""What brokers are asked. The first run that violates a name is shown."""

RECORDINGS: Final = "What brokers did"
INTRODUCTION: Final = (
    "What keeps an order, and what breaks it. Each picture is a scenario that you can paste into a file,",
    "or into [Try it](try.md), and judge with `precedes check`. The sentence is about what is marked in",
    "red, and the verdicts are on this one execution. [What the signs",
    "mean](how-to/see-why.md#what-the-signs-mean). Generated from `specs/` and `traces/brokers`.",
)
OF_BROKERS: Final = (
    "These were [recorded at the clients](brokers.md), under faults. A picture has only the messages that",
    "show the violation, and the verdicts are on these.",
)
BROKERS: Final = {"rabbitmq": "RabbitMQ", "nats": "NATS", "redis": "Redis", "mosquitto": "Mosquitto"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One picture with what is said of it. `file` is the name of the picture."""

    heading: str
    file: str
    about: str
    told: str
    scenario: str
    verdicts: tuple[tuple[str, str], ...]
    svg: str


# ---- what is shown -----------------------------------------------------------------------------------------


def of_scenarios() -> Iterator[tuple[str, list[Entry]]]:
    """The scenarios of specs/ by their headings."""
    for heading, files in SHOWN.items():
        yield heading, [entry for path, names in files for entry in _of_file(ROOT / "specs" / path, names)]


def _of_file(path: Path, names: Sequence[str]) -> Iterator[Entry]:
    text = path.read_text(encoding="utf-8")
    file = compile_text(text, str(path))
    by_name = {scenario.name: scenario for scenario in file.scenarios}
    for name in names:
        scenario = by_name[name]
        kept = _kept(file, scenario)
        shown = replace(scenario, expectations=kept)
        picture = scenario_picture(shown)
        # The page has the heading; a picture with it would be as wide as that.
        yield Entry(
            f"{scenario.title or name}",
            f"{path.stem}-{name.replace('_', '-')}.svg",
            f"`{name}` of `specs/{path.parent.name}/{path.name}`. {scenario.source or ''}".strip(),
            picture.marks.told,
            _statements(text, shown),
            _verdicts(shown),
            as_svg(Picture("", picture.excerpt, picture.marks)),
        )


def _kept(file: CompiledFile, scenario: Scenario) -> tuple[Expectation, ...]:
    """The expectations that need no definition of the file itself, which a reader would have to paste, too."""
    own = set(file.library.own()) - set(precedes.load_library().own())
    return tuple(one for one in scenario.expectations if own.isdisjoint(re.findall(r"\w+", one.text)))


def _statements(text: str, shown: Scenario) -> str:
    """The scenario as its file has it, with the expectations that are shown, and without remarks."""
    lines = text.splitlines()
    expected = {one.span.line for one in shown.expectations}
    kept = []
    for number, line in enumerate(lines[shown.span.line - 1 : max(expected)], shown.span.line):
        if number in expected or (line.strip() and not line.startswith(("#", "expect"))):
            kept.append(line)
    return "\n".join(kept)


def _verdicts(scenario: Scenario) -> tuple[tuple[str, str], ...]:
    answers = (answer_of(expectation, scenario.execution) for expectation in scenario.expectations)
    return tuple((answer.requirement.name, answer.verdict.value) for answer in answers)


def of_brokers() -> Iterator[Entry]:
    """The first run of each mode that violates a name, cut to the messages that show it."""
    modes = {row["file"]: row for row in json.loads((RECORDED / "table.json").read_text(encoding="utf-8"))}
    for file, row in modes.items():
        report = precedes.verify(RECORDED / file, ANOMALIES, max_violations=100)
        shown: dict[str, Any] = {}
        for violation in report.violations:
            shown.setdefault(violation.predicate, violation)
        for name in ANOMALIES:
            if name in shown:
                yield _anomaly(row, name, shown[name].execution, shown[name].cut, report[name])


def _anomaly(row: dict[str, Any], name: str, run: str, cut: Execution, count: Any) -> Entry:
    library = precedes.load_library()
    found = marked(requirement(name, library), cut)
    assert found is not None, (row["file"], name)
    execution, marks = found
    broker = BROKERS[row["broker"]]
    stem = row["file"].partition(".")[0]
    judged = ((each, _judged(each, cut)) for each in ANOMALIES)
    total = count.holds + count.violated + count.unknown
    return Entry(
        f"{broker}, {row['mode']}: `{name}`",
        f"{stem}-{name.replace('_', '-')}.svg",
        f"Run `{run}` of `traces/brokers/{row['file']}`, {broker} {row['version']} with {row['client']};"
        f" it is so in {count.violated} of {counted(total, 'run')}.",
        marks.told,
        precedes.as_scenario(cut, "recorded").rstrip() + f"\nexpect not {name}",
        tuple((each, said) for each, said in judged if said is not None),
        as_svg(execution_picture(execution, marks)),
    )


def _judged(name: str, cut: Execution) -> str | None:
    """The verdict of a name on the messages that are shown; None if there is nothing to check."""
    explanation = explain(requirement(name, precedes.load_library()), cut)
    return None if explanation.vacuous else verdict(explanation.value).value


# ---- the page ----------------------------------------------------------------------------------------------


def page() -> tuple[str, dict[str, str]]:
    """The page, and its pictures by their names."""
    sections = [*of_scenarios(), (RECORDINGS, list(of_brokers()))]
    lines = ["# A gallery of orders", "", *INTRODUCTION]
    for heading, entries in sections:
        lines += ["", f"## {heading}"]
        if heading == RECORDINGS:
            lines += ["", *OF_BROKERS]
        for entry in entries:
            lines += _entry(entry)
    return "\n".join(lines) + "\n", {entry.file: entry.svg for _, entries in sections for entry in entries}


def _entry(entry: Entry) -> Iterator[str]:
    # The name of a message stays as it is written.
    is_name = re.match(r"[b-z]\d?\b", entry.heading) is not None
    heading = entry.heading if is_name else entry.heading[0].upper() + entry.heading[1:]
    yield from ("", f"### {heading}", "")
    yield from (f"![{_plain(entry.told) or heading.replace('`', '')}](gallery/{entry.file})", "")
    if entry.told:
        yield from (f"{_sentence(entry.told)}.", "")
    yield from ("```", entry.scenario, "```", "")
    for word in ("holds", "violated", "unknown"):
        names = [f"`{name}`" for name, said in entry.verdicts if said == word]
        if names:
            yield f"- {word}: {', '.join(dict.fromkeys(names))}"
    yield from ("", f"{entry.about}")


def _sentence(told: str) -> str:
    """A sentence of a report as text of a page, in which no name becomes markup."""
    name, colon, rest = told.partition(": ")
    if colon and re.fullmatch(r"\w+", name):
        return f"`{name}`: {_escaped(rest)}"
    return _escaped(told)


def _escaped(text: str) -> str:
    return re.sub(r"([*_<>\[\]`|])", r"\\\1", text)


def _plain(told: str) -> str:
    return re.sub(r"[\[\]]", "", told)


def main() -> None:
    """Write the page and its pictures."""
    text, pictures = page()
    PICTURES.mkdir(exist_ok=True)
    for old in PICTURES.glob("*.svg"):
        if old.name not in pictures:
            old.unlink()
    for name, svg in pictures.items():
        (PICTURES / name).write_text(svg, encoding="utf-8")
    PAGE.write_text(text, encoding="utf-8")
    print(f"wrote docs/gallery.md and {len(pictures)} pictures")


if __name__ == "__main__":
    main()
