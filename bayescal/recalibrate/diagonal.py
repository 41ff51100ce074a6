"""One strictly increasing map of the logits of all classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.read import as_numbers
from bayescal.data.sources.alignment import aligned
from bayescal.recalibrate._base import Recalibrator, both_columns
from bayescal.recalibrate._input import as_amount, as_knots, in_order
from bayescal.recalibrate._rising import common_map, rise_of
from bayescal.recalibrate._softmax import log_probabilities

__all__ = ["DiagonalRecalibrator"]

LEAST_SLOPE = 0.01
_AGREE = 0.01


class DiagonalRecalibrator(Recalibrator):
    """Diagonal intra order-preserving map (DIAG): softmax(f(z_1), ..., f(z_k)), f increasing.

    z are the logits of a case, one for each class, and f is one strictly increasing function for
    all of them, so that the order of the classes within a case stays as it was and none become
    equal. The slope of f is a broken line, at least 0.01 at each knot and constant beyond the outer
    ones; the fit maximises the log likelihood less half of

        penalty * (sum of squared differences between slopes at neighbouring knots)
        + 0.01 * mean of (slope - 1)^2

    so that a large penalty gives temperature scaling, and the maximum always exists.

    Parameters
    ----------
    n_knots : int
        Number of knots, from 2 to 1000, evenly over the range of the logits.
    penalty : float
        How strongly differences between the slopes of neighbouring knots are penalised.

    Attributes
    ----------
    knots_ : ndarray of shape (n_knots,)
        Logits where the slope may bend.
    slopes_ : ndarray of shape (n_knots,)
        Slope at each knot; all 1 for the identity.
    classes_ : ndarray of shape (n_classes,)

    See Also
    --------
    MonotoneRecalibrator : Of two classes, a rising map that may shift the even odds.

    Notes
    -----
    Logits are the numbers whose softmax the probabilities are: pass them as `logits=`. Without
    them the logarithms of the probabilities are taken, which are the logits less a number for each
    case. A bent f does not forget that number, so that the two maps differ.

    Of probabilities without logits the map is injective: if two predictions became equal, f(log p)
    and f(log p') would differ by one number for all classes, so that p would be above p' in all of
    them or below it in all, and both sum to 1. So the gain in a proper score is the fall of the
    calibration error that belongs to it (Proposition 4.5 of Gruber & Buettner). With logits,
    predictions of equal probabilities can become different, and different ones equal if f makes
    their logits differ by one number, which data of a continuous law do with probability 0.

    Rahimi et al. take a monotone neural network for f; here it is a spline with a single best fit.
    For two classes the map is antisymmetric about even odds. Probabilities of exactly 0 and 1 are
    read as a quarter of the way to the nearest other one, and none as nearer than 1e-12; logits are
    read as they are. Fitting keeps n_samples * n_classes * n_knots numbers in memory.

    References
    ----------
    Rahimi, Shaban, Cheng, Hartley & Boots, "Intra Order-preserving Functions for Calibration of
    Multi-Class Neural Networks", NeurIPS 2020.
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, sections 2.2 and 4.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import softmax
    >>> from bayescal import recalibrate
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.uniform(-2, 2, size=(2000, 3))
    >>> labels = (rng.random((2000, 1)) > softmax(truth, axis=1).cumsum(axis=1)).sum(axis=1)
    >>> logits = truth**3  # too certain
    >>> fitted = recalibrate.DiagonalRecalibrator()
    >>> fitted = fitted.fit(softmax(logits, axis=1), labels, logits=logits)
    >>> fitted.transform([[0.879, 0.119, 0.002]], logits=[[3.0, 1.0, -3.0]]).round(2)
    array([[0.66, 0.3 , 0.03]])
    """

    reads_log_odds = True
    knots_: Floats
    slopes_: Floats
    with_logits_: bool

    def __init__(self, n_knots: int = 8, penalty: float = 10.0) -> None:
        self.n_knots = n_knots
        self.penalty = penalty

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        classes: Any = None,
        logits: Any = None,
    ) -> Self:
        """Learn to recalibrate, from cases that the model was not trained on.

        Parameters
        ----------
        X : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
            Predicted probabilities: of the event, or one column for each class. Or a
            `CalibrationData`, which holds outcomes and weights itself, but no logits.
        y : array-like of shape (n_samples,), optional
            Labels, of any type; none with a `CalibrationData`, whose labels are 0 and 1. Of two
            classes the greater is the event.
        sample_weight : array-like of shape (n_samples,), optional
            Case counts. If any is not whole they are rescaled to Kish's effective sample size.
        classes : array-like of shape (n_classes,), optional
            Labels in the order of the columns; by default those in `y`, sorted.
        logits : array-like of shape (n_samples, n_classes), optional
            What `X` is the softmax of, in the same order of the classes.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If these do not describe the same cases, or an option is out of range.
        """
        arrays = _as_logits(logits, classes, X=X, y=y, sample_weight=sample_weight)
        self.with_logits_ = bool(arrays)
        return self._fit_cases(X, y, sample_weight, classes, **arrays)

    def transform(self, X: Any, logits: Any = None) -> Floats:
        """Recalibrated probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
            Predicted probabilities.
        logits : array-like of shape (n_samples, n_classes), optional
            What `X` is the softmax of, if it was fitted with logits.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) with more than two classes
            Of two classes, the probability of the event.

        Raises
        ------
        InputError
            If these are not the probabilities and logits that it was fitted to.
        """
        return self._recalibrated(X, **self._as_fitted(X, logits))

    def predict_proba(self, X: Any, logits: Any = None) -> Floats:
        """Recalibrated probability of each class, of shape (n_samples, n_classes).

        Parameters
        ----------
        X, logits : array-like
            As in `transform`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)

        Raises
        ------
        InputError
            If these are not the probabilities and logits that it was fitted to.
        """
        return both_columns(self._recalibrated(X, **self._as_fitted(X, logits)))

    def predict(self, X: Any, logits: Any = None) -> NDArray[Any]:
        """Class of the largest recalibrated probability.

        Parameters
        ----------
        X, logits : array-like
            As in `transform`.

        Returns
        -------
        ndarray of shape (n_samples,)

        Raises
        ------
        InputError
            If these are not the probabilities and logits that it was fitted to.
        """
        return self._labels(self._recalibrated(X, **self._as_fitted(X, logits)))

    def _fit(
        self,
        scores: Floats,
        outcomes: Floats,
        weights: Floats | None,
        logits: Floats | None = None,
    ) -> None:
        self._fit_classes(both_columns(scores), outcomes.astype(np.intp), weights, logits=logits)

    def _map(self, scores: Floats, logits: Floats | None = None) -> Floats:
        return self._map_classes(both_columns(scores), logits=logits)[:, 1]

    def _fit_classes(
        self, proba: Floats, code: NDArray[np.intp], weights: Floats | None, **of_cases: Any
    ) -> None:
        z = self._logits_of(proba, of_cases.get("logits"))
        n_knots, penalty = as_knots(self.n_knots, 2), as_amount(self.penalty, "penalty")
        fitted = common_map(z, code, weights, n_knots, penalty, LEAST_SLOPE)
        self.knots_, self.slopes_ = fitted

    def _map_classes(self, proba: Floats, **of_cases: Any) -> Floats:
        z = self._logits_of(proba, of_cases.get("logits"))
        eta = rise_of(z.ravel(), self.knots_, self.slopes_).reshape(z.shape)
        probability: Floats = softmax(eta, axis=1)
        return probability

    def _as_fitted(self, X: Any, logits: Any) -> dict[str, Floats]:
        """Logits of the cases of X, the columns of a data frame in the order of the classes."""
        check_is_fitted(self)
        return _as_logits(logits, self.classes_, X=X)

    def _logits_of(self, proba: Floats, logits: Floats | None) -> Floats:
        """The logits that were passed, or log-probabilities, as it was fitted."""
        if (logits is not None) != self.with_logits_:
            had, has = ("with", "none") if self.with_logits_ else ("without", "some")
            raise InputError(f"logits: it was fitted {had} logits, and {has} were passed now.")
        if logits is None:
            return log_probabilities(proba)
        if logits.shape != proba.shape:
            raise InputError(
                f"logits has shape {logits.shape}, but X stands for {proba.shape[0]} cases and "
                f"{proba.shape[1]} classes. Pass one row a case and one column a class."
            )
        gap = np.abs(softmax(logits, axis=1) - proba).max(axis=1)
        if gap.max() > _AGREE:
            at = int(gap.argmax())
            raise InputError(
                f"logits[{at}] has a softmax that differs from X[{at}] by {gap[at]:.2g}. Pass what "
                "X is the softmax of, for the same cases and with classes in the same order."
            )
        return logits


def _as_logits(logits: Any, classes: Any, **beside: Any) -> dict[str, Floats]:
    """Logits of the same cases as other arguments, if there are any; columns go by class."""
    if logits is None:
        return {}
    aligned(**beside, logits=logits)
    logits = in_order(logits, classes)
    try:
        shape = np.shape(logits)
    except ValueError:
        shape = ()
    if len(shape) != 2 or shape[1] < 2 or shape[0] < 1:
        raise InputError(
            "logits must have one row a case and one column a class, two at least, but has shape "
            f"{shape}. Of one log-odds z a case, pass the columns 0 and z."
        )
    columns = np.asarray(logits.to_numpy() if hasattr(logits, "to_numpy") else logits).T
    matrix = [as_numbers(column, f"logits[:, {k}]") for k, column in enumerate(columns)]
    return {"logits": np.column_stack(matrix)}
