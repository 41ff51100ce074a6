"""What a recalibration of predicted variances gained."""
