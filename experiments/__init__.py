"""What the papers measured or leave to be measured, and what comes out: `python -m experiments`.

An experiment is a module of this package with

    NAME                                     as it is asked for; also the name of its files
    def compute(scale: Scale) -> Table       the numbers, with their confidence intervals
    def draw(table: Table) -> Figure         the curves, from the table alone

and is found by having these. `Table` and `Scale` are in `experiments.table`, what a number is sure of in
`experiments.intervals`, two processes in `experiments.running`, the one style of all figures in
`experiments.drawing`. Nothing here is shipped.
"""
