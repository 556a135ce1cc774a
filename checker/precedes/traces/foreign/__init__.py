"""Logs of other systems as rows of a trace, one module for each format; the registry of formats has them all.

Such a module has, besides `read` of every format,

    SETTINGS                      {name: what it says} of what a user may set; none: {}
    recognizes(start, name)       whether a file is of this format, by the beginning of its text and by its name

A format says what its source records and what it does not (`TraceFormat.carries`, `lacks`). What it does not record
is unknown and never made up: a send whose destinations nobody wrote down goes to `TO_SOMEBODY`, and a delivery whose
sender nobody wrote down names `SOMEBODY`.
"""
