"""fit(): from scores and outcomes to a posterior, by whichever engine serves."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypedDict, Unpack, overload

from numpy.typing import ArrayLike

from bayescal.core.arrays import RandomState
from bayescal.core.errors import EdgeWarning, InputError
from bayescal.data.data import CalibrationData
from bayescal.data.imputations import warn_of_few_outcomes
from bayescal.data.keywords import as_data
from bayescal.data.multiclass import ClassMode
from bayescal.data.predicted import risks_by
from bayescal.data.read import Outcomes
from bayescal.data.roles import Crossed
from bayescal.data.survival import Survival
from bayescal.data.validate import as_draws, check_choice
from bayescal.data.weights import WeightType
from bayescal.fitting.horizons import each_horizon, is_several
from bayescal.fitting.imputed.combine import combine_imputations, each_imputation
from bayescal.inference.candidates import PRIOR_CALIBRATED
from bayescal.inference.curve import Averaging, fit_average, fit_curve
from bayescal.inference.nuts import as_sampler
from bayescal.model.curves import Curve
from bayescal.model.heterogeneity import Heterogeneity
from bayescal.model.priors import Prior
from bayescal.model.problem import Problem, prepare
from bayescal.multilevel.drift import DriftPosterior
from bayescal.multilevel.factors import SubgroupPosterior
from bayescal.multilevel.fit import fit_problem
from bayescal.multilevel.known import THIS_SITE, check_few_labels
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.problem import KnownSites, prepare_terms, scores_alone
from bayescal.multilevel.sites import HierarchicalPosterior
from bayescal.multilevel.term import Vary, VaryBy, as_vary, by, crossed, walk
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.several import Several

__all__ = ["ENGINES", "fit"]

ENGINES = ("auto", "importance", "nuts")


class FitOptions(TypedDict, total=False):
    """Options of `fit` other than `vary`, `site`, `period`, `subgroup` and `imputation`."""

    curve: str | Curve | None
    curves: Sequence[str] | None
    prior_calibrated: float
    prior_weights: Mapping[str, float] | None
    prior: str | Prior | Mapping[str, Any]
    engine: Literal["auto", "importance", "nuts"]
    sampler: Mapping[str, Any] | None
    draws: int
    heterogeneity_prior: Heterogeneity | Mapping[str, Any] | None
    known: KnownSites
    sample_weight: ArrayLike | None
    weight_type: WeightType | None
    random_state: RandomState
    edge: float | None
    pos_label: Any
    cluster: ArrayLike | None
    stratum: ArrayLike | None
    horizon: float | None
    mode: ClassMode | None


@overload
def fit(
    y_true: Survival,
    y_prob: ArrayLike,
    *,
    horizon: Sequence[float],
    curve: str | Curve | None = None,
    draws: int = 4000,
    random_state: RandomState = None,
) -> Several[CalibrationPosterior]: ...
@overload
def fit(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    vary: VaryBy,
    **options: Unpack[FitOptions],
) -> MultilevelPosterior: ...
@overload
def fit(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    site: None = None,
    subgroup: None = None,
    **options: Unpack[FitOptions],
) -> CalibrationPosterior: ...
@overload
def fit(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    subgroup: Crossed,
    **options: Unpack[FitOptions],
) -> SubgroupPosterior: ...
@overload
def fit(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    site: ArrayLike,
    **options: Unpack[FitOptions],
) -> HierarchicalPosterior: ...
@overload
def fit(
    y_true: None, y_prob: ArrayLike | None = None, **options: Unpack[FitOptions]
) -> HierarchicalPosterior: ...
@overload
def fit(
    y_true: Outcomes,
    y_prob: None = None,
    *,
    imputation: ArrayLike,
    **options: Unpack[FitOptions],
) -> CalibrationPosterior: ...
@overload
def fit(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    period: ArrayLike,
    **options: Unpack[FitOptions],
) -> DriftPosterior: ...


def fit(
    y_true: Outcomes | None,
    y_prob: ArrayLike | None = None,
    *,
    curve: str | Curve | None = None,
    curves: Sequence[str] | None = None,
    prior_calibrated: float = PRIOR_CALIBRATED,
    prior_weights: Mapping[str, float] | None = None,
    prior: str | Prior | Mapping[str, Any] = "neutral",
    engine: Literal["auto", "importance", "nuts"] = "auto",
    sampler: Mapping[str, Any] | None = None,
    draws: int = 4000,
    vary: VaryBy | None = None,
    site: ArrayLike | None = None,
    subgroup: Crossed | None = None,
    heterogeneity_prior: Heterogeneity | Mapping[str, Any] | None = None,
    known: KnownSites = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType | None = None,
    random_state: RandomState = None,
    edge: float | None = None,
    pos_label: Any = None,
    imputation: ArrayLike | None = None,
    period: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    stratum: ArrayLike | None = None,
    horizon: float | Sequence[float] | None = None,
    mode: ClassMode | None = None,
) -> CalibrationPosterior | MultilevelPosterior | Several[CalibrationPosterior]:
    """Fit a calibration curve: the posterior of P(event | score).

    Parameters
    ----------
    y_true : array-like of shape (n,), Survival or CalibrationData, or None
        Outcomes, 0/1 or boolean; times to an event; labels of classes, of any type, beside a
        matrix; or a table, and then no `y_prob`. Of outcomes that were imputed m times a matrix of
        shape (m, n): each row is fitted, and the posteriors are mixed. None if there are no
        patients but only sites `known` by their summaries.
    y_prob : array-like of shape (n,) or (n, k), optional
        Predicted probabilities of the event, in [0, 1]. Without outcomes, those of patients like
        the sites'. Or a matrix of the probabilities of k classes, one a column, in the order of
        labels 0 to k - 1 or of a Categorical's, or a data frame with their names; see `mode`.
    curve : str or Curve, optional
        By default "average": the average over families of curves that `bayescal.compare` makes,
        exact calibration among them. Or one family: "beta", "spline", "pieces", "saturated" (for at
        most 20 distinct scores), "lapse", "noise", "logistic", "temperature", "intercept" or
        "identity". Sites, subgroups and periods have one family, by default "beta".
    curves : sequence of str, optional
    prior_calibrated : float in (0, 1)
    prior_weights : mapping of str to float, optional
        What is averaged over, as in `bayescal.compare`.
    prior : {"neutral", "clinical"}, Prior, or mapping
        Prior on the curve, centred on perfect calibration. A mapping changes parts of "neutral".
    engine : {"auto", "importance", "nuts"}
        "importance" takes milliseconds a family; "nuts" samples the PyMC model of one family;
        "auto" takes the first and, for one family, falls back to the second, with a warning, when
        Pareto k-hat exceeds 0.7. The average, `pieces` and `saturated` have no PyMC form, and
        "nuts" is refused.
    sampler : mapping, optional
        Options of NUTS, where it samples: `tune` (1000 steps), `target_accept` (0.95), `cores` (as
        PyMC chooses), `progress` (no bar) and `seconds` (of sampling: no limit with engine="nuts";
        120 where "auto" takes it, after which the draws of importance sampling are kept).
    draws : int
        Posterior draws in all, over four chains; rounded up to a multiple of four.
    vary : str, Vary or sequence of them, optional
        What curves vary by, of the roles of a table: "site", "sex", `bc.by("sex", "age")` (an
        interaction) or `bc.walk("period")`; of a list the effects add up, as in
        `["site", bc.walk("period")]`. Sites, periods and subgroups that are not named are
        forgotten. By default all that the table has, which `site`, `period` and `subgroup` give it.
    site : array-like of shape (n,), optional
        Site of each case, such as its hospital; at most 2000. Every site then has a shift and a
        slope of its own, drawn towards those of the average site as far as sites are alike;
        other coordinates are common. A site may be unlike the others, with probability 0.1 before
        the data; `vary=bc.by("site", robust=False)` leaves this out. Curves are "logistic",
        "beta", "intercept" or "temperature".
        A table with several groups is fitted in the same way.
    subgroup : data frame or mapping, optional
        Labels of each case by name, such as sex and age: every combination that occurs, at most
        12,000, then has a curve of its own.
    heterogeneity_prior : Heterogeneity or mapping, optional
        How much sites are expected to differ: `bc.priors.Heterogeneity()` by default, with its
        scales 0.6 times as large where a site may be unlike the others: it is then of those that
        are like each other. A mapping changes parts of it, such as `{"shift": 0.5}`. Of periods,
        the size of a sudden change, and of gradual drift over all periods together.
    known : pandas.DataFrame or mapping, optional
        Sites of which there are no patients but summaries, one row a site, beside those of
        `site`, or alone; beside cases without a label, these are of one site, "this site".
        Columns `observed`, `expected` and `n` (events, sum of the predicted probabilities,
        patients); or `observed_expected`, `lower` and `upper`; and, also or alone,
        `calibration_slope`, `slope_lower` and `slope_upper`; NaN is not known. Labels are in
        `site`, or the index. Intervals are 95 % but for those with a `ci_prob`.
    period : array-like of shape (n,), optional
        When each case was, such as its month, in any order: numbers, dates, texts such as
        "2024-03", or an ordered pandas Categorical; at most 60 periods. The curve may then change
        from period to period.
    sample_weight : array-like of shape (n,), optional
        Counts of cases, or sampling weights.
    weight_type : {"counts", "sampling"}, optional
        What `sample_weight` is; by default counts if all are whole numbers, else sampling weights.
        Sampling weights are rescaled to Kish's effective sample size, and the result is a
        pseudo-posterior.
    random_state : int or numpy.random.Generator, optional
        Seed. Drawn and kept in the tree when None, so any result can be repeated.
    edge : float in (0, 0.5), optional
        The least distance of a score from 0 and 1; nearer ones are moved there. By default only
        scores of exactly 0 and 1 are moved, by a quarter of the distance to the nearest other.
    pos_label : object, optional
        The label in `y_true` that counts as the event, when labels are not 0/1.
    imputation : array-like of shape (m, n), optional
        In place of `y_prob`: the predicted probabilities of the same n cases from each of m
        imputed data sets, or from m draws of the posterior of a Bayesian model, at most 1000 (thin
        draws first, such as `draws[::80]`). Each is fitted, and their posteriors are mixed
        (`bayescal.combine_imputations`). `draws` are of each imputation; of more than five, five
        times `draws` in all, and at least 400 of each. Or, beside `y_prob`, the imputation of each
        row of a long table, of shape (n,).
    cluster : array-like of shape (n,), optional
        Label of the cluster of each case, such as a patient seen several times, when cases of one
        cluster are not independent and clusters are of no interest themselves; at least two.
        Intervals are then as wide as the clusters say. For clusters of interest see `site`,
        beside which clusters can stand: patients inside hospitals, or seen in two of them.
    stratum : array-like of shape (n,), optional
        Label of the stratum from which the cluster of each case was drawn.
    horizon : float or sequence of float, optional
        Of times to an event, `bc.Survival(time, event)` in place of outcomes: by when the scores
        are risks of it. Cases that left before count as far as they were followed. Of sites,
        subgroups and periods, when events come is the same in all of them, given the score.
        Several ascending horizons, such as [1, 3, 5], have a column of `y_prob`
        each, and no groups or imputations; or `y_prob` is a data frame of whole predicted
        curves, risks or probabilities of survival, whose columns are named by the times.
    mode : {"top-label", "class-wise"}, optional
        Of a matrix. "top-label", the default: the score is the largest probability, and the event
        that the class with it is right. "class-wise": each class against the rest; its curves, one
        a class, are drawn towards each other, as those of sites are.

    Returns
    -------
    CalibrationPosterior or MultilevelPosterior
        The second as HierarchicalPosterior of several sites, SubgroupPosterior of several
        columns of subgroups, DriftPosterior of periods, and as it is of periods beside other terms.
        With `imputation` the same, with a part for each; of several curves with `imputations` and
        `missing_information`. Of several horizons Several of them.

    Raises
    ------
    InputError
        If the input is not outcomes and probabilities of the same cases, a name is unknown, the
        family cannot be fitted to several sites, what is `known` of one is incomplete, or options
        of the average were given with one family, or those of NUTS with the average.

    Warns
    -----
    DiagnosticWarning
        When the draws should not be trusted, or NUTS took over.
    EdgeWarning
        When every score is exactly 0 or 1.
    ImputationWarning
        When outcomes were imputed fewer than 20 times.
    WeightWarning
        When whole-number weights can be counts as well as sampling weights, and nothing says which.

    Notes
    -----
    The average is that of `bayescal.compare` with the same seed, to the bit. Every number of it is
    a function of the same draws. In as many of them as exact calibration is probable distances,
    such as TCE, are 0; the curve, O/E and slope are given that calibration is not exact. One family
    is a model without exact calibration.

    With clusters the likelihood of independent cases is made flatter by the sandwich estimate of
    the information, in each direction of the coordinates by its own design effect; that of
    "pieces" and "saturated" by the design effect of the number of events. The score distribution is
    drawn by the Bayesian bootstrap of clusters. The likelihood of each of several sites, subgroups
    or periods is flattened by itself, with what the clusters of all say of how alike their cases
    are.

    References
    ----------
    Dong et al. (2025), Combining priors with experience: confidence calibration based on binomial
    process modeling, AAAI, eqs. 5 and 12. Vehtari et al. (2024), Pareto smoothed importance
    sampling, JMLR 25. Ribatet, Cooley & Davison (2012), Bayesian inference from composite
    likelihoods, Statistica Sinica 22, for clusters.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=0)
    >>> post = bc.fit(y_true, y_prob, random_state=0)
    >>> table = post.summary()
    >>> bool(table.loc["calibration_slope", "upper"] < 1)
    True
    """
    averaging = Averaging(curves, prior_calibrated, prior_weights)
    weights: dict[str, Any] = {"sample_weight": sample_weight, "weight_type": weight_type}
    fixed: dict[str, Any] = {"prior": prior, "edge": edge, "random_state": random_state}
    over: dict[str, Any] = {"curves": curves, "prior_calibrated": prior_calibrated}
    over |= {"prior_weights": prior_weights, "curve": curve}
    how: dict[str, Any] = {"engine": engine, "sampler": sampler, "draws": draws}
    roles: dict[str, Any] = {
        "site": site, "period": period, "subgroup": subgroup, "cluster": cluster,
        "stratum": stratum, "imputation": imputation, "mode": mode,
    }  # fmt: skip
    if is_several(horizon):
        others = {"known": known, "heterogeneity_prior": heterogeneity_prior, "vary": vary}
        of_cases = {"sample_weight": sample_weight, "cluster": roles.pop("cluster")}
        of_cases["stratum"] = roles.pop("stratum")
        others |= roles | {"pos_label": pos_label}
        each = partial(fit, **over, **how, **fixed, **of_cases, weight_type=weight_type)
        risks = risks_by(y_true, y_prob, horizon)
        return each_horizon(each, risks, others)
    if y_true is None:
        data = scores_alone(y_prob, known, roles, **weights)
    else:
        of_cases = roles | weights | {"pos_label": pos_label, "horizon": horizon}
        of_cases |= {"takes_times": True, "takes_classes": True}
        data = as_data(y_true, y_prob, check_sites=check_few_labels, **of_cases)
        if known is not None and not data.levels and vary is None:
            data = data.of_site(THIS_SITE)
    if data.imputations:
        if data.has_imputed_outcomes:
            warn_of_few_outcomes(len(data.imputations))
        over |= {"vary": vary}
        of_sites = {"heterogeneity_prior": heterogeneity_prior, "known": known}
        return combine_imputations(each_imputation(fit, data, **over, **how, **of_sites, **fixed))
    check_choice(engine, ENGINES, "engine")
    size, options = as_draws(draws), as_sampler(sampler)
    terms = terms_of(data, known) if vary is None else as_vary(vary)
    if not terms:
        if heterogeneity_prior is not None:
            raise InputError(
                "heterogeneity_prior was given without sites: it is of how much sites differ. Say "
                "which site each case is from with site=."
            )
        family = averaging.family(curve)
        family_or_union = averaging.union if family is None else family
        problem = prepare(data, curve=family_or_union, **fixed)
        _warn_about_edges(problem)
        if family is None:
            return fit_average(problem, averaging.weights, size, engine, sampler)
        return fit_curve(problem, size, engine, options)
    fixed |= {"curve": averaging.family_of_several(curve, _kind(terms)), "known": known}
    fixed |= {"heterogeneity": heterogeneity_prior}
    several = prepare_terms(data, terms, **fixed)
    _warn_about_edges(several.pooled)
    post: MultilevelPosterior = fit_problem(several, size, engine, options)
    return post


def _kind(terms: Sequence[Vary]) -> str:
    """What a fit of these terms is of."""
    if terms[0].kind == "walk":
        return "periods"
    return "subgroups" if len(terms) > 1 else "sites"


def terms_of(data: CalibrationData, known: KnownSites) -> tuple[Vary, ...]:
    """The terms of a fit of these cases, if nobody named them; none of one curve."""
    named = [name for name in data.levels if name != "imputation"]
    if not named:
        return () if known is None else (by("site"),)
    several = len(data.subgroups) > 1
    if len(named) > 1 and not (several and len(named) == len(data.subgroups)):
        raise InputError(
            f"the table has {' and '.join(named)}. Say what curves vary by, one of them with "
            f"vary={named[0]!r} or several with vary={_together(named)}, forget the others, "
            f"data.without({named[-1]!r}), or fit the cases of each level by themselves, "
            f"data.select({named[0]}=...)."
        )
    if several:
        return crossed(data.subgroups)
    return (walk() if named == ["period"] else by(named[0]),)


def _together(names: Sequence[str]) -> str:
    """These roles as a list of terms, as it is written."""
    terms = ["bc.walk('period')" if name == "period" else repr(name) for name in names]
    return f"[{', '.join(terms)}]"


def _warn_about_edges(problem: Problem) -> None:
    edges = problem.edges
    if edges.assumed:
        warnings.warn(
            "every score is exactly 0 or 1, so nothing says how they were rounded; "
            f"they are read as {edges.low:g} and 1 - {1 - edges.high:.3g}. Say how far inside "
            "they belong with edge=.",
            EdgeWarning,
            stacklevel=3,
        )
