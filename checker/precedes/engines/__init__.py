"""Engines: the readings of a formula. Each is a package of its own and is imported where it is used, never
from here."""
