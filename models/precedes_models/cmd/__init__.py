"""Causal message delivery: the CMD protocol and the auxiliary procedure."""
