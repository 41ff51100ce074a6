"""recalibration_gain(): what a recalibration gained, with its uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from bayescal.core.arrays import as_seed
from bayescal.core.errors import InputError, as_draws, as_flag, as_levels, check_choice, warn
from bayescal.core.text import shortened
from bayescal.data.cases import is_matrix
from bayescal.data.doors import CaseRoles, Given, door, given_of
from bayescal.data.roles import as_roles
from bayescal.data.table import CalibrationData
from bayescal.fitting import fit
from bayescal.gain._double_use import double_use
from bayescal.gain._terms import PARTS, SCORES, net_benefit_name
from bayescal.gain.paired import PairedPredictions, as_paired
from bayescal.gain.result import RecalibrationGain, SeveralGains, evidence_of, gain_of_imputations
from bayescal.gain.routes import Posterior, by_curve, by_pairs
from bayescal.model.priors import Prior, as_prior
from bayescal.multilevel.posterior import as_multilevel
from bayescal.multilevel.term import VaryBy

__all__ = ["recalibration_gain"]

ROUTES = ("auto", "curve", "paired")


@door
def recalibration_gain(
    y_true: Any,
    before: Any = None,
    after: Any = None,
    *,
    thresholds: Sequence[float] = (),
    in_sample: bool = False,
    route: str = "auto",
    prior: str | Prior | Mapping[str, Any] = "neutral",
    draws: int = 2000,
    random_state: int | np.random.Generator | None = None,
    vary: VaryBy | None = None,
    **roles: Unpack[CaseRoles],
) -> RecalibrationGain:
    """Gain of replacing predictions `before` by predictions `after`.

    All gains are positive if recalibration improves predictions: the fall in true calibration
    error, Brier score and log score, and the rise in net benefit. They are averages over the
    population, per patient.

    Parameters
    ----------
    %(outcomes)s
    before : array-like of shape (n,), optional
        Predicted probabilities before, of patients that did not fit the recalibration: `prob` of a
        data frame; none with a table.
    after : array-like of shape (n,) or (repeats, n), callable, or fitted estimator
        Predicted probabilities after, for the same patients in the same order. Several rows are
        the repeats of a cross-fit (see `cross_fit`): they are averaged within each draw. Or the
        map from the probabilities before to those after: a function of an array, or an estimator
        with `predict_proba` or `transform`. Beside a table, which no longer knows the order of its
        cases, an array has one prediction for each of its rows, or is a cross-fit of that table. Of
        a data frame it may be the name of a column.
    %(roles)s
    thresholds : sequence of float in (0, 1)
        Risks at which a patient is treated, for the net benefit. A score within a relative 1e-12
        below a threshold reaches it, so that rounding decides nothing.
    in_sample : bool
        Whether these patients also fitted the map. The gain is then optimistic, and every output
        says so. Where the predictions themselves show it (see Notes) it is stated anyway, with a
        warning.
    route : {"auto", "curve", "paired"}
        "curve" needs `after` to be a map of `before` and uses one posterior of E[y | before];
        "paired" is the Bayesian bootstrap of the patients, or of their clusters. "auto" uses
        "curve" if equal scores before have equal scores after, after rises or falls with before
        throughout or is a function, and there are no clusters; of more than 100 000 cases, so many
        drawn at random are asked.
    prior : {"neutral", "clinical"}, Prior, or mapping
        On the calibration curve.
    draws : int
    random_state : int or numpy.random.Generator, optional
    vary : str, Vary or sequence of them, optional
        What curves vary by, as in `bayescal.fit`; by default what the cases say.

    Returns
    -------
    RecalibrationGain
        Of imputations an ImputedGain, with `missing_information`. Of sites, periods or subgroups a
        SeveralGains, which has a RecalibrationGain of each, of the average and of the next one.

    Raises
    ------
    InputError
        If the arrays do not describe the same patients, a threshold is not inside (0, 1), or the
        route is impossible.

    Warns
    -----
    ImputationWarning
        When outcomes were imputed fewer than 20 times.

    Notes
    -----
    With eta = E[y | before] and T the map, a draw of the Brier gain is
    E_w[(eta - s)^2 - (eta - T)^2], and of the fall in TCE E_w|eta - s| - E_w|E_w[eta | T] - T|,
    where equal T are grouped. Score gain = calibration gain + refinement change. When T merges no
    scores the refinement change is zero, and the Brier gain is the difference of the squared L2
    calibration errors (Gruber & Buettner 2022, Proposition 4.5); not of TCE itself, nor when
    scores are merged.

    Many cases are weighed in rows of like ones: by the curve in those of the table as it is
    fitted, cut at the thresholds, so that what merging does among the scores of one row is not
    seen in the refinement; by pairs, beyond 16 384 cases, in some 16 384 rows of cases with one
    outcome, nearly equal scores, and nearly equal moves.

    By the curve, eta is a draw of the averaged fit to the predictions before; in the draws that are
    exactly calibrated it is the score. A map that changes nothing gains exactly 0. By pairs, a
    side is exactly calibrated in as many draws as evidence says; patients who differ say which is
    better, and half a patient more on either side counts beside them,
    so that two patients of twelve do not decide.

    Double use is detected where a fit leaves equations behind: every distinct value after is the
    mean outcome of its patients (isotonic regression, bins), or the score equations of a logistic
    map, a shift or stretch of the log-odds or a beta map hold exactly. Each sign has to be one
    that unseen patients show with probability below 1e-4. A penalised or averaged map, such as
    `BayesianRecalibrator`, cannot be detected.

    The maps' own numbers count, also 0 and 1. Where one gives probability 0 to what happened, its
    log loss is infinite, as in `bayescal.scores.log_score`: the gain in log score is minus infinity
    if `after` does so to a patient to whom `before` does not, else infinity if `before` does, and
    patients to whom both do count nothing. `contradicted` and `notes` say to how many patients.
    Scores of 0 and 1 that no outcome contradicts are counted by these outcomes, by either route. A
    clipped map, `numpy.clip(after, 0.01, 0.99)`, is a map of its own.

    Draws from clusters are moved from their mean, so that a 95 % interval is as long as Student's
    with the degrees of freedom that few or unequal clusters leave (Bell & McCaffrey 2002).

    The change in net benefit depends on the patients that cross the threshold. If they are fewer
    than ten, `notes` says so: the interval is then too narrow. With one or two its coverage was
    .47 to .85 by the curve, and .09 to .66 by pairs.

    If `after` is the posterior mean of the curve, fitted to the same data, the posterior mean of
    the gain is never negative. It is not evidence that recalibration helps.

    References
    ----------
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022. Vickers & Elkin, "Decision curve analysis", Medical Decision Making
    2006. Newton & Raftery, "Approximate Bayesian inference with the weighted likelihood
    bootstrap", JRSS B 1994. Bell & McCaffrey, "Bias reduction in standard errors for linear
    regression with multi-stage samples", Survey Methodology 2002.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, before = bc.simulate.sample("clinical-middle-overconfident", 500, random_state=1)
    >>> after = 1 / (1 + np.exp(-(-0.4 + 0.6 * np.log(before / (1 - before)))))
    >>> gain = bc.recalibration_gain(y_true, before, after, random_state=1)
    >>> gain.prob_improved > 0.7
    True
    >>> list(gain.summary().index)
    ['tce', 'brier', 'log_score']
    """
    check_choice(route, ROUTES, "route")
    named = isinstance(after, str)
    if named:
        if before is not None or roles.get("prob") is None:
            raise InputError(
                f"after is {shortened(repr(after))}, the name of a column, beside arrays. Pass the "
                "probabilities after; or a data frame, with the column of those before as prob=."
            )
        roles = {**roles, "prob": [str(roles.get("prob")), str(after)]}
    given = given_of(y_true, before, roles, name="before")
    if named and given.columns is not None:
        after = given.y_prob.iloc[:, 1]
        given = replace(given, y_prob=given.y_prob.iloc[:, 0])
    given, after = _aligned(given, after)
    is_grouped, are_imputed = _are_grouped(given, vary), _are_imputed(given)
    if is_grouped and are_imputed:
        raise InputError(
            "imputations and groups (site, period or subgroups) cannot be given together to "
            "recalibration_gain. Compute the gain on each imputation, or without groups."
        )
    if is_grouped and route == "paired":
        raise InputError(
            "route='paired' weighs the cases of one group. With groups use route='curve': "
            "curves of all groups are fitted together."
        )
    if are_imputed:
        how = {"thresholds": thresholds, "in_sample": in_sample, "prior": prior, "draws": draws}
        each: dict[str, Any] = {"route": route, "random_state": random_state, **how}
        return gain_of_imputations(recalibration_gain, given, after, **each)
    levels, chosen, size = as_levels(thresholds, "thresholds"), as_prior(prior), as_draws(draws)
    accepted, pairs = as_flag(in_sample, "in_sample"), as_paired(given, after)
    _check_route(pairs, route)
    detected = double_use(pairs)
    if detected and not accepted:
        warn(
            f"after was fitted to these patients: {detected}. The gain is overestimated; use "
            "other patients or bayescal.cross_fit, or set in_sample=True.",
            UserWarning,
        )
    seed = as_seed(random_state)
    known: dict[str, Any] = {
        "evidence": evidence_of(after, accepted, detected),
        "in_sample": accepted or detected is not None,
        "thresholds": tuple(levels),
        "prior": chosen,
        "seed": seed,
    }
    if is_grouped:
        fixed: dict[str, Any] = {"vary": vary, "prior": chosen, "draws": size}
        first, second = (
            as_multilevel(fit(pairs.in_groups(score), random_state=seed, **fixed))
            for score in (pairs.before, pairs.after[0])
        )
        return SeveralGains(first, second, pairs, **known)
    by_map = pairs.is_map and route != "paired"
    by_map &= pairs.clusters is None or pairs.times is not None
    if pairs.is_unchanged:
        names = (*SCORES, *PARTS, *map(net_benefit_name, levels))
        posterior = Posterior(dict.fromkeys(names, np.zeros(size)))
    else:
        posterior = (by_curve if by_map else by_pairs)(pairs, levels, chosen, size, seed)
    return RecalibrationGain(posterior, pairs, route="curve" if by_map else "paired", **known)


def _check_route(pairs: PairedPredictions, route: str) -> None:
    """Refuse a route that these predictions do not allow."""
    if pairs.levels:
        if pairs.has_maps:
            return
        raise InputError(
            "after is no map of before: equal scores before must have equal scores after, which "
            "rise or fall throughout, for all groups or in each. Pass the map itself; or leave "
            "site= or subgroup= out, and the gain is that of all cases by the paired route."
        )
    if pairs.times is not None and route == "paired":
        raise InputError(
            "route='paired' weighs the outcomes of single cases, and those of cases that left "
            "before the horizon are not known. Leave route out: with times gains follow from the "
            "curve."
        )
    if pairs.times is not None and not pairs.is_map:
        raise InputError(
            "after is no map of before: equal scores before must have equal scores after, which "
            "rise or fall throughout. With times to an event gains follow from the risk at each "
            "score before, since the outcomes of cases that left are not known. Pass one map that "
            "was fitted to other cases, as a function or a fitted recalibrator."
        )
    if route == "curve" and not pairs.is_map:
        raise InputError(
            "route='curve' needs after to be a map of before: equal scores before must have equal "
            "scores after, which rise or fall throughout. Use route='paired'; or, if it is a map "
            "that turns, pass the map itself: a function or a fitted recalibrator."
        )
    if route == "curve" and pairs.clusters is not None and pairs.times is None:
        raise InputError(
            "route='curve' takes cases as independent. With cluster= use route='paired', the "
            "Bayesian bootstrap of whole clusters."
        )


def _aligned(given: Given, after: Any) -> tuple[Given, Any]:
    """The cases and the predictions after, once their labels were compared."""
    columns = dict(given.roles)
    weight, imputation = columns.pop("sample_weight", None), columns.pop("imputation", None)
    across = {"after", "imputation"} | ({"y_true"} if is_matrix(given.y_true) else set())
    values, roles = as_roles(**columns).aligned(
        y_true=given.y_true,
        before=given.y_prob,
        after=after,
        sample_weight=weight,
        imputation=imputation,
        across=across,
    )
    y_true, before, after, weight, imputation = values
    of_cases = {"sample_weight": weight, "imputation": imputation, **roles.columns}
    known = {name: each for name, each in of_cases.items() if each is not None}
    return replace(given, y_true=y_true, y_prob=before, roles=known), after


def _are_imputed(given: Given) -> bool:
    """Whether outcomes or predictions before were imputed."""
    if isinstance(given.y_true, CalibrationData):
        return bool(given.y_true.imputations)
    return is_matrix(given.y_true) or "imputation" in given.roles


def _are_grouped(given: Given, vary: VaryBy | None) -> bool:
    """Whether there are sites, periods or subgroups."""
    if isinstance(given.y_true, CalibrationData):
        return bool(set(given.y_true.levels) - {"imputation"})
    of_groups = bool({"site", "period", "subgroup"} & given.roles.keys())
    if vary is not None and not of_groups:
        raise InputError(
            "vary was given without sites. Say with site= which site each case is from, or pass "
            "a table that has sites, periods or subgroups."
        )
    return of_groups
