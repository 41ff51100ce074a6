"""SitesProblem: what is known of several sites, and what was fixed before a fit of their curves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from bayescal._base.errors import InputError
from bayescal.data.build.labels import in_order
from bayescal.data.data import CalibrationData
from bayescal.data.validate import as_scores
from bayescal.model.heterogeneity import VARYING, Heterogeneity, as_heterogeneity
from bayescal.model.priors import Prior, as_prior
from bayescal.model.problem import Problem, prepare
from bayescal.multilevel.known import KnownSite, as_known, check_few_sites
from bayescal.multilevel.summary import MOST_KNOWN_ROWS, Summary, scores_of_known

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "MOST_SITE_ROWS",
    "SITE_CURVES",
    "KnownSites",
    "SitesProblem",
    "prepare_sites",
    "scores_alone",
]

KnownSites: TypeAlias = "pd.DataFrame | Mapping[str, Any] | tuple[KnownSite, ...] | None"
"""Sites known by their summaries, as they come in."""
SITE_CURVES = ("intercept", "temperature", "logistic", "beta")
MOST_SITE_ROWS = 64
"""Most rows of one site that carry its curve."""


@dataclass(frozen=True)
class SitesProblem:
    """Tables and summaries of several sites with one family of curves, one centre and one prior.

    Attributes
    ----------
    data : CalibrationData
        The table, with a group a site. Scores alone, without groups and events, if all sites are
        known by their summaries.
    pooled : Problem
        All sites with patients as one table; its prior is that of the average site.
    heterogeneity : Heterogeneity
    known : tuple of KnownSite
        Sites known by their summaries.
    """

    data: CalibrationData
    pooled: Problem
    heterogeneity: Heterogeneity
    known: tuple[KnownSite, ...] = ()

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Names of the sites, in order."""
        return tuple(in_order([*self.data.groups, *(site.label for site in self.known)]))

    @property
    def has_outcomes(self) -> bool:
        """Whether there are sites with patients."""
        return bool(self.data.groups)

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
        """The problem of each site, with the constants of all sites, by label.

        That of a site known by its summaries has the scores it is taken to have, and no outcomes.
        """
        return {label: self.site(label) for label in self.labels}

    @property
    def tables(self) -> dict[str, Problem]:
        """The problem of each site with patients."""
        return {label: self.sites[label] for label in self.data.groups}

    @cached_property
    def summaries(self) -> dict[str, Summary]:
        """The likelihood of each site known by its summaries."""
        return {site.label: self._summary(site) for site in self.known}

    def _summary(self, site: KnownSite) -> Summary:
        return Summary(site, replace(self.sites[site.label], most_rows=MOST_KNOWN_ROWS))

    def site(self, label: str) -> Problem:
        """The problem of one site, with a stream of random numbers of its own."""
        known = {site.label: site for site in self.known}
        if label in known:
            data = scores_of_known(self.pooled, known[label])
        else:
            data = self.data.select(label)
        seed = int(self.pooled.rng(f"site {label}").integers(2**63))
        return replace(self.pooled, data=data, seed=seed)

    def to_attributes(self) -> dict[str, str]:
        """All but the tables as JSON strings."""
        attributes = self.pooled.to_attributes()
        attributes["heterogeneity"] = json.dumps(self.heterogeneity.to_dict())
        if self.known:
            attributes["known"] = json.dumps([site.to_dict() for site in self.known])
        return attributes

    @classmethod
    def from_attributes(cls, attributes: Mapping[Any, Any], data: CalibrationData) -> SitesProblem:
        """Read back what `to_attributes` wrote, for the tables it was written of."""
        heterogeneity = Heterogeneity(**json.loads(attributes["heterogeneity"]))
        described = json.loads(attributes.get("known", "[]"))
        known = tuple(KnownSite.from_dict(site) for site in described)
        return cls(data, Problem.from_attributes(attributes, data.pooled()), heterogeneity, known)


def prepare_sites(
    data: CalibrationData,
    *,
    prior: str | Prior | Mapping[str, Any],
    heterogeneity: Heterogeneity | Mapping[str, Any] | None = None,
    known: KnownSites = None,
    centre: float | Literal["mean"] = "mean",
    **options: Any,
) -> SitesProblem:
    """Make the problem that a hierarchical fit starts from.

    Parameters
    ----------
    data : CalibrationData
        With groups, which are the sites; or what `scores_alone` made.
    prior : {"neutral", "clinical"}, Prior, or mapping
        Of the average site, but for its centre.
    heterogeneity : Heterogeneity or mapping, optional
    known : pandas.DataFrame or mapping, optional
        Sites known by their summaries, as in `bayescal.fit`.
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
        If there are no groups, the family of curves has no shift or slope that can differ, or what
        is known of a site is incomplete.
    """
    check_few_sites(len(data.groups), "the table holds {} groups")
    summaries = as_known(known, data.groups)
    check_few_sites(len(data.groups) + len(summaries), "groups and known hold {} sites together")
    if not data.groups and not (summaries and data.events == 0):
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
    return SitesProblem(data, pooled, as_heterogeneity(heterogeneity), summaries)


def scores_alone(
    y_prob: Any, known: KnownSites, roles: Mapping[str, Any] | None = None, **weights: Any
) -> CalibrationData:
    """Scores without outcomes, at which sites that are known by their summaries are looked at.

    Parameters
    ----------
    y_prob : array-like of shape (n,)
    known : pandas.DataFrame or mapping
    roles : mapping of str to array-like or None, optional
        Refused: they are of patients with outcomes.
    **weights
        `sample_weight` and `weight_type`, as in `CalibrationData`.

    Returns
    -------
    CalibrationData

    Raises
    ------
    InputError
        If there are no scores or no summaries, or there are roles.
    """
    if known is None:
        raise InputError(
            "y_true is None. Pass the outcomes; only sites known by their summaries, known=, are "
            "fitted without."
        )
    if y_prob is None:
        raise InputError(
            "y_prob is None, and so is y_true: summaries do not say at which scores a curve is "
            "looked at. Pass scores of patients like theirs, bc.fit(None, scores, known=known)."
        )
    for name, values in (roles or {}).items():
        if values is not None:
            raise InputError(
                f"{name} was given without outcomes. Cases of which there are scores alone have "
                f"nothing to fit: leave {name} out, or pass y_true."
            )
    scores = as_scores(y_prob)
    return CalibrationData(np.zeros(scores.size), scores, **weights)
