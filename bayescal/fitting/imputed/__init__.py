"""Several imputations of the scores: each fitted, and all mixed."""
