"""CalibrationData: scores and outcomes as a validated binomial table."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.text import count, shortened
from bayescal.data.build.chunks import contents_at, contents_of
from bayescal.data.contents import added, pooled, selected
from bayescal.data.edges import Edges, edges_of
from bayescal.data.roles import IMPUTATION, NO_STRUCTURE, Crossed, Structure, as_roles
from bayescal.data.sources.collapsed import FromCollapsed
from bayescal.data.sources.constructors import FromSources
from bayescal.data.survival import Survival, refuse_horizon
from bayescal.data.validate import check_choice
from bayescal.data.weights import WeightType

__all__ = ["CalibrationData", "Edges"]

SUMS_SAME = 1e-9
"""Relative difference of equal sums of weights that were added up in another order."""


class CalibrationData(FromSources, FromCollapsed):
    """Scores and outcomes, collapsed to a binomial table.

    The likelihood of a calibration curve depends only on the rows `(score, trials, hits)`. Equal
    scores share a row. Up to 2048 distinct scores the rows are exact. With more, the cases are
    assigned to a fixed grid of 2048 cells in log-odds, and each cell keeps the mean of its scores.
    Two tables can be added; the sum does not depend on how the cases were split or ordered.

    Parameters
    ----------
    y_true : array-like of shape (n,), or Survival
        Outcomes, 0/1 or boolean; other labels need `pos_label`. Or times to an event.
    y_prob : array-like of shape (n,)
        Predicted probabilities of the event, in [0, 1].
    sample_weight : array-like of shape (n,), optional
        Counts of cases, or sampling weights.
    site : array-like of shape (n,), optional
        The site, such as the hospital, of each case.
    period : array-like of shape (n,), optional
        When each case was, such as its month: numbers, dates, texts such as "2024-03", or an
        ordered pandas Categorical; at most 60 periods.
    subgroup : data frame or mapping, optional
        Labels of each case by name, such as sex and age group.
    cluster : array-like of shape (n,), optional
        The cluster of each case, such as a patient seen several times, when cases of one cluster
        are not independent and clusters are of no interest themselves.
    stratum : array-like of shape (n,), optional
        The stratum from which the cluster of each case was drawn.
    imputation : array-like of shape (n,), optional
        The imputation that each row is of, in a table of one row a case and imputation.
    weight_type : {"counts", "sampling"}, optional
        What `sample_weight` is. A case of count 3 is three cases. Sampling weights are one over the
        probability that a case was sampled. Only their ratios matter: they are rescaled to Kish's
        effective sample size, and the result is a pseudo-posterior. By default weights are
        counts if all are whole numbers, otherwise sampling weights.
    pos_label : object, optional
        The label in `y_true` that counts as the event.
    horizon : float, optional
        Of times to an event: by when the scores are risks of it, in the units of time.

    Attributes
    ----------
    score, trials, hits : ndarray of shape (rows,)
        The table. Scores are unchanged, with separate rows for 0 and 1.
    group : ndarray of shape (rows,) or None
        The group of each row: there is one for each combination of levels of site, period and
        subgroups that occurs. The 2048-row limit holds within each.

    Raises
    ------
    InputError
        If the inputs are not outcomes and probabilities of the same cases, their labels (of pandas
        or xarray) differ, or counts are not whole numbers.

    Warns
    -----
    LabelWarning
        When `pos_label` does not occur in `y_true`.
    ScoreWarning
        When scores beside times to an event look like probabilities of survival.
    WeightWarning
        When nothing says what whole-number weights are, they add up to at least twice the number
        of rows, the rows do not look like a collapsed table, and intervals would be at least twice
        as wide if they were sampling weights.

    Notes
    -----
    Tables of sampling weights can be added if their weights have the same scale. A table with
    `weight_type="counts"` cannot be added to a table of sampling weights. A table of counts
    without a stated type can; each case keeps its weight. Levels, clusters and strata of one name
    are one in the sum; those that are numbered anew in each table must be made different first.

    `roles` names what a table knows of its cases, and whatever takes a table uses it:
    `bayescal.fit` fits sites, periods or subgroups as such, takes clusters into account, and fits
    every imputation.

    Examples
    --------
    >>> import bayescal as bc
    >>> data = bc.CalibrationData([0, 1, 1, 0], [0.2, 0.8, 0.8, 0.2])
    >>> data
    CalibrationData(4 cases, 2 events, 2 rows)
    >>> (data + data).trials
    array([4., 4.])
    """

    def __init__(
        self,
        y_true: ArrayLike | Survival,
        y_prob: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        *,
        site: ArrayLike | None = None,
        period: ArrayLike | None = None,
        subgroup: Crossed | None = None,
        cluster: ArrayLike | None = None,
        stratum: ArrayLike | None = None,
        imputation: ArrayLike | None = None,
        weight_type: WeightType | None = None,
        pos_label: Any = None,
        horizon: float | None = None,
    ) -> None:
        roles = as_roles(
            site=site, period=period, subgroup=subgroup, cluster=cluster, stratum=stratum,
            imputation=imputation,
        )  # fmt: skip
        if isinstance(y_true, Survival):
            given = (y_true, y_prob, sample_weight, roles)
            options: dict[str, Any] = {"weight_type": weight_type, "pos_label": pos_label}
            contents = contents_at(*given, horizon=horizon, **options)
        else:
            refuse_horizon(horizon)
            (y_true, y_prob, sample_weight), roles = roles.aligned(
                y_true=y_true, y_prob=y_prob, sample_weight=sample_weight
            )
            contents = contents_of(
                *(y_true, y_prob, sample_weight, roles),
                weight_type=weight_type,
                pos_label=pos_label,
            )
        self.__dict__.update(self._new(contents).__dict__)

    def edges(self, edge: float | None = None) -> Edges:
        """How scores of exactly 0 and 1 are read when a curve is fitted to this table.

        They are taken as rounded: moved inside by a quarter of the distance to the nearest other
        score, and never nearer than 1e-12. With `edge` no score is read as nearer to 0 or 1.

        Parameters
        ----------
        edge : float in (0, 0.5), optional
            The least distance from 0 and 1 to use instead.

        Returns
        -------
        Edges
        """
        return edges_of(self.score, self.trials, edge)

    def to_arrays(self) -> tuple[Floats, Floats, Floats]:
        """Outcomes, scores and weights: how a table meets an estimator.

        Returns
        -------
        y_true, y_prob, sample_weight : ndarray
            At most two entries a row: its events and its non-events. Weights are numbers of cases;
            sampling weights add up to Kish's effective size.
        """
        outcome = np.repeat([0.0, 1.0], self.score.size)
        weight = np.concatenate([self.trials - self.hits, self.hits]) * self.weight_scale
        keep = weight > 0
        return outcome[keep], np.tile(self.score, 2)[keep], weight[keep]

    def select(self, group: str | None = None, **levels: Any) -> CalibrationData:
        """The cases of one group, or of some levels of the roles.

        Parameters
        ----------
        group : str, optional
            One of `groups`.
        **levels
            The level of a role, such as `site="A"` or `imputation=1`. The table keeps its other
            roles.

        Returns
        -------
        CalibrationData

        Raises
        ------
        InputError
            If there is no such group, role or level.
        """
        if (group is None) == (not levels):
            raise InputError("select takes the name of a group, or levels such as site='A'.")
        if group is not None:
            if not isinstance(group, str) or group not in self._tables:
                group = check_choice(group, self.groups, "group")
            return self._each(lambda contents: contents.renamed({group: None}, NO_STRUCTURE))
        wanted = {
            role: check_choice(str(level), self.levels[role], role)
            for role, level in levels.items()
            if check_choice(role, tuple(self.levels), "role")
        }
        if not self._imputations:
            return self._each(partial(selected, levels=wanted))
        label, table = wanted.pop(IMPUTATION, None), self
        if label is not None:
            table = self._imputations[self.levels[IMPUTATION].index(label)]
        return table._each(partial(selected, levels=wanted)) if wanted else table

    def one_group(self, *, takes_times: bool = False) -> CalibrationData:
        """The table itself, refused if it holds more than the cases of one curve.

        Parameters
        ----------
        takes_times : bool
            Whether times to an event are taken.

        Raises
        ------
        InputError
            If there are several groups or imputations, or no outcomes that are known.
        """
        self.complete(takes_times=takes_times)
        if self._imputations:
            raise InputError(
                f"the table holds {len(self._imputations)} imputations of its cases, and this is "
                "of one. Take each of data.imputations."
            )
        if len(self.groups) > 1:
            shown = ", ".join(map(repr, self.groups[:3])) + (", ..." * (len(self.groups) > 3))
            by = " and ".join(self.levels)
            raise InputError(
                f"the table holds {len(self.groups)} groups by {by} ({shown}), and this draws one "
                "curve. Take each with data.select(name), or all as one with data.pooled()."
            )
        return self

    def of_site(self, label: str) -> CalibrationData:
        """The same cases, all of one site; the table has no site, period or subgroup yet."""
        if not isinstance(label, str):
            raise InputError(f"label must be the name of a site, got {shortened(repr(label))}.")
        if self.levels:
            raise InputError(
                f"the table has {' and '.join(self.levels)}, and of_site makes a site of cases "
                "without levels. Take data.pooled() first."
            )
        structure = Structure({"site": (label,)})
        return self._each(lambda contents: contents.renamed({None: label}, structure))

    def pooled(self) -> CalibrationData:
        """The same cases with site, period and subgroups forgotten."""
        return self._each(pooled)

    def __add__(self, other: object) -> CalibrationData:
        if not isinstance(other, CalibrationData):
            return NotImplemented
        tables = (self, other)
        first, second = (each.complete(takes_times=True) for each in tables)
        if not first._imputations and not second._imputations:
            return self._new(added(first._contents, second._contents))
        one, two = (table.levels.get(IMPUTATION) for table in (first, second))
        if one is None or one != two:
            raise InputError(
                "the tables have different imputations. Add those of the same imputations."
            )
        pairs = zip(first._imputations, second._imputations, strict=True)
        return self._of_imputations(one, [one + two for one, two in pairs])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CalibrationData):
            return NotImplemented
        mine, theirs = (
            (
                it.groups,
                it._structure,
                it.weight_type,
                it.has_outcomes,
                it.members,
                it.follow_up,
                it._imputations,
            )
            for it in (self, other)
        )
        if mine != theirs:
            return False
        if not np.isclose(self.weight_scale, other.weight_scale, SUMS_SAME, 0):
            return False
        names = ("score", "trials", "hits") if self.has_outcomes else ("score", "trials")
        pairs = [(getattr(self, name), getattr(other, name)) for name in names]
        return all(
            one.shape == two.shape and np.allclose(one, two, SUMS_SAME, 0) for one, two in pairs
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        groups = f", {len(self.groups)} groups" if self.groups else ""
        compressed = " on a log-odds grid" if self.is_compressed else ""
        weights = ""
        if self.is_pseudo:
            weights = f", sampling weights of effective size {self.effective_size:.4g}"
        events = count(self.events, "event") if self.has_outcomes else "no outcomes"
        if self.follow_up is not None:
            left, at = self.follow_up.censored, self.follow_up.horizon
            others = self.follow_up.competing
            competing = f" and {others:g} with a competing event" if others else ""
            events += f" by {at:g}{competing}, {left:g} censored before"
        if self._imputations:
            groups += f", {len(self._imputations)} imputations"
        if self._dependence:
            groups += ", clusters" + " and strata" * (len(self._dependence) > 1)
        return (
            f"CalibrationData({count(self.n, 'case')}, {events}, "
            f"{self.score.size} rows{compressed}{groups}{weights})"
        )
