"""The report of an assessment: one HTML file that needs nothing else."""

from __future__ import annotations

from bayescal.assessment.html._figures import card_figure
from bayescal.assessment.html._render import render, write
from bayescal.assessment.html.horizons import write_horizons

__all__ = ["card_figure", "render", "write", "write_horizons"]


def __dir__() -> list[str]:
    return sorted(__all__)
