"""A fitted classifier with a recalibrator behind it."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.text import shortened
from bayescal.data.cases import aligned
from bayescal.recalibrate.base import Recalibrator
from bayescal.recalibrate.regression import LogisticRecalibrator

_NOT_FITTED = (
    "This %(name)s instance is not fitted yet. Unlike CalibratedClassifierCV with cv=5, "
    "RecalibratedClassifier never fits the classifier: fit it to the training cases first, then "
    "call fit here with other cases."
)


class RecalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier whose probabilities are recalibrated.

    `fit` fits the recalibrator only, to cases that the classifier was not trained on. The
    classifier is never fitted again, also not in a copy made by `sklearn.base.clone`, so that
    cross-validation refits the recalibrator alone.

    Parameters
    ----------
    estimator : object
        A fitted classifier with `predict_proba`.
    recalibrator : Recalibrator, optional
        LogisticRecalibrator() by default.

    Attributes
    ----------
    recalibrator_ : Recalibrator
        The fitted recalibrator.
    classes_ : ndarray of shape (n_classes,)
        Those of the classifier.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : With sklearn.frozen.FrozenEstimator, the same
        for scikit-learn's own sigmoid, isotonic and temperature methods.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from bayescal import recalibrate
    >>> X, y = make_classification(900, random_state=1)
    >>> model = GaussianNB().fit(X[:300], y[:300])
    >>> better = recalibrate.RecalibratedClassifier(model, recalibrate.BetaRecalibrator())
    >>> better = better.fit(X[300:600], y[300:600])
    >>> better.predict_proba(X[600:]).shape
    (300, 2)
    """

    def __init__(self, estimator: Any, recalibrator: Recalibrator | None = None) -> None:
        self.estimator = estimator
        self.recalibrator = recalibrator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the recalibrator to the probabilities that the classifier gives new cases.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, as the classifier takes them.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Case counts.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If the classifier gives no probabilities, or as the recalibrator's own `fit`.
        sklearn.exceptions.NotFittedError
            If the classifier is not fitted.
        """
        check_is_fitted(self.estimator, msg=_NOT_FITTED)
        if not hasattr(self.estimator, "predict_proba"):
            raise InputError(
                f"estimator is a {type(self.estimator).__name__}, which has no predict_proba. "
                "Recalibration starts from probabilities: use a classifier that gives them."
            )
        recalibrator = LogisticRecalibrator() if self.recalibrator is None else self.recalibrator
        if not hasattr(recalibrator, "fit"):
            given = shortened(repr(recalibrator))
            raise InputError(
                f"recalibrator must be a recalibrator, got {given}. Pass one of "
                "bayescal.recalibrate: CalibratedClassifierCV's method='isotonic' is "
                "IsotonicRecalibrator() here, and 'sigmoid' is near to LogisticRecalibrator()."
            )
        _, y, sample_weight = aligned(X=X, y=y, sample_weight=sample_weight)
        self.classes_ = self.estimator.classes_
        self.recalibrator_ = clone(recalibrator).fit(
            self.estimator.predict_proba(X),
            y,
            sample_weight,
            classes=self.classes_,
            **self._features(X),
        )
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Recalibrated probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, as the classifier takes them.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._answer("predict_proba", X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of the largest recalibrated probability.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, as the classifier takes them.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._answer("predict", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of cases whose class `predict` gives, as scikit-learn's classifiers have it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, as the classifier takes them.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Case counts.

        Returns
        -------
        float

        Raises
        ------
        InputError
            If these are not of the same cases.
        """
        _, y, sample_weight = aligned(X=X, y=y, sample_weight=sample_weight)
        return float(super().score(X, y, sample_weight))

    def __sklearn_clone__(self) -> Self:
        recalibrator = None if self.recalibrator is None else clone(self.recalibrator)
        return type(self)(self.estimator, recalibrator)

    def _answer(self, method: str, X: Any) -> NDArray[Any]:
        check_is_fitted(self, "recalibrator_")
        answer = getattr(self.recalibrator_, method)
        result: NDArray[Any] = answer(self.estimator.predict_proba(X), **self._features(X))
        return result

    def _features(self, X: Any) -> dict[str, Any]:
        """The features too, for a recalibrator that looks at them."""
        uses = self.recalibrator is not None and self.recalibrator.uses_features
        return {"features": X} if uses else {}
