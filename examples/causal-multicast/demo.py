"""Runs the CMD protocol over a lossy network, and records what its processes send and deliver.

python demo.py runs --executions 200
"""

from __future__ import annotations

import argparse
from pathlib import Path

from group import Program, record
from mistakes import MISTAKES, program


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Record runs of the CMD protocol over a lossy network.")
    parser.add_argument("folder", type=Path, help="where the trace goes; a new folder")
    parser.add_argument("--executions", type=int, default=200)
    parser.add_argument("--entities", type=int, default=3)
    parser.add_argument("--messages", type=int, default=6)
    names = {mistake.__name__: mistake for mistake in MISTAKES}
    parser.add_argument("--mistake", choices=names, help="run the program with this mistake")
    options = parser.parse_args()
    running = program(names[options.mistake]) if options.mistake else Program()
    record(running, options.folder, options.executions, options.entities, options.messages)


if __name__ == "__main__":
    main()
