"""Variance scaling: a line through predicted variances."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.data.cases import aligned, column_names, columns_in_order
from bayescal.data.read import as_numbers, as_variances, read_variance_cases
from bayescal.inference.variance import best_line, rows_of
from bayescal.recalibrate.base import as_fitted

COLUMNS = ["mean", "variance"]


class VarianceRecalibrator(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Variance scaling: predicted variances v become w v + b, by the Dawid-Sebastiani score.

    w and b are positive and minimise, over the cases of `fit`, the mean of
    (y - mean)^2 / (w v + b) + log(w v + b): the score of `bayescal.scores.dawid_sebastiani_score`,
    and maximum likelihood if errors are normal. Means stay as they are.

    Attributes
    ----------
    slope_, intercept_ : float
        w, and b in the squared unit of the outcomes.
    n_features_in_ : int
        2.

    See Also
    --------
    bayescal.variance_gain : What it gained on other cases, as a posterior.

    Notes
    -----
    As w is positive the map merges no predictions, so that its gain in the score is the fall of the
    calibration error that belongs to it (Proposition 4.5 of the paper). The share of the fitted
    variance that follows v is kept between 1e-10 and 1 - 1e-10. More than 1024 cases are fitted in
    1024 cells of equal width in log v.

    References
    ----------
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal import recalibrate, simulate
    >>> _, y, mean, variance = simulate.friedman_1(500, random_state=1)
    >>> X = np.column_stack([mean, variance / 4])  # too certain
    >>> fitted = recalibrate.VarianceRecalibrator().fit(X, y)
    >>> round(fitted.slope_, 1), round(fitted.intercept_, 1)
    (4.2, 0.0)
    >>> fitted.transform([[12.0, 0.25]]).round(1)
    array([[12. ,  1.1]])
    """

    _columns: list[Any] | None = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the line, from cases that the model was not trained on.

        Parameters
        ----------
        X : array-like of shape (n_samples, 2)
            Predicted means and predicted variances, in this order.
        y : array-like of shape (n_samples,)
            Outcomes: finite numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Case counts. If any is not whole they are rescaled to Kish's effective sample size.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If these are not means, positive variances and outcomes of the same cases, or every
            outcome is its mean.
        """
        if y is None:
            raise InputError(
                "y is missing: a recalibrator requires y to be passed, but the target y is None. "
                "Pass the outcomes after the means and variances."
            )
        _, y, sample_weight = aligned(X=X, y=y, sample_weight=sample_weight)
        self._columns = column_names(columns_in_order(X, COLUMNS))
        mean, variance = _as_predictions(X)
        cases = read_variance_cases(y, mean, sample_weight, variance=variance)
        rows = rows_of(cases.squared_error, cases.variances[0], cases.weight)
        self.slope_, self.intercept_ = best_line(rows)
        self.n_features_in_ = 2
        return self

    def transform(self, X: Any) -> Floats:
        """Means as they are, and recalibrated variances.

        Parameters
        ----------
        X : array-like of shape (n_samples, 2)
            Predicted means and predicted variances, in this order.

        Returns
        -------
        ndarray of shape (n_samples, 2)

        Raises
        ------
        InputError
            If these are not means and positive variances.
        """
        check_is_fitted(self)
        mean, variance = _as_predictions(as_fitted(columns_in_order(X, COLUMNS), self._columns))
        return np.column_stack([mean, self.slope_ * variance + self.intercept_])

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns that `transform` gives, for `set_output` and pipelines.

        Parameters
        ----------
        input_features : ignored
            Only for scikit-learn.

        Returns
        -------
        ndarray of str
            "mean" and "variance".
        """
        check_is_fitted(self)
        return np.array(COLUMNS, dtype=object)


def _as_predictions(X: Any) -> tuple[Floats, Floats]:
    """Means and variances, the two columns of X."""
    try:
        shape = np.shape(X)
    except ValueError:
        shape = ()
    if len(shape) != 2 or shape[1] != 2 or shape[0] == 0:
        raise InputError(
            f"X must have two columns, predicted means and variances, but has shape {shape}. "
            "Pass np.column_stack([mean, variance])."
        )
    X = columns_in_order(X, COLUMNS)
    columns = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X)
    return as_numbers(columns[:, 0], "X[:, 0]"), as_variances(columns[:, 1], "X[:, 1]")
