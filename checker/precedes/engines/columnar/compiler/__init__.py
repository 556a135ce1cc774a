"""Any formula of the core, compiled to loops over columns."""
