"""`precedes draw`."""

from __future__ import annotations

from pathlib import Path

import click

from precedes.exits import Exit


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(dir_okay=False))
@click.option("--scenario", "wanted", metavar="NAME", help="Only this one.  [default: every one, as text]")
@click.option("--format", "form", type=click.Choice(["text", "svg"]), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False, writable=True), metavar="FILE")
def draw(file: str, wanted: str | None, form: str, output: str | None) -> Exit:
    """Draw the scenarios of a .prec file as space-time diagrams. An SVG has one scenario."""
    from precedes.checking import scenarios_of
    from precedes.diagnostics import usage
    from precedes.reports.diagram import diagram
    from precedes.reports.diagram_svg import diagram_svg

    scenarios = scenarios_of(Path(file))
    if wanted is not None:
        scenarios = tuple(scenario for scenario in scenarios if scenario.name == wanted)
    if not scenarios:
        raise usage(f"{file} has no scenario{'' if wanted is None else f' {wanted}'}")
    if form == "svg":
        if len(scenarios) > 1:
            names = ", ".join(scenario.name for scenario in scenarios)
            raise usage("an SVG has one scenario", f"name it with --scenario: {names}")
        text = diagram_svg(scenarios[0].execution)
    else:
        text = "\n".join(f"{each.name}\n\n{diagram(each.execution)}\n" for each in scenarios)
    if output is None:
        click.echo(text, nl=False)
    else:
        Path(output).write_text(text, encoding="utf-8")
    return Exit.HOLDS
