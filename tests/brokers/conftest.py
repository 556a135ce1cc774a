"""The brokers that `make brokers` starts, and a recorder for each test."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from precedes.record import Recorder
from tools.brokers import BROKERS, HOST

Rows = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def broker() -> Callable[[str], tuple[str, int]]:
    """Where the broker of a name answers. Skips where it does not."""

    def found(name: str) -> tuple[str, int]:
        chosen = next(each for each in BROKERS if each.name == name)
        if not chosen.answers():
            pytest.skip(f"no {name} answers at {HOST}:{chosen.port}; `make brokers` starts one")
        return HOST, chosen.port

    return found


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    with Recorder(tmp_path / "trace.jsonl") as made:
        yield made


@pytest.fixture
def rows(recorder: Recorder) -> Rows:
    """What is recorded so far, in the order of histories."""

    def read() -> list[dict[str, Any]]:
        lines = Path(recorder.path).read_text(encoding="utf-8").splitlines()
        return sorted(map(json.loads, lines), key=lambda row: int(row["seq"]))

    return read


@pytest.fixture
def unique() -> str:
    """A name for a queue, a subject or a stream of this test alone."""
    return f"precedes-{secrets.token_hex(6)}"
