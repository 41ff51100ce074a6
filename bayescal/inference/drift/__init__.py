"""The fit of ordered periods: no change, one sudden change, or gradual drift."""
