"""Columnar files that are laid out for scanning: how one is written and recognized."""
