"""load() and update(): a posterior that was saved, and that of the data so far and more."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from numpy.typing import ArrayLike

from bayescal.core.errors import InputError
from bayescal.core.text import shortened
from bayescal.data.doors import CaseRoles, door, table_of
from bayescal.data.table import CalibrationData
from bayescal.data.times import Survival
from bayescal.fitting._fit import fit
from bayescal.fitting.imputed import combine_imputations
from bayescal.inference.curve import as_sampler, fit_average, fit_curve
from bayescal.model.problem import prepare
from bayescal.multilevel.curves import Curves
from bayescal.multilevel.known import THIS_SITE, check_few_labels
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.posterior.posterior import CalibrationPosterior, as_posterior, as_seen, check_outcomes
from bayescal.posterior.stored import SEVERAL, key_of, open_tree, trees_of

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["load", "update"]


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
