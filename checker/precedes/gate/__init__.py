"""The gate: all that a project states about its message order, in one run with one exit code.

configuration → checks → (cache) → items → baseline → reports.
"""
