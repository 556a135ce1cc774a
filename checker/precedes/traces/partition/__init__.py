"""Rows of a trace in parts of whole executions."""
