"""The language of `.prec` files: text to syntax tree, sorts, core formulas and executions, and back to text.

`compiling.compile_text` is the way from a file to scenarios and claims, `requirements.requirement` from a
name or formula to what an engine judges. Nothing is imported here, so that a Spark worker without a parser
can import the package.
"""
