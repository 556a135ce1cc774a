"""Commands of `precedes` by what they are about. Arguments and exit codes only, as in `precedes.cli`."""
