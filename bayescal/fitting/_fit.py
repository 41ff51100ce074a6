"""fit() and compare(): from scores and outcomes to a posterior, of one family or of several."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

from numpy.typing import ArrayLike

from bayescal.core.arrays import RandomState
from bayescal.core.errors import EdgeWarning, InputError, as_draws, as_items, check_choice
from bayescal.data.doors import CaseRoles, door, table_of
from bayescal.data.matrices import warn_of_few_outcomes
from bayescal.data.table import CalibrationData
from bayescal.fitting.imputed import combine_imputations, each_imputation
from bayescal.inference.averaging import PRIOR_CALIBRATED, FamilySamples, in_order
from bayescal.inference.comparison import CurveComparison
from bayescal.inference.curve import Averaging, as_sampler, fit_average, fit_curve
from bayescal.model.curves import Curve
from bayescal.model.priors import Prior
from bayescal.model.problem import Problem, prepare
from bayescal.multilevel.known import THIS_SITE, check_few_labels
from bayescal.multilevel.nuts import fit_problem
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.problem import KnownSites, prepare_terms, scores_alone
from bayescal.multilevel.term import Vary, VaryBy, as_vary, by, crossed, walk
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.several import Several

ENGINES = ("auto", "importance", "nuts")


@door(several=Several.at_horizons, refuses=("known", "vary"))
def fit(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    curve: str | Curve | Sequence[str] | Mapping[str, float] | None = None,
    prior_calibrated: float = PRIOR_CALIBRATED,
    prior: str | Prior | Mapping[str, Any] = "neutral",
    engine: Literal["auto", "importance", "nuts"] = "auto",
    sampler: Mapping[str, Any] | None = None,
    draws: int = 4000,
    vary: VaryBy | None = None,
    known: KnownSites = None,
    random_state: RandomState = None,
    edge: float | None = None,
    **roles: Unpack[CaseRoles],
) -> CalibrationPosterior | MultilevelPosterior:
    """Fit a calibration curve: the posterior of P(event | score).

    Parameters
    ----------
    %(cases)s
    curve : str or Curve, sequence of str, or mapping of str to float, optional
        By default "average": the average over families of curves that `bayescal.compare` makes,
        exact calibration among them. Or one family: "beta", "spline", "pieces", "saturated" (for at
        most 20 distinct scores), "lapse", "noise", "logistic", "temperature", "intercept" or
        "identity". Or several to average over, or their prior weights, as `curves` of
        `bayescal.compare`. Sites, subgroups and periods have one family, by default "beta".
    prior_calibrated : float in (0, 1)
        Prior probability of exact calibration in an average.
    prior : {"neutral", "clinical"}, Prior, or mapping
        Prior on the curve, centred on perfect calibration. A mapping changes parts of "neutral".
    engine : {"auto", "importance", "nuts"}
        "importance" takes milliseconds a family; "nuts" samples the PyMC model of one family;
        "auto" takes the first and, for one family, falls back to the second, with a warning, when
        Pareto k-hat exceeds 0.7. The average, `pieces` and `saturated` have no PyMC form, and
        "nuts" is refused.
    sampler : mapping, optional
        Options of NUTS, where it samples, as `pymc.sample` names them: `nuts_sampler` ("nutpie"
        where it is installed, else "pymc"), `chains` (4), `tune` (1000), `draws` (of a chain; by
        default those of the fit, shared by the chains), `target_accept` (0.95), `init`, `cores` and
        `progressbar`; and `seconds` (of sampling: no limit with engine="nuts"; 120 where "auto"
        takes it, after which the draws of importance sampling are kept).
    draws : int
        Posterior draws in all, over four chains; rounded up to a multiple of four.
    vary : str, Vary or sequence of them, optional
        What curves vary by, of the roles of a table: "site", "sex", `bc.by("sex", "age")` (an
        interaction) or `bc.walk("period")`; of a list the effects add up, as in
        `["site", bc.walk("period")]`. Sites, periods and subgroups that are not named are
        forgotten. By default all that the cases have. `bc.by("site", prior={"shift": 0.5})` says
        how much sites are expected to differ.
    known : pandas.DataFrame or mapping, optional
        Sites of which there are no patients but summaries, one row a site, beside those of
        `site`, or alone, with `y_true` None and scores of patients like theirs.
        Cases without a label beside them are of one site, "this site".
        Columns `observed`, `expected` and `n` (events, sum of the predicted probabilities,
        patients); or `observed_expected`, `lower` and `upper`; and, also or alone,
        `calibration_slope`, `slope_lower` and `slope_upper`; NaN is not known. Labels are in
        `site`, or the index. Intervals are 95 % but for those with a `ci_prob`.
    random_state : int or numpy.random.Generator, optional
        Seed. Drawn and kept in the tree when None, so any result can be repeated.
    edge : float in (0, 0.5), optional
        The least distance of a score from 0 and 1; nearer ones are moved there. By default only
        scores of exactly 0 and 1 are moved, by a quarter of the distance to the nearest other.

    Returns
    -------
    CalibrationPosterior or MultilevelPosterior
        The second of several sites, subgroups or periods.
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
    Every site has a shift and a slope of its own, drawn towards those of the average site as far
    as sites are alike; other coordinates are common. A site may be unlike the others, with
    probability 0.1 before the data; `vary=bc.by("site", robust=False)` leaves this out. Of
    subgroups every combination that occurs, at most 12,000, has a curve; over periods the curve may
    change, suddenly or step by step. Their curves are "logistic", "beta", "intercept" or
    "temperature". Clusters can stand beside sites: patients inside hospitals, or seen in two.

    Of several imputations, or draws of the scores from a model, each is fitted, and their
    posteriors are mixed (`bayescal.combine_imputations`). `draws` are of each; of more than five,
    five times `draws` in all, and at least 400 of each. Thin many draws first: `draws[::80]`.

    Cases that left before the horizon count as far as they were followed. Of sites, subgroups and
    periods, when events come is the same in all of them, given the score. Class-wise curves, one a
    class, are drawn towards each other, as those of sites are.

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
    one = curve if isinstance(curve, (str, Curve)) else None
    families: Any = None if one is not None else curve
    if families is not None and not isinstance(families, Mapping):
        families = as_items(families, "curve")
    for name in families or ():
        check_choice(name, in_order(None), "curve")
    averaging = Averaging(families, prior_calibrated)
    fixed: dict[str, Any] = {"prior": prior, "edge": edge, "random_state": random_state}
    if y_true is None:
        data = scores_alone(y_prob, known, roles)
    else:
        accepted: dict[str, bool] = {"times": True, "classes": True}
        data = table_of(y_true, y_prob, roles, check_sites=check_few_labels, **accepted)
        if known is not None and not data.levels and vary is None:
            data = data.of_site(THIS_SITE)
    if data.imputations:
        if data.has_imputed_outcomes:
            warn_of_few_outcomes(len(data.imputations))
        over = {"curve": curve, "prior_calibrated": prior_calibrated, "vary": vary, "known": known}
        how = {"engine": engine, "sampler": sampler, "draws": draws}
        posts: list[Any] = each_imputation(fit, data, **over, **how, **fixed)
        mixed: CalibrationPosterior | MultilevelPosterior = combine_imputations(posts)
        return mixed
    check_choice(engine, ENGINES, "engine")
    size, options = as_draws(draws), as_sampler(sampler)
    terms = terms_of(data, known) if vary is None else as_vary(vary)
    if not terms:
        family = averaging.family(one)
        family_or_union = averaging.union if family is None else family
        problem = prepare(data, curve=family_or_union, **fixed)
        _warn_about_edges(problem)
        if family is None:
            return fit_average(problem, averaging.weights, size, engine, sampler)
        return fit_curve(problem, size, engine, options)
    fixed |= {"curve": averaging.family_of_several(one, _kind(terms)), "known": known}
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
