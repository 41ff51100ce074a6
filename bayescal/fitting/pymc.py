"""build_model() and from_pymc(): the PyMC model of a fit, and a posterior from its trace."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.text import shortened
from bayescal.core.versions import group_of
from bayescal.data.doors import CaseRoles, Given, door, given_of
from bayescal.data.read import read_cases
from bayescal.data.roles import Roles, Structure, as_roles, read_groups
from bayescal.data.table import CalibrationData
from bayescal.fitting._fit import terms_of
from bayescal.inference.curve import part_of_trace
from bayescal.model.curves import AVERAGE, FAMILY_OF_SEVERAL, TRACED, Curve, Frame, mean_errors
from bayescal.model.draws import Part
from bayescal.model.priors import Prior
from bayescal.model.problem import Problem, prepare
from bayescal.model.pymc import (
    MOST_CASES,
    Observations,
    Source,
    cases_of_table,
    checked_offset,
    joined_rows,
    model_of,
    remembered,
    source_of,
    weighted,
)
from bayescal.multilevel.curves import Curves
from bayescal.multilevel.known import check_few_labels
from bayescal.multilevel.nuts import draws_of_trace, model_of_terms
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.problem import (
    KnownSites,
    MultilevelProblem,
    prepare_terms,
    scores_alone,
)
from bayescal.multilevel.term import VaryBy
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr


@door
def build_model(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    curve: str | Curve | None = None,
    prior: str | Prior | Mapping[str, Any] = "neutral",
    offset: Any = None,
    vary: VaryBy | None = None,
    known: KnownSites = None,
    edge: float | None = None,
    **roles: Unpack[CaseRoles],
) -> pm.Model:
    """Build the PyMC model that `bayescal.fit(engine="nuts")` samples.

    Scores, cases and weights are data of the model, so that `pymc.set_data` gives predictions at
    other scores; `bayescal.from_pymc` makes a posterior of its trace, also after it was extended.

    Parameters
    ----------
    %(cases)s
    curve : str or Curve
        Family of the calibration curve. It must be named, since the average over families is no
        PyMC model; of several curves it is "beta" by default.
    prior : {"neutral", "clinical"}, Prior, or mapping
        As in `bayescal.fit`.
    offset : array-like or PyMC variable of shape (n,), or (rows,) with a table, optional
        Added to the log-odds of the curve, such as a covariate times its coefficient, or the
        effect of a hospital.
    vary : str, Vary or sequence of them, optional
        What curves vary by, as in `bayescal.fit`; by default all that the cases have.
    known : pandas.DataFrame or mapping, optional
        Sites known by their summaries, as in `bayescal.fit`: each is a potential.
    edge : float in (0, 0.5), optional
        The least distance of a score from 0 and 1; nearer ones are moved there.

    Returns
    -------
    pymc.Model
        That whose context this is called in, or a new one. By `obs`: the data `score`, `trials`
        (cases) and, with sampling weights, `weight`; the deterministic `log_odds` and `event_prob`;
        and the observed events `y`, whose log likelihood is that of single cases, without binomial
        coefficients. Coordinates of the curve are named as in the tree of a posterior
        (`shift`, `log_slope`, `asymmetry`). Of several curves there are also those of each
        (`site_shift`, ...), by `site`, `period` or `cell`, and data `site_of_obs`.

    Raises
    ------
    InputError
        If the input is not outcomes and probabilities of the same cases, the family has no PyMC
        form, or the offset is not one finite number for each case (or row).

    Notes
    -----
    Up to 5000 cases are one observation each, in the order that they were given; more are rows of
    cases with equal scores, as are those of a table beside an offset, and times to an event, which
    have no `y` and no `trials` but a potential, `followed`.

    Examples
    --------
    >>> import bayescal as bc
    >>> outcomes, scores = [0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]
    >>> model = bc.build_model(outcomes, scores, curve="beta")  # doctest: +SKIP
    >>> [variable.name for variable in model.free_RVs]  # doctest: +SKIP
    ['shift', 'log_slope', 'asymmetry']

    Predictions at other scores:

    >>> import pymc as pm  # doctest: +SKIP
    >>> with model:  # doctest: +SKIP
    ...     trace = pm.sample()
    ...     new = {"score": [0.1, 0.5, 0.9], "trials": [1, 1, 1]}
    ...     pm.set_data(new, coords={"obs": range(3)})
    ...     predicted = pm.sample_posterior_predictive(
    ...         trace, var_names=["event_prob", "y"], predictions=True
    ...     )

    Effects of three hospitals, with the hospital of each patient in an index:

    >>> with pm.Model() as model:  # doctest: +SKIP
    ...     effect = pm.Normal("effect", 0, 0.5, shape=3)
    ...     bc.build_model(y_true, y_prob, curve="beta", offset=effect[hospital])
    ...     trace = pm.sample()
    >>> post = bc.from_pymc(trace, model)  # doctest: +SKIP
    """
    given = given_of(y_true, y_prob, roles)
    if y_true is None:
        data = scores_alone(y_prob, known, roles)
    else:
        data = given.table(times=True, check_sites=check_few_labels).independent()
    if data.imputations:
        raise InputError(
            "the table has several imputations, and a PyMC model is of one. Build that of each, "
            "data.imputations[0] and so on."
        )
    fixed: dict[str, Any] = {"prior": prior, "edge": edge, "random_state": 0}
    if data.groups or known is not None or vary is not None:
        family = FAMILY_OF_SEVERAL if curve is None else curve
        terms = terms_of(data, known) if vary is None else vary
        several = prepare_terms(data, terms, curve=family, known=known, **fixed)
        rows = _rows(several.pooled, given, offset, several)
        return remembered(model_of_terms(several, rows, named=True), several, rows)
    if curve is None or (isinstance(curve, str) and curve == AVERAGE.name):
        raise InputError(
            "curve is missing: the PyMC model is of one family of curves, and the average over "
            "families is a mixture that has none. Name a family, such as curve='beta'."
        )
    problem = prepare(data, curve=curve, **fixed)
    rows = _rows(problem, given, offset, None)
    return remembered(model_of(problem, rows, named=True), problem, rows)


def _rows(
    problem: Problem, given: Given, offset: Any, several: MultilevelProblem | None
) -> Observations | None:
    """What the model observes: cases as they were given, or rows of a table; None of times."""
    if problem.of_times:
        if offset is not None:
            raise InputError(
                "offset was given beside times to an event, whose model has no offset. Leave it "
                "out."
            )
        return None
    if problem.data.n <= MOST_CASES or offset is not None:
        cases = _cases(problem, given, offset, several)
        if cases is not None:
            return cases
    tables = {"": problem} if several is None else several.tables
    stay = offset is not None or problem.data.n > MOST_CASES
    parts = [_of_table(each, stay) for each in tables.values()]
    if several is None:
        (rows,) = parts
    else:
        rows = joined_rows(parts, [several.labels.index(label) for label in tables])
    return rows._replace(offset=checked_offset(offset, rows.score.size, "row of the table"))


def _cases(
    problem: Problem, given: Given, offset: Any, several: MultilevelProblem | None
) -> Observations | None:
    """The cases of a door in the order they were given; None of a table and of shares of events."""
    if given.y_prob is None or given.y_true is None:
        return None
    (y_true, y_prob, offset), roles = as_roles(**given.roles).aligned(
        y_true=given.y_true, y_prob=given.y_prob, offset=offset
    )
    weight, label = roles.columns.get("sample_weight"), given.words.get("pos_label")
    cases = read_cases(y_true, y_prob, weight, replicates=False, pos_label=label)
    outcome, score, weight = cases.one
    if score.size != len(given.y_prob):
        return None
    one = np.ones(score.size)
    seen = Observations(score, one, outcome, offset=checked_offset(offset, score.size, "case"))
    if several is not None:
        seen = seen._replace(group=_groups_of(roles, score.size, several))
    groups = [problem] if several is None else several.groups.values()
    return seen if weight is None else weighted(seen, weight, [each.data for each in groups])


def _groups_of(roles: Roles, size: int, several: MultilevelProblem) -> NDArray[np.intp]:
    """The group of each case, by what curves vary by."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # told when the table was made
        read = read_groups(roles, size)
    kept = [k for k, name in enumerate(read.structure.levels) if name in several.axes]
    labels = [Structure.label([cell[k] for k in kept]) for cell in read.cells]
    at = np.array([several.labels.index(str(label)) for label in labels], np.intp)
    return np.asarray(at[read.code])


def _of_table(problem: Problem, stays: bool) -> Observations:
    """The cases of a table, or its rows where these stay."""
    data, rows = problem.data, problem.table
    cases = None if stays else cases_of_table(data)
    if cases is None:
        return Observations(data.score, rows.trials, rows.hits)
    row, outcome = cases
    return Observations(data.score[row], np.ones(row.size), outcome.astype(np.float64))


# The variable of a model with the probability of the event of each observation.
PROB = "event_prob"


def from_pymc(idata: Any, model: pm.Model) -> CalibrationPosterior | MultilevelPosterior:
    """Make a posterior of the trace of a PyMC model.

    Parameters
    ----------
    idata : arviz.InferenceData or xarray.DataTree
        What `pymc.sample` returns.
    model : pymc.Model
        The model that was sampled: one of `bayescal.build_model`, as it is or extended; or one of
        your own with data `score` and the deterministic `event_prob`, of one element for each
        observation, and one observed variable, the events.

    Returns
    -------
    CalibrationPosterior or MultilevelPosterior
        As of `bayescal.fit(engine="nuts")`, and of several curves if the model has them. Where the
        log-odds have an offset, and of a model of your own, it is of the curve that cases have on
        average: the mean of `event_prob` at each score.

    Raises
    ------
    InputError
        If the trace has neither the curve's coordinates nor `event_prob`, or the model no scores
        and outcomes.

    Notes
    -----
    A covariate or a hospital's effect gives patients with one score different risks. Calibration
    is of P(event | score), so these risks are averaged: at each score if there are at most 40, else
    by a regression of risk less score on smooth functions of the score, in every draw. It leaves
    the sum of the risks, and of risks times log-odds, as they are, so that observed over expected
    and the calibration slope are exactly those of `event_prob`.

    Examples
    --------
    >>> import bayescal as bc
    >>> import pymc as pm  # doctest: +SKIP
    >>> with pm.Model() as model:  # doctest: +SKIP
    ...     by_age = pm.Normal("by_age", 0, 0.5)
    ...     bc.build_model(y_true, y_prob, curve="beta", offset=by_age * age)
    ...     trace = pm.sample()
    >>> post = bc.from_pymc(trace, model)  # doctest: +SKIP
    >>> post.summary()  # doctest: +SKIP
    """
    if not hasattr(model, "observed_RVs"):
        raise InputError(
            f"model must be the pymc.Model that was sampled, got {shortened(repr(model))}."
        )
    posterior, stats = _trace(idata)
    source = source_of(model)
    if source is not None and (source.rows is None or source.rows.offset is None):
        several = isinstance(source.problem, MultilevelProblem)
        pooled = source.problem.pooled if several else source.problem
        if _has(posterior, pooled.curve.variables) and not (several and source.problem.is_walk):
            if several:
                drawn = draws_of_trace(source.problem, posterior, stats)
                return MultilevelPosterior([Curves(drawn)])
            return CalibrationPosterior([part_of_trace(pooled, posterior, stats)])
    if PROB not in posterior:
        raise InputError(
            f"idata has no {PROB}, the probability of the event of each observation, but "
            f"{shortened(', '.join(map(str, posterior.data_vars)), 200)}. Keep it when sampling; "
            f"in a model of your own add pm.Deterministic({PROB!r}, probability)."
        )
    seen, problem = _observed(idata, model, source)
    prob = posterior[PROB].transpose("chain", "draw", ...).to_numpy()
    risk = np.asarray(prob, np.float64).reshape(-1, *prob.shape[2:])
    if risk.ndim != 2 or risk.shape[1] != seen.score.size:
        raise InputError(
            f"{PROB} has the shape {risk.shape[1:]} in each draw, and there are "
            f"{seen.score.size} scores. It must be one probability for each observation."
        )
    if not ((risk >= 0) & (risk <= 1)).all():
        raise InputError(f"{PROB} has values outside [0, 1]. Pass probabilities, not log-odds.")
    weight = seen.trials if seen.weight is None else seen.trials * seen.weight
    points, errors = mean_errors(problem.inside(seen.score), risk, weight)
    frame = Frame(problem.frame.centre, knots=tuple(logit(points).tolist()))
    traced = replace(problem, frame=frame, curve=TRACED.at(frame))
    told = {"diverging": stats["diverging"].transpose("chain", "draw").to_numpy()}
    return CalibrationPosterior([Part(traced, errors, posterior.sizes["chain"], "nuts", told)])


def _trace(idata: Any) -> tuple[xr.Dataset, xr.Dataset]:
    """Draws, and the sampler's statistics; samplers other than NUTS know no divergences."""
    import xarray as xr

    try:
        posterior = group_of(idata, "posterior")
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise InputError(
            f"idata has no group posterior: it is {shortened(repr(type(idata).__name__))}. Pass "
            "what pm.sample returned."
        ) from None
    try:
        stats = group_of(idata, "sample_stats")
    except KeyError:
        stats = xr.Dataset()
    if "diverging" not in stats:
        shape = posterior.sizes["chain"], posterior.sizes["draw"]
        stats = stats.assign(diverging=(("chain", "draw"), np.zeros(shape, bool)))
    return posterior, stats


def _has(posterior: xr.Dataset, variables: dict[str, list[str]]) -> bool:
    return all(stem in posterior or set(of) <= set(posterior) for stem, of in variables.items())


def _observed(idata: Any, model: Any, source: Source | None) -> tuple[Observations, Problem]:
    """What the model observed, and the problem of its table."""
    if source is not None and source.rows is not None:
        problem = source.problem
        pooled = problem.pooled if isinstance(problem, MultilevelProblem) else problem
        return source.rows, pooled
    if source is not None:
        raise InputError(
            "of times to an event the trace must have the coordinates of the curve. Keep "
            f"{', '.join(source.problem.curve.variables)} when sampling."
        )
    score, trials = _data(idata, model, "score"), _data(idata, model, "trials")
    if score is None:
        raise InputError(
            "the model has no data 'score', the predicted probability of each observation. Add "
            "pm.Data('score', scores)."
        )
    if len(model.observed_RVs) != 1:
        names = [variable.name for variable in model.observed_RVs]
        raise InputError(
            f"the model has {len(names)} observed variables, {names}, and one is taken: the events."
        )
    (variable,) = model.observed_RVs
    events = np.asarray(model.rvs_to_values[variable].eval(), np.float64).ravel()
    cases = np.ones(score.size) if trials is None else trials
    if events.size != score.size:
        raise InputError(
            f"{variable.name} has {events.size} elements, and score {score.size}. Each observation "
            "needs both."
        )
    data = CalibrationData.from_counts(score, cases, events)
    seen = Observations(score, cases, events)
    return seen, prepare(data, curve="logistic", random_state=0)


def _data(idata: Any, model: Any, name: str) -> Floats | None:
    """Data of the model as they were when it was sampled, where the trace has them."""
    with suppress(KeyError):
        return np.asarray(group_of(idata, "constant_data")[name], np.float64).ravel()
    if name in model.named_vars:
        return np.asarray(model[name].eval(), np.float64).ravel()
    return None
