"""Checks whether a model keeps the contract that it declares."""
