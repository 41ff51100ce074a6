"""recommend(): whether to update the model, and how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from bayescal.core.arrays import as_seed
from bayescal.core.errors import InputError, as_level, as_levels
from bayescal.data.doors import CaseRoles, door, table_of
from bayescal.fitting import compare, fit
from bayescal.gain.updates.recommendation import Recommendation, recommendation
from bayescal.gain.updates.several import recommendations
from bayescal.model.curves import updates
from bayescal.model.priors import Prior
from bayescal.multilevel.posterior import as_multilevel
from bayescal.multilevel.term import VaryBy
from bayescal.posterior.posterior import CalibrationPosterior, as_posterior, check_outcomes

__all__ = ["recommend"]


@door
def recommend(
    y_true: Any,
    y_prob: Any = None,
    *,
    thresholds: Any = (),
    ci_prob: float = 0.95,
    prior: str | Prior | Mapping[str, Any] = "neutral",
    draws: int = 4000,
    random_state: int | np.random.Generator | None = None,
    vary: VaryBy | None = None,
    of: CalibrationPosterior | None = None,
    **roles: Unpack[CaseRoles],
) -> Recommendation:
    """Recommend an update of the model, or none, by what it probably gains.

    Each family's Bayesian recalibration is fitted to all the patients, as it would be used. What it
    gains on new patients follows from the calibration curve: the fall of the expected Brier score
    is computed in every draw of the averaged posterior, exact calibration among them. If the update
    that gains most is better than no update with probability 0.7 or more, the simplest is
    recommended that keeps 80 % of its expected gain; one of more than two parameters needs 200
    events and 200 non-events. With fewer than 20 of either nothing is recommended, and none where
    the scores run the wrong way.

    Parameters
    ----------
    %(cases)s
    thresholds : sequence of float
        Risks from which a patient is treated, in (0, 1). If there are any, the net benefit decides
        in place of the Brier score: its mean over the thresholds.
    ci_prob : float in (0, 1)
        Probability of the intervals.
    prior : {"neutral", "clinical"}, Prior, or mapping
    draws : int
    random_state : int or numpy.random.Generator, optional
    vary : str, Vary or sequence of them, optional
        What curves vary by, as in `bayescal.fit`; by default what the cases say.
    of : CalibrationPosterior, optional
        Whose draws say what updates gain, such as that of `bayescal.from_pymc`, beside its
        cases, `of.data`; by default the average over families.

    Returns
    -------
    Recommendation
        Of sites, periods or subgroups a SeveralRecommendations.

    Raises
    ------
    InputError
        If the input is not outcomes and probabilities of the same cases, or a threshold is not
        inside (0, 1).

    Notes
    -----
    The update is one for all sites, periods or subgroups. What it gains in each of them, in the
    average one and in one that has not been seen follows from curves of all, which are fitted
    together; updates are those up to the family of these curves. Of times to an event, updates and
    their gains are of the risk by the horizon, and a case that left before is no non-event.

    Let g be a draw of the curve, w its draw of the population of scores s, and T an update. The
    gain is E_w[(g - s)^2 - (g - T)^2]. In the draws that are exactly calibrated g is s. Curves
    and update follow the same outcomes, so that few patients make the gain too
    large. In one draw of four it is therefore lowered by the update's optimism: the gain that the
    outcomes show, less the same by leave-one-out (of clusters, times the design effect). For the
    optimism, the outcome of a case that left before the horizon is the probability of its event,
    given that it had none until then.

    `closed_test` is what the closed testing procedure of Vergouwe et al. chooses of the same
    patients among no update, a new intercept, and intercept and slope.

    References
    ----------
    Vehtari, Gelman & Gabry (2017), Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC, Statistics and Computing 27. Vergouwe et al. (2017), A closed testing
    procedure to select an appropriate method for updating prediction models, Statistics in Medicine
    36, for the updates tried. Vickers & Elkin (2006), Decision curve analysis, Medical Decision
    Making 26.

    Examples
    --------
    >>> import bayescal as bc
    >>> advice = bc.recommend(
    ...     *bc.simulate.sample("clinical-middle-calibrated", 300, random_state=1), random_state=1
    ... )
    >>> advice.choice
    'identity'
    """
    risks = tuple(sorted(set(as_levels(thresholds, "thresholds"))))
    level = as_level(ci_prob)
    seed = as_seed(random_state)
    data = table_of(y_true, y_prob, roles, times=True, classes=True)
    fixed: dict[str, Any] = {"prior": prior, "draws": draws, "random_state": seed}
    if of is not None:
        check_outcomes(as_posterior(of, "of"), "a recommendation")
        if of.data != data:
            raise InputError("of is a posterior of other cases. Pass its own, of.data.")
        return recommendation(compare(data, **fixed), risks, level, of)
    names = [name for name in data.levels if name != "imputation"]
    if not names:
        if vary is not None:
            raise InputError(
                "vary was given without sites. Say with site= which site each case is from, or "
                "pass a table that has sites, periods or subgroups."
            )
        return recommendation(compare(data, **fixed), risks, level)
    of_groups: dict[str, Any] = {**fixed, "vary": vary}
    post = as_multilevel(fit(data, **of_groups))
    curves = tuple(updates(up_to=post.problem.pooled.curve.name))
    comparison = compare(data.without(names), curves=curves, **fixed)
    return recommendations(comparison, post, risks, level)
