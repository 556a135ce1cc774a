"""Columnar files for scanning: how to write and recognize them."""
