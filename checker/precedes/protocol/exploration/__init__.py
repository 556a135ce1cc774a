"""Explores every behavior of a protocol, within bounds."""
