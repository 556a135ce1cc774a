"""The scanning engine: verdicts on columns of executions, by tuned kernels and by compiled formulas.

`plan` decides what is evaluated, `scan` does it. `recognise` finds the definitions that a tuned kernel
decides, `compiler` turns any other formula into loops. Nothing here reads files, and importing this package
loads neither numba nor numpy.
"""
