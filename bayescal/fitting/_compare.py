"""compare(): several families of curves on one table, or on several imputations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from numpy.typing import ArrayLike

from bayescal.core.arrays import RandomState
from bayescal.core.errors import as_draws
from bayescal.data.doors import CaseRoles, door, table_of
from bayescal.fitting.imputed.combine import each_imputation
from bayescal.inference.candidates import PRIOR_CALIBRATED
from bayescal.inference.comparison import CurveComparison
from bayescal.inference.curve import Averaging
from bayescal.inference.samples import FamilySamples
from bayescal.model.priors import Prior
from bayescal.model.problem import prepare
from bayescal.posterior.several import Several

__all__ = ["compare"]


@door(several=Several.at_horizons)
def compare(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    curves: Sequence[str] | Mapping[str, float] | None = None,
    prior: str | Prior | Mapping[str, Any] = "neutral",
    prior_calibrated: float = PRIOR_CALIBRATED,
    draws: int = 4000,
    random_state: RandomState = None,
    edge: float | None = None,
    **roles: Unpack[CaseRoles],
) -> CurveComparison:
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
    %(cases)s
    curves : sequence of str, or mapping of str to float, optional
        Families to compare, by default all; `identity` and `pieces` are always among them. A
        mapping has the prior weights of those that are averaged over, scaled to 1 -
        prior_calibrated. That of a smooth family is halved over the two priors; that of `pieces` is
        split three to one.
    prior : {"neutral", "clinical"}, Prior, or mapping
    prior_calibrated : float in (0, 1)
        Prior probability of `identity`.
    draws : int
        Draws of each family, and of the average.
    random_state : int or numpy.random.Generator, optional
    edge : float in (0, 0.5), optional

    Returns
    -------
    CurveComparison
        Of several horizons Several of them, one at each. Of imputations, families
        are compared on each: posterior probabilities are means over them, and `log_evidence` is
        the log of the mean evidence.

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
    data = table_of(y_true, y_prob, roles, times=True, classes=True)
    fixed: dict[str, Any] = {"prior": prior, "edge": edge, "random_state": random_state}
    if data.imputations:
        over = {"curves": curves, "prior_calibrated": prior_calibrated, "draws": draws}
        each = each_imputation(compare, data, **over, **fixed)
        return CurveComparison._of_imputations(each)
    size = as_draws(draws)
    averaging = Averaging(curves, prior_calibrated)
    problem = prepare(data, curve=averaging.union, **fixed)
    shares = averaging.weights
    return CurveComparison([FamilySamples(problem, list(shares)).draw_all()], shares, size)
