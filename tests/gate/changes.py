"""Eight changes to the example's repository, and what the gate has to say of each.

`python -m tests.gate.changes` writes the golden files anew, after one has looked at them.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from precedes.gate.outputs import FORMATS
from tests.command.running import Ended
from tests.gate.projects import changed, gate

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/sequencer"
GOLDEN = Path(__file__).with_name("golden")


@dataclass(frozen=True)
class Change:
    """A change, the exit code, and a rule that must be told (None: nothing is)."""

    name: str
    make: Callable[[Path], None]
    code: int
    rule: str | None


def replaced(name: str, old: str, new: str) -> Callable[[Path], None]:
    return lambda folder: changed(folder, name, old, new)


DELIVERED = '"two", "seq": {}, "event": "deliver", "message": "b1"'
REORDERED = (DELIVERED.format(1), DELIVERED.format(9))
TIMERS = "\n    def timers(self, here, state):\n        return ()\n"
"""Without this, a model has no time-out that could be early."""
MODEL = "models/sequencer.py"
CHANGES = (
    Change("nothing", lambda folder: None, 0, None),
    Change(
        "a handler swapped",
        # Deliver what comes instead of what is due.
        replaced(MODEL, "if one.number == state.due", "if one.number >= 0"),
        1,
        "G103",
    ),
    Change(
        "a predicate weakened",
        replaced("specs/words.prec", "(forall j: p in RL[j])", "(exists j: p in RL[j])"),
        1,
        "G202",
    ),
    Change("a trace with a reordering", replaced("traces/run.jsonl", *REORDERED), 1, "G105"),
    Change("a bound lowered", replaced("precedes.toml", "messages = 2", "messages = 1"), 1, "G204"),
    Change("a typo", replaced("specs/figures.prec", "expect not order", "expect not oder"), 2, None),
    Change("a renamed message", replaced("specs/figures.prec", "RL2: < b1 a1 ]", "RL2: < b2 a1 ]"), 1, "G101"),
    Change(
        "a slower model",
        # One acknowledgment more for each message: nothing breaks, and there is more to explore.
        replaced(
            MODEL,
            "                return self.deliver(replace(state, early=state.early | {numbered}))\n",
            "                step = self.deliver(replace(state, early=state.early | {numbered}))\n"
            '                acknowledgment = Transmit("acknowledged", frozenset({SEQUENCER}))\n'
            "                return replace(step, actions=(*step.actions, acknowledgment))\n"
            '            case "acknowledged":\n'
            "                return Step(state)\n",
        ),
        0,
        "G205",
    ),
)  # fmt: skip


def ended(change: Change, folder: Path) -> Ended:
    """The gate over the changed repository, with every output written below `out`."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns(".precedes-cache", "__pycache__"))
    change.make(folder)
    outputs = [argument for form in FORMATS for argument in ("--output", f"{form}:out/{form}")]
    return gate(folder, *outputs)


def kept(name: str, text: str) -> str:
    """What is written down of an output: of a page, all but its script and its style, and their hashes."""
    if name != "html":
        return text
    bare = re.sub(r"(<(script|style)>).*?(</\2>)", r"\1\3", text, flags=re.DOTALL)
    return re.sub(r"sha256-[^&]*", "sha256-", bare)


def main() -> None:
    """Write the golden files."""
    import tempfile

    shutil.rmtree(GOLDEN, ignore_errors=True)
    for change in CHANGES:
        with tempfile.TemporaryDirectory() as folder:
            said = ended(change, Path(folder) / "p")
            target = GOLDEN / change.name.replace(" ", "-")
            target.mkdir(parents=True)
            print(change.name, said.code, said.err or said.out.splitlines()[-1])
            if said.err:
                (target / "error").write_text(said.err, encoding="utf-8")
            for path in (Path(folder) / "p/out").glob("*"):
                (target / path.name).write_text(kept(path.name, path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
