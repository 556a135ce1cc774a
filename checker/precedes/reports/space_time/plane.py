"""Where everything of a drawn space-time diagram stands: points of events, curves of arrows, places of labels.

Rows follow one order in which everything may have happened, the times where there are some; a delivery is at least a
row below its send. An arrow is straight where no dot that is not its own is in the way: a row is left free for it, or
else it is bent. Labels are put last, each where it covers the least. How it looks as SVG is `diagram_svg`'s business.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import hypot
from typing import Final, NamedTuple
from unicodedata import east_asian_width

from precedes.core.execution import Event, EventKind, Execution
from precedes.reports.space_time.layout import EventPlace, ordered
from precedes.reports.space_time.short_names import ShortNames
from precedes.reports.space_time.text import label

ROW: Final = 38.0
RADIUS: Final = 4.5
FONT: Final = 13.0
_COLUMN: Final = 140.0
_CLEAR: Final = 10.0
"""How far an arrow stays from dots that are not its own."""
_NEAR: Final = 0.3
"""The same in rows, while rows are still chosen."""
_FREE_ROWS: Final = 2
"""How many rows are left free at most so that an arrow can be straight."""
_BENDS: Final = (0.0, 14.0, -14.0, 26.0, -26.0, 40.0, -40.0, 56.0, -56.0)
_LOOPS: Final = (15.0, -15.0, 24.0, -24.0)
_SAMPLES: Final = 24
_BAND: Final = 16.0
_NAMES: Final = 18
"""Characters of the destinations or members in a label."""


class Point(NamedTuple):
    """A place in the drawing, in its units: x to the right, y downwards."""

    x: float
    y: float


class Box(NamedTuple):
    """A rectangle around text."""

    left: float
    top: float
    right: float
    bottom: float

    def has(self, point: Point) -> bool:
        """Whether a point is in it."""
        return self.left <= point.x <= self.right and self.top <= point.y <= self.bottom

    def meets(self, other: Box) -> bool:
        """Whether the two have a point in common."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


@dataclass(frozen=True, slots=True)
class Curve:
    """An arrow of a message to one receiver, from dot to dot: a quadratic curve, straight where `control` is between.

    `delivered` is False where it ends at a cross, because the receiver never delivers it.
    """

    message: str
    receiver: int
    start: Point
    control: Point
    end: Point
    delivered: bool

    def at(self, share: float) -> Point:
        """The point at a share of the way."""
        rest = 1 - share
        one, two, three = rest * rest, 2 * rest * share, share * share
        return Point(
            one * self.start.x + two * self.control.x + three * self.end.x,
            one * self.start.y + two * self.control.y + three * self.end.y,
        )

    def points(self) -> Iterator[Point]:
        """Points along it, the ends left out."""
        return (self.at(k / _SAMPLES) for k in range(1, _SAMPLES))


@dataclass(frozen=True, slots=True)
class Label:
    """Text beside a dot; `at` is where its baseline begins, or ends where `to_left`."""

    place: EventPlace
    text: str
    at: Point
    to_left: bool


@dataclass(frozen=True, slots=True)
class Plane:
    """A diagram laid out. `columns` are the lifelines from y = 0 down to `bottom`; names stand above.

    `kept_back` are the crosses beside sends that are never delivered to their own sender, by message. `moments` are
    times with the heights of their rows, in their order.
    """

    names: ShortNames
    columns: tuple[float, ...]
    bottom: float
    dots: dict[EventPlace, Point]
    curves: tuple[Curve, ...]
    kept_back: dict[str, Point]
    labels: tuple[Label, ...]
    left: float
    right: float
    moments: tuple[tuple[int, float], ...]

    def height(self, time: int) -> float | None:
        """How far down a time is, between the rows of the times around it; None where it is after all of them."""
        after = bisect_right(self.moments, (time, 0.0))
        if after == len(self.moments):
            return None
        last, below = self.moments[after]
        if not after:
            return below
        first, above = self.moments[after - 1]
        return above + (below - above) * (time - first) / (last - first)


def plane(execution: Execution) -> Plane:
    """Lay an execution out."""
    return _Laying(execution).plane()


def text_width(text: str, size: float = FONT) -> float:
    """About how wide a text of a sans-serif font is."""
    return size * sum(1.0 if east_asian_width(character) in "WF" else 0.53 for character in text)


@dataclass(slots=True)
class _Laying:
    execution: Execution
    rows: dict[EventPlace, int] = field(default_factory=dict)
    sent: dict[str, EventPlace] = field(default_factory=dict)
    got: dict[tuple[str, int], EventPlace] = field(default_factory=dict)
    """The first delivery of a message at an entity."""

    def plane(self) -> Plane:
        self._lay_rows()
        short = ShortNames.of(self.execution)
        texts = {place: label(self.execution, self._event(place), short, _NAMES) for place in self.rows}
        columns = self._columns(texts, short)
        dots = {place: Point(columns[place[0]], ROW * (row + 0.6)) for place, row in self.rows.items()}
        last = max(self.rows.values(), default=-1) + 1
        curves, kept_back, bottom = self._curves(columns, dots, ROW * (last + 0.4))
        boxes, labels = _Labelling(columns, dots, curves, kept_back).labels(texts, self.rows)
        names = [
            (x - text_width(name) / 2, x + text_width(name) / 2)
            for x, name in zip(columns, map(short, self.execution.entities), strict=True)
        ]
        turns = [curve.at(0.5).x for curve in curves]
        left = min([a for a, _ in names] + [box.left for box in boxes] + turns, default=0.0)
        right = max([b for _, b in names] + [box.right for box in boxes] + turns, default=0.0)
        moments = self._moments(dots)
        return Plane(
            short, tuple(columns), bottom, dots, tuple(curves), kept_back, tuple(labels), left, right, moments
        )

    def _moments(self, dots: dict[EventPlace, Point]) -> tuple[tuple[int, float], ...]:
        """Each time with the height of its last event; none where rows do not follow the times."""
        heights: dict[int, float] = {}
        for place, dot in dots.items():
            time = self._event(place).time
            if time is not None:
                heights[time] = max(heights.get(time, 0.0), dot.y)
        found = sorted(heights.items())
        falls = any(one[1] >= other[1] for one, other in pairwise(found))
        return () if falls else tuple(found)

    def _event(self, place: EventPlace) -> Event:
        return self.execution.histories[place[0]].events[place[1]]

    # ---- rows

    def _lay_rows(self) -> None:
        following = [0] * len(self.execution.entities)
        earliest = 0
        for place, event, is_later in ordered(self.execution):
            entity = place[0]
            if is_later:
                earliest = max(self.rows.values()) + 1
            row = max(following[entity], earliest)
            origin = None
            if event.kind is self.execution.delivery and event.message is not None:
                first = (event.message, entity) not in self.got
                origin = self.sent.get(event.message) if first else None
            if origin is not None:
                row = max(row, self.rows[origin] + 1)
            row = next((r for r in range(row, row + _FREE_ROWS + 1) if self._free(entity, r, origin)), row)
            self.rows[place] = row
            following[entity] = row + 1
            if event.message is not None and event.kind is EventKind.SEND:
                self.sent.setdefault(event.message, place)
            if event.message is not None and event.kind is self.execution.delivery:
                self.got.setdefault((event.message, entity), place)

    def _free(self, entity: int, row: int, origin: EventPlace | None) -> bool:
        """Whether an event can stand there with no arrow through a dot that is not its own."""
        if any(abs(at - row) < _NEAR for at in self._crossings(entity)):
            return False
        if origin is None:
            return True
        sender, start = origin[0], self.rows[origin]
        for (between, _), at in self.rows.items():
            if min(sender, entity) < between < max(sender, entity):
                height = start + (row - start) * (between - sender) / (entity - sender)
                if abs(height - at) < _NEAR:
                    return False
        return True

    def _crossings(self, entity: int) -> Iterator[float]:
        """Where arrows between others cross the lifeline of an entity, as rows."""
        for (message, receiver), place in self.got.items():
            origin = self.sent.get(message)
            if origin is None:
                continue
            sender = origin[0]
            if min(sender, receiver) < entity < max(sender, receiver):
                start, end = self.rows[origin], self.rows[place]
                yield start + (end - start) * (entity - sender) / (receiver - sender)

    # ---- columns

    def _columns(self, texts: dict[EventPlace, str], short: ShortNames) -> list[float]:
        """Each as far from the one before as names and labels need."""
        entities = [short(entity) for entity in self.execution.entities]
        widest = [0.0] * len(entities)
        for (entity, _), text in texts.items():
            widest[entity] = max(widest[entity], text_width(text))
        columns = [0.0]
        for entity in range(1, len(entities)):
            labels = max(widest[entity - 1], widest[entity]) + 52
            names = (text_width(entities[entity - 1]) + text_width(entities[entity])) / 2 + 24
            columns.append(columns[-1] + max(_COLUMN, labels, names))
        return columns[: len(entities)]

    # ---- arrows

    def _curves(
        self, columns: list[float], dots: dict[EventPlace, Point], bottom: float
    ) -> tuple[list[Curve], dict[str, Point], float]:
        """The arrows, the crosses beside sends, and where the lifelines end."""
        curves: list[Curve] = []
        kept_back: dict[str, Point] = {}
        slots: dict[tuple[int, int], int] = {}
        for message, origin in sorted(self.sent.items(), key=lambda item: (self.rows[item[1]], item[1])):
            sender, start = origin[0], dots[origin]
            addressed = self.execution.messages[message].destinations or frozenset()
            for receiver, entity in enumerate(self.execution.entities):
                end = self.got.get((message, receiver))
                if end is not None:
                    others = [dot for place, dot in dots.items() if place not in (origin, end)]
                    curves.append(_curve(message, receiver, start, dots[end], others, delivered=True))
                elif entity not in addressed:
                    continue
                elif receiver == sender:
                    kept_back[message] = start
                else:
                    side = 1 if receiver > sender else -1
                    slot = slots.get((receiver, side), 0)
                    slots[receiver, side] = slot + 1
                    cross = Point(columns[receiver] - side * 12, bottom + 6 + 15 * slot)
                    others = [dot for place, dot in dots.items() if place != origin]
                    curves.append(_curve(message, receiver, start, cross, others, delivered=False))
        kept_back = {message: _free_corner(start, curves) for message, start in kept_back.items()}
        return curves, kept_back, bottom + (15 * max(slots.values()) if slots else 0)


def _curve(
    message: str, receiver: int, start: Point, end: Point, others: list[Point], *, delivered: bool
) -> Curve:
    """The least bent way from one dot to another that comes near none of the others."""
    near = [dot for dot in others if start.y - ROW <= dot.y <= end.y + ROW]
    length = hypot(end.x - start.x, end.y - start.y) or 1.0
    across = Point((end.y - start.y) / length, (start.x - end.x) / length)
    best: tuple[float, Curve] | None = None
    for bend in _LOOPS if start.x == end.x else _BENDS:
        middle = Point((start.x + end.x) / 2, (start.y + end.y) / 2)
        if start.x == end.x:
            control = Point(middle.x - 2 * bend, middle.y)
        else:
            control = Point(middle.x + 2 * bend * across.x, middle.y + 2 * bend * across.y)
        way = Curve(message, receiver, start, control, end, delivered)
        cost = abs(bend) + 100 * sum(
            max(0.0, _CLEAR - min(hypot(p.x - dot.x, p.y - dot.y) for p in way.points())) for dot in near
        )
        if best is None or cost < best[0]:
            best = cost, way
        if cost == abs(bend):
            break
    assert best is not None
    return best[1]


def _free_corner(dot: Point, curves: Iterable[Curve]) -> Point:
    """The place beside a dot, of four, that is farthest from the arrows there."""
    near = [
        point
        for curve in curves
        if curve.start.y - ROW < dot.y < curve.end.y + ROW
        for k in range(_SAMPLES * 4)
        if hypot((point := curve.at(k / _SAMPLES / 4)).x - dot.x, point.y - dot.y) < ROW
    ]
    corners = [Point(dot.x + side * 13, dot.y + down * 11) for down in (1, -1) for side in (-1, 1)]
    return max(
        corners,
        key=lambda c: min([hypot(c.x - point.x, c.y - point.y) for point in near if point != dot] + [_CLEAR]),
    )


class _Labelling:
    """Places for labels, one after the other from the top."""

    def __init__(
        self,
        columns: list[float],
        dots: dict[EventPlace, Point],
        curves: Iterable[Curve],
        kept_back: dict[str, Point],
    ) -> None:
        self.columns = columns
        self.dots = dots
        self.bands: dict[int, list[tuple[Point, float]]] = {}
        for curve in curves:
            for k in range(1, _SAMPLES):
                # Near its end is the head of the arrow, which must be seen.
                self._obstacle(curve.at(k / _SAMPLES), 3.0)
            length = hypot(curve.end.x - curve.start.x, curve.end.y - curve.start.y) or 1.0
            for back in (RADIUS + 2, RADIUS + 6, RADIUS + 11):
                self._obstacle(curve.at(max(0.0, 1 - back / length)), 12.0)
        for dot in dots.values():
            self._obstacle(dot, 30.0)
        for cross in kept_back.values():
            self._obstacle(cross, 30.0)
        self.boxes: list[Box] = []

    def _obstacle(self, point: Point, weight: float) -> None:
        self.bands.setdefault(int(point.y // _BAND), []).append((point, weight))

    def labels(
        self, texts: dict[EventPlace, str], rows: dict[EventPlace, int]
    ) -> tuple[list[Box], list[Label]]:
        """Every label, with the box around it."""
        labels: list[Label] = []
        for place in sorted(texts, key=lambda place: (rows[place], place)):
            candidates = [self._candidate(place, texts[place], *shift) for shift in _SHIFTS]
            costs = [self._cost(box) + liking * 0.5 for liking, (box, _) in enumerate(candidates)]
            box, chosen = candidates[costs.index(min(costs))]
            self.boxes.append(box)
            labels.append(chosen)
        return self.boxes, labels

    def _candidate(self, place: EventPlace, text: str, side: int, down: float) -> tuple[Box, Label]:
        dot = self.dots[place]
        x, y = dot.x + side * (RADIUS + 5), dot.y + down
        width = text_width(text)
        left = x if side > 0 else x - width
        return Box(left - 1, y - FONT * 0.8, left + width + 1, y + FONT * 0.25), Label(
            place, text, Point(x, y), side < 0
        )

    def _cost(self, box: Box) -> float:
        """What a label would cover there."""
        cost = 60.0 * sum(box.meets(other) for other in self.boxes)
        cost += 12.0 * sum(box.left < column < box.right for column in self.columns)
        for band in range(int(box.top // _BAND), int(box.bottom // _BAND) + 1):
            cost += sum(weight for point, weight in self.bands.get(band, ()) if box.has(point))
        return cost


_SHIFTS: Final = ((1, 4.5), (-1, 4.5), (1, -6.0), (-1, -6.0), (1, 15.0), (-1, 15.0))
"""Where a label may stand: to the right (1) or left of its dot, and how far below the dot its baseline is; the first
suits best."""
