"""`python -m precedes` is the command `precedes`."""

from precedes.cli import main

main()
