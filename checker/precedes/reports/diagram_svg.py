"""Space-time diagrams as SVG: lifelines from top to bottom, a straight arrow from every send to every delivery."""

from __future__ import annotations

from typing import Final
from xml.sax.saxutils import escape

from precedes.execution import EventKind, Execution
from precedes.reports.diagram import label
from precedes.reports.diagram_layout import laid_out

ACROSS: Final = 170
DOWN: Final = 34
MARGIN: Final = 40
_STYLE: Final = (
    "text{font:13px sans-serif;fill:#222;paint-order:stroke;stroke:#fff;stroke-width:3px}"
    ".name{font-weight:600;text-anchor:middle}"
    ".life{stroke:#bbb}.arrow{stroke:#2458a6;stroke-width:1.4;fill:none}.open{stroke-dasharray:4 4}"
    ".dot{fill:#222}"
)

_HEAD: Final = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto"><path d="M0 0L8 4L0 8z" fill="#2458a6"/></marker></defs>'
)


def diagram_svg(execution: Execution) -> str:
    """Draw an execution. What a destination never delivers is a dashed arrow that ends below the last event."""
    layout = laid_out(execution)
    columns = {entity: MARGIN + ACROSS * place for place, entity in enumerate(execution.entities)}
    width = MARGIN + ACROSS * len(columns)
    bottom = MARGIN + DOWN * (layout.height + 1)
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + MARGIN}" role="img">',
        f"<title>{escape(execution.name)}</title>",
        f"<style>{_STYLE}</style>",
        _HEAD,
    ]
    for name, x in columns.items():
        drawn.append(f'<text class="name" x="{x}" y="{MARGIN - 16}">{escape(name)}</text>')
        drawn.append(f'<line class="life" x1="{x}" y1="{MARGIN}" x2="{x}" y2="{bottom}"/>')
    rows = {place: MARGIN + DOWN * (row + 1) for place, row in layout.rows.items()}
    places: dict[tuple[str, EventKind, str | None], int] = {}
    for (entity, number), y in sorted(rows.items()):
        event = execution.histories[entity].events[number]
        places.setdefault((execution.entities[entity], event.kind, event.message), y)
    for message in execution.messages.values():
        sender = message.sender or ""
        start = places.get((sender, EventKind.SEND, message.name))
        if start is None:
            continue
        for receiver in execution.entities:
            end = places.get((receiver, execution.delivery, message.name))
            if end is not None or receiver in (message.destinations or ()):
                drawn.append(_arrow(columns[sender], start, columns[receiver], end, bottom))
    for (place, number), y in rows.items():
        x = MARGIN + ACROSS * place
        text = label(execution, execution.histories[place].events[number])
        drawn.append(f'<circle class="dot" cx="{x}" cy="{y}" r="3.5"/>')
        drawn.append(f'<text x="{x + 8}" y="{y - 5}">{escape(text)}</text>')
    return "\n".join([*drawn, "</svg>"]) + "\n"


def _arrow(x: int, y: int, to: int, end: int | None, bottom: int) -> str:
    """To the event of a delivery, bent where it is one's own; without one, towards the end of the lifeline."""
    if end is None:
        # Beside the lifeline of its destination and of nobody else, at a cross.
        side = -1 if to <= x else 1
        end_x, end_y = to - side * (ACROSS // 5) if to != x else x - 20, bottom - 6
        return (
            f'<line class="arrow open" x1="{x}" y1="{y}" x2="{end_x}" y2="{end_y}"/>'
            f'<path class="arrow" d="M{end_x - 4} {end_y - 4}l8 8m0 -8l-8 8"/>'
        )
    if to == x:
        middle = (y + end) / 2
        return f'<path class="arrow" marker-end="url(#head)" d="M{x} {y}Q{x - 30} {middle:g} {x} {end}"/>'
    return f'<line class="arrow" marker-end="url(#head)" x1="{x}" y1="{y}" x2="{to}" y2="{end}"/>'
