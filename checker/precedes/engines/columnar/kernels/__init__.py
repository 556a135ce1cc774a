"""Tuned kernels, each written for one definition."""
