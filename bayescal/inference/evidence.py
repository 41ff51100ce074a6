"""An e-value of calibration: evidence against it that is valid whenever one looks.

Under calibration the likelihood of any curve over that of calibration is 1 in expectation, whatever
came before, if no outcome had a part in the curve. So is its mean over a mixture of curves that is
frozen at the first look.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, logsumexp, xlog1py, xlogy

from bayescal._base.arrays import Floats, blocks
from bayescal._base.errors import InputError, check_type
from bayescal._base.log_odds import clipped
from bayescal._base.logistic import softplus
from bayescal._base.text import count
from bayescal._base.threads import one_blas_thread
from bayescal.data.data import CalibrationData
from bayescal.data.keywords import as_data
from bayescal.data.stored import read_dataset, write_dataset
from bayescal.model.priors import MODEST
from bayescal.model.problem import prepare

__all__ = ["EValue", "e_value"]

E_FAMILIES = ("logistic", "beta", "spline")
CURVES_EACH = 250
GRID_POINTS, GRID_ROOM = 257, 1.0


@dataclass(frozen=True, eq=False, repr=False)
class EValue:
    """Evidence against calibration, collected case by case; made by `bayescal.e_value`.

    Attributes
    ----------
    log_odds : ndarray of shape (points,)
        Of scores at which the curves of the mixture were frozen, ascending.
    deviation : ndarray of shape (curves, points)
        Log-odds of each curve less those of the score. Between the points it is linear, and beyond
        them constant.
    log_ratio : ndarray of shape (curves,)
        Log-likelihood of each curve less that of calibration, over all cases so far.
    log_looks : tuple of float
        Logarithm of the e-value at each look.
    cases : float
        So far.
    """

    log_odds: Floats
    deviation: Floats
    log_ratio: Floats
    log_looks: tuple[float, ...]
    cases: float

    @property
    def log_value(self) -> float:
        """Logarithm of the present e-value."""
        return self.log_looks[-1]

    @property
    def value(self) -> float:
        """The present e-value: infinite where an outcome contradicts a score of 0 or 1."""
        return self.values[-1]

    @property
    def values(self) -> tuple[float, ...]:
        """The e-value at each look."""
        with np.errstate(over="ignore"):
            return tuple(np.exp(self.log_looks).tolist())

    @property
    def largest(self) -> float:
        """The largest e-value of all looks."""
        return max(self.values)

    def update(
        self,
        y_true: ArrayLike | CalibrationData,
        y_prob: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> EValue:
        """The e-value after more cases, by the same mixture.

        Parameters
        ----------
        y_true, y_prob, sample_weight, pos_label
            The new cases alone, as in `bayescal.e_value`.

        Returns
        -------
        EValue
        """
        data = as_data(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label)
        _check_independent(data)
        ratio = self.log_ratio + self._ratio_of(data)
        value = float(logsumexp(ratio) - np.log(ratio.size))
        looks = (*self.log_looks, value)
        return replace(self, log_ratio=ratio, log_looks=looks, cases=self.cases + float(data.n))

    @one_blas_thread
    def _ratio_of(self, data: CalibrationData) -> Floats:
        """Log-likelihood of each curve less that of calibration, of some cases."""
        score, hits = data.score, data.hits
        misses = data.trials - hits
        x = logit(clipped(score))
        at = np.clip(x, self.log_odds[0], self.log_odds[-1])
        right = np.clip(np.searchsorted(self.log_odds, at), 1, self.log_odds.size - 1)
        width = self.log_odds[right] - self.log_odds[right - 1]
        share = (at - self.log_odds[right - 1]) / width
        total = np.empty(len(self.deviation))
        for part in blocks(total.size, score.size):
            known = self.deviation[part]
            line = x + known[:, right - 1] + share * (known[:, right] - known[:, right - 1])
            lost = line @ misses
            total[part] = -(softplus(np.negative(line, out=line)) @ data.trials) - lost
        calibrated = xlogy(hits, score).sum() + xlog1py(misses, -score).sum()
        return np.asarray(total - calibrated)

    def to_netcdf(self, path: str | PathLike[str]) -> None:
        """Write the frozen mixture and all evidence so far to a file.

        Parameters
        ----------
        path : str or path-like
        """
        import xarray as xr

        dataset = xr.Dataset(
            {
                "log_odds": ("point", self.log_odds),
                "deviation": (("curve", "point"), self.deviation),
                "log_ratio": ("curve", self.log_ratio),
                "log_looks": ("look", np.array(self.log_looks)),
            },
            attrs={"kind": KIND, "cases": self.cases},
        )
        write_dataset(dataset, path)

    @classmethod
    def from_netcdf(cls, path: str | PathLike[str]) -> Self:
        """Read what `to_netcdf` wrote.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        EValue

        Raises
        ------
        InputError
            If there is no such file, or it is another.
        """
        dataset = read_dataset(path)
        if dataset.attrs.get("kind") != KIND:
            raise InputError(f"path {path} is no e-value. Pass what EValue.to_netcdf wrote.")
        return cls(
            dataset["log_odds"].to_numpy(),
            dataset["deviation"].to_numpy(),
            dataset["log_ratio"].to_numpy(),
            tuple(dataset["log_looks"].to_numpy().tolist()),
            float(dataset.attrs["cases"]),
        )

    def __repr__(self) -> str:
        looks = len(self.log_looks)
        return (
            f"EValue({self.value:.3g} after {count(self.cases, 'case')}, "
            f"{looks} look{'s' * (looks != 1)}, largest {self.largest:.3g})"
        )


KIND = "bayescal e-value"


@one_blas_thread
def e_value(
    y_true: ArrayLike | CalibrationData,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: int | np.random.Generator | None = None,
) -> EValue:
    """Evidence against calibration that may be looked at as often as one likes.

    The mean likelihood of 1500 curves, over the likelihood of calibration. Of calibrated models at
    most 1 in 20 ever reaches 20, however many looks there are (Ville). Freeze the mixture at the
    first look, and give the cases of each later one to `update`.

    Parameters
    ----------
    y_true : array-like of shape (n,) or CalibrationData
        Outcomes of the first look, 0/1 or boolean; or a table, and then no `y_prob`.
    y_prob : array-like of shape (n,), optional
        Predicted probabilities of the event, in [0, 1].
    sample_weight : array-like of shape (n,), optional
        Counts of cases.
    pos_label : object, optional
    random_state : int or numpy.random.Generator, optional
        Chooses the curves.

    Returns
    -------
    EValue

    Raises
    ------
    InputError
        If the input is not outcomes and probabilities of the same cases; if cases come in clusters
        or sites, weights are sampling weights, or scores were imputed.

    Notes
    -----
    Curves are drawn from the priors of `logistic`, `beta` and `spline` at two scales, with centre
    and knots from the scores of the first look. No outcome has a part in them, and the probability
    of the outcomes under calibration is that of the scores as they came in. An e-value is no
    p-value: 1 over it is one, valid at any look.

    Give a case only when its whole time window has closed. If events are known before non-events,
    as in a follow-up, cases that are counted when they are known are not calibrated, though the
    model is: of simulated models .69 then reached 20. Effects of a month or a hospital that cases
    share are not calibration either: with them .085 to .21 did, so that clusters and sites are
    refused.

    References
    ----------
    Arnold, Henzi & Ziegel (2023), Sequentially valid tests for forecast calibration, Annals of
    Applied Statistics 17.

    Examples
    --------
    >>> import bayescal as bc
    >>> first = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    >>> evidence = bc.e_value(*first, random_state=1)
    >>> more = bc.simulate.sample("clinical-middle-overconfident", 600, random_state=2)
    >>> evidence = evidence.update(*more)
    >>> bool(evidence.value > 20)
    True
    """
    data = as_data(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label)
    _check_independent(data)
    frozen = [prepare(data, curve=name, random_state=random_state) for name in E_FAMILIES]
    x = logit(clipped(data.score))
    log_odds = np.linspace(x.min() - GRID_ROOM, x.max() + GRID_ROOM, GRID_POINTS)
    at, parts = expit(log_odds), []
    for problem in frozen:
        for scale in (problem, problem.with_prior(MODEST)):
            u = scale.sample_prior(scale.rng("e-value"), CURVES_EACH)
            parts.append(logit(clipped(scale.curves_at(at).probability(u))) - log_odds)
    deviation = np.concatenate(parts)
    nothing = EValue(log_odds, deviation, np.zeros(len(deviation)), (), 0.0)
    return nothing.update(data)


def _check_independent(data: CalibrationData) -> None:
    """Refuse cases that share what calibration does not know of."""
    check_type(data, CalibrationData, "y_true", "Pass outcomes, or a table.")
    if data.clusters is not None or data.groups:
        raise InputError(
            "an e-value takes cases as independent, and these come in "
            f"{'clusters' if data.clusters is not None else 'groups'}: what the cases of one share "
            "would count as evidence against calibration. Use bayescal.fit, which knows of them."
        )
    if data.imputations:
        raise InputError("an e-value is of one score a case. Ask for that of each imputation.")
    if data.is_pseudo:
        raise InputError(
            "an e-value counts cases, and sample_weight are sampling weights. Leave them out."
        )
