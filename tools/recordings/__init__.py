"""What brokers keep under faults: `python -m tools.recordings` records, judges, and writes docs/brokers.md.

Two producers and two consumers use one broker through the wrappers of `precedes.record`. Each has a connection that
can be cut. `make brokers` starts the brokers. Recordings come into build/recordings, the table and samples of them
into traces/brokers.
"""
