"""compare(): several families of curves on one table, or on several imputations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypedDict, Unpack, overload

from numpy.typing import ArrayLike

from bayescal.core.arrays import RandomState
from bayescal.data.keywords import as_data
from bayescal.data.predicted import risks_by
from bayescal.data.read import Outcomes
from bayescal.data.survival import Survival
from bayescal.data.validate import as_draws
from bayescal.data.weights import WeightType
from bayescal.fitting.horizons import each_horizon, is_several
from bayescal.fitting.imputed.combine import each_imputation
from bayescal.fitting.imputed.comparison import ImputedComparison
from bayescal.inference.candidates import PRIOR_CALIBRATED
from bayescal.inference.comparison import CurveComparison
from bayescal.inference.curve import Averaging
from bayescal.inference.samples import FamilySamples
from bayescal.model.priors import Prior
from bayescal.model.problem import prepare
from bayescal.posterior.several import Several

__all__ = ["compare"]


class ComparisonOptions(TypedDict, total=False):
    """Options of `compare` other than `horizon`."""

    curves: Sequence[str] | None
    prior: str | Prior | Mapping[str, Any]
    prior_calibrated: float
    prior_weights: Mapping[str, float] | None
    draws: int
    sample_weight: ArrayLike | None
    weight_type: WeightType | None
    random_state: RandomState
    edge: float | None
    pos_label: Any
    imputation: ArrayLike | None
    cluster: ArrayLike | None
    stratum: ArrayLike | None


@overload
def compare(
    y_true: Survival,
    y_prob: ArrayLike,
    *,
    horizon: Sequence[float],
    **options: Unpack[ComparisonOptions],
) -> Several[CurveComparison]: ...
@overload
def compare(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    horizon: float | None = None,
    **options: Unpack[ComparisonOptions],
) -> CurveComparison: ...
def compare(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    curves: Sequence[str] | None = None,
    prior: str | Prior | Mapping[str, Any] = "neutral",
    prior_calibrated: float = PRIOR_CALIBRATED,
    prior_weights: Mapping[str, float] | None = None,
    draws: int = 4000,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType | None = None,
    random_state: RandomState = None,
    edge: float | None = None,
    pos_label: Any = None,
    imputation: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    stratum: ArrayLike | None = None,
    horizon: float | Sequence[float] | None = None,
) -> CurveComparison | Several[CurveComparison]:
    """Compare families of calibration curves, and average over them.

    `identity` is perfect calibration, so its posterior probability is the probability that the
    model is exactly calibrated. By default it has prior probability 0.05. Of the rest `pieces`,
    stretches that are often calibrated, has 7/19; `beta`, `lapse` and `spline` 3/19 each; `near`,
    which is off by a few per cent, 2/19; and `noise`, some wrong labels, 1/19. `intercept`,
    `temperature` and `logistic` are in the table but have weight zero in the average, because
    averaging over curves that are too simple makes intervals too narrow. Families that are named
    with `curves` are compared with exact calibration and with no others.

    Parameters
    ----------
    y_true : array-like of shape (n,), Survival or CalibrationData
        Outcomes, 0/1 or boolean; times to an event; labels of classes beside a matrix; or a table,
        and then no `y_prob`.
    y_prob : array-like of shape (n,) or (n, k), optional
        Predicted probabilities of the event, in [0, 1]; or of k classes, one a column, of which the
        top label is compared.
    curves : sequence of str, optional
        Families to compare, by default all; `identity` and `pieces` are always among them.
    prior : {"neutral", "clinical"}, Prior, or mapping
    prior_calibrated : float in (0, 1)
        Prior probability of `identity`.
    prior_weights : mapping of str to float, optional
        Of the families other than `identity`, scaled to 1 - prior_calibrated. That of a smooth
        family is halved over the two priors; that of `pieces` is split three to one.
    draws : int
        Draws of each family, and of the average.
    sample_weight : array-like of shape (n,), optional
    weight_type : {"counts", "sampling"}, optional
    random_state : int or numpy.random.Generator, optional
    edge : float in (0, 0.5), optional
    pos_label : object, optional
    imputation : array-like of shape (m, n), optional
        As in `bayescal.fit`. Families are compared on each imputation: posterior probabilities are
        means over the imputations, and `log_evidence` is the log of the mean evidence.
    cluster, stratum : array-like of shape (n,), optional
    horizon : float or sequence of float, optional
        As in `bayescal.fit`. At several horizons families are compared at each.

    Returns
    -------
    CurveComparison
        Of several horizons Several of them.

    Raises
    ------
    InputError
        If the input is not outcomes and probabilities of the same cases, or a family is unknown.

    References
    ----------
    Kass & Raftery (1995), Bayes factors, JASA 90. Hoeting et al. (1999), Bayesian model averaging:
    a tutorial, Statistical Science 14.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 400, random_state=1)
    >>> cmp = bc.compare(y_true, y_prob, random_state=1)
    >>> cmp.prob_calibrated < 0.05
    True
    """
    fixed: dict[str, Any] = {"prior": prior, "edge": edge, "random_state": random_state}
    at: Any = horizon
    over: dict[str, Any] = {"curves": curves, "prior_calibrated": prior_calibrated}
    over |= {"prior_weights": prior_weights, "draws": draws}
    if is_several(horizon):
        refused = {"pos_label": pos_label, "imputation": imputation}
        of_cases = {"sample_weight": sample_weight, "cluster": cluster, "stratum": stratum}
        risks = risks_by(y_true, y_prob, horizon)
        each = partial(compare, **over, **fixed, **of_cases, weight_type=weight_type)
        return each_horizon(each, risks, refused)
    data = as_data(
        y_true,
        y_prob,
        sample_weight=sample_weight,
        weight_type=weight_type,
        pos_label=pos_label,
        cluster=cluster,
        stratum=stratum,
        imputation=imputation,
        takes_times=True,
        horizon=at,
        takes_classes=True,
    )
    if data.imputations:
        return ImputedComparison(each_imputation(compare, data, **over, **fixed))
    size = as_draws(draws)
    averaging = Averaging(curves, prior_calibrated, prior_weights)
    problem = prepare(data, curve=averaging.union, **fixed)
    shares = averaging.weights
    return CurveComparison(FamilySamples(problem, list(shares)).draw_all(), shares, size)
