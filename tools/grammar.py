"""Write the tables of the parser from its grammar: `python -m tools.grammar`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from precedes.language.parsing.tables import generated

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "checker" / "precedes" / "language" / "parsing"


def text() -> str:
    """What `tables.json` has to contain."""
    grammar = (FOLDER / "grammar.lark").read_text(encoding="utf-8")
    return json.dumps(generated(grammar), separators=(",", ":")) + "\n"


def main() -> None:
    """Write the file."""
    (FOLDER / "tables.json").write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
