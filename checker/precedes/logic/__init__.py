"""What a formula says, independent of the engine: canonical form, refutations, completions, vacuity."""
