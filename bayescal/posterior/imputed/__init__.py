"""The posterior of several imputations: their posteriors mixed, and what missing data cost."""
