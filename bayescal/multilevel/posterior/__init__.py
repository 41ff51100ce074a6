"""Draws of several sites, and what is asked of them."""
