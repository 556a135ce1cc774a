"""A whole process that reads a file and keeps nothing of it: by Arrow, or as a trace.

python benchmarks/foreign_read.py FILE json|csv
python benchmarks/foreign_read.py FILE --from WORD [NAME=VALUE...]
"""

import sys


def by_arrow(path: str, kind: str) -> None:
    """Arrow reads the file in batches, with types that it finds itself."""
    import pyarrow.csv
    import pyarrow.json

    if kind == "json":
        batches = pyarrow.json.open_json(path)
    else:
        batches = pyarrow.csv.open_csv(
            path,
            pyarrow.csv.ReadOptions(autogenerate_column_names=True),
            pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False),
        )
    for _ in batches:
        pass


def as_trace(path: str, word: str, settings: dict[str, str]) -> None:
    """The rows of a log with every column, as `precedes convert` reads them."""
    from dataclasses import replace

    from precedes.traces import Notices
    from precedes.traces.foreign.recognition import LogReading
    from precedes.traces.reader import read_table
    from precedes.traces.sources import source_of

    source = replace(source_of(path, 0, LogReading(word, settings)), every=True)
    for _ in read_table(source, Notices()):
        pass


if sys.argv[2] == "--from":
    as_trace(sys.argv[1], sys.argv[3], dict(each.split("=", 1) for each in sys.argv[4:]))
else:
    by_arrow(sys.argv[1], sys.argv[2])
