"""CalibrationPosterior: a thin view on the tree, and the questions one asks of it."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from bayescal.core.arrays import Floats, is_single
from bayescal.core.errors import InputError, as_level, check_type
from bayescal.core.files import as_path, replacing
from bayescal.core.optimise import clipped
from bayescal.core.text import card, chance, count, interval
from bayescal.core.versions import one_blas_thread
from bayescal.data.cases import as_scores
from bayescal.model.lapse.bounds import RATES
from bayescal.model.lapse.family import RATE_PRIORS
from bayescal.posterior.checks.rates import learnt_rates
from bayescal.posterior.departures import AtPrevalence
from bayescal.posterior.intervals import SUMMARY_COLUMNS, summary_rows, sure_region
from bayescal.posterior.patients import risk_table
from bayescal.posterior.performance import PerformanceMeasures

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["CalibrationPosterior", "as_posterior", "check_outcomes"]


class CalibrationPosterior(PerformanceMeasures):
    """Posterior of a calibration curve and of everything computed from it.

    Its data, settings and draws are in an `xarray.DataTree` in ArviZ's schema, which can be saved,
    loaded and passed to ArviZ's functions. The tree is made when `tree` is first read; measures
    are computed from the draws directly.

    Parameters
    ----------
    tree : xarray.DataTree
        As written by `bayescal.fit`.

    Raises
    ------
    InputError
        If the tree was not written by bayescal.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    >>> post = bc.fit(y_true, y_prob, random_state=1)
    >>> bool(0 < post.tce().mean() < 0.2)
    True
    """

    def curve(self, scores: Any = None) -> xr.DataArray:
        """Draws of the calibration curve g.

        Parameters
        ----------
        scores : array-like of shape (k,), optional
            Scores at which to evaluate it, in [0, 1]; by default the distinct scores of the data.

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, score), values in (0, 1).

        Raises
        ------
        InputError
            If a score is outside [0, 1].
        """
        values = self.data.score if scores is None else as_scores(scores, "scores")
        return self._array(self._drawn_curve(values), "curve", score=values)

    def predict(self, y_prob: Any) -> xr.DataArray:
        """Recalibrated probabilities of new cases.

        In a fit of `saturated`, the error at a score between two of those fitted is interpolated
        on the probability scale, and beyond them it is that of the last.

        Parameters
        ----------
        y_prob : array-like of shape (n,)
            The classifier's probabilities.

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, obs). Its mean over draws is the recalibrated probability.

        Raises
        ------
        InputError
            If a score is outside [0, 1].
        """
        values = as_scores(y_prob)
        return self._array(self._drawn_curve(values), "recalibrated", obs=np.arange(values.size))

    def risks(self, y_prob: Any, thresholds: Any = (), ci_prob: float = 0.95) -> pd.DataFrame:
        """The actual risk of single patients, by their score, with an interval.

        Parameters
        ----------
        y_prob : float or array-like of shape (n,)
            The model's probabilities of the patients.
        thresholds : float or array-like of shape (k,)
            Risks from which a patient is treated, in (0, 1).
        ci_prob : float in (0, 1)

        Returns
        -------
        pandas.DataFrame
            Index: patient, by position. Columns: score, risk (mean), lower, upper, and of each
            threshold t `flips@t`: the probability that the actual risk is on the other side of t
            than the score, so that the decision would be another.

        Raises
        ------
        InputError
            If a score is outside [0, 1] or a threshold outside (0, 1).

        Notes
        -----
        The interval is of the mean outcome of patients with this score, as far as the data say. It
        does not say how patients of one score differ by what the model does not know.

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> post = bc.fit(y_true, y_prob, random_state=1)
        >>> post.risks(0.25, thresholds=0.2).columns.tolist()
        ['score', 'risk', 'lower', 'upper', 'flips@0.2']
        """
        values = as_scores([y_prob] if is_single(y_prob) else y_prob)
        return risk_table(self._drawn_curve(values), values, thresholds, ci_prob)

    def _drawn_curve(self, scores: Floats) -> Floats:
        """The curves at these scores, which do not depend on the scores they are seen on."""
        fitted = self if self._fitted is None else self._fitted
        curves = fitted._posterior.curve(scores)
        if self._departure is None:
            return curves
        (own,) = self._posterior.parts
        return np.asarray(expit(logit(clipped(curves)) + own.shift[:, None]))

    @one_blas_thread
    def prob_monotone(self) -> float:
        """Probability that the curve never falls over the range of the observed scores.

        Returns
        -------
        float
            1 for every family but `spline`, `pieces`, `saturated` and averages that hold one of
            them.
        """
        observed = logit(self.problem.table.score)
        grid = expit(np.linspace(observed[0], observed[-1], 201))
        if self.problem.frame.scores:  # between them curves are straight, or monotone
            grid = self.data.score
        log_odds = self.problem.curves_at(grid).log_odds(self._drawn.u)
        return float((np.diff(log_odds, axis=1) >= -1e-12).all(axis=1).mean())

    def floor_and_ceiling(self, ci_prob: float = 0.95) -> pd.DataFrame:
        """Lowest and highest risk of a curve with a floor and a ceiling, where the data tell them.

        Wrong labels, for example, keep the risk away from 0 and 1. On most clinical scores the data
        do not tell a floor from a flatter slope.

        Parameters
        ----------
        ci_prob : float in (0, 1)

        Returns
        -------
        pandas.DataFrame
            Rows "floor" and "ceiling"; columns estimate, lower and upper. A row is there only if
            its interval is at most half as long as under the prior, and none if fewer than half of
            the draws are of `noise` or `lapse`.

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("D5", 2000, random_state=1)
        >>> wrong = (y_prob * 1e6).astype(int) % 20 == 0
        >>> y_true[wrong] = 1 - y_true[wrong]
        >>> bc.fit(y_true, y_prob, curve="lapse", random_state=1).floor_and_ceiling().index.tolist()
        ['ceiling']
        """
        import pandas as pd

        level = as_level(ci_prob)
        known = learnt_rates(self.coordinates, self.problem.prior.with_others(RATE_PRIORS), level)
        rows = {}
        for name, title in zip(RATES, ("floor", "ceiling"), strict=True):
            if name in known:
                risk = known[name] if title == "floor" else 1 - known[name]
                lower, upper = np.quantile(risk, [(1 - level) / 2, (1 + level) / 2])
                rows[title] = {"estimate": risk.mean(), "lower": lower, "upper": upper}
        columns = ["estimate", "lower", "upper"]
        return pd.DataFrame.from_dict(rows, orient="index", columns=columns, dtype=np.float64)

    def off_diagonal(self, ci_prob: float = 0.95) -> xr.DataArray:
        """Scores where the curve leaves the diagonal, as one joint statement.

        The largest set such that, with probability at least `ci_prob`, the curve is above
        the diagonal on all of its "above" part and below it on all of its "below" part.
        Scores are added in descending order of the probability of their direction (the excursion
        sets of Bolin & Lindgren). Draws that are exactly on the diagonal are on neither side.

        This is a posterior statement, not a test: on simulated data sets of 150 patients from a
        calibrated model it was non-empty in 26 % at 0.95 and in 4 % at 0.99.

        Parameters
        ----------
        ci_prob : float in (0, 1)

        Returns
        -------
        xarray.DataArray
            With dim score: 1 where above, -1 where below, 0 where the diagonal cannot be ruled
            out. The attribute `probability` is the joint probability reached.

        References
        ----------
        Bolin & Lindgren (2015), Excursion and contour uncertainty regions for latent Gaussian
        models, JRSS B 77.
        """
        import xarray as xr

        level = as_level(ci_prob)
        region, probability = sure_region(self.errors_at(self.data.score), level)
        attributes = {"ci_prob": level, "probability": probability}
        return xr.DataArray(region, {"score": self.data.score}, "score", "off_diagonal", attributes)

    def prob_on_diagonal(self, scores: Any = None) -> xr.DataArray:
        """Probability that the curve is exactly on the diagonal, by score.

        Only for a fit of `pieces` or `saturated`, or an averaged posterior, whose draws include
        exact calibration.

        Parameters
        ----------
        scores : array-like of shape (k,), optional
            Where, in [0, 1]; by default the distinct scores of the data.

        Returns
        -------
        xarray.DataArray
            With dim score, values in [0, 1].

        Raises
        ------
        InputError
            If the family has no stretches on the diagonal, or a score is outside [0, 1].

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 400, random_state=1)
        >>> post = bc.fit(y_true, y_prob, curve="pieces", random_state=1)
        >>> bool((post.prob_on_diagonal([0.2, 0.7]) > 0.1).all())
        True
        """
        import xarray as xr

        values = self.data.score if scores is None else as_scores(scores, "scores")
        on = self.errors_where_known(values) == 0
        return xr.DataArray(on.mean(axis=0), {"score": values}, "score", "prob_on_diagonal")

    def errors_where_known(self, scores: Floats) -> Floats:
        """Draws of the curve minus the score, exactly zero where a draw is on the diagonal.

        Of a fit of `pieces` or `saturated`, or of an averaged posterior.

        Parameters
        ----------
        scores : ndarray of shape (k,)

        Returns
        -------
        ndarray of shape (draws, k)

        Raises
        ------
        InputError
            If the family has no stretches on the diagonal.
        """
        frames = [part.problem.frame for part in self._posterior.parts]
        if not all(frame.cells or frame.scores for frame in frames):
            raise InputError(
                f"a curve of the family {self.family.name!r} is nowhere exactly on the diagonal "
                "unless it is everywhere. Fit curve='pieces', or use bayescal.compare."
            )
        return self.errors_at(scores)

    def errors_at(self, scores: ArrayLike) -> Floats:
        """Draws of the curve minus the score: those that distances are read from.

        Parameters
        ----------
        scores : array-like of float in [0, 1], shape (k,)

        Returns
        -------
        ndarray of shape (draws, k)
        """
        if self._departure is not None:
            raise InputError(
                "where the curve leaves the diagonal is told of the curve that was fitted. Ask the "
                "posterior before at_prevalence."
            )
        at = as_scores(scores, "scores")
        parts = self._posterior.parts
        return np.concatenate([part.distances.curve(at) - clipped(at) for part in parts])

    def to_netcdf(self, path: str | PathLike[str]) -> None:
        """Write the whole tree to a NetCDF file; `bayescal.load` reads it back.

        Parameters
        ----------
        path : str or path-like
        """
        with replacing(as_path(path)) as file:
            self.tree.to_netcdf(file, engine="h5netcdf")

    def __repr__(self) -> str:
        lower, upper = self.interval("tce")
        return (
            "CalibrationPosterior\n"
            f"  {self._cases_in_words}\n"
            + (f"  {self.design}\n" if self.design is not None else "")
            + f"  {self._curve_in_words}, {self.problem.prior.name} prior, {self.engine}\n"
            f"  TCE {interval(self.estimate('tce'), lower, upper, 0.95)}"
            + f"; {self._atom_in_words}"
        )

    @property
    def _atom_in_words(self) -> str:
        atom = self.prob_calibrated
        if atom is None:
            return "exact calibration was not considered"
        return f"P(exactly calibrated) {chance(atom)}"

    @property
    def _curve_in_words(self) -> str:
        return "average over families" if self.is_average else f"{self.family.name} curve"

    @property
    def _cases_in_words(self) -> str:
        if not self.has_outcomes:
            told = f"{count(self.data.n, 'score')}, without outcomes{self._outside_in_words}"
            return f"{told}{self._prevalence_in_words}"
        return self.data.size_in_words

    @property
    def _outside_in_words(self) -> str:
        """How many scores lie where no case with an outcome was; empty on the scores fitted."""
        if self._fitted is None:
            return ""
        lower, upper = self._fitted_range
        return (
            f", {100 * self.outside:.2g} % of them outside {lower:.3g} to {upper:.3g}, "
            "the range of the scores fitted"
        )

    @property
    def _prevalence_in_words(self) -> str:
        """Which prevalence was told, and what gave way; empty where none was."""
        if not isinstance(self._departure, AtPrevalence):
            return ""
        (implied, lower, upper), (told, *_), (shift, *_) = self.prevalence_told.to_numpy()
        moved = f"the log-odds of all risks are shifted by {shift:+.2f}"
        if not self._departure.keeps_scores:
            return f"\n  at a prevalence of {told:.3g}, not {implied:.3g}: {moved}"
        return (
            f"\n  conflict: curve and scores imply a prevalence of {implied:.3g} ({lower:.3g} to "
            f"{upper:.3g}), told was {told:.3g}; the curve gives way: {moved}"
        )

    def _repr_html_(self) -> str:
        return card(repr(self), SUMMARY_COLUMNS, summary_rows(self.summary()))


def as_posterior(post: Any, name: str = "post") -> CalibrationPosterior:
    """A posterior, and nothing else that has one, which the error says how to take it from."""
    cure = "Pass what bayescal.fit returns, or the `posterior` of a comparison or an assessment."
    if hasattr(post, "average"):  # of several curves
        cure = f"Pass one of its curves by {' and '.join(post.levels)}, such as {name}.average()."
    return check_type(post, CalibrationPosterior, name, cure)


def check_outcomes(post: CalibrationPosterior, what: str) -> None:
    """Refuse a posterior whose data are scores alone.

    Parameters
    ----------
    what : str
        What needs the outcomes, at the start of a sentence.
    """
    if not post.has_outcomes:
        raise InputError(
            f"{what} needs outcomes, and post has none: it is of scores alone, those of a site "
            "without patients or those of `on`. Pass that of a site with patients, "
            "`post.site(name)`, or a fit of one curve."
        )
