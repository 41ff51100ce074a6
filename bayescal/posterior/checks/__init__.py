"""Whether draws can be trusted, and which measures the data define."""
