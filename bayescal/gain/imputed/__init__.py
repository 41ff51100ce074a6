"""The gain of a recalibration over several imputations."""
