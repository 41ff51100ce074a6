"""build_model(): the PyMC model of a fit, to look at or to extend."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.errors import InputError
from bayescal.data.doors import CaseRoles, Given, door, given_of
from bayescal.data.read import paired
from bayescal.data.roles import Roles, Structure, as_roles, read_groups
from bayescal.fitting._fit import terms_of
from bayescal.model.curves import AVERAGE, FAMILY_OF_SEVERAL, Curve
from bayescal.model.priors import Prior
from bayescal.model.problem import Problem, prepare
from bayescal.model.pymc.model import model_of, remembered
from bayescal.model.pymc.rows import (
    MOST_CASES,
    Observations,
    cases_of_table,
    checked_offset,
    joined_rows,
    weighted,
)
from bayescal.multilevel.known import check_few_labels
from bayescal.multilevel.nuts import model_of_terms
from bayescal.multilevel.problem import (
    KnownSites,
    MultilevelProblem,
    prepare_terms,
    scores_alone,
)
from bayescal.multilevel.term import VaryBy

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["build_model"]


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
    outcome, score, weight = paired(y_true, y_prob, weight, pos_label=label)
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
