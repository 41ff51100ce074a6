"""Intervals from curves drawn about a fitted one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from bayescal._base.arrays import RandomState, blocks, random_generator
from bayescal._base.docstrings import documented
from bayescal._base.errors import SeparationError
from bayescal._base.logistic import binomial_mle
from bayescal.data.table import tabulate
from bayescal.data.validate import as_draws, as_level, check_choice
from bayescal.estimators.door import DOOR_BLOCK, OutcomesLike, read
from bayescal.estimators.integrated._regression import BASES, full_rank
from bayescal.estimators.integrated._summaries import INDICES
from bayescal.estimators.integrated.smoothers import as_smoothing, no_curve

__all__ = ["ici_interval"]


@documented
def ici_interval(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    index: str = "ici",
    smoother: str = "rcs",
    n_knots: int = 5,
    ci_prob: float = 0.95,
    draws: int = 1000,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
) -> tuple[float, float]:
    """Simulated interval of an index of the ICI family, for the smoothers that are regressions.

    Coefficients are drawn from the normal distribution around their estimates with the inverse
    information as covariance. The interval has the equal-tailed quantiles of the index of the drawn
    curves.

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    index : {"ici", "e50", "e90", "emax", "eci"}
        Which index; "eci" in its mean-square form.
    smoother : {"rcs", "logistic", "beta"}
        As in `ici`.
    n_knots : int
        Knots of "rcs", from 3 to 7.
    ci_prob : float
        Nominal coverage.
    draws : int
        Number of curves, at least 100; rounded up to a multiple of four.
    %(weights_by_kish)s
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None

    Returns
    -------
    tuple of float
        Lower and upper end.

    Raises
    ------
    InputError
        As `ici`; also for a smoother that is not a regression.

    Notes
    -----
    This is pmcalibration's `ci = "sim"`. Drawn curves differ from the scores even where the true
    curve does not, so that the interval never contains 0. Measured coverage of nominal 95 %
    intervals of the ICI with "rcs": 0 at perfect calibration; at a true ICI of 0.034, .77, .83
    and .91 for 100, 500 and 1000 cases. `bayescal.fit` gives a posterior instead.

    References
    ----------
    Rhodes, "pmcalibration: Calibration Curves for Clinical Prediction Models", R package.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 1000, random_state=1)
    >>> lower, upper = estimators.ici_interval(y_true, y_prob, random_state=1)
    >>> round(lower, 2), round(upper, 2)
    (0.04, 0.09)
    """
    distance = INDICES[check_choice(index, INDICES, "index")]
    check_choice(smoother, BASES, "smoother")
    as_smoothing(smoother, None, n_knots)
    level, number = as_level(ci_prob), as_draws(draws)
    cases = read(y_true, y_prob, sample_weight, replicates=False)
    table = tabulate(cases.scores, cases.weights)
    basis = full_rank(BASES[smoother](table, n_knots), table)(table.score)
    hits = table.hits(cases.outcomes)[0]
    try:
        centre, covariance = binomial_mle(basis.T, table.trials, hits)
        spread = np.linalg.cholesky((covariance + covariance.T) / 2).T
    except (SeparationError, np.linalg.LinAlgError):  # outcomes are parted, or nearly so
        raise no_curve(smoother) from None
    rng = random_generator(random_state)
    drawn = centre + rng.standard_normal((number, centre.size)) @ spread
    values = np.empty(number)
    for part in blocks(number, table.score.size, DOOR_BLOCK):
        values[part] = distance(np.abs(expit(drawn[part] @ basis) - table.score), table.trials)
    lower, upper = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(lower), float(upper)
