"""Names and sorts: what every name in a formula stands for."""
