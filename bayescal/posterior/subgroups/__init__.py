"""The posterior of subgroups by crossed factors."""
