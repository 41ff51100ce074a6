"""What clinical validation prints: O/E, intercept, slope, and tests of them."""
