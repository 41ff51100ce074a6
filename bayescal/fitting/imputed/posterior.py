"""ImputedPosterior: the posteriors of several imputations, mixed in equal shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import logit, logsumexp

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_level, check_type
from bayescal.data.table import CalibrationData
from bayescal.fitting.imputed.pooled import Pooled, in_turn, missing_information, widened
from bayescal.fitting.imputed.tree import (
    imputed_tree,
    is_imputed_tree,
    mixed,
    trees_of_imputations,
)
from bayescal.model.clusters.design import Design
from bayescal.model.problem import Problem
from bayescal.multilevel.fit import posterior_of_curve
from bayescal.posterior.averaged import Averaged
from bayescal.posterior.departures import Departure
from bayescal.posterior.evaluation import FunctionalCalls
from bayescal.posterior.functionals import main_functionals, usual_functionals
from bayescal.posterior.intervals import sure_region
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.tree import Drawn, prior_dataset

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = [
    "ImputedPosterior",
    "at_centre",
    "by_imputation",
    "of_all",
    "worst_diagnostics",
    "worst_of",
]

WORST: dict[str, Callable[[Sequence[float]], float]] = {
    "pareto_k": max, "ess": min, "log_evidence_error": max,
    "site_ess": min, "r_hat": max, "ess_bulk": min, "ess_tail": min, "divergences": sum,
}  # fmt: skip


class ImputedPosterior(CalibrationPosterior):
    """The posterior of a calibration curve when scores were imputed several times.

    Made by `bayescal.fit(y_true, imputation=...)` and by `bayescal.combine_imputations`. It
    answers as the posterior of one fit does. The draws of a measure are those of all imputations,
    each measured on the scores of its own imputation; nothing is assumed to be normal.

    Parameters
    ----------
    tree : xarray.DataTree
        As `to_netcdf` wrote it: `imputations.tree` of such a posterior.

    Raises
    ------
    InputError
        If the tree is not of several imputations.

    Notes
    -----
    Draws of m imputations, mixed, have the variance W + B (m - 1) / m, with W the variance within
    imputations and B that of their means. Rubin's total variance is W + (1 + 1 / m) B, larger
    because m imputations do not show all that is possible. The deviations of the imputations from
    their common mean are therefore enlarged by sqrt((m + 1) / (m - 1)): of curves in log-odds, of
    distances from calibration by a factor, of anything else by addition. With 5 imputations this is
    1.22 and with 100 it is 1.01. It does not replace imputations: with few of them B itself is
    uncertain, which Rubin's rules meet with a t distribution and these draws do not.

    The table `data` has the imputations, and can be given back to `bayescal.fit`. The
    coordinates in `tree` are as they were drawn; those in `coordinates` are moved apart, too.

    References
    ----------
    Rubin (1987), Multiple Imputation for Nonresponse in Surveys. Zhou & Reiter (2010), A note on
    Bayesian inference after multiple imputation, The American Statistician 64: mixing draws.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("calibrated", 200, random_state=1)
    >>> noise = np.random.default_rng(1).normal(0, 0.3, (5, 200))
    >>> imputed = 1 / (1 + np.exp(-np.log(y_prob / (1 - y_prob)) - noise))
    >>> post = bc.fit(y_true, imputation=imputed, random_state=1)
    >>> bool(post.missing_information.loc["calibration_slope", "missing_information"] < 0.5)
    True
    """

    _posts: tuple[CalibrationPosterior, ...]

    def __init__(self, tree: xr.DataTree) -> None:
        import xarray as xr

        check_type(tree, xr.DataTree, "tree", "Pass the tree of bayescal.combine_imputations.")
        if not is_imputed_tree(tree):
            raise InputError(
                "the tree is not of several imputations. Pass that of an ImputedPosterior, or read "
                "a file with bayescal.load."
            )
        self._posts = tuple(map(posterior_of_curve, trees_of_imputations(tree)))

    @classmethod
    def of_posteriors(cls, posts: Sequence[CalibrationPosterior]) -> Self:
        """The mixture of posteriors that `bayescal.combine_imputations` has checked.

        Parameters
        ----------
        posts : sequence of CalibrationPosterior

        Returns
        -------
        ImputedPosterior
        """
        posterior = cls.__new__(cls)
        posterior._posts = tuple(posts)
        return posterior

    def _on(self, data: CalibrationData) -> Self:
        """Each imputation on the same scores."""
        fitted = self if self._fitted is None else self._fitted
        seen = self.of_posteriors([post._on(data) for post in fitted._posts])
        seen._fitted = fitted
        return seen

    def _departing(self, departure: Departure) -> Self:
        """Refused: each imputation has scores of its own."""
        raise InputError(
            "this is of the scores of one imputation. Ask each of post.imputations, and compare."
        )

    @property
    def imputations(self) -> tuple[CalibrationPosterior, ...]:
        """The posterior of each imputation."""
        return self._posts

    @property
    def prob_calibrated(self) -> float | None:
        """Probability of exact calibration, the mean over the imputations; None for one family."""
        each = [post.prob_calibrated for post in self._posts]
        known = [one for one in each if one is not None]
        return float(np.mean(known)) if len(known) == len(each) else None

    @property
    def has_exact(self) -> bool:
        """Whether exact calibration is among the draws that distances are read from."""
        return all(post.has_exact for post in self._posts)

    @cached_property
    def missing_information(self) -> pd.DataFrame:
        """What the missing data cost, for each functional.

        Returns
        -------
        pandas.DataFrame
            Index: functional. Columns: mean; sd_within, the root of W, the mean variance of the
            draws of an imputation; sd_between, the root of B, the variance of the m means; sd,
            the root of T = W + (1 + 1 / m) B; and missing_information, (1 + 1 / m) B / T, in
            [0, 1].

        References
        ----------
        Rubin (1987), Multiple Imputation for Nonresponse in Surveys, section 3.3.
        """
        names = self._defined(usual_functionals())
        wanted: FunctionalCalls = [(name, {}) for name in names]
        values = self._posterior.by_imputation(wanted, "bootstrap")
        return missing_information(values, "functional")

    @cached_property
    def _drawn(self) -> Drawn:
        each = [post._drawn for post in self._posts]
        first = each[0]
        stats = worst_of([drawn.stats for drawn in each])
        engines = sorted({drawn.engine for drawn in each})
        averages = [drawn.averaged for drawn in each if drawn.averaged is not None]
        averaged = None
        if averages:
            averaged = Averaged(
                averages[0].weights,
                averages[0].asked,
                float(np.mean([average.prob_calibrated for average in averages])),
                *(
                    in_turn(np.stack([getattr(average, tag) for average in averages]))
                    for tag in ("family", "exact")
                ),
            )
        no_coordinates = np.empty((sum(len(drawn.u) for drawn in each), 0))
        problem = of_all([drawn.problem for drawn in each])
        return Drawn(problem, no_coordinates, first.chains, ", ".join(engines), stats, averaged)

    @property
    def coordinates(self) -> dict[str, Floats]:
        """Draws of each working coordinate of the curve, those of all imputations in turn.

        The shift of each imputation is moved to the centre of the first. The centres of the
        imputations are moved apart as in `functional`; not for an average over families, which
        have different coordinates.
        """
        centre = self.problem.frame.centre
        each = [
            at_centre(post.coordinates, post.problem.frame.centre, centre) for post in self._posts
        ]
        stacks = {name: np.stack([one[name] for one in each]) for name in each[0]}
        return {
            name: in_turn(values if self.is_average else widened(values))
            for name, values in stacks.items()
        }

    @cached_property
    def design(self) -> Design | None:
        """What clusters make of the number of cases, the mean over the imputations, or None."""
        each = [post.design for post in self._posts if post.design is not None]
        if not each:
            return None
        return replace(
            each[0],
            effect=float(np.mean([one.effect for one in each])),
            slope_effect=float(np.mean([one.slope_effect for one in each])),
            degrees=float(np.mean([one.degrees for one in each])),
            inflation=float(np.mean([one.inflation for one in each])),
            effective_n=float(np.mean([one.effective_n for one in each])),
            separated=any(one.separated for one in each),
        )

    @cached_property
    def _tree(self) -> xr.DataTree:
        if self._fitted is not None:
            return self._seen_tree(self._fitted)
        return imputed_tree([post._tree for post in self._posts])

    @property
    def tree(self) -> xr.DataTree:
        """The `xarray.DataTree`: a group for each imputation, and the draws of all, mixed.

        The groups `posterior` and `prior` have the draws of all imputations in turn. Likelihoods
        and predictions are in the tree of each imputation, `imputations[0].tree`.
        """
        import xarray as xr

        if "prior" not in self._tree.children:
            prior = mixed([prior_dataset(post._drawn) for post in self._posts])
            self._tree["prior"] = xr.DataTree(prior)
        return self._tree

    @property
    def diagnostics(self) -> dict[str, float | str]:
        """How far the draws can be trusted: the worst of the imputations.

        Returns
        -------
        dict
            As `CalibrationPosterior.diagnostics`; `verdict` names the imputation, counted from 1.
        """
        told = worst_diagnostics([post.diagnostics for post in self._posts])
        verdict = told.pop("verdict")
        design = {} if self.design is None else self.design.to_dict()
        return {"engine": self.engine, **told, **design, "verdict": verdict}

    @cached_property
    def _posterior(self) -> Pooled:
        return Pooled(tuple(post._posterior.parts[0] for post in self._posts))

    @cached_property
    def _prior(self) -> Pooled:
        return Pooled(tuple(post._prior.parts[0] for post in self._posts), is_widened=False)

    def _performances(self, at: Floats, kind: str, *, realised: bool) -> dict[str, Floats]:
        """Draws of every measure, those of all imputations in turn."""
        each = [post._performances(at, kind, realised=realised) for post in self._posts]
        return {
            name: Pooled.in_range(name, np.stack([one[name] for one in each])) for name in each[0]
        }

    def _mixed(self, values: Sequence[Floats]) -> Floats:
        return in_turn(widened(np.stack(values)))

    def prob_monotone(self) -> float:
        """Probability that the curve never falls over the range of the observed scores."""
        return float(np.mean([post.prob_monotone() for post in self._posts]))

    def off_diagonal(self, ci_prob: float = 0.95) -> xr.DataArray:
        """Scores where the curve leaves the diagonal; see `CalibrationPosterior.off_diagonal`.

        At no more than 128 scores: past that neighbouring ones are merged.

        Parameters
        ----------
        ci_prob : float in (0, 1)

        Returns
        -------
        xarray.DataArray
        """
        import xarray as xr

        level, score = as_level(ci_prob), self.problem.stated
        error = self.errors_at(score) if self.has_exact else self._posterior.curve(score) - score
        region, probability = sure_region(error, level)
        attributes = {"ci_prob": level, "probability": probability}
        return xr.DataArray(region, {"score": score}, "score", "off_diagonal", attributes)

    def summary(self, *args: Any, **options: Any) -> pd.DataFrame:
        """Every functional with its credible interval; see `CalibrationPosterior.summary`.

        Its `attrs` also have the number of `imputations`.
        """
        table = super().summary(*args, **options)
        table.attrs["imputations"] = len(self._posts)
        return table

    def __repr__(self) -> str:
        _, cases, *lines = super().__repr__().splitlines()
        return "\n".join(
            [
                "ImputedPosterior",
                f"  {len(self._posts)} imputations of {cases.strip()}",
                *lines,
                f"  {self._missing_in_words}",
            ]
        )

    @property
    def _missing_in_words(self) -> str:
        shares = self.missing_information["missing_information"]
        told = [f"{name} {shares[name]:.2f}" for name in main_functionals() if name in shares.index]
        return f"missing information: {', '.join(told)}"


def by_imputation(post: CalibrationPosterior) -> tuple[CalibrationPosterior, ...]:
    """The posterior of each imputation, or the posterior itself where nothing was imputed."""
    return post.imputations if isinstance(post, ImputedPosterior) else (post,)


def of_all(problems: Sequence[Problem]) -> Problem:
    """The table of all imputations, with the settings of the first."""
    first = problems[0]
    moved = float(np.mean([each.edges.moved for each in problems]))
    data = CalibrationData.from_imputations([each.data for each in problems])
    return replace(first, data=data, edges=first.edges._replace(moved=moved))


def worst_of(each: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Of numbers that say how far draws can be trusted, the worst; the evidence is the mean."""
    told = {
        name: worst([float(one[name]) for one in each])
        for name, worst in WORST.items()
        if all(name in one for one in each)
    }
    if all("log_evidence" in one for one in each):
        evidence = [float(one["log_evidence"]) for one in each]
        told["log_evidence"] = float(logsumexp(evidence) - np.log(len(each)))
    return told


def worst_diagnostics(each: Sequence[Mapping[str, Any]]) -> dict[str, float | str]:
    """The same of diagnostics, with a verdict that names the imputation, counted from 1."""
    bad = [
        f"imputation {number}: {one['verdict']}"
        for number, one in enumerate(each, 1)
        if one["verdict"] != "ok"
    ]
    return {**worst_of(each), "verdict": "; ".join(bad) or "ok"}


def at_centre(drawn: dict[str, Floats], own: float, centre: float) -> dict[str, Floats]:
    """Coordinates, with the shift that the same curve, or line of it, has at another centre."""
    if own == centre or "shift" not in drawn:
        return drawn
    slope, bend = (drawn.get(name, np.zeros(1)) for name in ("log_slope", "asymmetry"))
    line = np.exp(slope + bend / 2) * np.log(centre / own)
    line -= np.exp(slope - bend / 2) * (np.log1p(-centre) - np.log1p(-own))
    return drawn | {"shift": drawn["shift"] + line - float(logit(centre) - logit(own))}
