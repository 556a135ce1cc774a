"""The signs of a space-time diagram, as SVG: what stands for an event of each kind, crosses and texts."""

from __future__ import annotations

from math import hypot
from typing import Final, assert_never
from xml.sax.saxutils import escape

from precedes.core.execution import EventKind
from precedes.core.printable import printable
from precedes.reports.space_time.plane import FONT, Point

INK: Final = "#222222"
SOFT: Final = "#666666"
MARK: Final = "#b3261e"
PAPER: Final = "#ffffff"


def sign(kind: EventKind, delivery: EventKind, at: Point, ink: str, radius: float) -> str:
    """Hollow for a send, filled for a delivery, and a shape of its own for each other kind."""
    x, y = at
    if kind is delivery:
        return f'<circle class="delivery" cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{ink}"/>'
    match kind:
        case EventKind.SEND:
            return (
                f'<circle class="send" cx="{x:g}" cy="{y:g}" r="{radius - 0.7:g}" fill="{PAPER}" stroke="{ink}" '
                f'stroke-width="1.8"/>'
            )
        case EventKind.LOCAL:
            return (
                f'<path class="local" d="M{x - 3:g} {y:g}h6" fill="none" stroke="{ink}" stroke-width="1.6"/>'
            )
        case EventKind.CRASH:
            way = f"M{x - radius:g} {y - radius:g}l{2 * radius:g} {2 * radius:g}m0 {-2 * radius:g}"
            return _event(f"{way}l{-2 * radius:g} {2 * radius:g}", ink, hollow=True, wide=3)
        case EventKind.RECOVER:
            return _event(
                f"M{x:g} {y - radius:g}l{radius:g} {1.8 * radius:g}h{-2 * radius:g}z", ink, hollow=True
            )
        case EventKind.VIEW:
            return _event(
                f"M{x - 1.6 * radius:g} {y - 3:g}h{3.2 * radius:g}v6h{-3.2 * radius:g}z", ink, hollow=True
            )
        case EventKind.DISCARD:
            ring = f"M{x - radius:g} {y:g}a{radius:g} {radius:g} 0 1 0 {2 * radius:g} 0"
            ring += f"a{radius:g} {radius:g} 0 1 0 {-2 * radius:g} 0"
            slash = 0.7 * radius
            return _event(
                f"{ring}M{x - slash:g} {y + slash:g}l{2 * slash:g} {-2 * slash:g}", ink, hollow=True
            )
        case EventKind.ARRIVE | EventKind.DELIVER:
            return _event(_diamond(at, radius), ink, hollow=True)
        case EventKind.ACK:
            return _event(
                f"M{x - radius:g} {y:g}l{0.8 * radius:g} {radius:g}l{radius:g} {-2 * radius:g}",
                ink,
                hollow=True,
            )
        case EventKind.NACK:
            return _event(_diamond(at, radius), ink)
        case _:
            assert_never(kind)


def meaning(kind: EventKind, delivery: EventKind) -> str:
    """What the legend says of the sign of a kind."""
    match kind:
        case EventKind.DELIVER:
            return "delivery" if kind is delivery else "delivery to the user"
        case EventKind.ARRIVE:
            return "arrival"
        case EventKind.SEND | EventKind.CRASH | EventKind.VIEW | EventKind.DISCARD:
            return str(kind.value)
        case EventKind.LOCAL:
            return "local event"
        case EventKind.RECOVER:
            return "recovery"
        case EventKind.ACK:
            return "acknowledged"
        case EventKind.NACK:
            return "given back"
        case _:
            assert_never(kind)


def cross(at: Point, size: float, ink: str) -> str:
    """A cross where a message is never delivered."""
    return (
        f'<path class="cross" d="M{at.x - size:.1f} {at.y - size:.1f}l{2 * size:g} {2 * size:g}m0 {-2 * size:g}'
        f'l{-2 * size:g} {2 * size:g}" fill="none" stroke="{ink}" stroke-width="1.6"/>'
    )


def ring(at: Point, ink: str, radius: float) -> str:
    """A circle around a dot, for a message that is delivered again."""
    return (
        f'<circle class="again" cx="{at.x:g}" cy="{at.y:g}" r="{radius:g}" fill="none" stroke="{ink}" '
        f'stroke-width="1.2"/>'
    )


def text(words: str, at: Point, *, ink: str = INK, size: float = FONT, more: str = "") -> str:
    """A line of text."""
    return (
        f'<text x="{at.x:.1f}" y="{at.y:.1f}" font-size="{size:g}" fill="{ink}"{more}>{escaped(words)}</text>'
    )


def escaped(words: str) -> str:
    """Text for XML, in which some characters can stand in no way at all."""
    return escape(printable(words))


def titled(drawn: str, words: str) -> str:
    """An element with a tooltip."""
    return f"<g><title>{escaped(words)}</title>{drawn}</g>"


def towards(start: Point, end: Point, far: float) -> Point:
    """The point that is so far from `start` on the way to `end`."""
    length = hypot(end.x - start.x, end.y - start.y) or 1.0
    return Point(start.x + (end.x - start.x) * far / length, start.y + (end.y - start.y) * far / length)


def pair(point: Point) -> str:
    """A point as a path has it."""
    return f"{point.x:.1f} {point.y:.1f}"


def _event(way: str, ink: str, *, hollow: bool = False, wide: float = 1.6) -> str:
    fill = PAPER if hollow and way.endswith("z") else "none" if hollow else ink
    return f'<path class="event" d="{way}" fill="{fill}" stroke="{ink}" stroke-width="{wide:g}"/>'


def _diamond(at: Point, radius: float) -> str:
    r = radius
    return f"M{at.x:g} {at.y - r:g}l{r:g} {r:g}l{-r:g} {r:g}l{-r:g} {-r:g}z"
