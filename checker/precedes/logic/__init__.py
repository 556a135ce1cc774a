"""What a formula says whatever engine judges it: canonical form, refutations, completions, vacuity."""
