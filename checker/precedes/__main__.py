"""`python -m precedes` is the command `precedes`."""

from precedes.cli.main import main

main()
