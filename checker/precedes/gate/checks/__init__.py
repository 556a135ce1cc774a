"""The kinds of checks that the gate carries out."""
