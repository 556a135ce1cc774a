"""What compiled formulas call, one execution at a time."""
