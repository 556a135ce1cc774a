"""The protocols of the papers, one per file, on the framework in `precedes.protocol`."""
