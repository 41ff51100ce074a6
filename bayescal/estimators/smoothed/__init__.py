"""Calibration error of smoothed residuals."""
