"""Studies of several hospitals: each has patients and a calibration curve of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, logit

from bayescal._base.arrays import Floats, is_single
from bayescal._base.errors import InputError, as_number
from bayescal._base.log_odds import clipped
from bayescal._base.text import shortened
from bayescal.data.validate import as_count, check_choice
from bayescal.model.evidence.draws import AVERAGE_SITE, NEW_SITE
from bayescal.planning.setting import Setting
from bayescal.validation.batches import stream

__all__ = ["PlannedSites", "as_sites"]

FEWEST_SITES, MOST_SITES = 3, 200
USUAL_SLOPE = 0.5
"""Standard deviation of the log slope over that of the shift, where only one is said."""
LARGEST_SPREAD = 3.0


@dataclass(frozen=True)
class PlannedSites:
    """Hospitals, and how much they differ.

    Attributes
    ----------
    share : ndarray of shape (sites,)
        Of the patients; sums to 1.
    shift, log_slope : float
        Standard deviations between hospitals, of the log-odds at the mean of the scores, and of the
        log of the slope.
    population : {"average site", "new site"}
        Whose interval is planned.
    """

    share: Floats
    shift: float
    log_slope: float
    population: str

    @property
    def described(self) -> str:
        """In words."""
        least, most = self.share.min(), self.share.max()
        unequal = ""
        if most > least * (1 + 1e-9):
            unequal = f" with {least:.2g} to {most:.2g} of the patients each"
        return (
            f"{self.share.size} sites{unequal}, which differ with standard "
            f"deviations of {self.shift:g} (shift) and {self.log_slope:g} (log slope)"
        )

    def of(self, setting: Setting, seed: int) -> Setting:
        """The same studies with these hospitals: scores of each hospital beside each other."""
        rng, sites = stream(seed, "sites"), self.share.size
        x = logit(clipped(setting.curve))
        middle = (x @ setting.weight)[:, None]
        curves = []
        for _ in range(sites):
            shift = self.shift * rng.standard_normal((setting.size, 1))
            slope = np.exp(self.log_slope * rng.standard_normal((setting.size, 1)))
            curves.append(expit(middle + shift + slope * (x - middle)))
        return replace(
            setting,
            score=np.tile(setting.score, (1, sites)),
            weight=np.concatenate([share * setting.weight for share in self.share]),
            curve=np.hstack(curves),
            described=f"{setting.described}; {self.described}",
            sites=sites,
        )


def as_sites(sites: Any, heterogeneity: Any, population: Any) -> PlannedSites | None:
    """Hospitals as `plan` takes them; None of one population."""
    if sites is None:
        for name, value in {"heterogeneity": heterogeneity, "population": population}.items():
            if value is not None:
                raise InputError(f"{name} was given without sites=, which it is of.")
        return None
    if heterogeneity is None:
        raise InputError(
            "heterogeneity is missing: how much do sites differ? Pass the standard deviation of "
            "the shift, such as 0.2, or {'shift': 0.2, 'log_slope': 0.1}."
        )
    view = AVERAGE_SITE if population is None else population
    check_choice(view, (AVERAGE_SITE, NEW_SITE), "population")
    return PlannedSites(_shares(sites), *_spreads(heterogeneity), view)


def _shares(sites: Any) -> Floats:
    if is_single(sites):
        number = as_count(sites, "sites", FEWEST_SITES, MOST_SITES)
        return np.full(number, 1 / number)
    try:
        sizes = np.asarray(sites, dtype=np.float64)
    except (TypeError, ValueError):
        sizes = np.empty(0)
    proper = sizes.ndim == 1 and FEWEST_SITES <= sizes.size <= MOST_SITES
    if not proper or not (np.isfinite(sizes) & (sizes > 0)).all():
        raise InputError(
            f"sites must be their number, from {FEWEST_SITES} to {MOST_SITES}, or the relative "
            f"sizes of as many, each positive, got {shortened(repr(sites))}."
        )
    return np.asarray(sizes / sizes.sum())


def _spreads(heterogeneity: Any) -> tuple[float, float]:
    if isinstance(heterogeneity, Mapping):
        given = dict(heterogeneity)
        unknown = set(given) - {"shift", "log_slope"}
        if unknown or not given:
            raise InputError(
                "heterogeneity must have the keys 'shift' and 'log_slope', got "
                f"{shortened(repr(heterogeneity))}."
            )
    else:
        shift = as_number(heterogeneity, "heterogeneity")
        given = {"shift": shift, "log_slope": USUAL_SLOPE * shift}
    spreads = [as_number(given.get(name, 0.0), "heterogeneity") for name in ("shift", "log_slope")]
    if not all(0 <= value <= LARGEST_SPREAD for value in spreads):
        raise InputError(
            f"heterogeneity must be standard deviations from 0 to {LARGEST_SPREAD:g}, got "
            f"{shortened(repr(heterogeneity))}."
        )
    return spreads[0], spreads[1]
