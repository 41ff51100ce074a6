"""What the likelihood of a curve is summed over: rows of a table, or few nodes in their place."""
