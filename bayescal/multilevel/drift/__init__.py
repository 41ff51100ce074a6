"""Ordered periods: their order, explanations of a change, and the posterior."""
