"""TO: total order over one channel."""
