"""ECE over the most bins with which observed proportions rise."""
