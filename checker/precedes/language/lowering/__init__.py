"""From the sorted syntax tree to core formulas."""
