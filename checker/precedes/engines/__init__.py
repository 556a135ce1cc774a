"""Engines: the programs that judge formulas. Each is a package of its own and is imported where it is used,
never from here.
"""
