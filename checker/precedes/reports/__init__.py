"""Verdicts in words and pictures: figures, sentences, and formats for other tools."""
