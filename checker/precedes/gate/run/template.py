"""The files that `precedes init` writes: a configuration that explains itself, one definition, one scenario."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from precedes.core.diagnostics import usage
from precedes.gate.config import configures

FILES = {
    "precedes.toml": """\
# The checks of `precedes gate`. `precedes gate --schema config` prints the JSON schema of this file.

# What an unknown verdict, or a proof up to a bound, counts as: "undecided" (exit code 3), "violated" or "accepted".
unknown = "undecided"

# Compare with earlier results: `precedes gate --write-baseline` writes this file. Commit it.
# baseline = "precedes-baseline.json"

# Scenarios and claims: every .prec file in these folders.
[[check]]
files = ["specs"]

# A protocol model, explored within bounds: a name from `precedes list`, or a Python file of your own.
# [[explore]]
# model = "models/my_protocol.py"
# entities = 3
# messages = 3

# The same model, run at random.
# [[simulate]]
# model = "models/my_protocol.py"
# require = ["causal_order"]
# executions = 10000

# Recorded executions, and what must hold in each of them. A budget allows some violations.
# [[verify]]
# files = ["traces/*.jsonl"]
# require = ["ST"]
# budget = { ST = "0.1 %" }

# Logs of another system, as they are. `precedes list` prints the formats.
# [[verify]]
# files = ["logs/*.jsonl"]
# from = "kcat"
# set = { execution = "orders" }
# require = ["no_duplication"]

# How much a rule (see `precedes explain`) or a requirement counts: "error", "warning", "note" or "off".
# [severity]
# G205 = "warning"
""",
    "specs/orders.prec": """\
# The definitions of this project. Definitions are formulas over logs; `precedes list` prints those of the library.

predicate nobody_behind "what one entity delivers, every destination delivers"
  := forall p: (exists i: p in RL[i]) implies (forall j: j in dest(p) implies p in RL[j])

claim (selectively_correct) implies nobody_behind
""",
    "specs/first.prec": """\
# The logs of two services, as you would draw them. RL is what was delivered, SL what was sent, in order.

scenario payments "both replicas apply the payments in one order"
cluster ledger audit
RL1: < a b c ]   SL1: < a{1,2} c{1,2} ]
RL2: < a b c ]   SL2: < b{1,2} ]
expect ST

scenario overtaken "one replica applies b before a"
cluster ledger audit
RL1: < a b ]   SL1: < a{1,2} ]
RL2: < b a ]   SL2: < b{1,2} ]
expect SP
expect not ST
""",
}
"""The files by their names in the new project."""


def write(folder: Path) -> Iterator[Path]:
    """Write the files, and yield each. Raises PrecedesError, and writes nothing, if a file exists or is in the way."""
    specs = folder / "specs"
    there = [name for name in FILES if (folder / name).exists()]
    if specs.exists() and not specs.is_dir():
        there.append(specs.name)
    if configures(folder / "pyproject.toml"):
        # A precedes.toml beside it would hide it.
        there.append("pyproject.toml with [tool.precedes]")
    if there:
        raise usage(
            f"{folder / there[0]} already exists",
            "nothing was written; to begin elsewhere, use `precedes init FOLDER`",
        )
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        yield path
