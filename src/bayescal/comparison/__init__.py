"""Which curve, and is it calibrated? Evidence, averaging, cross-validation, sensitivity."""
