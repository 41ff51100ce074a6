"""The fast engine for several sites."""
