"""What knows nothing of calibration: arrays, logistic fits, sampling, text, versions, errors."""
