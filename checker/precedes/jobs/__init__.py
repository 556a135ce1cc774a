"""One job each, from a question to its result, without printing."""
