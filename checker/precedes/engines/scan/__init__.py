"""Verdicts on traces: row groups and batches are scanned, partial reports merge."""
