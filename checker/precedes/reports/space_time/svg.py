"""Space-time diagrams as SVG: lifelines from top to bottom, an arrow from every send to every delivery.

A send is a hollow dot, a delivery a filled one. What a figure is about may be marked. The drawing has no style sheet
and no ids, so that many can stand in one page; a page may color its classes, and its `data-` attributes say which
event a dot is. Where everything is, is the business of `precedes.reports.space_time.plane`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final
from xml.sax.saxutils import quoteattr

from precedes.core.execution import Event, EventKind, Execution
from precedes.core.printable import printable
from precedes.language.quoting import shown
from precedes.reports.places import Place, place_of
from precedes.reports.prose.times import duration_text
from precedes.reports.space_time.layout import EventPlace
from precedes.reports.space_time.marks import NOTHING, Marks
from precedes.reports.space_time.message_colors import MessageColors, message_colors
from precedes.reports.space_time.neighborhood import Excerpt
from precedes.reports.space_time.plane import FONT, RADIUS, Curve, Plane, Point, plane, text_width
from precedes.reports.space_time.signs import (
    INK,
    MARK,
    PAPER,
    SOFT,
    cross,
    escaped,
    meaning,
    pair,
    ring,
    sign,
    text,
    titled,
    towards,
)
from precedes.reports.space_time.text import label

_LIFE: Final = "#b8b8b8"
_LIT: Final = "#ffc83d"
_SPAN: Final = "#d98e04"
_LOOP: Final = "#7048b6"
_MARGIN: Final = 18.0
_SMALL: Final = 12.0
_NARROWEST: Final = 360.0
"""Text beside the diagram is not wrapped to less."""
_MOST_SPANS: Final = 6
"""Messages whose Δ is shown where none is marked."""


def diagram_svg(drawn: Excerpt, *, heading: str = "", marks: Marks = NOTHING) -> str:
    """Draw an execution, or a part of it, under a heading; what the marks tell stands below the drawing.

    What a destination never delivers is a dashed arrow that ends at a cross below its last event; a small cross beside
    a send says that the sender does not deliver it itself. A line at the end explains the signs that there are.
    """
    return _Drawing(drawn, plane(drawn.execution), marks).svg(heading)


class _Drawing:
    def __init__(self, drawn: Excerpt, laid: Plane, marks: Marks) -> None:
        self.drawn = drawn
        self.execution: Execution = drawn.execution
        self.plane = laid
        self.marks = marks
        self.colors: MessageColors = message_colors(self.execution)
        self.numbers = {name: number for number, name in enumerate(self.execution.messages)}
        self.lost = {
            (self.execution.entities[curve.receiver], curve.message)
            for curve in laid.curves
            if not curve.delivered
        }
        self.again = self._again()
        self.spans = self._spans()

    def _again(self) -> frozenset[EventPlace]:
        """The deliveries of what the entity had delivered before."""
        found = set()
        for entity, history in enumerate(self.execution.histories):
            met: set[str] = set()
            for number, event in enumerate(history.events):
                if event.kind is self.execution.delivery and event.message is not None:
                    if event.message in met:
                        found.add((entity, number))
                    met.add(event.message)
        return frozenset(found)

    def svg(self, heading: str) -> str:
        """The whole file."""
        left, right = self.plane.left - _MARGIN, self.plane.right + _MARGIN
        words = max(_NARROWEST, right - left) - 2 * _MARGIN
        head = [*_lines(heading, words, FONT + 2)]
        top = -46.0 - (FONT + 6) * len(head)
        bold = ' class="heading" font-weight="600"'
        drawn = [
            *(
                text(line, Point(left + _MARGIN, top + 20 + (FONT + 6) * k), size=FONT + 2, more=bold)
                for k, line in enumerate(head)
            ),
            *self._lifelines(),
            *(part for span in self.spans for part in self._span(*span)),
            *self._loop(),
            *self._lit(),
            *(part for curve in self.plane.curves for part in self._arrow(curve)),
            *(part for message in self.plane.kept_back for part in self._kept_back(message)),
            *self._dots(),
            *self._labels(),
        ]
        below = self.plane.bottom + 30
        told = [(line, MARK, "told") for line in _lines(self.marks.told, words, FONT)]
        told += [(line, SOFT, "left-out") for line in _lines(self.drawn.left_out, words, FONT)]
        for line, ink, kind in told:
            drawn.append(text(line, Point(left + _MARGIN, below), ink=ink, more=f' class="{kind}"'))
            below += FONT + 6
        legend, wide, below = self._legend(left + _MARGIN, left + _MARGIN + words, below + 2)
        drawn += legend
        used = [text_width(line, FONT + 2) for line in head] + [text_width(line, FONT) for line, _, _ in told]
        right = max([right, wide + _MARGIN, *(left + 2 * _MARGIN + width for width in used)])
        width, height = right - left, below - top + _MARGIN / 2
        opening = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}" role="img" xml:space="preserve" '
            f'font-family="Helvetica, Arial, sans-serif">'
        )
        title = f"<title>{escaped(heading or self.execution.name)}</title>"
        paper = (
            f'<rect class="paper" x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{height:.0f}" '
            f'fill="{PAPER}"/>'
        )
        return "\n".join([opening, title, paper, *drawn, "</svg>"]) + "\n"

    # ---- lifelines

    def _lifelines(self) -> Iterator[str]:
        for entity, (x, history) in enumerate(zip(self.plane.columns, self.execution.histories, strict=True)):
            name = self.plane.names(history.entity)
            drawn = text(name, Point(x, -16), more=' class="name" font-weight="600" text-anchor="middle"')
            yield drawn if name == shown(history.entity) else titled(drawn, history.entity)
            yield _line("life", x, -6, self.plane.bottom + 10)
            yield from self._down(entity, x)
            heights = [self.plane.dots[entity, number].y - 17 for number in range(len(history.events))]
            for number, y in enumerate((*heights, self.plane.bottom + 2)):
                if gap := self.drawn.gaps.get((entity, number)):
                    yield titled(_break(Point(x, y)), f"{gap:,} not shown")

    def _down(self, entity: int, x: float) -> Iterator[str]:
        """Dashes over a lifeline where the entity has crashed."""
        since: float | None = None
        for number, event in enumerate(self.execution.histories[entity].events):
            y = self.plane.dots[entity, number].y
            if event.kind is EventKind.CRASH and since is None:
                since = y
            elif event.kind is EventKind.RECOVER and since is not None:
                yield _dashes(x, since, y)
                since = None
        if since is not None:
            yield _dashes(x, since, self.plane.bottom + 10)

    # ---- Δ

    def _spans(self) -> tuple[tuple[EventPlace, float, tuple[int, ...]], ...]:
        """The sends whose Δ is shown: how far down it ends, and to whom it matters."""
        delta = self.execution.delta
        if delta is None:
            return ()
        marked = {name for _, kind, name in self.marks.places if kind is self.execution.delivery}
        found: list[tuple[EventPlace, float, tuple[int, ...]]] = []
        for place in self.plane.dots:
            event = self._event(place)
            if event.kind is not EventKind.SEND or event.message is None or event.time is None:
                continue
            if event.message not in (marked or self.numbers):
                continue
            ends = self.plane.height(event.time + delta)
            to = tuple(curve.receiver for curve in self.plane.curves if curve.message == event.message)
            found.append((place, self.plane.bottom if ends is None else ends, to if ends is not None else ()))
        return tuple(found) if marked or len(found) <= _MOST_SPANS else ()

    def _span(self, place: EventPlace, ends: float, to: tuple[int, ...]) -> Iterator[str]:
        """A bar beside the lifeline of the sender while a message may be under way, and a line to those it is for where
        that time is over."""
        dot = self.plane.dots[place]
        delta = duration_text(self.execution.delta or 0)
        name = self._event(place).message or ""
        bar = (
            f'<rect class="span" x="{dot.x - 11:g}" y="{dot.y:.1f}" width="5" height="{ends - dot.y:.1f}" '
            f'fill="{_SPAN}" fill-opacity="0.45"/>'
        )
        yield titled(bar, f"Δ = {delta} for {name}")
        if to:
            columns = [dot.x - 11, *(self.plane.columns[entity] for entity in to)]
            yield (
                f'<path class="deadline" d="M{min(columns):g} {ends:.1f}H{max(columns):g}" fill="none" '
                f'stroke="{_SPAN}" stroke-width="1.2" stroke-dasharray="2 3"/>'
            )

    # ---- what goes on for ever

    def _loop(self) -> Iterator[str]:
        """A wide band under the lifelines of a loop, from its first event on, and a sign that it begins anew."""
        first: dict[int, float] = {}
        for place, dot in self.plane.dots.items():
            if place_of(self._entity(place), self._event(place)) in self.marks.loop:
                first[place[0]] = min(dot.y, first.get(place[0], dot.y))
        for entity, y in first.items():
            x, bottom = self.plane.columns[entity], self.plane.bottom + 10
            yield (
                f'<rect class="loop" x="{x - 9:g}" y="{y - 14:.1f}" width="18" height="{bottom - y + 14:.1f}" rx="9" '
                f'fill="{_LOOP}" fill-opacity="0.3"/>'
            )
            yield _again(Point(x, bottom))

    # ---- arrows

    def _lit(self) -> Iterator[str]:
        """A bright band under the causal chain."""
        at: dict[Place | None, Point] = {}
        for place, dot in self.plane.dots.items():
            at.setdefault(place_of(self._entity(place), self._event(place)), dot)
        for one, other in pairwise(self.marks.chain):
            start, end = at.get(one), at.get(other)
            if start is None or end is None:
                continue
            curve = next((c for c in self.plane.curves if (c.start, c.end) == (start, end)), None)
            if curve is None and one[0] != other[0]:
                continue
            way = f"L{pair(end)}" if curve is None else f"Q{pair(curve.control)} {pair(end)}"
            yield (
                f'<path class="lit" d="M{pair(start)}{way}" fill="none" stroke="{_LIT}" stroke-width="9" '
                f'stroke-opacity="0.55" stroke-linecap="round"/>'
            )

    def _arrow(self, curve: Curve) -> Iterator[str]:
        receiver = self.execution.entities[curve.receiver]
        marked = (receiver, self.execution.delivery, curve.message) in self.marks.places
        ink, wide = (MARK, 2.2) if marked else (self.colors.of(curve.message), 1.4)
        start = towards(curve.start, curve.control, RADIUS)
        tip = towards(curve.end, curve.control, RADIUS + 1) if curve.delivered else curve.end
        neck = towards(tip, curve.control, 8) if curve.delivered else tip
        straight = abs(curve.control.x * 2 - curve.start.x - curve.end.x) < 0.01
        way = f"L{pair(neck)}" if straight else f"Q{pair(curve.control)} {pair(neck)}"
        dashes = "" if curve.delivered else ' stroke-dasharray="5 4"'
        about = f'data-m="{self.numbers[curve.message]}" data-to="{curve.receiver}"'
        yield (
            f'<path class="arrow" {about} d="M{pair(start)}{way}" fill="none" stroke="{ink}" '
            f'stroke-width="{wide}"{dashes}/>'
        )
        if not curve.delivered:
            yield cross(curve.end, 4.5, ink)
            return
        # The head is a path of its own: a marker would need an id, which another drawing of the page could have too.
        back = towards(tip, curve.control, 10)
        aside = Point((tip.y - back.y) * 0.4, (back.x - tip.x) * 0.4)
        one, other = Point(back.x + aside.x, back.y + aside.y), Point(back.x - aside.x, back.y - aside.y)
        yield f'<path class="head" {about} d="M{pair(tip)}L{pair(one)}L{pair(other)}z" fill="{ink}"/>'

    def _kept_back(self, message: str) -> Iterator[str]:
        at = self.plane.kept_back[message]
        sender = self.execution.messages[message].sender or ""
        marked = (sender, self.execution.delivery, message) in self.marks.places
        ink = MARK if marked else SOFT
        entity = self.execution.entities.index(sender)
        events = self.execution.histories[entity].events
        number = next(
            n for n, event in enumerate(events) if event.kind is EventKind.SEND and event.message == message
        )
        start = towards(self.plane.dots[entity, number], at, RADIUS)
        yield (
            f'<path class="kept-back" d="M{pair(start)}L{pair(at)}" fill="none" stroke="{ink}" '
            f'stroke-width="1.1"/>'
        )
        yield cross(at, 3, ink)

    # ---- events

    def _event(self, place: EventPlace) -> Event:
        return self.execution.histories[place[0]].events[place[1]]

    def _entity(self, place: EventPlace) -> str:
        return self.execution.histories[place[0]].entity

    def _is_marked(self, place: EventPlace) -> bool:
        return place_of(self._entity(place), self._event(place)) in self.marks.places

    def _dots(self) -> Iterator[str]:
        for place, dot in self.plane.dots.items():
            event = self._event(place)
            marked = self._is_marked(place)
            ink = MARK if marked else INK
            drawn = sign(event.kind, self.execution.delivery, dot, ink, RADIUS + marked)
            number = "" if event.message is None else f' data-m="{self.numbers[event.message]}"'
            words = " ".join(filter(None, (event.kind.value, event.message, "at", self._entity(place))))
            about = f' data-e="{place[0]}" data-n="{place[1]}" data-k="{event.kind.value}"{number}'
            about += f" aria-label={quoteattr(printable(words))}"
            yield drawn.replace('"/>', f'"{about}/>')
            if place in self.again:
                yield ring(dot, ink, RADIUS + marked + 3)

    def _labels(self) -> Iterator[str]:
        """Each over a white outline of itself, which is drawn apart: where a renderer does not know `paint-order`, an
        outline of the text itself would cover it.
        """
        halo = f' class="halo" aria-hidden="true" stroke="{PAPER}" stroke-width="3" stroke-linejoin="round"'
        for each in self.plane.labels:
            if not each.text:
                continue
            marked = self._is_marked(each.place)
            more = ' text-anchor="end"' if each.to_left else ""
            more += ' font-weight="600"' if marked else ""
            about = f' class="label" data-of="{each.place[0]} {each.place[1]}"'
            yield text(each.text, each.at, ink=PAPER, more=more + halo)
            drawn = text(each.text, each.at, ink=MARK if marked else INK, more=more + about)
            whole = label(self.execution, self._event(each.place), shown)
            yield drawn if whole == each.text else titled(drawn, whole)

    # ---- legend

    def _legend(self, left: float, right: float, y: float) -> tuple[list[str], float, float]:
        """What the signs mean, those that there are; the rightmost x and the lowest y."""
        drawn: list[str] = []
        x, widest = left, left
        for shape, words in self._signs():
            width = 14 + text_width(words, _SMALL)
            if x > left and x + width > right:
                x, y = left, y + _SMALL + 6
            drawn.append(f'<g transform="translate({x + 4:g} {y - 4:g})">{shape}</g>')
            drawn.append(text(words, Point(x + 14, y), ink=SOFT, size=_SMALL, more=' class="legend"'))
            x += width + 16
            widest = max(widest, x - 16)
        return drawn, widest, y

    def _signs(self) -> Iterator[tuple[str, str]]:
        at, delivery = Point(0, 0), self.execution.delivery
        kinds = {event.kind for history in self.execution.histories for event in history.events}
        for kind in EventKind:
            if kind in kinds:
                yield sign(kind, delivery, at, SOFT, 3.5), meaning(kind, delivery)
        if self.again:
            yield sign(delivery, delivery, at, SOFT, 2.2) + ring(at, SOFT, 4.5), "delivered again"
        if self.lost:
            yield cross(at, 4, SOFT), "addressed there, never delivered"
        if self.plane.kept_back:
            yield cross(at, 3, SOFT), "beside a send: not delivered to its sender"
        if self.spans:
            bar = f'<rect class="span" x="-2.5" y="-5" width="5" height="10" fill="{_SPAN}" fill-opacity="0.45"/>'
            yield bar, f"Δ = {duration_text(self.execution.delta or 0)}"
        if self.marks.loop:
            yield _again(at), "goes on for ever"
        for value, color in self.colors.values.items():
            stroke = f'<path class="color" d="M-5 0h10" fill="none" stroke="{color}" stroke-width="2.5"/>'
            yield stroke, f"{self.colors.attribute} {self.plane.names(value)}"
        if self.drawn.gaps:
            yield _break(at), "events not shown"


def _line(kind: str, x: float, top: float, bottom: float) -> str:
    return (
        f'<line class="{kind}" x1="{x:g}" y1="{top:g}" x2="{x:g}" y2="{bottom:g}" stroke="{_LIFE}" '
        f'stroke-width="1.2"/>'
    )


def _dashes(x: float, top: float, bottom: float) -> str:
    return (
        f'<path class="down" d="M{x:g} {top:g}V{bottom:g}" fill="none" stroke="{PAPER}" stroke-width="3" '
        f'stroke-dasharray="6 5"/>'
    )


def _again(at: Point) -> str:
    """An arrow that comes back to where it began."""
    return (
        f'<path class="loop" d="M{at.x + 4:g} {at.y - 2:g}a4.5 4.5 0 1 0 0.5 3.5" fill="none" stroke="{_LOOP}" '
        f'stroke-width="1.8"/><path class="loop" d="M{at.x + 6.5:g} {at.y - 5.5:g}v5h-5z" fill="{_LOOP}"/>'
    )


def _break(at: Point) -> str:
    """A gap in a lifeline."""
    return (
        f'<path class="break" d="M{at.x - 6:g} {at.y + 1:g}l12 -4v6l-12 4z" fill="{PAPER}"/>'
        f'<path class="gap" d="M{at.x - 6:g} {at.y + 1:g}l12 -4m0 6l-12 4" fill="none" stroke="{SOFT}" '
        f'stroke-width="1.1"/>'
    )


def _lines(words: str, width: float, size: float) -> Iterable[str]:
    """A text wrapped to a width."""
    return textwrap.wrap(words, max(20, int(width / (size * 0.53))))
