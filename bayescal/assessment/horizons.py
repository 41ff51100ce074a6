"""An assessment at several horizons, with its reports."""

from __future__ import annotations

from os import PathLike
from typing import Any

from bayescal.assessment.horizon_findings import Assessed, HorizonFindings

__all__ = ["HorizonAssessment"]


class HorizonAssessment(HorizonFindings[Assessed]):
    """Assessments of the risks by several horizons. Made by `bayescal.assess`.

    Attributes
    ----------
    horizons : tuple of float
    posterior : Several
    """

    def to_html(self, path: str | PathLike[str], **details: Any) -> None:
        """Write the report of all horizons: one file, no network.

        Parameters
        ----------
        path : str or path-like
            Its name ends in .html or .htm.
        **details
            `title` and `source`, as of `bayescal.assessment.html.write`.
        """
        from bayescal.assessment.html import write_horizons

        write_horizons(self, path, **details)

    def to_word(self, path: str | PathLike[str], **details: Any) -> None:
        """Write the report of all horizons as a Word document.

        Parameters
        ----------
        path : str or path-like
            Its name ends in .docx.
        **details
            `title` and `source`, as of `bayescal.assessment.word.write_word`.
        """
        from bayescal.assessment.word import write_horizons_word

        write_horizons_word(self, path, **details)
