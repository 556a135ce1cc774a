"""Schedules of the Δ-causal protocol in continuous time, looked for by the solver."""
