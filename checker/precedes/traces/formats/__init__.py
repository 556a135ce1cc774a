"""Readers of trace formats, one for each, and what they share."""
