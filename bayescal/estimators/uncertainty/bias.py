"""How far an estimator is from the error of known probabilities, on average over simulations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bayescal._base.arrays import RandomState, random_generator
from bayescal._base.errors import InputError
from bayescal._base.text import shortened
from bayescal.data.sources.alignment import aligned
from bayescal.data.validate import MOST_DRAWS, as_count, as_scores, check_same_length
from bayescal.estimators.door import read
from bayescal.estimators.uncertainty.applied import applied_of

__all__ = ["Bias", "estimator_bias"]


class Bias(NamedTuple):
    """Mean difference of an estimator from the true error, and the standard error of that mean.

    Attributes
    ----------
    bias : float
    standard_error : float
        By simulation; 0 only if every simulation gave the same difference.
    """

    bias: float
    standard_error: float


def estimator_bias(
    estimator: str | Callable[..., float],
    sample: Callable[[np.random.Generator], Any],
    *,
    n_simulations: int = 10,
    random_state: RandomState = None,
    **options: Any,
) -> Bias:
    """Bias of an estimator where the probability of every case is known.

    The mean over simulated data sets of the estimate less the data set's own mean |s_i - t_i|,
    with t_i the probability of the event of case i.

    Parameters
    ----------
    estimator : str or callable
        A name of an estimator of this module, or any function of `(y_true, y_prob)`.
    sample : callable
        Draws a data set: from a `numpy.random.Generator` to `(y_true, y_prob, probability)`, each
        of shape (n_samples,). A fourth item, if there is one, is a mapping of options that have a
        value for each case, such as `{"cells": tree.leaf(y_prob, X)}`.
    n_simulations : int
        Number of data sets, from 2 to 1,000,000.
    random_state : int, numpy.random.Generator or None
        Seed or source of randomness.
    **options
        Of the estimator.

    Returns
    -------
    Bias
        `bias` and `standard_error`.

    Raises
    ------
    InputError
        If `sample` is not such a function, or the estimator refuses what it draws.

    Notes
    -----
    The target is how far the scores are from the probabilities of the cases, and not from the
    calibration curve. The two are the same where the probability depends on the score alone, as in
    `bayescal.simulate`. Where it varies among cases of one score the target is the larger of the
    two, and even a perfect estimate of the calibration error has a negative bias.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943,
    appendix C, where there are ten simulations.

    Examples
    --------
    Binned errors of an exactly calibrated model are bias; more so with more bins:

    >>> from bayescal import estimators, simulate
    >>> truth = simulate.truth("clinical-middle-calibrated")
    >>> def sample(rng):
    ...     y_true, y_prob = truth.sample(500, rng)
    ...     return y_true, y_prob, truth.curve(y_prob)
    >>> for n_bins in (4, 16):
    ...     bias = estimators.estimator_bias("ece", sample, n_bins=n_bins, random_state=1)
    ...     print(f"{n_bins} bins: {bias.bias:.3f} (standard error {bias.standard_error:.3f})")
    4 bins: 0.025 (standard error 0.004)
    16 bins: 0.047 (standard error 0.003)
    """
    applied = applied_of(estimator, options)
    if not callable(sample):
        raise InputError(
            f"sample must be a function of a random generator, got {shortened(repr(sample))}."
        )
    rng = random_generator(random_state)
    differences = []
    for _ in range(as_count(n_simulations, "n_simulations", 2, MOST_DRAWS)):
        y_true, y_prob, probability, by_case = _drawn(sample, rng)
        y_true, y_prob, probability, *_ = aligned(
            y_true=y_true, y_prob=y_prob, probability=probability, across=(), **by_case
        )
        cases, truth = read(y_true, y_prob), as_scores(probability, "probability")
        check_same_length(truth.size, "probability", cases.scores.size, "y_prob")
        estimate = replace(applied, options=options | by_case).to_data(cases)
        differences.append(estimate - np.abs(cases.scores - truth).mean())
    spread = np.std(differences, ddof=1) / np.sqrt(len(differences))
    return Bias(float(np.mean(differences)), float(spread))


def _drawn(
    sample: Callable[[np.random.Generator], Any], rng: np.random.Generator
) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Outcomes, scores, probabilities, and options with a value for each case."""
    try:
        data_set = sample(rng)
    except TypeError as error:
        raise InputError(f"sample must take a numpy.random.Generator, but: {error}.") from error
    if not isinstance(data_set, tuple) or len(data_set) not in (3, 4):
        raise InputError(
            "sample must return (y_true, y_prob, probability), and may add a mapping of options, "
            f"but returned {type(data_set).__name__}"
            + (f" of {len(data_set)}." if isinstance(data_set, tuple) else ".")
        )
    by_case = dict(data_set[3]) if len(data_set) == 4 else {}
    return data_set[0], data_set[1], data_set[2], by_case
