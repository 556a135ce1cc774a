"""Verdicts in words: atoms, numbers, times, sentences."""
