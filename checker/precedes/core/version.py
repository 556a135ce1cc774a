"""The version of this program, and where its source is."""

from __future__ import annotations

from pathlib import Path
from typing import Final

VERSION = "0.1.0"

SOURCE: Final = Path(__file__).parents[1]
"""The folder of the package. Inside an archive it does not exist as a folder."""
