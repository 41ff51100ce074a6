"""A view on a stored tree: what was fitted, and its draws ready to be evaluated."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_level, check_choice, check_type
from bayescal.core.text import shortened
from bayescal.data.cases import as_floats, as_scores, as_vector
from bayescal.data.sources.alignment import aligned
from bayescal.data.table import CalibrationData
from bayescal.model.clusters.design import Design, cluster_design
from bayescal.model.curves import Curve
from bayescal.model.problem import Problem
from bayescal.posterior.checks.ends import cautions_at_ends
from bayescal.posterior.checks.undefined import undefined_measures
from bayescal.posterior.checks.verdict import convergence, verdict_of
from bayescal.posterior.departures import AtPrevalence, Departure, mean_risk
from bayescal.posterior.evaluation import CurvesOfTable, SampledCurves
from bayescal.posterior.population import POPULATIONS
from bayescal.posterior.populations.bootstrap import Bootstrap
from bayescal.posterior.populations.clusters import ClusterBootstrap
from bayescal.posterior.stored import upgraded
from bayescal.posterior.tree import (
    Drawn,
    complete,
    draw_prior,
    read_drawn,
    sample_tree,
    with_chains,
)

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["PosteriorView", "as_seen"]

SEEN = "on"
"""Group of a tree with the scores that the posterior is seen on, where they are not its own."""


View = TypeVar("View", bound="PosteriorView")


class PosteriorView:
    """What was fitted and drawn. A tree holds all of it, and is written when it is read."""

    _fitted: Self | None = None
    _departure: Departure | None = None

    def __init__(self, tree: xr.DataTree) -> None:
        import xarray as xr

        check_type(tree, xr.DataTree, "tree", "Pass the tree of a posterior of bayescal.fit.")
        missing = {"curve", "prior", "frame", "edges", "seed"} - set(map(str, tree.attrs))
        if missing:
            raise InputError(
                f"the tree lacks the attributes {', '.join(sorted(missing))}: it was not written "
                "by bayescal.fit. Pass one that was, or refit the data."
            )
        absent = {"constant_data", "posterior", "sample_stats"} - set(map(str, tree.children))
        if absent:
            raise InputError(
                f"the tree lacks the groups {', '.join(sorted(absent))}. Refit the data."
            )
        self._tree = upgraded(tree)

    @classmethod
    def of_draws(cls, drawn: Drawn) -> Self:
        """A posterior whose tree is written when it is first read.

        Parameters
        ----------
        drawn : Drawn
            Of importance sampling.

        Returns
        -------
        CalibrationPosterior
        """
        posterior = cls.__new__(cls)
        posterior._drawn = drawn
        return posterior

    @cached_property
    def _drawn(self) -> Drawn:
        return read_drawn(self._tree)

    def on(self, scores: ArrayLike | CalibrationData, sample_weight: Any = None) -> Self:
        """The same curve seen on another population of scores, which needs no outcomes.

        Every measure is then of cases with these scores: the draws of the curve stay, and are
        averaged over the new scores. **This takes the curve as unchanged**: at each score, the risk
        of the new cases is that of the cases that were fitted. Nothing in scores alone can tell
        whether it is.

        Parameters
        ----------
        scores : array-like of shape (n,) or CalibrationData
            The model's probabilities for the new cases. Of a table, its outcomes are not used.
        sample_weight : array-like of shape (n,), optional
            Counts of cases, or sampling weights.

        Returns
        -------
        CalibrationPosterior
            Of the same kind. Its `population` is of the new scores: "bootstrap" is of patients like
            them, "sample" of exactly them. `outside` is the share of them that lies outside the
            range of the scores that were fitted, where the curve is extrapolated.

        Raises
        ------
        InputError
            If a score is outside [0, 1], or there is none.

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> post = bc.fit(y_true, y_prob, curve="logistic", random_state=1)
        >>> sicker = post.on(0.3 + 0.7 * y_prob)
        >>> bool(sicker.curve([0.5]).equals(post.curve([0.5])))
        True
        """
        return self._on(_scores_alone(scores, sample_weight))

    def _on(self, data: CalibrationData) -> Self:
        """The same, on a checked table whose outcomes stand for none."""
        if self._departure is not None:
            raise InputError(
                "scores and a prevalence are told in the other order: "
                "post.on(scores).at_prevalence(prevalence), where the scores stay."
            )
        if self._fitted is not None:
            return self._fitted._on(data)
        drawn = self._drawn
        problem = replace(drawn.problem, data=data)
        seen = self._with_draws(replace(drawn, problem=problem))
        seen._fitted = self
        return seen

    def _departing(self, departure: Departure) -> Self:
        """The posterior of cases of which some have another curve.

        Parameters
        ----------
        departure : Departure
            Shares are of the rows of `problem`.

        Returns
        -------
        CalibrationPosterior
        """
        other = self._with_draws(self._drawn)
        other._fitted, other._departure = self._fitted, departure
        return other

    def at_prevalence(self, prevalence: Any) -> Self:
        """The posterior where the event is as frequent as is told: after case-control sampling.

        All risks are shifted by the same amount in log-odds, logit of the new prevalence less logit
        of the old one, in each draw. That is what follows if events and non-events have the scores
        that they have here and only their numbers differ, as in a case-control study, or where a
        disease is rarer. The scores of the population then follow as well.

        On other scores (`post.on(scores)`) this says more than can be true at once: the curve and
        the scores imply a prevalence. The scores stay, the curve gives way, and `prevalence_told`
        shows the conflict.

        Parameters
        ----------
        prevalence : float in (0, 1), or pair of numbers
            Or events and patients of another study, such as (45, 1000), so that its uncertainty
            counts: draws are of Beta(events + 1/2, others + 1/2).

        Returns
        -------
        CalibrationPosterior
            Without outcomes. It cannot be saved: save `post`, and ask again.

        Raises
        ------
        InputError
            If the prevalence is not inside (0, 1), or the pair is not events and patients.

        References
        ----------
        Prentice & Pyke (1979), Logistic disease incidence models and case-control studies,
        Biometrika 66.

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> post = bc.fit(y_true, y_prob, random_state=1).at_prevalence(0.05)
        >>> float(post.performance(population="sample")["events"].mean().round(3))
        0.05
        """
        if self._departure is not None:
            raise InputError("the posterior is at a prevalence already. Ask the one before.")
        told = _prevalences(prevalence, self.draws, self.problem.rng("prevalence"))
        return self._departing(AtPrevalence(told, keeps_scores=self._fitted is not None))

    @property
    def has_other_weights(self) -> bool:
        """Whether a prevalence was told from which the weights of the scores follow."""
        told = self._departure
        return isinstance(told, AtPrevalence) and not told.keeps_scores

    @property
    def prevalence_told(self) -> pd.DataFrame:
        """What `at_prevalence` changed: a table of the prevalence before, told, and the shift.

        Returns
        -------
        pandas.DataFrame
            Rows implied (the mean risk before), told, and shift (in log-odds, of all risks);
            columns mean, lower and upper, of 95 %. A shift whose interval is far from zero is, on
            other scores, a conflict of the prevalence that was told with the curve.

        Raises
        ------
        InputError
            If no prevalence was told.
        """
        import pandas as pd

        if not isinstance(self._departure, AtPrevalence):
            raise InputError("no prevalence was told: use post.at_prevalence(prevalence).")
        (curves,) = self._posterior.parts
        values = {
            "implied": mean_risk(curves.observed, self.problem),
            "told": self._departure.prevalence,
            "shift": curves.shift,
        }
        rows = {
            name: (drawn.mean(), *np.quantile(drawn, [0.025, 0.975]))
            for name, drawn in values.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index", columns=["mean", "lower", "upper"])

    def _over(self, population: Any) -> tuple[Self, str]:
        """The posterior on the scores that `population` gives, or itself, and the name of one."""
        if isinstance(population, CalibrationData) or (
            not isinstance(population, str) and hasattr(population, "__len__")
        ):
            return self._on(_scores_alone(population, None, "population")), "bootstrap"
        return self, check_choice(population, POPULATIONS, "population")

    def _with_draws(self, drawn: Drawn) -> Self:
        """A posterior of the same kind that has not been fitted to the table of its draws."""
        return self.of_draws(drawn)

    @property
    def outside(self) -> float:
        """Share of the scores outside the range of those fitted, where the curve is extrapolated.

        Zero unless the posterior is seen on other scores; see `on`.
        """
        lower, upper = self._fitted_range
        own = self.problem.data
        is_out = (own.score < lower) | (own.score > upper)
        return float(own.trials[is_out].sum() / own.trials.sum())

    @property
    def _fitted_range(self) -> tuple[float, float]:
        """Lowest and highest score of the cases with outcomes."""
        fitted = self if self._fitted is None else self._fitted
        score = fitted.problem.data.score
        return float(score[0]), float(score[-1])

    @cached_property
    def _tree(self) -> xr.DataTree:
        return sample_tree(self._drawn) if self._fitted is None else self._seen_tree(self._fitted)

    def _seen_tree(self, fitted: Self) -> xr.DataTree:
        """The tree of the fit, and the scores that it is seen on."""
        import xarray as xr

        tree = fitted.tree.copy()
        tree[SEEN] = xr.DataTree(self._posterior.parts[0].problem.data.to_xarray())
        return tree

    @property
    def tree(self) -> xr.DataTree:
        """The `xarray.DataTree` in ArviZ's schema.

        Likelihoods, predictions and prior draws are added when this is first read. Of a posterior
        that is seen on other scores it is that of the fit, with these scores in the group `on`.
        """
        if self._departure is not None:
            raise InputError(
                "a posterior at another prevalence has no tree of its own. Save the one that it "
                "was asked of, and ask at_prevalence again after loading."
            )
        if self._fitted is None:
            complete(self._tree, self._drawn)
        return self._tree

    @property
    def problem(self) -> Problem:
        """The table as it was read, with the family, prior, centre, edges and seed of the fit."""
        return self._drawn.problem

    @property
    def data(self) -> CalibrationData:
        """The table that was fitted, with the roles of its cases.

        It can be given back to whatever takes cases. Without outcomes it is refused there.
        """
        data = self.problem.data
        return data if self.has_outcomes else data.without_outcomes()

    @property
    def has_outcomes(self) -> bool:
        """Whether `data` has outcomes: those of a site that has not been seen are scores alone."""
        return self._fitted is None and self._departure is None

    @property
    def family(self) -> Curve:
        """The family of curves."""
        return self.problem.curve

    @property
    def engine(self) -> str:
        """The engine that drew it: "importance" or "nuts"."""
        return self._drawn.engine

    @property
    def draws(self) -> int:
        """Number of draws, over all chains."""
        return len(self._drawn.u)

    @property
    def coordinates(self) -> dict[str, Floats]:
        """Draws of each working coordinate of the curve, of shape (draws,)."""
        return dict(zip(self.family.coordinates, self._drawn.u.T.copy(), strict=True))

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the libraries that drew it."""
        versions: dict[str, str] = json.loads(self._tree.attrs["versions"])
        return versions

    @property
    def is_average(self) -> bool:
        """Whether its draws are of several families of curves, as those of a comparison are."""
        return self._families is not None

    @property
    def has_exact(self) -> bool:
        """Whether exact calibration is among the draws that distances are read from."""
        return self.is_average

    @property
    def exact(self) -> xr.DataArray | None:
        """Draws in which the model is exactly calibrated, so that every distance is 0.

        Boolean, with dims (chain, draw); None of a fit of one family, which did not consider it.
        """
        averaged = self._drawn.averaged
        return None if averaged is None else self._array(averaged.exact, "exact")

    @property
    def prior_weights(self) -> dict[str, float] | None:
        """Prior probability of each family of an average, identity included; else None."""
        averaged = self._drawn.averaged
        return None if averaged is None else dict(averaged.weights)

    @property
    def asked_weights(self) -> dict[str, float] | None:
        """The same of the families asked for, of which few distinct scores may change some."""
        averaged = self._drawn.averaged
        return None if averaged is None else dict(averaged.asked)

    @property
    def prob_calibrated(self) -> float | None:
        """Probability of exact calibration, beside an averaged posterior; None for one family."""
        averaged = self._drawn.averaged
        return None if averaged is None else averaged.prob_calibrated

    @property
    def diagnostics(self) -> dict[str, float | str]:
        """How far the draws can be trusted.

        Returns
        -------
        dict
            For importance: pareto_k (above 0.7 is bad), ess, log_evidence and its error. For
            NUTS: the largest r_hat (above 1.01 is bad), smallest ess, and divergences. `verdict`
            is "ok" or says what is wrong. Of clusters also their number, the design effects of the
            number of events and of the slope, and the effective number of cases.
        """
        if self.engine == "importance":
            numbers = dict(self._drawn.stats)
        else:
            numbers = self._nuts_diagnostics(self._tree["sample_stats"].to_dataset())
        if self.design is not None:
            numbers |= self.design.to_dict()
        verdict = verdict_of(numbers, self._cure)
        if verdict == "ok" and self.design is not None:
            verdict = self.design.verdict
        return {"engine": self.engine, **numbers, "verdict": verdict}

    @property
    def _cure(self) -> str:
        """What to do where importance sampling fails; NUTS samples one family of single cases."""
        if self.problem.clusters is not None:
            return "fit a simpler curve, such as curve='logistic'"
        if self.is_average:
            return "fit one family with engine='nuts', such as curve='beta'"
        return "sample with engine='nuts'"

    @property
    def _families(self) -> dict[str, float] | None:
        """Families of an averaged posterior and their prior probabilities."""
        averaged = self._drawn.averaged
        return None if averaged is None else averaged.families

    @cached_property
    def _bootstrap(self) -> Bootstrap | None:
        """The law of the weights of rows; None for that of independent cases."""
        problem, clusters = self.problem, self.problem.clusters
        if clusters is None or clusters.are_single:
            return None
        return ClusterBootstrap.of(clusters, problem.merged(clusters.row), problem.score.size)

    @cached_property
    def design(self) -> Design | None:
        """What clusters make of the number of cases; None where cases are independent."""
        return None if self.problem.clusters is None else cluster_design(self.problem)

    @cached_property
    def _posterior(self) -> SampledCurves:
        return CurvesOfTable(
            self.problem,
            self._drawn.u,
            bootstrap=self._bootstrap,
            exact=None if self._drawn.averaged is None else self._drawn.averaged.exact,
            departure=self._departure,
        )

    @cached_property
    def _prior(self) -> SampledCurves:
        drawn = draw_prior(self._drawn if self._fitted is None else self._fitted._drawn)
        u = np.empty(self._drawn.u.shape)
        for column, name in enumerate(self.family.coordinates):
            u[:, column] = drawn[name]
        return CurvesOfTable(self.problem, u, bootstrap=self._bootstrap)

    @cached_property
    def _undefined(self) -> dict[str, str]:
        """Functionals that the scores do not define, and why."""
        return undefined_measures([part.problem for part in self._posterior.parts])

    @cached_property
    def _cautions(self) -> dict[str, str]:
        """Distances whose intervals are less sure on these scores, and why."""
        return cautions_at_ends([part.problem for part in self._posterior.parts])

    @cached_property
    def _mean_curve(self) -> SampledCurves:
        """The posterior mean of the curve: the one that is drawn."""
        return self._posterior.of_mean()

    def _array(self, values: Floats, name: str, **coords: Any) -> xr.DataArray:
        import xarray as xr

        shaped = with_chains(values, self._drawn.chains)
        axes = {"chain": np.arange(shaped.shape[0]), "draw": np.arange(shaped.shape[1])}
        return xr.DataArray(shaped, axes | coords, ("chain", "draw", *coords), name)

    def _nuts_diagnostics(self, stats: xr.Dataset) -> dict[str, float]:
        posterior = self._tree["posterior"].to_dataset()
        family = self.family
        kept = {*family.variables, *family.coordinates} & set(posterior.data_vars)
        numbers = convergence(posterior[sorted(kept)])
        return numbers | {"divergences": float(stats["diverging"].sum())}


def as_seen(post: View, tree: xr.DataTree) -> View:
    """A posterior on the scores that its tree says it is seen on; else as it is."""
    if SEEN not in tree.children:
        return post
    return post._on(CalibrationData.from_xarray(tree[SEEN].to_dataset()))


def _prevalences(prevalence: Any, draws: int, rng: np.random.Generator) -> Floats:
    """Draws of a prevalence that was told, as a number or as events and patients."""
    if not hasattr(prevalence, "__len__") or isinstance(prevalence, str):
        return np.full(draws, as_level(prevalence, "prevalence"))
    given = as_vector(prevalence, "prevalence")
    events, cases = as_floats(given, "prevalence") if given.size == 2 else (np.nan, np.nan)
    if not 0 <= events <= cases or not 0 < cases < np.inf:
        raise InputError(
            f"prevalence must be a number inside (0, 1), or events and patients such as (45, 1000)"
            f", got {shortened(repr(prevalence))}."
        )
    drawn = rng.beta(events + 0.5, cases - events + 0.5, draws)
    return np.clip(drawn, np.finfo(float).tiny, 1 - np.finfo(float).eps)


def _scores_alone(scores: Any, sample_weight: Any, name: str = "scores") -> CalibrationData:
    """Scores as a table without roles, whose outcomes stand for none."""
    if isinstance(scores, CalibrationData):
        if sample_weight is not None:
            raise InputError("sample_weight cannot be given beside a table: it has its weights.")
        return scores.scores_alone()
    scores, sample_weight = aligned(scores=scores, sample_weight=sample_weight)
    values = as_scores(scores, name)
    return CalibrationData(np.zeros(values.size), values, sample_weight)
