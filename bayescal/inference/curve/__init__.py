"""From the problem of one curve to its posterior."""
