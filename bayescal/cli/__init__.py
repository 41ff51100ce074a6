"""The `bayescal` command: six commands, one runner, and nothing heavy until one works."""

from __future__ import annotations

from bayescal.cli.runner import main

__all__ = ["main"]
