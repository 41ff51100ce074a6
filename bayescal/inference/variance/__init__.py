"""The Gaussian likelihood of errors about a predicted mean, given a predicted variance."""
