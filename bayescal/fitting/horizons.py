"""Several horizons of times to an event: a posterior at each, and which draws belong together.

A fit at each horizon gives its draws. Errors at two horizons are of the same cases, so that they go
up and down together. How much is the correlation, over cases, of their residuals: whether the event
came by the horizon, as far as it is known, less the risk by the curve. Draws are put in an order in
which their levels have this correlation (a Gaussian copula of ranks), and stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from bayescal._base.arrays import Floats, is_single
from bayescal._base.errors import InputError
from bayescal._base.text import count
from bayescal.data.follow_up import TIME_STEPS
from bayescal.data.survival import Survival, as_horizon
from bayescal.data.validate import as_floats
from bayescal.model.likelihood.times.entries import Partial
from bayescal.model.likelihood.times.shared import log_without
from bayescal.model.likelihood.times.steps import steps_of
from bayescal.multilevel.compared import Side, off_by, shares_of_worst
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["HorizonPosteriors", "fit_horizons", "is_several"]

MOST_HORIZONS = 20
LEAST_EIGENVALUE = 1e-6


class HorizonPosteriors:
    """Posteriors of the risk by each of several horizons, with joint draws.

    What `bayescal.fit` returns for `horizon=[1, 3, 5]`. At each horizon the draws are those of a
    fit at this horizon alone. Joint is their level: how far a draw is above or below the others
    goes together between horizons as the residuals of the same cases do. Given the level, the
    shapes of the curves at two horizons are taken as independent. If many cases left early, levels
    go together somewhat less than that, since the residuals take the times of events as known.

    Attributes
    ----------
    horizons : tuple of float
    correlation : pandas.DataFrame
        Between the errors at the horizons, by which draws are put in order.
    """

    def __init__(
        self, posteriors: Mapping[float, CalibrationPosterior], correlation: Floats
    ) -> None:
        import pandas as pd

        self.horizons = tuple(posteriors)
        self._posteriors = dict(posteriors)
        index = pd.Index(self.horizons, name="horizon")
        self.correlation: pd.DataFrame = pd.DataFrame(correlation, index, index)

    def __repr__(self) -> str:
        data = self.at(self.horizons[-1]).data
        times = ", ".join(f"{at:g}" for at in self.horizons)
        return f"HorizonPosteriors({count(data.n, 'case')}, horizons {times})"

    def at(self, horizon: float) -> CalibrationPosterior:
        """The posterior at one horizon, which is that of a fit at this horizon alone.

        Its draws are in the order in which they came, and do not pair with those at another.

        Parameters
        ----------
        horizon : float

        Returns
        -------
        CalibrationPosterior
        """
        wanted = as_horizon(horizon)
        if wanted not in self._posteriors:
            times = ", ".join(f"{at:g}" for at in self.horizons)
            raise InputError(f"horizon={wanted:g} was not fitted. The horizons are {times}.")
        return self._posteriors[wanted]

    def functional(self, name: str, population: Any = "bootstrap", **options: Any) -> xr.DataArray:
        """Joint draws of a functional at every horizon.

        Parameters
        ----------
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        population : {"bootstrap", "sample", "beta"}
        **options
            Passed to the functional, such as `p` for "tce".

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, horizon).

        Raises
        ------
        InputError
            If the name or the population is unknown.
        """
        import xarray as xr

        joint = []
        for k, post in enumerate(self._posteriors.values()):
            drawn = post.functional(name, population, **options)
            order = self._order(k, FUNCTIONALS[name].is_distance, population)
            values = drawn.to_numpy()
            joint.append(drawn.copy(data=values.reshape(-1)[order].reshape(values.shape)))
        horizon = xr.DataArray(list(self.horizons), dims="horizon", name="horizon")
        return xr.concat(joint, horizon, join="override").transpose("chain", "draw", "horizon")

    def summary(
        self, names: Sequence[str] | None = None, ci_prob: float = 0.95, **options: Any
    ) -> pd.DataFrame:
        """Every functional at every horizon, as `CalibrationPosterior.summary` gives it.

        Parameters
        ----------
        names : sequence of str, optional
            Rows to compute, by names in `bayescal.functionals.FUNCTIONALS`.
        ci_prob : float in (0, 1)
            Probability of the interval.
        **options
            Passed to `CalibrationPosterior.summary`.

        Returns
        -------
        pandas.DataFrame
            Index: horizon and functional. Columns: estimate, mean, median, lower, upper.
        """
        import pandas as pd

        each = [post.summary(ci_prob, names=names, **options) for post in self._posteriors.values()]
        return pd.concat(each, keys=list(self.horizons), names=["horizon", "functional"])

    def prob_worst(
        self, name: str = "tce", population: Any = "bootstrap", *, side: Side = "both"
    ) -> pd.Series:
        """Probability that the predictions for a horizon are the furthest from calibration.

        Parameters
        ----------
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`; "tce" is the calibration error. Its
            distance from its value at perfect calibration is compared.
        population : {"bootstrap", "sample", "beta"}
        side : {"both", "above", "below"}
            "above" compares how far it is above that value, "below" how far below.

        Returns
        -------
        pandas.Series
            By horizon; the values sum to one.

        Raises
        ------
        InputError
            If a name is unknown, or `side` is "below" for an error, which has one side.

        Notes
        -----
        A calibration error in probability is usually largest at the horizon at which most events
        have come. To compare relative errors, use `name="observed_expected"`.
        """
        import pandas as pd

        drawn = self.functional(name, population)
        values = drawn.stack(sample=("chain", "draw")).transpose("horizon", "sample").to_numpy()
        index = pd.Index(self.horizons, name="horizon")
        return pd.Series(shares_of_worst(off_by(values, name, side)), index, name="prob_worst")

    def _order(self, k: int, is_distance: bool, population: Any) -> NDArray[np.intp]:
        """Which draw of the k-th horizon stands at each position of the joint draws."""
        post = list(self._posteriors.values())[k]
        curves = post.curves_of_draws
        if is_distance and post.has_distances:
            curves = post.curves_of_distances
        level = curves.values([("signed_error", {})], population)["signed_error"]
        rank = np.argsort(np.argsort(self._normal(level.size)[k]))
        return np.asarray(np.argsort(level, kind="stable")[rank])

    def _normal(self, size: int) -> Floats:
        """Normal numbers with the correlation of the errors, of shape (horizons, size)."""
        root = np.linalg.cholesky(self.correlation.to_numpy())
        return np.asarray(root @ self._independent(size))

    def _independent(self, size: int) -> Floats:
        rng = self.at(self.horizons[0]).problem.rng("horizons")
        return rng.standard_normal((len(self.horizons), size))


def is_several(horizon: Any) -> bool:
    """Whether a list of horizons was given."""
    return not is_single(horizon)


def fit_horizons(
    fit: Callable[..., Any], outcome: Any, risks: Any, horizons: Any, refused: Mapping[str, Any]
) -> HorizonPosteriors:
    """Fit a risk by each of several horizons.

    Parameters
    ----------
    fit : callable
        `bayescal.fit` with its options.
    outcome : Survival
    risks : array-like of shape (n, horizons), or data frame
        A column for each horizon, in their order.
    horizons : sequence of float
        Ascending.
    refused : mapping
        Arguments by name, which several horizons do not go with.
    """
    if not isinstance(outcome, Survival):
        raise InputError(
            "horizon is a list of several, and y_true is no Survival: each needs the times. Pass "
            "bc.Survival(time, event); a CalibrationData is of one horizon."
        )
    for name, value in refused.items():
        if value is not None:
            raise InputError(
                f"{name} was given beside several horizons, which are fitted without. Fit each "
                "horizon by itself."
            )
    times = [as_horizon(each) for each in np.ravel(np.asarray(horizons, dtype=object))]
    if len(times) > MOST_HORIZONS or (np.diff(times) <= 0).any():
        told = ", ".join(f"{each:g}" for each in times)
        raise InputError(f"horizon must be at most {MOST_HORIZONS} ascending times, got {told}.")
    columns = _columns_of(risks, len(times))
    posteriors, residuals = {}, []
    for at, column in zip(times, columns, strict=True):
        post = fit(outcome, column, horizon=at)
        posteriors[at] = post
        residuals.append(_residuals(post, outcome, as_floats(column, "y_prob"), at))
    return HorizonPosteriors(posteriors, _correlation(np.array(residuals)))


def _columns_of(risks: Any, size: int) -> list[Any]:
    """The column of each horizon, a series with its labels if it comes from a data frame."""
    if np.ndim(risks) != 2 or np.shape(risks)[1] != size:
        shape = f"the shape {np.shape(risks)}" if risks is not None else "no scores"
        raise InputError(
            f"y_prob has {shape}, and {size} horizons were given. Pass a column of risks for each "
            "horizon, in their order."
        )
    if hasattr(risks, "iloc"):
        columns = [risks.iloc[:, k] for k in range(size)]
    else:
        columns = list(np.asarray(risks).T)
    means = [
        float(np.mean(as_floats(column, f"y_prob[:, {k}]"))) for k, column in enumerate(columns)
    ]
    for k in range(1, size):
        if means[k] < means[k - 1]:
            raise InputError(
                f"the mean of y_prob falls from column {k - 1} ({means[k - 1]:.3g}) to column {k} "
                f"({means[k]:.3g}), and a risk by a later horizon is no smaller. Pass the columns "
                "in the order of the horizons, as risks and not as probabilities of survival."
            )
    return columns


def _residuals(post: CalibrationPosterior, outcome: Survival, score: Floats, at: float) -> Floats:
    """Of each case the probability of the event by the horizon, given what was seen, less g."""
    rows = post.data.score
    curve = post.curve(rows).mean(("chain", "draw")).to_numpy()
    g = np.interp(score, rows, curve)
    known = outcome.event & (outcome.time <= at)
    early = ~outcome.event & ~outcome.other & (outcome.time < at)
    seen = np.where(known, 1.0, 0.0)
    seen[early] = _later(post, score[early], g[early], outcome.time[early])
    before = g.copy()
    if outcome.entry is not None:
        late = outcome.entry > 0
        before[late] = _later(post, score[late], g[late], outcome.entry[late])
    return np.asarray(seen - before)


def _later(post: CalibrationPosterior, score: Floats, g: Floats, time: Floats) -> Floats:
    """Probability of the event by the horizon, of cases without any by a time before it."""
    followed = post.data.follow_up
    assert followed is not None
    step = np.clip(time / followed.horizon * TIME_STEPS, 1e-9, TIME_STEPS)
    x = np.asarray(logit(post.data.edges().inside(score)))
    partial = Partial(np.zeros(x.size, np.intp), x, step, np.ones(x.size))
    shares = steps_of(post.problem).shares(partial)
    left = np.exp(log_without(g, shares.value, shares.other))
    return np.asarray(g * (1 - shares.value) / left)


def _correlation(residuals: Floats) -> Floats:
    """Of the sums of residuals, of shape (horizons, horizons), positive definite."""
    product = residuals @ residuals.T
    size = np.sqrt(np.maximum(np.diag(product), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(product / np.outer(size, size))
    matrix = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    size = np.sqrt(np.diag(matrix))
    return np.asarray(matrix / np.outer(size, size))
