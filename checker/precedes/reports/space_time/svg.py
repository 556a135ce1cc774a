"""Space-time diagrams as SVG: lifelines from top to bottom, an arrow from every send to every delivery.

A send is a hollow dot, a delivery a filled one. What a figure is about may be marked. The drawing has no style sheet
and no ids, so that many can stand in one page. Where everything is, is `diagram_plane`'s business.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from math import hypot
from typing import Final
from xml.sax.saxutils import escape

from precedes.core.execution import EventKind, Execution
from precedes.core.printable import printable
from precedes.language.quoting import written
from precedes.reports.places import Place, place_of
from precedes.reports.space_time.plane import FONT, RADIUS, Curve, Plane, Point, plane, text_width

_INK: Final = "#222222"
_SOFT: Final = "#666666"
_LIFE: Final = "#b8b8b8"
_ARROW: Final = "#2458a6"
_MARK: Final = "#b3261e"
_MARGIN: Final = 18.0
_SMALL: Final = 12.0
_NARROWEST: Final = 360.0
"""Text beside the diagram is not wrapped to less."""


def diagram_svg(
    execution: Execution, *, heading: str = "", told: str = "", marked: frozenset[Place] = frozenset()
) -> str:
    """Draw an execution, under a heading; `marked` are the places that `told`, below the drawing, is about.

    What a destination never delivers is a dashed arrow that ends at a cross below its last event; a small cross beside
    a send says that the sender does not deliver it itself. A line at the end explains the marks that there are.
    """
    return _Drawing(execution, plane(execution), marked).svg(heading, told)


class _Drawing:
    def __init__(self, execution: Execution, laid: Plane, marked: frozenset[Place]) -> None:
        self.execution = execution
        self.plane = laid
        self.marked = marked
        self.lost = {
            (self.execution.entities[curve.receiver], curve.message)
            for curve in laid.curves
            if not curve.delivered
        }

    def svg(self, heading: str, told: str) -> str:
        """The whole file."""
        left, right = self.plane.left - _MARGIN, self.plane.right + _MARGIN
        words = max(_NARROWEST, right - left) - 2 * _MARGIN
        head = [*_lines(heading, words, FONT + 2)]
        top = -46.0 - (FONT + 6) * len(head)
        drawn = [
            *(
                _text(
                    line,
                    Point(left + _MARGIN, top + 20 + (FONT + 6) * k),
                    size=FONT + 2,
                    more=' font-weight="600"',
                )
                for k, line in enumerate(head)
            ),
            *self._lifelines(),
            *(part for curve in self.plane.curves for part in self._arrow(curve)),
            *(part for message in self.plane.kept_back for part in self._kept_back(message)),
            *self._dots(),
            *self._labels(),
        ]
        below = self.plane.bottom + 30
        for line in _lines(told, words, FONT):
            drawn.append(_text(line, Point(left + _MARGIN, below), ink=_MARK))
            below += FONT + 6
        legend, wide, below = self._legend(left + _MARGIN, left + _MARGIN + words, below + 2)
        drawn += legend
        used = [text_width(line, FONT + 2) for line in head] + [
            text_width(t, FONT) for t in _lines(told, words, FONT)
        ]
        right = max([right, wide + _MARGIN, *(left + 2 * _MARGIN + width for width in used)])
        width, height = right - left, below - top + _MARGIN / 2
        opening = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}" role="img" xml:space="preserve" '
            f'font-family="Helvetica, Arial, sans-serif">'
        )
        title = f"<title>{_escaped(heading or self.execution.name)}</title>"
        paper = (
            f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>'
        )
        return "\n".join([opening, title, paper, *drawn, "</svg>"]) + "\n"

    # ---- parts

    def _lifelines(self) -> Iterator[str]:
        for x, name in zip(self.plane.columns, self.execution.entities, strict=True):
            yield _text(written(name), Point(x, -16), more=' font-weight="600" text-anchor="middle"')
            yield (
                f'<line class="life" x1="{x:g}" y1="-6" x2="{x:g}" y2="{self.plane.bottom + 10:g}" '
                f'stroke="{_LIFE}" stroke-width="1.2"/>'
            )

    def _is_marked(self, entity: str, kind: EventKind, message: str | None) -> bool:
        return message is not None and (entity, kind, message) in self.marked

    def _arrow(self, curve: Curve) -> Iterator[str]:
        receiver = self.execution.entities[curve.receiver]
        marked = self._is_marked(receiver, self.execution.delivery, curve.message)
        ink, wide = (_MARK, 2.2) if marked else (_ARROW, 1.4)
        start = _towards(curve.start, curve.control, RADIUS)
        tip = _towards(curve.end, curve.control, RADIUS + 1) if curve.delivered else curve.end
        neck = _towards(tip, curve.control, 8) if curve.delivered else tip
        straight = abs(curve.control.x * 2 - curve.start.x - curve.end.x) < 0.01
        way = f"L{_pair(neck)}" if straight else f"Q{_pair(curve.control)} {_pair(neck)}"
        dashes = "" if curve.delivered else ' stroke-dasharray="5 4"'
        yield (
            f'<path class="arrow" d="M{_pair(start)}{way}" fill="none" stroke="{ink}" stroke-width="{wide}"{dashes}/>'
        )
        if not curve.delivered:
            yield _cross(curve.end, 4.5, ink)
            return
        # The head is a path of its own: a marker would need an id, which another drawing of the page could have too.
        back = _towards(tip, curve.control, 10)
        aside = Point((tip.y - back.y) * 0.4, (back.x - tip.x) * 0.4)
        one, other = Point(back.x + aside.x, back.y + aside.y), Point(back.x - aside.x, back.y - aside.y)
        yield f'<path class="head" d="M{_pair(tip)}L{_pair(one)}L{_pair(other)}z" fill="{ink}"/>'

    def _kept_back(self, message: str) -> Iterator[str]:
        cross = self.plane.kept_back[message]
        sender = self.execution.messages[message].sender or ""
        marked = self._is_marked(sender, self.execution.delivery, message)
        ink = _MARK if marked else _SOFT
        entity = self.execution.entities.index(sender)
        events = self.execution.histories[entity].events
        number = next(
            n for n, event in enumerate(events) if event.kind is EventKind.SEND and event.message == message
        )
        start = _towards(self.plane.dots[entity, number], cross, RADIUS)
        yield (
            f'<path class="kept-back" d="M{_pair(start)}L{_pair(cross)}" fill="none" stroke="{ink}" '
            f'stroke-width="1.1"/>'
        )
        yield _cross(cross, 3, ink)

    def _dots(self) -> Iterator[str]:
        for (entity, number), dot in self.plane.dots.items():
            event = self.execution.histories[entity].events[number]
            marked = place_of(self.execution.entities[entity], event) in self.marked
            yield _dot(event.kind, self.execution.delivery, dot, _MARK if marked else _INK, RADIUS + marked)

    def _labels(self) -> Iterator[str]:
        """Each over a white outline of itself, which is drawn apart: where a renderer does not know `paint-order`, an
        outline of the text itself would cover it.
        """
        halo = ' class="halo" aria-hidden="true" stroke="#ffffff" stroke-width="3" stroke-linejoin="round"'
        for each in self.plane.labels:
            if not each.text:
                continue
            entity, number = each.place
            event = self.execution.histories[entity].events[number]
            marked = place_of(self.execution.entities[entity], event) in self.marked
            more = ' text-anchor="end"' if each.to_left else ""
            more += ' font-weight="600"' if marked else ""
            yield _text(each.text, each.at, ink="#ffffff", more=more + halo)
            yield _text(each.text, each.at, ink=_MARK if marked else _INK, more=more)

    def _legend(self, left: float, right: float, y: float) -> tuple[list[str], float, float]:
        """What the signs mean, those that there are; the rightmost x and the lowest y."""
        kinds = {event.kind for history in self.execution.histories for event in history.events}
        delivery = self.execution.delivery
        signs: list[tuple[str, str]] = []
        at = Point(0, 0)
        if EventKind.SEND in kinds:
            signs.append((_dot(EventKind.SEND, delivery, at, _SOFT, 3.5), "send"))
        if delivery in kinds:
            signs.append((_dot(delivery, delivery, at, _SOFT, 3.5), "delivery"))
        if EventKind.LOCAL in kinds:
            signs.append((_dot(EventKind.LOCAL, delivery, at, _SOFT, 3.5), "local event"))
        if self.lost:
            signs.append((_cross(at, 4, _SOFT), "addressed there, never delivered"))
        if self.plane.kept_back:
            signs.append((_cross(at, 3, _SOFT), "beside a send: not delivered to its sender"))
        drawn: list[str] = []
        x, widest = left, left
        for sign, meaning in signs:
            width = 14 + text_width(meaning, _SMALL)
            if x > left and x + width > right:
                x, y = left, y + _SMALL + 6
            drawn.append(f'<g transform="translate({x + 4:g} {y - 4:g})">{sign}</g>')
            drawn.append(_text(meaning, Point(x + 14, y), ink=_SOFT, size=_SMALL))
            x += width + 16
            widest = max(widest, x - 16)
        return drawn, widest, y


# ---- signs ---------------------------------------------------------------------------------------------------


def _dot(kind: EventKind, delivery: EventKind, at: Point, ink: str, radius: float) -> str:
    """Hollow for a send, filled for a delivery, a short stroke for a local event, a small diamond for all else."""
    x, y = at
    if kind is EventKind.SEND:
        return (
            f'<circle class="send" cx="{x:g}" cy="{y:g}" r="{radius - 0.7:g}" fill="#ffffff" stroke="{ink}" '
            f'stroke-width="1.8"/>'
        )
    if kind is delivery:
        return f'<circle class="delivery" cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{ink}"/>'
    if kind is EventKind.LOCAL:
        return f'<path class="local" d="M{x - 3:g} {y:g}h6" fill="none" stroke="{ink}" stroke-width="1.6"/>'
    return (
        f'<path class="event" d="M{x:g} {y - radius:g}l{radius:g} {radius:g}l{-radius:g} {radius:g}'
        f'l{-radius:g} {-radius:g}z" fill="{ink}"/>'
    )


def _cross(at: Point, size: float, ink: str) -> str:
    return (
        f'<path class="cross" d="M{at.x - size:.1f} {at.y - size:.1f}l{2 * size:g} {2 * size:g}m0 {-2 * size:g}'
        f'l{-2 * size:g} {2 * size:g}" fill="none" stroke="{ink}" stroke-width="1.6"/>'
    )


def _text(text: str, at: Point, *, ink: str = _INK, size: float = FONT, more: str = "") -> str:
    return (
        f'<text x="{at.x:.1f}" y="{at.y:.1f}" font-size="{size:g}" fill="{ink}"{more}>{_escaped(text)}</text>'
    )


def _escaped(text: str) -> str:
    """Text for XML, in which some characters can stand in no way at all."""
    return escape(printable(text))


def _lines(text: str, width: float, size: float) -> Iterable[str]:
    """A text wrapped to a width."""
    return textwrap.wrap(text, max(20, int(width / (size * 0.53))))


def _towards(start: Point, end: Point, far: float) -> Point:
    length = hypot(end.x - start.x, end.y - start.y) or 1.0
    return Point(start.x + (end.x - start.x) * far / length, start.y + (end.y - start.y) * far / length)


def _pair(point: Point) -> str:
    return f"{point.x:.1f} {point.y:.1f}"
