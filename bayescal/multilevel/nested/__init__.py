"""Levels of several terms at once: all effects integrated out together."""
