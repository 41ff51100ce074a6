"""One row of a table of sites or periods: their own estimates beside those of a joint fit."""

from __future__ import annotations

from collections.abc import Mapping

from bayescal.multilevel.posterior.view import SiteView

__all__ = ["ROW_FUNCTIONALS", "beside_raw"]

ROW_FUNCTIONALS = ("observed_expected", "calibration_slope", "tce")


def beside_raw(
    view: SiteView, size: Mapping[str, float], raw: Mapping[str, float]
) -> dict[str, float]:
    """Estimates and 95 % intervals of one curve, and raw ones where the cases alone give one.

    Parameters
    ----------
    view : SiteView
    size, raw : mapping of str to float
        Cases and events; estimates from the site alone.

    Returns
    -------
    dict of str to float
        cases, events; observed_expected, calibration_slope and tce, each with `_lower` and
        `_upper`, and those that are raw with `_raw` before.
    """
    row = dict(size)
    summary = view.summary(names=ROW_FUNCTIONALS).reindex(ROW_FUNCTIONALS)
    for name, values in summary[["estimate", "lower", "upper"]].iterrows():
        if name in raw:
            row[f"{name}_raw"] = raw[str(name)]
        row[str(name)], row[f"{name}_lower"], row[f"{name}_upper"] = values
    return row
