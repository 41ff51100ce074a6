"""Which update of a model to make, if any, and what it would gain."""
