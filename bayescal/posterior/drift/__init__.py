"""The posterior of ordered periods, of the last one and of the next."""
