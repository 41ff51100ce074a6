"""A posterior that was saved, or gets more cases, and how much of it is the prior's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_items, check_choice
from bayescal.core.text import shortened
from bayescal.data.doors import CaseRoles, door, table_of
from bayescal.data.table import CalibrationData
from bayescal.data.times import Survival
from bayescal.fitting._fit import fit
from bayescal.fitting.imputed import combine_imputations
from bayescal.inference.comparison import power_scaling_of
from bayescal.inference.curve import as_sampler, fit_average, fit_curve
from bayescal.inference.density import CurveDensity
from bayescal.model.problem import prepare
from bayescal.multilevel.curves import Curves
from bayescal.multilevel.known import THIS_SITE, check_few_labels
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.posterior.imputed import in_turn
from bayescal.posterior.posterior import CalibrationPosterior, as_posterior, as_seen, check_outcomes
from bayescal.posterior.stored import SEVERAL, key_of, open_tree, trees_of

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

ASKED = ("tce", "observed_expected", "calibration_slope")

# Sensitivity from which prior or likelihood is said to matter.
SENSITIVE = 0.05


@door
def update(
    post: CalibrationPosterior | MultilevelPosterior,
    y_true: Any,
    y_prob: ArrayLike | None = None,
    **roles: Unpack[CaseRoles],
) -> CalibrationPosterior | MultilevelPosterior:
    """Add cases to a posterior: the same as one fit on all of them.

    The posterior contains the table of the old cases, also after `bayescal.load`, so
    the old cases are not needed. Curve, prior, number of draws and seed do not change. Settings
    that depend on the scores are computed again from all scores: the centre of the prior
    "clinical", the knots of a spline, the stretches of "pieces", and the distance by which scores
    of 0 and 1 are moved inside, unless `edge=` was given. New sites and periods may be among the
    cases; clusters that the posterior has keep their labels. Of times to an event the horizon is
    that of the posterior, and weights are by default what those before were.

    Parameters
    ----------
    post : CalibrationPosterior or MultilevelPosterior
        From `bayescal.fit`, `bayescal.compare`, `bayescal.update` or `bayescal.load`.
    %(cases)s

    Returns
    -------
    CalibrationPosterior or MultilevelPosterior
        Exactly that of `bayescal.fit` on all cases with the same curve, prior, seed, draws
        and engine; of an average, with the same families and prior weights. A posterior of NUTS is
        sampled by NUTS again, with the default options.

    Raises
    ------
    InputError
        If one has a role that the other has not, or one
        has counts and the other sampling weights; or as `bayescal.fit`.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 600, random_state=0)
    >>> january = bc.fit(y_true[:300], y_prob[:300], random_state=0)
    >>> both = bc.update(january, y_true[300:], y_prob[300:])
    >>> both.summary().equals(bc.fit(y_true, y_prob, random_state=0).summary())
    True
    """
    if isinstance(post, CalibrationPosterior) and post._one_of is not None:
        raise InputError(
            f"post is the curve of one site, {post._title!r}, which depends on the other sites. "
            "Update the posterior of all, with site=."
        )
    if not isinstance(post, MultilevelPosterior):
        as_posterior(post)
    how: CaseRoles = {}
    if roles.get("sample_weight") is not None and post.data.is_pseudo:
        how["weight_type"] = "sampling"
    if isinstance(y_true, Survival) and post.data.follow_up is not None:
        how["horizon"] = post.data.follow_up.horizon
    more = table_of(y_true, y_prob, {**how, **roles}, times=True, check_sites=check_few_labels)
    mixed: tuple[Any, ...] = post.imputations if len(post.imputations) > 1 else ()
    if len(mixed) != len(more.imputations):
        raise InputError(
            f"post is of {len(mixed) or 'no'} imputations and the new cases have "
            f"{len(more.imputations) or 'none'}. Pass as many, imputation=, or fit all cases anew."
        )
    if mixed:
        each: list[Any] = [
            _updated(old, new) for old, new in zip(mixed, more.imputations, strict=True)
        ]
        combined: CalibrationPosterior | MultilevelPosterior = combine_imputations(each)
        return combined
    return _updated(post, more)


def _updated(
    post: CalibrationPosterior | MultilevelPosterior, more: CalibrationData
) -> CalibrationPosterior | MultilevelPosterior:
    """With more cases, of one imputation."""
    several = post if isinstance(post, MultilevelPosterior) else None
    if several and not more.levels and several.data.levels == {"site": (THIS_SITE,)}:
        more = more.of_site(THIS_SITE)
    if several and "period" in several.levels and set(more.levels) != set(several.levels):
        beside = [name for name in several.levels if name != "period"]
        others = f"{' and '.join(beside)}, as its table has them" if beside else "no other role"
        raise InputError(
            "post is of periods, so say with period= when each of the new cases was, in the form "
            f"of those before, such as {several.levels['period'][-1]!r}, and give {others}."
        )
    if more.periods is not None and not (several and "period" in several.levels):
        raise InputError(
            "periods was given, but post is not of periods. Fit all cases with "
            "bayescal.fit(..., period=...), which updates can then be added to."
        )
    structure: dict[str, Any] = {}
    if isinstance(post, MultilevelPosterior):
        problem = post.problem.pooled
        structure["known"] = post.problem.known or None
        terms = zip(post.vary, post.problem.terms, strict=True)
        structure["vary"] = tuple(replace(vary, prior=term.prior) for vary, term in terms)
    else:
        check_outcomes(post, "update")
        problem = post.problem
    was_given = problem.edges != problem.data.edges()
    edge = problem.edges.low if was_given else None
    fixed: dict[str, Any] = {"curve": problem.curve, "prior": problem.prior, "edge": edge}
    fixed["random_state"] = problem.seed
    engine: Any = "nuts" if post.engine == "nuts" else "auto"
    if isinstance(post, MultilevelPosterior):
        together = post.data + more if post.has_outcomes else more
        return fit(together, engine=engine, draws=post.draws, **fixed, **structure)
    larger = prepare(problem.data + more, **fixed)
    averaged = post._parts[0].averaged
    if averaged is not None:
        return fit_average(larger, averaged.asked, post.draws)
    return fit_curve(larger, post.draws, engine, as_sampler(None))


def load(path: str | PathLike[str]) -> CalibrationPosterior | MultilevelPosterior:
    """Read a posterior that `to_netcdf` wrote.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    CalibrationPosterior or MultilevelPosterior
        The second of sites, subgroups and periods; one of their curves is read back as that curve.

    Raises
    ------
    InputError
        If there is no such file, or it was not written by bayescal, or was edited or damaged.

    Examples
    --------
    >>> import bayescal as bc
    >>> post = bc.load("posterior.nc")  # doctest: +SKIP
    """
    try:
        return _posterior_of(open_tree(path))
    except InputError as error:
        raise InputError(f"path {shortened(repr(str(path)))} cannot be loaded: {error}") from None
    except RecursionError:
        raise InputError(
            f"path {shortened(repr(str(path)))} cannot be loaded: a text in it has brackets inside "
            "brackets without end. It was damaged: write it again."
        ) from None


def _posterior_of(tree: xr.DataTree) -> CalibrationPosterior | MultilevelPosterior:
    each = trees_of(tree)
    if "terms" in each[0].attrs:
        return MultilevelPosterior(tree)
    if key_of(each[0]) is None:
        return as_seen(CalibrationPosterior(tree), tree)
    parts = []
    for one in each:
        several = Curves.of_tree(one.children[SEVERAL].copy())
        parts.append(several.part(key_of(one) or {}))
    return as_seen(CalibrationPosterior(parts), tree)


def prior_sensitivity(post: CalibrationPosterior, names: Sequence[str] = ASKED) -> pd.DataFrame:
    """How much of each answer is the prior's, by power scaling.

    The prior, or the likelihood, is raised to powers near 1 by weighing the draws, and the change
    of the posterior of each functional is measured.

    Parameters
    ----------
    post : CalibrationPosterior
        Of one family of curves, as `bayescal.fit` returns. Of several imputations, the weights of
        the draws of each are measured from their own mean, so that all keep their share.
    names : sequence of str
        Functionals.

    Returns
    -------
    pandas.DataFrame
        Index: `names`. Columns: `prior` and `likelihood`, the sensitivities; `prior_width` and
        `posterior_width`, the widths of the 95 % intervals before and after the data; and
        `verdict`: "the prior matters little" (prior below 0.05), "the prior matters", or "the
        prior decides" (likelihood below 0.05 and prior not).

    Raises
    ------
    InputError
        If a name is unknown, or the posterior is averaged over families or made of stretches, whose
        draws have no common prior density, or is a view on one of several sites.

    References
    ----------
    Kallioinen et al. (2024), Detecting and diagnosing prior and likelihood sensitivity with
    power-scaling, Statistics and Computing 34.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 3000, random_state=1)
    >>> post = bc.fit(y_true, y_prob, curve="logistic", random_state=1)
    >>> bc.prior_sensitivity(post, ["calibration_slope"])["verdict"].item()
    'the prior matters little'
    """
    import pandas as pd

    curve = as_posterior(post).problem.curve
    asked = [check_choice(name, FUNCTIONALS, "names") for name in as_items(names, "names")]
    if not asked:
        raise InputError("names is empty: name a functional, such as 'tce'.")
    if post._one_of is not None:
        raise InputError(
            f"prior_sensitivity is of a fit of one curve, and post is one of several curves, "
            f"{post._title!r}, which are drawn towards each other. Fit its cases by themselves, "
            "without the roles by which the curves differ."
        )
    if post.prior_weights or curve.has_atoms:
        raise InputError(
            f"post is of the family {curve.name!r}, whose draws have no common prior density. Fit "
            "one family, such as curve='beta'."
        )
    if not curve.size:
        raise InputError("post is of exact calibration, which no prior can move.")
    log_prior, log_likelihood = (
        in_turn(np.stack(each)) for each in zip(*map(_densities, post.imputations), strict=True)
    )
    rows: dict[str, dict[str, Any]] = {}
    for name in asked:
        values, before = (_values(post, name, group) for group in ("posterior", "prior"))
        prior, likelihood = power_scaling_of(values, log_prior, log_likelihood)
        rows[name] = {
            "prior": prior,
            "likelihood": likelihood,
            "prior_width": _width(before),
            "posterior_width": _width(values),
            "verdict": _verdict(prior, likelihood),
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "functional"
    return table


def _densities(post: CalibrationPosterior) -> tuple[Floats, Floats]:
    """Log prior and log likelihood of the draws of one data set, less their means."""
    u = np.column_stack(list(post.coordinates.values()))
    log_prior = post.problem.prior.logpdf(post.problem.curve.coordinates, u)
    log_likelihood = CurveDensity(post.problem).log_likelihood(u)
    return log_prior - log_prior.mean(), log_likelihood - log_likelihood.mean()


def _values(post: CalibrationPosterior, name: str, group: str) -> Floats:
    drawn = post.functional(name, population="sample", group=group)
    return np.asarray(drawn.to_numpy().ravel())


def _width(values: Floats) -> float:
    lower, upper = np.quantile(values, [0.025, 0.975])
    return float(upper - lower)


def _verdict(prior: float, likelihood: float) -> str:
    if not prior >= SENSITIVE:
        return "the prior matters little"
    return "the prior matters" if likelihood >= SENSITIVE else "the prior decides"
