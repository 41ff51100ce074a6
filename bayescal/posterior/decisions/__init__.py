"""Decisions by a risk: what each way of treating is worth, and what it is worth to know more."""
