"""A formal model and a trace checker for the order of messages in group communication."""

__version__ = "0.1.0"
