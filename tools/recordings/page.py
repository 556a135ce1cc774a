"""docs/brokers.md from the table. The words are in page.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template
from typing import Final

from tools.recordings.table import Cell

WORDS: Final = Path(__file__).parent / "page.md"
PAGE: Final = Path(__file__).parents[2] / "docs" / "brokers.md"
TITLES: Final = {"rabbitmq": "RabbitMQ", "nats": "NATS", "redis": "Redis", "mosquitto": "Mosquitto"}


def generated(cells: Sequence[Cell]) -> str:
    """The page."""
    brokers = {
        name: _broker(title, [cell for cell in cells if cell.broker == name])
        for name, title in TITLES.items()
    }
    runs = sorted({cell.runs for cell in cells})
    each = sorted({cell.messages // cell.runs for cell in cells})
    return Template(WORDS.read_text(encoding="utf-8")).substitute(
        brokers,
        runs=" or ".join(map(str, runs)),
        messages=" or ".join(map(str, each)),
        total=f"{sum(cell.messages for cell in cells):,}",
    )


def write(cells: Sequence[Cell]) -> None:
    """Write it."""
    PAGE.write_text(generated(cells), encoding="utf-8")


def _broker(title: str, cells: Sequence[Cell]) -> str:
    if not cells:
        return f"## {title}\n\nIt was not recorded."
    first = cells[0]
    modes = list(dict.fromkeys(cell.mode for cell in cells))
    parts = [f"## {title} {first.version}, with {first.client}"]
    parts += ["\n".join(_mode([cell for cell in cells if cell.mode == mode])) for mode in modes]
    return "\n\n".join(parts)


def _mode(cells: Sequence[Cell]) -> Iterator[str]:
    names = list(cells[0].verdicts)
    yield f"### {cells[0].mode[0].upper()}{cells[0].mode[1:]}"
    yield ""
    yield f"| fault | {' | '.join(f'`{name}`' for name in names)} |"
    yield f"|---{'|---' * len(names)}|"
    for cell in cells:
        yield f"| {cell.fault} | {' | '.join(_verdict(cell.verdicts[name]) for name in names)} |"
    yield ""
    for cell in cells:
        yield f"- {cell.fault}: {', '.join(f'`{name}`' for name in cell.kept) or 'nothing'}"


def _verdict(counts: Sequence[int]) -> str:
    found = [
        f"{word} in {count}" for word, count in zip(("broken", "unknown"), counts[1:], strict=True) if count
    ]
    return ", ".join(found) or "kept"
