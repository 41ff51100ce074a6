"""Ordered periods whose curves may change: what is fitted to them."""
