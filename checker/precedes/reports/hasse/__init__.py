"""Hasse diagrams, as text and as SVG."""
