"""Figures: one per file, matplotlib axes in, axes out. They draw numbers and compute none."""

from __future__ import annotations

from bayescal.plots._consistency import consistency
from bayescal.plots._gain import gain
from bayescal.plots._ranks import rank_ecdf
from bayescal.plots._reliability import reliability

__all__ = ["consistency", "gain", "rank_ecdf", "reliability"]
