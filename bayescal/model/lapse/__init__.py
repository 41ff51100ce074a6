"""Curves with a floor and a ceiling: what they are, and the prior of both."""
