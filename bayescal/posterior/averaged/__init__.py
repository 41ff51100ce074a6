"""What an averaged posterior has beside the draws of its curve."""
