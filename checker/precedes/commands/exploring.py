"""`precedes explore`."""

from __future__ import annotations

from typing import Any

import click

from precedes.commands.options import AS_WRITTEN, DESTINATIONS, SETTINGS, SPECS
from precedes.commands.terminal import put
from precedes.exits import Exit

FAULTS = {
    "losses": "Packets that the network may lose.",
    "duplicates": "Packets of which it may make a copy.",
    "corruptions": "Packets that it may change.",
    "crashes": "Times that an entity may stop.",
    "recoveries": "Times that one which stopped may start again.",
    "early": "Time-outs that may expire although packets are under way.",
    "broken-links": "Pairs of entities between which nothing arrives.",
    "dead": "Entities that have stopped before it begins.",
}


def _faults(command: Any) -> Any:
    for name, text in reversed(FAULTS.items()):
        option = click.option(f"--{name}", type=click.IntRange(min=0), default=0, metavar="N", help=text)
        command = option(command)
    return command


@click.command()
@click.argument("model", metavar="MODEL")
@AS_WRITTEN
@click.option("--entities", type=click.IntRange(min=1), default=3, show_default=True, metavar="N")
@click.option(
    "--messages",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Requests altogether.",
)
@DESTINATIONS
@click.option(
    "--script", metavar="SENDS", help="Who sends what, in place of every choice: 'a{2,3} b{1} a{3}'."
)
@_faults
@click.option("--ticks", type=click.IntRange(min=0), metavar="N", help="The last tick of a request.")
@click.option(
    "--require",
    "required",
    multiple=True,
    metavar="NAME|FORMULA",
    help="What must hold; repeatable.  [default: what the paper claims, and its lemmas]",
)
@SPECS
@SETTINGS
@click.option("--depth", type=click.IntRange(min=0), metavar="N", help="Stop after so many moves.")
@click.option("--time-limit", type=click.FloatRange(min=0), metavar="SECONDS", help="Stop then.")
@click.option("--states", type=click.IntRange(min=1), metavar="N", help="Stop at so many states.")
@click.option("--memory", type=click.IntRange(min=64), metavar="MEGABYTES", help="Stop there.")
@click.option("--plain", is_flag=True, help="Every interleaving: without the reductions.")
@click.option(
    "--at-rest", is_flag=True, help="Judge what concerns several entities only where nothing is under way."
)
@click.option(
    "--order", type=click.Choice(["breadth", "depth"]), default="breadth", help="Which state is next."
)
@click.option("--check-purity", is_flag=True, help="Call every handler twice and compare.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def explore(form: str, **options: Any) -> Exit:
    """Explore every behaviour of a protocol model up to bounds.

    MODEL is a name of `precedes list`, or a file with a class that derives from precedes.protocol.Protocol.

    Exit code 0: everything holds. 1: something is violated, and shown. 3: a limit was met, a premise never, or
    no order was asked for.
    """
    from precedes.checking import library_with
    from precedes.language.requirements import requirement
    from precedes.language.scenario_text import definitions
    from precedes.protocol import exploring, models, script
    from precedes.protocol.bounds import Bounds, Destinations
    from precedes.reports import exploration as printed
    from precedes.reports.progress import progress_line
    from precedes.verdict import Verdict

    library = library_with(options["specs"])
    asked = tuple(requirement(text, library, "--require") for text in options["required"]) or None
    needed = definitions((each.name for each in asked or ()), library)
    settings = script.settings(options["settings"])
    instances = models.models(options["model"], as_written=options["as_written"], parameters=settings)
    explored = []
    with progress_line() as tell:
        for protocol in instances:
            bounds = Bounds(
                entities=options["entities"],
                messages=options["messages"],
                destinations=Destinations(options["destinations"] or protocol.destinations),
                script=script.script(options["script"], options["entities"]),
                losses=options["losses"],
                duplicates=options["duplicates"],
                corruptions=options["corruptions"],
                crashes=options["crashes"],
                recoveries=options["recoveries"],
                early=options["early"],
                broken_links=options["broken_links"],
                dead=options["dead"],
                ticks=options["ticks"],
                depth=options["depth"],
                seconds=options["time_limit"],
                states=options["states"],
                megabytes=options["memory"],
            )
            found = exploring.explore(
                protocol,
                bounds,
                asked,
                invariants=None if asked is None else (),
                plain=options["plain"],
                at_rest=options["at_rest"],
                order=options["order"],
                check_purity=options["check_purity"],
                advance=lambda states, depth: tell(f"{states:,} states, depth {depth}"),
            )
            explored.append(printed.Explored(protocol, bounds, found, needed))
    put(printed.as_json(explored) if form == "json" else printed.as_text(explored))
    verdicts = {each.found.verdict for each in explored}
    if Verdict.VIOLATED in verdicts:
        return Exit.VIOLATED
    return Exit.UNDECIDED if Verdict.UNKNOWN in verdicts else Exit.HOLDS
