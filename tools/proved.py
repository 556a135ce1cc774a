"""What is proved of the standard library, for those who have no time to prove it again: `python tools/proved.py`.

It asks the solver about every pair of names, which takes minutes; a test holds that the file is current.
"""

from __future__ import annotations

from pathlib import Path

from precedes.core.outcome import Limits
from precedes.jobs.lattice import lattice
from precedes.language.library import standard_library
from precedes.reports.lattice import as_proved

FILE = Path(__file__).parent.parent / "specs/precedes_specs/proved.json"


def main() -> None:
    """Write it."""
    FILE.write_text(as_proved(lattice(standard_library(), Limits())), encoding="utf-8")
    print("wrote specs/precedes_specs/proved.json")


if __name__ == "__main__":
    main()
