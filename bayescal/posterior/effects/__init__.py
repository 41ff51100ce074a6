"""Draws of groups whose curves are sums of effects."""
