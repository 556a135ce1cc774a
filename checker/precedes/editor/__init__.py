"""Help for people who write .prec files: what an editor asks of a text, and the server that editors speak with.

Everything but `server` is about texts and places in them, counted as `precedes.core.diagnostics.Span` counts.
"""
