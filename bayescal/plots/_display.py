"""A display of the calibration curve, of the shape of scikit-learn's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_count, as_flag, as_level, check_choice
from bayescal.core.text import percent, shortened
from bayescal.data.cases import aligned, as_outcomes, as_scores, as_vector
from bayescal.fitting import fit
from bayescal.plots import style
from bayescal.plots._numbers import curve_bands
from bayescal.plots.text import label
from bayescal.posterior.posterior import as_posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["BayesianCalibrationDisplay"]

REFERENCE = "Perfectly calibrated"
BIN_STRATEGIES = ("uniform", "quantile")
MOST_DISPLAY_BINS = 1000
SHADE = 0.2


class BayesianCalibrationDisplay:
    """Calibration curve with a credible band, as scikit-learn's `CalibrationDisplay` draws bins.

    Make one with `from_estimator` or `from_predictions`. All parameters are kept as attributes.

    Parameters
    ----------
    posterior : CalibrationPosterior
        Posterior of the curve.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class.
    ci_prob : float in (0, 1)
        Probability of the pointwise band.
    estimator_name : str, optional
    pos_label : object, optional
        The positive class, which the axes' labels name.

    Attributes
    ----------
    prob_pred, prob_true : ndarray of shape (points,)
        Scores over the range of `y_prob`, and the posterior mean of the curve there.
    bins : tuple of ndarray, or None
        Mean scores and proportions of the event in the bins that were asked for.
    prob_lower, prob_upper : ndarray of shape (points,)
        Ends of the band.
    smoothed : bool
        Whether curves were smoothed over the nearest cases, as in `bayescal.plots.reliability`:
        of families that can have steps.
    line_ : matplotlib.lines.Line2D
        The curve, once drawn.
    band_ : matplotlib.collections.PolyCollection
    points_ : matplotlib.lines.Line2D or None
        Bins, if they were asked for.
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    >>> display = bc.plots.BayesianCalibrationDisplay.from_predictions(
    ...     y_true, y_prob, curve="beta", name="Risk score", random_state=1
    ... )
    >>> display.line_.get_label()
    'Risk score'
    """

    bins: tuple[Floats, Floats] | None
    line_: Any
    band_: Any
    points_: Any = None
    ax_: Axes
    figure_: Any

    def __init__(
        self,
        posterior: CalibrationPosterior,
        y_prob: Any,
        *,
        ci_prob: float = 0.95,
        estimator_name: str | None = None,
        pos_label: Any = None,
    ) -> None:
        self.posterior = as_posterior(posterior, "posterior")
        self.y_prob = as_vector(y_prob, "y_prob")
        self.ci_prob = as_level(ci_prob)
        self.estimator_name, self.pos_label = estimator_name, pos_label
        bands = curve_bands(self.posterior, [self.ci_prob], smoothed=True)
        self.prob_pred, self.prob_true = bands.score, bands.mean
        self.prob_lower, self.prob_upper = bands.lower[0], bands.upper[0]
        self.bins, self.smoothed = None, bool(bands.share)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_bins: int | None = None,
        strategy: Literal["uniform", "quantile"] = "uniform",
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        ref_line: bool = True,
        curve: Any = "average",
        prior: Any = "neutral",
        ci_prob: float = 0.95,
        draws: int = 4000,
        sample_weight: Any = None,
        random_state: int | np.random.Generator | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the calibration curve of a fitted classifier on new data.

        Parameters
        ----------
        estimator : object
            A fitted binary classifier with `predict_proba`, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            As in `from_predictions`.
        n_bins, strategy, name, ax, ref_line, curve, prior, ci_prob, draws, random_state, **kwargs
            As in `from_predictions`; the name is that of the class by default.
        pos_label : object, optional
            The positive class; by default `estimator.classes_[1]`.

        Returns
        -------
        BayesianCalibrationDisplay

        Raises
        ------
        InputError
            If the estimator is no binary classifier with probabilities, `pos_label` is none of
            its classes, or as `from_predictions`.
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        """
        _, y, sample_weight = aligned(X=X, y=y, sample_weight=sample_weight)
        y_prob, positive = _probabilities(estimator, X, pos_label)
        return cls.from_predictions(
            y,
            y_prob,
            n_bins=n_bins,
            strategy=strategy,
            pos_label=positive,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            ref_line=ref_line,
            curve=curve,
            prior=prior,
            ci_prob=ci_prob,
            draws=draws,
            sample_weight=sample_weight,
            random_state=random_state,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        n_bins: int | None = None,
        strategy: Literal["uniform", "quantile"] = "uniform",
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        ref_line: bool = True,
        curve: Any = "average",
        prior: Any = "neutral",
        ci_prob: float = 0.95,
        draws: int = 4000,
        sample_weight: Any = None,
        random_state: int | np.random.Generator | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the calibration curve of predicted probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels.
        y_prob : array-like of shape (n_samples,)
            Probabilities of the positive class.
        n_bins : int, optional
            Draw also the points of scikit-learn's `calibration_curve` with so many bins, without
            weights; by default none. The curve is not fitted to them.
        strategy : {"uniform", "quantile"}
            Of the bins.
        pos_label : object, optional
            The positive class; by default 1, if the labels are 0 and 1 or -1 and 1.
        name : str, optional
            Name of the curve in the legend; by default "Classifier".
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on a new figure.
        ref_line : bool
            Whether to draw the diagonal of perfect calibration.
        curve : str or Curve
            Family of curves; by default the average over several, as in `bayescal.compare`.
        prior : {"neutral", "clinical"}, Prior, or mapping
        ci_prob : float in (0, 1)
            Probability of the pointwise band.
        draws : int
        sample_weight : array-like of shape (n_samples,), optional
        random_state : int or numpy.random.Generator, optional
            As in `bayescal.fit`.
        **kwargs
            Passed to matplotlib's `plot` for the line; the band has its colour.

        Returns
        -------
        BayesianCalibrationDisplay

        Raises
        ------
        InputError
            If the input is not labels of two classes and probabilities of the same cases, or an
            option is unknown.
        """
        y_true, y_prob, sample_weight = aligned(
            y_true=y_true, y_prob=y_prob, sample_weight=sample_weight
        )
        event = _as_event(y_true, pos_label)
        options: dict[str, Any] = {
            "prior": prior,
            "draws": draws,
            "sample_weight": sample_weight,
            "random_state": random_state,
            "pos_label": event,
        }
        posterior = as_posterior(fit(y_true, y_prob, curve=curve, **options))
        display = cls(
            posterior,
            y_prob,
            ci_prob=ci_prob,
            estimator_name="Classifier" if name is None else name,
            pos_label=1 if event is None else event,
        )
        if n_bins is not None:
            display.bins = _binned(y_true, y_prob, n_bins, strategy, event)
        return display.plot(ax=ax, ref_line=ref_line, **kwargs)

    def plot(
        self,
        *,
        ax: Axes | None = None,
        name: str | None = None,
        ref_line: bool = True,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve and its band.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw, also beside other displays; by default on a new figure.
        name : str, optional
            In the legend; by default `estimator_name`.
        ref_line : bool
            Whether to draw the diagonal of perfect calibration, unless it is there.
        **kwargs
            Passed to matplotlib's `plot` for the line; the band has its colour.

        Returns
        -------
        BayesianCalibrationDisplay
            This one.

        Raises
        ------
        InputError
            If `ax` is no axes, or `ref_line` neither True nor False.
        """
        from matplotlib.cbook import normalize_kwargs
        from matplotlib.lines import Line2D

        with_diagonal = as_flag(ref_line, "ref_line")
        axes = style.as_axes(ax, 5, 5)
        shown = self.estimator_name if name is None else name
        look: dict[str, Any] = {"linestyle": "-"}
        look |= {} if shown is None else {"label": label(shown)}
        look |= normalize_kwargs(kwargs, Line2D)
        present = axes.get_legend_handles_labels()[1]
        if with_diagonal and REFERENCE not in present:
            axes.plot([0, 1], [0, 1], "k:", label=REFERENCE)
        (self.line_,) = axes.plot(self.prob_pred, self.prob_true, **look)
        band = f"{percent(self.ci_prob)} band" + ", smoothed" * self.smoothed
        self.band_ = axes.fill_between(
            self.prob_pred,
            self.prob_lower,
            self.prob_upper,
            color=self.line_.get_color(),
            alpha=SHADE,
            lw=0,
            label=None if band in present else band,
        )
        if self.bins is not None:
            color = self.line_.get_color()
            (self.points_,) = axes.plot(*self.bins, "s", color=color, ms=5, mfc="white")
        axes.legend(loc="lower right")
        positive = "" if self.pos_label is None else f" (Positive class: {label(self.pos_label)})"
        axes.set_xlabel(f"Predicted probability{positive}")
        axes.set_ylabel(f"Probability of the event{positive}")
        self.ax_, self.figure_ = axes, axes.get_figure()
        return self


def _as_event(y_true: Any, pos_label: Any) -> Any:
    """The label of the event: 1 of labels -1 and 1; None where it need not be given."""
    if pos_label is not None:
        return pos_label
    labels = as_vector(y_true, "y_true")
    numbers = labels.dtype.kind in "if" and labels.size > 0
    return 1 if numbers and np.isin(labels, (-1, 1)).all() and (labels == -1).any() else None


def _binned(
    y_true: Any, y_prob: Any, n_bins: int, strategy: str, event: Any
) -> tuple[Floats, Floats]:
    """Mean scores and proportions of the event in bins, as scikit-learn computes them."""
    from sklearn.calibration import calibration_curve

    size = as_count(n_bins, "n_bins", maximum=MOST_DISPLAY_BINS)
    check_choice(strategy, BIN_STRATEGIES, "strategy")
    outcome = as_outcomes(y_true, pos_label=event)
    proportion, mean = calibration_curve(
        outcome, as_scores(y_prob), n_bins=size, strategy=strategy, pos_label=1
    )
    return np.asarray(mean), np.asarray(proportion)


def _probabilities(estimator: Any, X: Any, pos_label: Any) -> tuple[Floats, Any]:
    """Probabilities of the positive class of a fitted binary classifier, and that class."""
    from sklearn.utils.validation import check_is_fitted

    kind = type(estimator).__name__
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise InputError(f"estimator must be a fitted classifier, got {shortened(estimator)}.")
    check_is_fitted(estimator)
    if not hasattr(estimator, "predict_proba"):
        raise InputError(
            f"estimator is a {kind}, which has no predict_proba. Use a classifier that gives "
            "probabilities."
        )
    classes = list(estimator.classes_)
    if len(classes) != 2:
        raise InputError(
            f"estimator is a classifier of {len(classes)} classes, and a curve is of two. Pass one "
            "class against the others to from_predictions."
        )
    column = 1
    if pos_label is not None:
        equal = [_is_label(pos_label, each) for each in classes]
        if not any(equal):
            first, second = (shortened(repr(each)) for each in classes)
            given = shortened(repr(pos_label))
            raise InputError(f"pos_label must be {first} or {second}, got {given}.")
        column = equal.index(True)
    return np.asarray(estimator.predict_proba(X))[:, column], classes[column]


def _is_label(given: Any, label: Any) -> bool:
    """Whether what was given is this label; texts and numbers are never equal."""
    one = np.ndim(given) == 0 and isinstance(given, str) == isinstance(label, str)
    return bool(one and np.array_equal(label, given))
