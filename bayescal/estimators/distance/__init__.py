"""The distance to the nearest calibrated predictor."""
