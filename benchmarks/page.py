"""docs/performance.md from what was measured: `python -m benchmarks.page [--take]`.

The measurements are in benchmarks/results, as the other programs of this folder write them to build; `--take`
copies them from there. The words are in page.md. What docs/performance.md says below the mark is left as it is.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template
from typing import Any, Final

from benchmarks.comparisons import ALWAYS, longer
from benchmarks.larger import SMALL
from experiments.drawing import curve, figure, label, save, styles

ROOT: Final = Path(__file__).parents[1]
RESULTS: Final = ROOT / "benchmarks/results"
PAGE: Final = ROOT / "docs/performance.md"
PLOTS: Final = ROOT / "docs/performance"
MEASURED: Final = (
    *("bench", "phases", "single", "skew", "exploring", "larger", "conforming", "spin", "tlc", "foreign"),
    *("by_hand", "raw_text", "names", "one_execution"),
)
MARK: Final = "<!-- The part above is written by `python -m benchmarks.page`. -->\n"


def generated(measured: dict[str, Any]) -> str:
    """The part of the page above the mark."""
    bench, phases, single = measured["bench"], measured["phases"], measured["single"]
    short, long = bench["peak MiB"].values()
    judged = phases["phases"]["read and screen"] + phases["phases"]["judge who is left"]
    words = Template((Path(__file__).parent / "page.md").read_text(encoding="utf-8"))
    return words.substitute(
        bench["machine"],
        executions=f"{bench['executions']:,}",
        ratios=_ratios(bench),
        reference=f"{1000 * bench['reference']['seconds'] / bench['reference']['executions']:.1f}",
        phases=_seconds("what is done", phases["phases"]),
        decoding=f"{100 * phases['phases']['read five columns'] / judged:.0f}",
        processes=_seconds("a whole process", phases["processes"]),
        short=f"{short:.0f}",
        long=f"{long:.0f}",
        times=_times(bench),
        more=f"{100 * (long / short - 1):+.0f}",
        entities=single["executions"][0]["entities"],
        singles="\n".join(_singles(single)),
        large=f"{measured['skew']['events']['large'] / 1e6:.1f}",
        small=f"{measured['skew']['events']['small'] / 1e6:.1f}",
        skew=_skew(measured["skew"]),
        skew_load=f"{measured['skew']['load']:.0f}",
        by_hand=_by_hand(measured["by_hand"]["rows"]),
        exploring=_exploring(measured["exploring"]["rows"]),
        no_states=f"{_small(measured['larger']['rows'])['peak_mib']:.0f}",
        larger=_larger(measured["larger"]["rows"]),
        first=_first(measured["larger"]["rows"]),
        conforming=_conforming(measured["conforming"]["rows"]),
        judged=f"{max(row['executions'] for row in measured['conforming']['rows']):,}",
        spin=_spin(measured["spin"]["rows"]),
        tlc=_tlc(measured["tlc"]["rows"]),
        tlc_version=measured["tlc"]["rows"][0]["version"],
        **_foreign(measured["foreign"]),
        **_raw_text(measured["raw_text"]),
        **_names(measured["names"]),
        **_one_execution(measured["one_execution"]),
    )


def _times(bench: dict[str, Any]) -> int:
    """How many times as long the longer trace was."""
    _, name = bench["peak MiB"]
    return int(name.removeprefix("x"))


def _ratios(bench: dict[str, Any]) -> str:
    rows = []
    words = {each.name: each.words for each in (*ALWAYS, longer(_times(bench)))}
    for row in bench["ratios"]:
        seconds = (f"{row[side]['seconds']:.2f}" for side in ("ours", "theirs"))
        load = max(row["ours"]["load"], row["theirs"]["load"])
        rows.append((words[row["name"]], *seconds, f"{row['ratio']:.2f}", _reach(row), f"{load:.1f}"))
    small = bench["1,000 events"]
    reached = "met" if small["seconds"] < 1.5 else "**missed**"
    what = "`precedes verify` of 1,000 events, a whole process, no JVM"
    rows.append((what, f"{small['seconds']:.2f}", "", "", f"under 1.5 s ({reached})", f"{small['load']:.1f}"))
    return _table(("what", "ours (s)", "theirs (s)", "ratio", "target", "load"), rows)


def _reach(row: dict[str, Any]) -> str:
    if row["reach"] is None:
        return ""
    wanted = f"{'at least' if row['faster'] else 'at most'} {row['reach']:g}"
    if row["reached"]:
        return f"{wanted} (met)"
    by = row["reach"] / row["ratio"] if row["faster"] else row["ratio"] / row["reach"]
    return f"{wanted} (**missed** by {100 * (by - 1):.0f} %)"


def _seconds(what: str, measured: dict[str, float]) -> str:
    return _table((what, "s"), [(name, f"{seconds:.2f}") for name, seconds in measured.items()])


def _singles(measured: dict[str, Any]) -> Iterable[str]:
    cases: dict[tuple[int, bool], list[Any]] = {}
    for one in measured["executions"]:
        cases.setdefault((one["sets"], one["violated"]), []).append(one)
    for process, ((sets, violated), sizes) in zip(measured["process"], cases.items(), strict=True):
        yield f"\nMessages to {sets} entities, {'two deliveries swapped' if violated else 'all in order'}:\n"
        names = sizes[0]["judged"]
        rows = [(f"`{name}`", *(_single(one, name) for one in sizes), _grown(sizes, name)) for name in names]
        yield _table(("predicate", *(f"{one['events'] / 1e6:.1f} M events" for one in sizes), "×4"), rows)
        if "processor" in process:
            yield (
                "\n`precedes verify` of the largest, as a columnar file, `ST` and `causal_order`:"
                f" {process['processor']:.1f} s of the processor, peak {process['peak_mib']:.0f} MiB."
            )


def _single(one: dict[str, Any], name: str) -> str:
    shown = f" + {one['shown'][name]:.3f}" if name in one["shown"] else ""
    return f"{one['judged'][name]:.3f}{shown}"


def _grown(sizes: Sequence[dict[str, Any]], name: str) -> str:
    first, last = sizes[0]["judged"][name], sizes[-1]["judged"][name]
    # Of less, the clock says little.
    return f"{last / first:.1f}" if first >= 0.01 else ""


def _skew(measured: dict[str, Any]) -> str:
    rows = []
    for way, found in measured["found"].items():
        large, small, together = (found[what]["seconds"] for what in ("large", "small", "together"))
        numbers = (f"{seconds:.1f}" for seconds in (large, small, together))
        rows.append((way, *numbers, f"{together / (large + small):.2f}"))
    heads = ("trace", "the large one alone", "the small ones alone", "together", "against both alone")
    return _table(heads, rows)


def _by_hand(measured: Sequence[dict[str, Any]]) -> str:
    rows = [
        (
            f"`{row['name']}`",
            f"{row['executions']:,}",
            f"{row['ours']}, against {row['theirs']}",
            *(f"{row[side]['processor']:.1f}" for side in ("our", "their")),
            f"{row['our']['processor'] / row['their']['processor']:.2f}",
            f"{row['load']:.1f}",
        )
        for row in measured
    ]
    return _table(("name", "executions", "what", "ours (s)", "theirs (s)", "ratio", "load"), rows)


def _exploring(measured: Sequence[dict[str, Any]]) -> str:
    rows = [
        (
            str(row["messages"]),
            row["asked"],
            "every state" if row["plain"] else "reduced",
            f"{row['states']:,}",
            f"{row['seconds']:.1f}",
            f"{row['processor']:.1f}",
            f"{row['peak_mib']:.0f}",
            f"{row['load']:.1f}",
        )
        for row in measured
    ]
    heads = ("messages", "asked", "search", "states", "s", "s of the processor", "peak MiB", "load")
    return _table(heads, rows)


def _small(measured: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The row of a search that has nearly no states."""
    return next(row for row in measured if row["word"] == SMALL)


def _larger(measured: Sequence[dict[str, Any]]) -> str:
    small = _small(measured)
    rows = [
        (
            f"`{row['command']}`",
            f"{row['states']:,}",
            "all" if row["complete"] else "to the limit",
            f"{row['seconds']:.1f}",
            f"{row['processor']:.1f}",
            f"{row['peak_mib']:,.0f}",
            f"{(row['peak_mib'] - small['peak_mib']) * 2**20 / row['states']:.0f}",
            f"{row['load']:.1f}",
        )
        for row in measured
        if not row["first"] and row is not small
    ]
    heads = ("command", "states", "", "s", "s of the processor", "peak MiB", "bytes for a state", "load")
    return _table(heads, rows)


def _first(measured: Sequence[dict[str, Any]]) -> str:
    rows = [
        (f"`{row['command']}`", f"{row['states']:,}", f"{row['seconds']:.1f}", f"{row['load']:.1f}")
        for row in measured
        if row["first"]
    ]
    return _table(("command", "states", "s", "load"), rows)


def _conforming(measured: Sequence[dict[str, Any]]) -> str:
    rows = [
        (
            row["way"],
            f"{row['executions']:,}",
            f"{row['seconds']:.1f}",
            f"{row['processor']:.1f}",
            f"{row['executions'] / row['processor']:,.0f}",
            "" if row["peak_mib"] is None else f"{row['peak_mib']:,.0f}",
            f"{row['load']:.1f}",
        )
        for row in measured
    ]
    heads = ("how", "executions", "s", "s of the processor", "executions a second", "peak MiB", "load")
    return _table(heads, rows)


TEXT: Final = {
    "jsonl as it is written": "JSON Lines as it is written",
    "jsonl numbers and texts as ids": "numbers and texts as ids, against Arrow on the first",
    "jsonl other columns": "with other columns: a text, a number, an object",
    "jsonl no seq, no time": "without `seq` and `time`",
    "csv as it is written": "CSV as it is written",
    "csv numbers and texts as ids": "numbers and texts as ids",
    "csv other columns": "with other columns",
    "csv no seq, no time": "without `seq` and `time`",
}
"""The files that are read beside Arrow, in words."""


def _raw_text(measured: dict[str, Any]) -> dict[str, str]:
    read = [
        (f"{TEXT[name]} ({one['mb']:.0f} MB)", *_sides(one, 3), _at_most(one, 2), f"{one['load']:.0f}")
        for name, one in measured["read"].items()
    ]
    commands = [
        ("JSON Lines" if name.startswith("jsonl") else "CSV", f"`{name.partition(' ')[2]}`", *_sides(one, 2))
        for name, one in measured["commands"].items()
    ]
    return {
        "text_rows": f"{measured['rows']:,}",
        "raw_text": _table(("file", "ours (s)", "Arrow (s)", "ratio", "target", "load"), read),
        "raw_commands": _table(("file", "command", "ours (s)", "Arrow (s)", "ratio"), commands),
    }


def _sides(one: dict[str, Any], places: int) -> tuple[str, ...]:
    return (f"{one['ours']:.{places}f}", f"{one['theirs']:.{places}f}", f"{one['ratio']:.2f}")


def _at_most(one: dict[str, Any], reach: float) -> str:
    return _reach({**one, "reach": reach, "faster": False, "reached": one["ratio"] <= reach})


def _foreign(measured: dict[str, Any]) -> dict[str, str]:
    rows = []
    for one in measured["read"].values():
        sides = [one[side] for side in ("ours", "theirs")]
        wanted = (
            ""
            if one["reach"] is None
            else _reach({**one, "faster": False, "reached": one["ratio"] <= one["reach"]})
        )
        rows.append(
            (
                f"{one['rows']:,} {one['name']} ({one['bytes'] / 1e6:,.0f} MB), against {one['reader']}",
                *(f"{side['seconds']:.1f}" for side in sides),
                f"{one['ratio']:.2f}",
                wanted,
                *(f"{side['processor']:.1f}" for side in sides),
                f"{one['processor ratio']:.2f}",
                *(f"{side['peak_mib']:,.0f}" for side in sides),
                f"{one['load']:.1f}",
            )
        )
    heads = (
        *(
            "what",
            "ours (s)",
            "theirs (s)",
            "ratio",
            "target",
            "ours, processor (s)",
            "theirs, processor (s)",
        ),
        *("ratio", "ours, peak MiB", "theirs, peak MiB", "load"),
    )
    converted = list(measured["convert"].values())
    lines = [
        (
            one["name"],
            f"{one['seconds']:.1f}",
            f"{one['processor']:.1f}",
            f"{one['peak_mib']:,.0f}",
            f"{one['load']:.1f}",
        )
        for one in converted
    ]
    return {
        "foreign": _table(heads, rows),
        "converted": _table(("from", "s", "s of the processor", "peak MiB", "load"), lines),
        "converted_rows": f"{converted[0]['rows']:,}",
    }


def _names(measured: dict[str, Any]) -> dict[str, str]:
    """Every name beside `ST`, the slowest first."""
    ratios = {one["name"]: one["seconds"] / one["service"] for one in measured["names"]}
    ordered = sorted(measured["names"], key=lambda one: -ratios[one["name"]])
    rows = [
        (
            f"`{one['name']}`",
            *(f"{one[side]:.2f}" for side in ("seconds", "service")),
            f"{ratios[one['name']]:.2f}",
            f"{one['load']:.1f}",
        )
        for one in ordered
    ]
    return {
        "named": str(len(rows)),
        "named_executions": f"{measured['executions']:,}",
        "named_times": str(measured["times"]),
        "named_most": f"{max(ratios.values()):.2f}",
        "names": _table(("name", "s", "`ST` (s)", "ratio", "load"), rows),
    }


def _one_execution(measured: dict[str, Any]) -> dict[str, str]:
    """One execution of two sizes: what takes longest, and what grows most."""
    *names, infer = measured["names"]
    grown = {one["name"]: one["seconds"][-1] / one["seconds"][0] for one in names}
    rows = [
        (
            f"`{one['name']}`",
            *(f"{seconds:.3f}" for seconds in one["seconds"]),
            f"{grown[one['name']]:.1f}",
            f"{one['load']:.1f}",
        )
        for one in names[:SHOWN]
    ]
    small, large = (f"{size:,}" for size in measured["events"])
    return {
        "one_entities": str(measured["entities"]),
        "one_small": small,
        "one_large": large,
        "one_most": f"{names[0]['seconds'][-1]:.2f}",
        "one_grown": f"{max(grown.values()):.1f}",
        "one_infer": " and ".join(f"{seconds:.1f}" for seconds in infer["seconds"]),
        "one_execution": _table(("name", f"{small} events (s)", f"{large} events (s)", "×4", "load"), rows),
    }


SHOWN: Final = 12
"""So many names of one execution are shown, those that take longest."""


def _spin(measured: Sequence[dict[str, Any]]) -> str:
    rows = [
        (
            str(row["messages"]),
            f"{row['ours_processor']:.1f}",
            f"{row['spin_processor']:.1f}",
            f"{row['ours_processor'] / row['spin_processor']:.1f}",
            f"{row['pan_processor']:.1f}",
            f"{row['ours_mib']:.0f}",
            f"{row['pan_mib']:.0f}",
            f"{row['load']:.1f}",
        )
        for row in measured
    ]
    heads = (
        "messages",
        "ours",
        "SPIN",
        "ratio",
        "SPIN's search alone",
        "our MiB",
        "MiB of its search",
        "load",
    )
    return _table(heads, rows)


def _tlc(measured: Sequence[dict[str, Any]]) -> str:
    rows = [
        (
            str(row["messages"]),
            *(f"{row[name]:.1f}" for name in ("ours", "tlc")),
            f"{row['ours'] / row['tlc']:.2f}",
            *(f"{row[name]:.1f}" for name in ("ours_processor", "tlc_processor")),
            f"{row['ours_processor'] / row['tlc_processor']:.2f}",
            *(f"{row[name]:.0f}" for name in ("ours_mib", "tlc_mib")),
            f"{row['load']:.1f}",
        )
        for row in measured
    ]
    processor = ("ours, processor", "TLC, processor", "ratio")
    return _table(("messages", "ours", "TLC", "ratio", *processor, "our MiB", "its MiB", "load"), rows)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ("---", *("--:" for _ in heads[1:])), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def draw(measured: dict[str, Any], folder: Path) -> None:
    """The plots of the page."""
    growth = measured["bench"]["growth"]
    drawn = figure(1, 3, title="ST in-process, as a trace grows")
    panels = (
        ("events", "A longer trace", "times as long"),
        ("entities", "Larger clusters, four destinations", "entities"),
        ("destinations", "Wider messages, 64 entities", "destinations"),
    )
    for axes, (name, title, unit) in zip(drawn.axes, panels, strict=True):
        style = styles()
        x = [float(size) for size in growth[name]]
        seconds = [one["seconds"] for one in growth[name].values()]
        events = [one["events"] for one in growth[name].values()]
        linear = [seconds[0] * count / events[0] for count in events]
        curve(axes, x, seconds, label="measured", style=next(style))
        curve(axes, x, linear, label="linear in the events", style=next(style), computed=True)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set_xticks(x, [f"{size:g}" for size in x])
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        label(axes, title, unit, "seconds")
    folder.mkdir(parents=True, exist_ok=True)
    save(drawn, folder / "growth.svg")


def read() -> dict[str, Any]:
    """All measurements."""
    return {name: json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8")) for name in MEASURED}


def main() -> None:
    """Write the page and its plots."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--take", action="store_true", help="take what was measured last from build")
    if parser.parse_args().take:
        RESULTS.mkdir(exist_ok=True)
        for name in MEASURED:
            shutil.copy(ROOT / f"build/{name}.json", RESULTS)
    measured = read()
    rest = PAGE.read_text(encoding="utf-8").partition(MARK)[2] if PAGE.exists() else ""
    PAGE.write_text(f"{generated(measured)}\n{MARK}{rest}", encoding="utf-8")
    draw(measured, PLOTS)


if __name__ == "__main__":
    main()
