"""Net benefit: what a prediction is worth to whoever acts on it at a threshold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError, as_flag
from bayescal.data.read import Cases, Outcomes, read_cases
from bayescal.data.validate import as_scores
from bayescal.scores import _core

__all__ = ["DecisionCurve", "decision_curve", "net_benefit", "standardised_net_benefit"]

NO_EVENTS = "y_true holds no events, so there is no net benefit to have, and no share of it."


class DecisionCurve(NamedTuple):
    """Net benefit at each threshold: of acting on the scores, on all cases, and on none.

    Attributes
    ----------
    threshold : ndarray of shape (n_thresholds,)
    model : ndarray of shape (..., n_thresholds)
    treat_all : ndarray of shape (..., n_thresholds)
    treat_none : ndarray of shape (n_thresholds,)
        Zero.
    """

    threshold: Floats
    model: Floats
    treat_all: Floats
    treat_none: Floats


@documented
def net_benefit(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    thresholds: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Net benefit of treating the cases whose score reaches a threshold.

    (events treated - non-events treated * t / (1 - t)) / cases: the true positives per case, less
    the false positives at the price that whoever treats from risk t on is willing to pay.

    Parameters
    ----------
    %(replicates)s
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities; None with a table. A case is treated when its score is at least
        the threshold, less a relative 1e-12 for rounding.
    thresholds : float or array-like of shape (n_thresholds,)
        At least 0 and below 1, in any order.
    %(counts)s

    Returns
    -------
    float or ndarray
        At most the mean outcome. With an array of thresholds the last axis runs over them; leading
        dimensions are those of `y_true`.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, or a threshold is not
        in [0, 1); if a table was compressed to the grid, where which cases reach a threshold is
        lost.

    Notes
    -----
    Treating none has net benefit 0. Treating all is what scores of 1 do; `decision_curve` has all
    three.

    References
    ----------
    Vickers & Elkin, "Decision curve analysis: a novel method for evaluating prediction models",
    Medical Decision Making 26, 2006.

    Examples
    --------
    >>> from bayescal import scores
    >>> y_true, y_prob = [0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]
    >>> scores.net_benefit(y_true, y_prob, 0.5)
    0.5
    >>> scores.net_benefit(y_true, y_prob, [0.2, 0.5, 0.8])
    array([0.375, 0.5  , 0.25 ])
    """
    cases = _read(y_true, y_prob, sample_weight)
    benefit = _core.net_benefit(cases, _as_thresholds(thresholds))
    return cases.result(benefit[:, 0] if _is_single(thresholds) else benefit)


@documented
def standardised_net_benefit(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    thresholds: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Net benefit as a share of the most that any prediction could reach, the mean outcome.

    Parameters
    ----------
    %(replicates)s
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities; None with a table. A case is treated when its score is at least
        the threshold, less a relative 1e-12 for rounding.
    thresholds : float or array-like of shape (n_thresholds,)
        At least 0 and below 1, in any order.
    %(counts)s

    Returns
    -------
    float or ndarray
        At most 1; shaped as `net_benefit` is, and NaN for replicates without events.

    Raises
    ------
    InputError
        As `net_benefit`; also if there are no events.

    References
    ----------
    Kerr, Brown, Zhu & Janes, "Assessing the clinical impact of risk prediction models with
    decision curves", Journal of Clinical Oncology 34, 2016.

    Examples
    --------
    >>> from bayescal import scores
    >>> scores.standardised_net_benefit([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], [0.5, 0.8])
    array([1. , 0.5])
    """
    cases = _read(y_true, y_prob, sample_weight)
    share = _core.net_benefit(cases, _as_thresholds(thresholds)) / _prevalence(cases)
    return cases.result(share[:, 0] if _is_single(thresholds) else share, NO_EVENTS)


@documented
def decision_curve(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    thresholds: ArrayLike | None = None,
    *,
    standardised: bool = False,
    sample_weight: ArrayLike | None = None,
) -> DecisionCurve:
    """Net benefit over thresholds, beside that of treating all cases and none.

    Parameters
    ----------
    %(replicates)s
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    thresholds : float or array-like of shape (n_thresholds,), optional
        As in `net_benefit`; 0.01, 0.02, ..., 0.99 by default.
    standardised : bool
        Divide by the mean outcome.
    %(counts)s

    Returns
    -------
    DecisionCurve
        A named tuple (threshold, model, treat_all, treat_none).

    Raises
    ------
    InputError
        As `net_benefit`; when standardised, also if there are no events.

    References
    ----------
    Vickers & Elkin, "Decision curve analysis: a novel method for evaluating prediction models",
    Medical Decision Making 26, 2006.

    Examples
    --------
    >>> from bayescal import scores
    >>> curve = scores.decision_curve([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], [0.25, 0.5])
    >>> curve.model.round(3), curve.treat_all.round(3)
    (array([0.417, 0.5  ]), array([0.333, 0.   ]))
    """
    grid = _as_thresholds(np.arange(1, 100) / 100 if thresholds is None else thresholds)
    cases = _read(y_true, y_prob, sample_weight)
    everyone = Cases(cases.outcomes, np.ones(cases.scores.size), cases.weights, cases.shape)
    unit = _prevalence(cases) if as_flag(standardised, "standardised") else 1.0
    model, treat_all = (
        np.asarray(cases.result(_core.net_benefit(who, grid) / unit, NO_EVENTS))
        for who in (cases, everyone)
    )
    return DecisionCurve(grid, model, treat_all, np.zeros(grid.size))


def _read(y_true: Outcomes, y_prob: ArrayLike | None, sample_weight: ArrayLike | None) -> Cases:
    return read_cases(y_true, y_prob, sample_weight, needs="scores").counted()


def _is_single(thresholds: ArrayLike | None) -> bool:
    if thresholds is None or isinstance(thresholds, (list, tuple)):
        return False
    return np.ndim(thresholds) == 0


def _prevalence(cases: Cases) -> Floats:
    """Mean outcome of each replicate, as a column; NaN where there are no events."""
    rate = _core.base_rate(cases)[:, None]
    return np.where(rate > 0, rate, np.nan)


def _as_thresholds(values: ArrayLike | None) -> Floats:
    if values is None:
        raise InputError("thresholds is missing: pass the risks from which cases are treated.")
    grid = as_scores([values] if _is_single(values) else values, "thresholds")
    if grid.max() == 1:
        raise InputError(
            f"thresholds[{int(grid.argmax())}] is 1: whoever treats only from certainty on pays "
            "without limit for a non-event. Thresholds must be below 1."
        )
    return grid
