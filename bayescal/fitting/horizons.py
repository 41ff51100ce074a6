"""Several horizons of times to an event: a posterior at each, and which draws belong together.

A fit at each horizon gives its draws. Errors at two horizons are of the same cases, so that they go
up and down together. How much is the correlation, over cases, of the influence that each has on the
level of the curve by either horizon; of clusters of cases, over the clusters. Draws are put in an
order in which their levels have this correlation (a Gaussian copula of ranks), and stay what they
are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats, is_single
from bayescal._base.errors import InputError
from bayescal._base.text import count
from bayescal.data.clusters import centred_in_strata
from bayescal.data.predicted import Risks
from bayescal.data.survival import as_horizon
from bayescal.data.table import add_up
from bayescal.data.validate import as_floats
from bayescal.model.likelihood.times.influence import influence_on_level
from bayescal.multilevel.compared import Side, off_by, shares_of_worst
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayescal.inference.comparison import CurveComparison

__all__ = [
    "HorizonComparison",
    "HorizonPosteriors",
    "at_horizon",
    "each_horizon",
    "is_several",
    "joined",
]

LEAST_EIGENVALUE = 1e-6
Result = TypeVar("Result")


class HorizonPosteriors:
    """Posteriors of the risk by each of several horizons, with joint draws.

    What `bayescal.fit` returns for `horizon=[1, 3, 5]`. At each horizon the draws are those of a
    fit at this horizon alone. Joint is their level: how far a draw is above or below the others
    goes together between horizons as the influences of the same cases do, by what was seen of each
    until either horizon. Given the level, the shapes of the curves at two horizons are taken as
    independent.

    Attributes
    ----------
    horizons : tuple of float
    correlation : pandas.DataFrame
        Between the errors at the horizons, by which draws are put in order.
    notes : tuple of str
        How the risks were read off whole predicted curves; empty of columns of risks.
    """

    def __init__(
        self,
        posteriors: Mapping[float, CalibrationPosterior],
        correlation: Floats,
        notes: tuple[str, ...] = (),
    ) -> None:
        import pandas as pd

        self.notes = notes

        self.horizons = tuple(posteriors)
        self._posteriors = dict(posteriors)
        index = pd.Index(self.horizons, name="horizon")
        self.correlation: pd.DataFrame = pd.DataFrame(correlation, index, index)

    def __repr__(self) -> str:
        times = ", ".join(f"{at:g}" for at in self.horizons)
        return f"HorizonPosteriors({count(self.cases, 'case')}, horizons {times})"

    @property
    def cases(self) -> float:
        """Number of cases, or the sum of their weights."""
        return self.at(self.horizons[-1]).data.n

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
        return at_horizon(self._posteriors, horizon)

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
            order = self._order(k, population)
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

    def _order(self, k: int, population: Any) -> NDArray[np.intp]:
        """Which draw of the k-th horizon stands at each position of the joint draws."""
        post = list(self._posteriors.values())[k]
        level = post.values_of("signed_error", population)
        rank = np.argsort(np.argsort(self._normal(level.size)[k]))
        return np.asarray(np.argsort(level, kind="stable")[rank])

    def _normal(self, size: int) -> Floats:
        """Normal numbers with the correlation of the errors, of shape (horizons, size)."""
        root = np.linalg.cholesky(self.correlation.to_numpy())
        return np.asarray(root @ self._independent(size))

    def _independent(self, size: int) -> Floats:
        rng = self.at(self.horizons[0]).problem.rng("horizons")
        return rng.standard_normal((len(self.horizons), size))


class HorizonComparison:
    """Families of curves compared at each of several horizons.

    What `bayescal.compare` returns for `horizon=[1, 3, 5]`.

    Attributes
    ----------
    horizons : tuple of float
    table : pandas.DataFrame
        The table of each comparison, by horizon and family.
    prob_calibrated : pandas.Series
        Posterior probability of exact calibration, by horizon.
    posterior : HorizonPosteriors
        The average over families at each horizon, with joint draws.
    """

    def __init__(
        self,
        comparisons: Mapping[float, CurveComparison],
        risks: Risks,
        of_cases: Mapping[str, Any] | None = None,
    ) -> None:
        import pandas as pd

        self.horizons = tuple(comparisons)
        self._comparisons = dict(comparisons)
        each = list(comparisons.values())
        self.table: pd.DataFrame = pd.concat(
            [one.table for one in each], keys=list(self.horizons), names=["horizon", "curve"]
        )
        self.prob_calibrated: pd.Series = pd.Series(
            [one.prob_calibrated for one in each],
            pd.Index(self.horizons, name="horizon"),
            name="prob_calibrated",
        )
        fitted = {at: one.posterior for at, one in comparisons.items()}
        self.posterior = joined(fitted, risks, of_cases)

    def __repr__(self) -> str:
        times = ", ".join(f"{at:g}" for at in self.horizons)
        return f"HorizonComparison({count(self.posterior.cases, 'case')}, horizons {times})"

    def at(self, horizon: float) -> CurveComparison:
        """The comparison at one horizon, which is that at this horizon alone.

        Parameters
        ----------
        horizon : float

        Returns
        -------
        CurveComparison
        """
        return at_horizon(self._comparisons, horizon)


def is_several(horizon: Any) -> bool:
    """Whether a list of horizons was given."""
    return not is_single(horizon)


def at_horizon(results: Mapping[float, Result], horizon: Any) -> Result:
    """What was computed at one of several horizons."""
    wanted = as_horizon(horizon)
    if wanted not in results:
        times = ", ".join(f"{at:g}" for at in results)
        raise InputError(f"horizon={wanted:g} was not fitted. The horizons are {times}.")
    return results[wanted]


def each_horizon(
    door: Callable[..., Any], risks: Risks, refused: Mapping[str, Any]
) -> dict[float, Any]:
    """What a function gives at each of several horizons.

    Parameters
    ----------
    door : callable
        `bayescal.fit`, or another of times to an event, with its options.
    risks : Risks
    refused : mapping
        Arguments by name, which several horizons do not go with.
    """
    for name, value in refused.items():
        if value is not None:
            raise InputError(
                f"{name} was given beside several horizons, which are fitted without. Fit each "
                "horizon by itself."
            )
    pairs = zip(risks.horizons, risks.columns, strict=True)
    return {at: door(risks.outcome, column, horizon=at) for at, column in pairs}


def joined(
    posteriors: Mapping[float, CalibrationPosterior],
    risks: Risks,
    of_cases: Mapping[str, Any] | None = None,
) -> HorizonPosteriors:
    """Posteriors at several horizons, with joint draws.

    Parameters
    ----------
    of_cases : mapping, optional
        What each horizon was fitted with: `sample_weight`, `cluster` and `strata`, where given.
    """
    given = {name: value for name, value in (of_cases or {}).items() if value is not None}
    influences, weight = [], np.ones(len(risks.outcome))
    if "sample_weight" in given:
        weight = as_floats(given["sample_weight"], "sample_weight")
    for post, column in zip(posteriors.values(), risks.columns, strict=True):
        score = as_floats(column, "y_prob")
        rows = post.data.score
        curve = post.curve(rows).mean(("chain", "draw")).to_numpy()
        g = np.interp(score, rows, curve)
        inside = post.data.edges().inside(score)
        influences.append(influence_on_level(post.problem, risks.outcome, inside, g, weight))
    each = np.array(influences)
    if "cluster" in given:
        of_clusters = _of_clusters(each * weight, given["cluster"], given.get("strata"))
        product = of_clusters.T @ of_clusters
    else:
        is_pseudo = next(iter(posteriors.values())).data.is_pseudo
        product = (each * weight ** (1 + is_pseudo)) @ each.T
    return HorizonPosteriors(posteriors, _correlation(product), risks.notes)


def _of_clusters(influence: Floats, cluster: Any, strata: Any) -> Floats:
    """Influences of cases, of shape (horizons, n), summed over each cluster.

    Returns
    -------
    ndarray of shape (clusters, horizons)
        With strata, as deviations from the mean of the stratum.
    """
    of = _codes(cluster)
    first = np.unique(of, return_index=True)[1]
    sums = np.column_stack([add_up(of, values, first.size) for values in influence])
    if strata is None:
        return sums
    return centred_in_strata(sums, _codes(np.asarray(strata)[first]))


def _codes(labels: Any) -> NDArray[np.intp]:
    """Numbers of labels, from 0 without gaps."""
    import pandas as pd

    return np.asarray(pd.factorize(np.asarray(labels))[0], np.intp)


def _correlation(product: Floats) -> Floats:
    """Of sums of products, of shape (horizons, horizons), positive definite."""
    size = np.sqrt(np.maximum(np.diag(product), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(product / np.outer(size, size))
    matrix = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    size = np.sqrt(np.diag(matrix))
    return np.asarray(matrix / np.outer(size, size))
