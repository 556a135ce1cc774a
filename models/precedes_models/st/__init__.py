"""ST: selective total order over one channel."""
