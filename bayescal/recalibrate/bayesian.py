"""Recalibration by the posterior of the calibration curve."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import as_draws, as_level, check_choice
from bayescal.core.optimise import EDGE
from bayescal.data.columns import WeightType
from bayescal.data.rows import levels_of
from bayescal.data.table import CalibrationData
from bayescal.estimators.bpm import fit_bpm_curve
from bayescal.fitting import compare, fit
from bayescal.model.curves import CURVES, Curve
from bayescal.model.draws import WEIGHTS
from bayescal.model.priors import Prior
from bayescal.recalibrate.base import Recalibrator

_AVERAGE = "average"
_MODES = ("class-wise", "top-label")
_ROOM = 1 << 22


class BayesianRecalibrator(Recalibrator):
    """Recalibration by the posterior of the calibration curve.

    The recalibrated probability of a case is the posterior mean of the curve at its score. The
    prior is centred on perfect calibration, so that few data change the scores little. A result
    exists for any data: one class only, separated outcomes, a single case.

    Parameters
    ----------
    curve : {"average", "spline", "lapse", "beta", "logistic", ...} or Curve
        Family of curves; "average" is that of `bayescal.compare`.
    prior : {"neutral", "clinical"}, Prior, or mapping
        Prior on the curve, as in `bayescal.fit`.
    draws : int
        Posterior draws, at least 100.
    mode : {"class-wise", "top-label"}
        With more than two classes: recalibrate each class against the rest and divide by the sum,
        or recalibrate the largest probability, as that of being right, and share out what is left
        among the other classes in proportion.
    random_state : int or numpy.random.Generator, optional
        Seed of the draws.
    weight_type : {"counts", "sampling"}, optional
        What `sample_weight` is when it is fitted, as in `bayescal.fit`.

    Attributes
    ----------
    posterior_ : CalibrationPosterior
        With two classes, of the event's curve; by "top-label", of the curve of being right.
    classes_ : ndarray of shape (n_classes,)
    recalibrators_ : list of BayesianRecalibrator
        By "class-wise" with more than two classes, the one of each class against the rest.

    See Also
    --------
    bayescal.fit : The posterior of one family.
    bayescal.compare : The families compared, and their average.
    bayescal.recalibration_gain : What recalibrating gained, on other cases.

    Notes
    -----
    Case counts in `sample_weight` enter the likelihood as repeated cases, sampling weights as
    Kish's effective number of cases. Scores of exactly 0 and
    1 are read as rounded, as in `bayescal.fit`; new scores are then read as no more extreme than
    those. If it was fitted to none, new ones are read as 1e-12 away from certainty.

    By "top-label" the recalibrated probability can fall below that of another class, and the
    predicted label change.

    References
    ----------
    Dong et al., "Combining Priors with Experience: Confidence Calibration Based on Binomial
    Process Modeling", AAAI 2025. Hoeting et al., "Bayesian Model Averaging: A Tutorial",
    Statistical Science 1999.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 500, random_state=1)
    >>> recalibrator = recalibrate.BayesianRecalibrator(random_state=1).fit(y_prob, y_true)
    >>> recalibrator.transform([0.05, 0.9]).round(1)
    array([0.1, 0.8])
    >>> lower, upper = recalibrator.interval([0.05, 0.9])
    >>> lower.round(1), upper.round(1)
    (array([0. , 0.6]), array([0.1, 0.9]))
    """

    def __init__(
        self,
        curve: str | Curve = _AVERAGE,
        prior: str | Prior | Mapping[str, Any] = "neutral",
        draws: int = 2000,
        mode: str = "class-wise",
        random_state: int | np.random.Generator | None = None,
        weight_type: WeightType | None = None,
    ) -> None:
        self.curve = curve
        self.prior = prior
        self.draws = draws
        self.mode = mode
        self.random_state = random_state
        self.weight_type = weight_type

    def predict_draws(self, X: Any) -> Floats:
        """Posterior draws of the recalibrated probabilities.

        Parameters
        ----------
        %(recalibrated_scores)s

        Returns
        -------
        ndarray of shape (draws, n_samples) or, with more classes, (draws, n_samples, n_classes)
            Of two classes, the probability of the event. A draw is of one curve for all cases.

        %(refuses_others)s
        """
        return self._draws_at(self._read_scores(X))

    def interval(self, X: Any, ci_prob: float = 0.95) -> tuple[Floats, Floats]:
        """Equal-tailed credible interval of each recalibrated probability.

        Parameters
        ----------
        %(recalibrated_scores)s
        ci_prob : float in (0, 1)

        Returns
        -------
        lower, upper : ndarray of shape (n_samples,), or (n_samples, n_classes) with more classes
            Of the probability that a case with this score has the event, not of its outcome.

        %(refuses_others)s
        """
        tail = (1 - as_level(ci_prob)) / 2

        def ends(draws: Floats) -> Floats:
            return np.moveaxis(np.quantile(draws, [tail, 1 - tail], axis=0), 0, -1)

        limits = self._in_blocks(self._read_scores(X), ends)
        return limits[..., 0], limits[..., 1]

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        weight_type = None if weights is None else self.weight_type
        self._fit_posterior(CalibrationData(outcomes, scores, weights, weight_type=weight_type))

    def _fit_table(self, data: CalibrationData) -> None:
        self.classes_ = np.array([0, 1])
        self._fit_posterior(data)

    def _fit_posterior(self, data: CalibrationData) -> None:
        check_choice(self.mode, _MODES, "mode")
        options: dict[str, Any] = {
            "prior": self.prior,
            "draws": as_draws(self.draws),
            "random_state": self.random_state,
        }
        if isinstance(self.curve, str):
            check_choice(self.curve, (_AVERAGE, *CURVES), "curve")
        if self.curve == _AVERAGE:
            self.posterior_ = compare(data, curves=tuple(WEIGHTS), **options).posterior
        else:
            fitted: Any = fit(data, curve=self.curve, **options)
            self.posterior_ = fitted

    def _map(self, scores: Floats) -> Floats:
        levels = levels_of(scores)
        return self._in_blocks(levels.score, _mean)[levels.row]

    def _fit_classes(
        self, proba: Floats, code: NDArray[np.intp], weights: Floats | None, **of_cases: Any
    ) -> None:
        if check_choice(self.mode, _MODES, "mode") == "class-wise":
            super()._fit_classes(proba, code, weights)
        else:
            right = proba.argmax(axis=1) == code
            self._fit(proba.max(axis=1), right.astype(np.float64), weights)

    def _map_classes(self, proba: Floats, **of_cases: Any) -> Floats:
        return self._in_blocks(proba, _mean)

    def _in_blocks(self, proba: Floats, summary: Callable[[Floats], Floats]) -> Floats:
        """A summary over draws of each case, a block of cases at a time."""
        width = self.draws * (1 if proba.ndim == 1 else proba.shape[1])
        parts = blocks(len(proba), width, _ROOM)
        return np.concatenate([summary(self._draws_at(proba[part])) for part in parts])

    def _draws_at(self, proba: Floats) -> Floats:
        if proba.ndim == 1:
            return self._curve_draws(proba)
        if self.mode == "top-label":
            return _shared_out(self._curve_draws(proba.max(axis=1)), proba)
        columns = enumerate(zip(self.recalibrators_, proba.T, strict=True))
        each = [_shuffled(member._curve_draws(column), j) for j, (member, column) in columns]
        joint = np.stack(each, axis=-1)
        joint /= joint.sum(axis=-1, keepdims=True)
        return joint

    def _curve_draws(self, scores: Floats) -> Floats:
        """Draws of the curve at these scores, of shape (draws, n)."""
        seen, problem = self.posterior_.data.score, self.posterior_.problem
        low = float(problem.inside(np.zeros(1))[0]) if seen[0] == 0 else EDGE
        high = float(problem.inside(np.ones(1))[0]) if seen[-1] == 1 else 1 - EDGE
        drawn = self.posterior_.predict(np.clip(scores, low, high))
        return np.asarray(drawn.to_numpy().reshape(-1, scores.size))


def _shuffled(draws: Floats, seed: int) -> Floats:
    """The draws in another order, so that classes fitted with one seed pair up by chance."""
    return np.asarray(np.random.default_rng(seed).permutation(draws))


def _mean(draws: Floats) -> Floats:
    return np.asarray(draws.mean(axis=0))


def _shared_out(top: Floats, proba: Floats) -> Floats:
    """Probability `top`, of shape (draws, n), to the likeliest class and the rest to the others."""
    row, best = np.arange(len(proba)), proba.argmax(axis=1)
    others = proba.copy()
    others[row, best] = 0
    total = others.sum(axis=1, keepdims=True)
    even = np.full_like(others, 1 / (proba.shape[1] - 1))
    shares = np.divide(others, total, out=even, where=total > 0)
    shares[row, best] = 0
    shared: Floats = (1 - top)[:, :, None] * shares
    shared[:, row, best] = top
    return shared


class TPMRecalibrator(Recalibrator):
    """The curve of the binomial process model: Algorithm 1 of Dong et al.

    It is of the beta family, logit g(s) = a log s - b log(1 - s) + c, fitted by least squares to
    the mean outcomes of bins of equal mass, over many numbers of bins, with a and b of at least 0.

    Parameters
    ----------
    objective : {"paper", "likelihood", "unconstrained", "released"}
        What is optimised; see `fit_bpm_curve`.

    Attributes
    ----------
    curve_ : BPMCurve
        With coefficients `a`, `b`, `c` and the loss.
    %(of_each_class)s

    See Also
    --------
    bayescal.estimators.fit_bpm_curve : The fit, and how it differs from the authors' code.
    BetaRecalibrator : The same family by maximum likelihood.

    Notes
    -----
    Separated outcomes, one class only and equal scores give a finite curve, since a and b are
    kept within 100 of zero. The curve never falls, unless it is "unconstrained" or "released".

    References
    ----------
    Dong et al., "Combining Priors with Experience: Confidence Calibration Based on Binomial
    Process Modeling", AAAI 2025, equations 8 to 12, Algorithm 1.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("D5", 10_000, random_state=1)
    >>> recalibrate.TPMRecalibrator().fit(y_prob, y_true).transform([0.5, 0.9]).round(2)
    array([0.27, 0.44])
    """

    def __init__(self, objective: str = "paper") -> None:
        self.objective = objective

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        self.curve_ = fit_bpm_curve(
            outcomes, scores, objective=self.objective, sample_weight=weights
        )

    def _map(self, scores: Floats) -> Floats:
        return self.curve_.curve(scores)
