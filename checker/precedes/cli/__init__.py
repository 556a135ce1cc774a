"""The command: arguments and exit codes, one file for each command."""
