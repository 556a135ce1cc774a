"""The language of `.prec` files: text to syntax tree, to sorts, to core formulas and executions, and back to
text.

`loader.compile_text` turns a file into scenarios and claims. `requirements.requirement` turns a name or a
formula into a requirement, which an engine judges. This module imports nothing, so that a Spark worker, which
has no parser, can import the package.
"""
