"""SitesProblem: tables of several sites, and what was fixed before their curves are fitted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from bayescal._base.errors import InputError
from bayescal.data.data import CalibrationData
from bayescal.model.priors import Prior, as_prior
from bayescal.model.problem import Problem, prepare
from bayescal.model.sites.heterogeneity import VARYING, Heterogeneity, as_heterogeneity

__all__ = ["MOST_SITE_ROWS", "SITE_CURVES", "SitesProblem", "prepare_sites"]

SITE_CURVES = ("intercept", "temperature", "logistic", "beta")
MOST_SITE_ROWS = 64
"""Most rows of one site that carry its curve."""


@dataclass(frozen=True)
class SitesProblem:
    """Tables of several sites with one family of curves, one centre and one prior.

    Attributes
    ----------
    data : CalibrationData
        The table, with a group a site.
    pooled : Problem
        All sites as one table; its prior is that of the average site.
    heterogeneity : Heterogeneity
    """

    data: CalibrationData
    pooled: Problem
    heterogeneity: Heterogeneity

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the sites, in order."""
        return self.data.groups

    @property
    def varying(self) -> tuple[str, ...]:
        """Coordinates that differ between sites."""
        return tuple(name for name in self.pooled.curve.coordinates if name in VARYING)

    @cached_property
    def columns(self) -> list[int]:
        """Columns of the coordinates that differ between sites."""
        return [self.pooled.curve.coordinates.index(name) for name in self.varying]

    @cached_property
    def sites(self) -> dict[str, Problem]:
        """The problem of each site, with the constants of all sites, by label."""
        return {label: self.site(label) for label in self.labels}

    def site(self, label: str) -> Problem:
        """The problem of one site, with a stream of random numbers of its own."""
        data = self.data.select(label)
        seed = int(self.pooled.rng(f"site {label}").integers(2**63))
        return replace(self.pooled, data=data, seed=seed)

    def to_attributes(self) -> dict[str, str]:
        """All but the tables as JSON strings."""
        attributes = self.pooled.to_attributes()
        return attributes | {"heterogeneity": json.dumps(self.heterogeneity.to_dict())}

    @classmethod
    def from_attributes(cls, attributes: Mapping[Any, Any], data: CalibrationData) -> SitesProblem:
        """Read back what `to_attributes` wrote, for the tables it was written of."""
        heterogeneity = Heterogeneity(**json.loads(attributes["heterogeneity"]))
        return cls(data, Problem.from_attributes(attributes, data.pooled()), heterogeneity)


def prepare_sites(
    data: CalibrationData,
    *,
    prior: str | Prior | Mapping[str, Any],
    heterogeneity: Heterogeneity | Mapping[str, Any] | None = None,
    centre: float | Literal["mean"] = "mean",
    **options: Any,
) -> SitesProblem:
    """Make the problem that a hierarchical fit starts from.

    Parameters
    ----------
    data : CalibrationData
        With groups, which are the sites.
    prior : {"neutral", "clinical"}, Prior, or mapping
        Of the average site, but for its centre.
    heterogeneity : Heterogeneity or mapping, optional
    centre : float in (0, 1) or "mean"
        Score at which the shift acts; "mean" takes that of the mean log-odds of all scores.
    **options
        `curve`, `edge` and `random_state`, as in `prepare`.

    Returns
    -------
    SitesProblem

    Raises
    ------
    InputError
        If there are no groups, or the family of curves has no shift or slope that can differ.
    """
    if not data.groups:
        raise InputError(
            "the table has no groups: say which site each case is from with groups=, or make the "
            "table with bc.CalibrationData(y_true, y_prob, groups=...)."
        )
    centred = replace(as_prior(prior), centre=centre)
    pooled = prepare(data.pooled(), prior=centred, **options)
    if pooled.curve.name not in SITE_CURVES:
        raise InputError(
            f"curve={pooled.curve.name!r} cannot be fitted to several sites at once; use one of "
            f"{', '.join(map(repr, SITE_CURVES))}."
        )
    return SitesProblem(data, pooled, as_heterogeneity(heterogeneity))
