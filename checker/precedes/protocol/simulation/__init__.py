"""Random behaviors of a protocol, written as a trace."""
