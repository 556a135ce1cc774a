"""What is known of the properties of an exploration so far."""

from __future__ import annotations

from collections.abc import Iterable


class Tally:
    """For each property: `failures` has the first state in which it was seen to fail, `exercised` how often its premise
    was met, `unknown` why a verdict was open.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.failures: dict[str, int] = {}
        self.exercised: dict[str, int] = dict.fromkeys(names, 0)
        self.unknown: dict[str, int] = {}

    def fail(self, name: str, state: int) -> None:
        """Remember the first state in which a property fails."""
        self.failures.setdefault(name, state)

    def count(self, name: str, judged: bool | None, state: int) -> None:
        """Count what was judged of a state; None: the premise was not met."""
        if judged is None:
            return
        self.exercised[name] += 1
        if not judged:
            self.fail(name, state)

    def take_up(self, failures: dict[str, int], exercised: dict[str, int], unknown: dict[str, int]) -> None:
        """Know what was known."""
        self.failures, self.exercised, self.unknown = failures, exercised, unknown
