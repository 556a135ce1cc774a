"""A whole process in which Arrow reads some columns of a Parquet file into memory, and nothing else.

python benchmarks/arrow_read.py FILE COLUMN...
"""

import sys

import pyarrow.parquet

pyarrow.parquet.read_table(sys.argv[1], columns=sys.argv[2:])
