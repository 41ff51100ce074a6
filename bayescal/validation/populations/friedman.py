"""A regression problem with known means and variances."""

from __future__ import annotations

import numpy as np

from bayescal.core.arrays import Floats, RandomState, random_generator
from bayescal.core.errors import as_count
from bayescal.validation.truths import MOST_SIMULATED

__all__ = ["friedman_1"]


def friedman_1(n: int, random_state: RandomState = None) -> tuple[Floats, Floats, Floats, Floats]:
    """Friedman's first regression problem with a variance that differs from case to case.

    y = 10 sin(pi x_1 x_2) + 20 (x_3 - 1/2)^2 + 10 x_4 + 5 x_5 + e, with ten features uniform on
    [0, 1], five of them without influence on the mean, and e ~ N(0, (1/2 + x_6)^2).

    Parameters
    ----------
    n : int
        Number of cases.
    random_state : int, numpy.random.Generator or None
        Seed or source of randomness; a Generator is advanced.

    Returns
    -------
    X : ndarray of shape (n, 10)
        Features.
    y : ndarray of shape (n,)
        Outcomes.
    mean, variance : ndarray of shape (n,)
        The true mean and variance of the outcome of each case, given its features.

    Raises
    ------
    InputError
        If `n` is not a positive integer.

    Notes
    -----
    Gruber & Buettner write N(0, 1/2 + x_6), which could be a variance; in their code 1/2 + x_6 is
    the standard deviation, as here.

    References
    ----------
    Friedman, "Multivariate Adaptive Regression Splines", Annals of Statistics 19, 1991.
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, appendix G.5.2.

    Examples
    --------
    >>> from bayescal import scores, simulate
    >>> _, y, mean, variance = simulate.friedman_1(10_000, random_state=1)
    >>> round(float(((y - mean) ** 2 / variance).mean()), 2)
    1.02
    """
    size, rng = as_count(n, "n", 1, MOST_SIMULATED), random_generator(random_state)
    x = rng.random((size, 10))
    mean = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
    mean += 10 * x[:, 3] + 5 * x[:, 4]
    spread = 0.5 + x[:, 5]
    return x, rng.normal(mean, spread), mean, spread**2
