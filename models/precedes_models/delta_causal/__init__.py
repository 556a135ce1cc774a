"""Δ-causal delivery: the protocol of the Δ-causal paper, its variants, and schedules in continuous time."""
