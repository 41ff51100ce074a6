"""Populations to simulate from, beside the truths that come by name."""
