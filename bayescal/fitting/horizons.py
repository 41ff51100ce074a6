"""Several horizons of times to an event: a posterior at each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from bayescal.core.arrays import is_single
from bayescal.core.errors import InputError
from bayescal.core.text import count
from bayescal.data.predicted import Risks
from bayescal.data.times import as_horizon
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.inference.comparison import CurveComparison

__all__ = [
    "HorizonComparison",
    "HorizonPosteriors",
    "at_horizon",
    "each_horizon",
    "is_several",
]

Result = TypeVar("Result")


class HorizonPosteriors:
    """Posteriors of the risk by each of several horizons.

    What `bayescal.fit` returns for `horizon=[1, 3, 5]`. Each is that of a fit at this horizon
    alone.

    Attributes
    ----------
    horizons : tuple of float
    notes : tuple of str
        How the risks were read off whole predicted curves; empty of columns of risks.
    """

    def __init__(
        self, posteriors: Mapping[float, CalibrationPosterior], notes: tuple[str, ...] = ()
    ) -> None:
        self.notes = notes
        self.horizons = tuple(posteriors)
        self._posteriors = dict(posteriors)

    def __repr__(self) -> str:
        times = ", ".join(f"{at:g}" for at in self.horizons)
        return f"HorizonPosteriors({count(self.cases, 'case')}, horizons {times})"

    @property
    def cases(self) -> float:
        """Number of cases, or the sum of their weights."""
        return self.at(self.horizons[-1]).data.n

    def at(self, horizon: float) -> CalibrationPosterior:
        """The posterior at one horizon, which is that of a fit at this horizon alone.

        Parameters
        ----------
        horizon : float

        Returns
        -------
        CalibrationPosterior
        """
        return at_horizon(self._posteriors, horizon)

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
        The average over families at each horizon.
    """

    def __init__(self, comparisons: Mapping[float, CurveComparison], risks: Risks) -> None:
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
        self.posterior = HorizonPosteriors(fitted, risks.notes)

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
