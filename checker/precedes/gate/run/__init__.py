"""A run of the gate: checks carried out, compared with the baseline, and summed up."""
