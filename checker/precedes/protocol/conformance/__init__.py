"""Whether recorded executions are behaviors of a model."""
