"""Each imputation fitted, and combine_imputations(): their posteriors, mixed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

from bayescal.core.arrays import as_seed
from bayescal.core.errors import InputError, as_draws, as_items
from bayescal.core.text import shortened
from bayescal.data.table import CalibrationData
from bayescal.model.saturated import UNLIKE_IMPUTATIONS
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.posterior.posterior import CalibrationPosterior, as_posterior, mixture

Result = TypeVar("Result")

FULL_SHARES = 5
FEWEST_DRAWS = 400


def draws_of_each(draws: Any, m: int) -> int:
    """Draws of each of m imputations: all that were asked for of up to five, of more a share.

    `draws`: as for one fit; returns a multiple of four: five times `draws` in all, at least 400
    each (or `draws`).
    """
    size = as_draws(draws)
    return as_draws(min(size, max(FEWEST_DRAWS, FULL_SHARES * size // m)))


def each_imputation(
    analyse: Callable[..., Result],
    data: CalibrationData,
    *,
    draws: Any,
    random_state: Any,
    **options: Any,
) -> list[Result]:
    """What one function of a table makes of every imputation, all with one seed.

    With one seed, equal imputations give equal draws, and what differs between imputations is not
    chance of the computation.
    `analyse`: of a table, with `draws`, `random_state` and options; `data`: of several imputations.
    """
    seed, size = as_seed(random_state), draws_of_each(draws, len(data.imputations))
    return [analyse(each, draws=size, random_state=seed, **options) for each in data.imputations]


@overload
def combine_imputations(posts: Sequence[CalibrationPosterior]) -> CalibrationPosterior: ...
@overload
def combine_imputations(posts: Sequence[MultilevelPosterior]) -> MultilevelPosterior: ...


def combine_imputations(
    posts: Sequence[CalibrationPosterior] | Sequence[MultilevelPosterior],
) -> CalibrationPosterior | MultilevelPosterior:
    """Combine posteriors of the same cases whose scores were imputed several times.

    Their draws are mixed in equal shares, whatever is then asked of them; see
    `CalibrationPosterior` for what is done when there are few.

    Parameters
    ----------
    posts : sequence of CalibrationPosterior or of MultilevelPosterior
        One for each imputation, two at least: of the same cases, family, prior and number of draws.
        Averages of several families, `bayescal.compare(...).posterior`, too; and of sites, factors
        or periods, with the same levels and terms, or views on one of their curves.

    Returns
    -------
    CalibrationPosterior or MultilevelPosterior
        Of the kind of `posts`, which has the posterior of each in `imputations` and the
        fractions of missing information in `missing_information`.

    Raises
    ------
    InputError
        If there are fewer than two, or they differ in cases, family, prior or draws.

    See Also
    --------
    bayescal.fit : with `imputation=`, fits and combines in one call.

    References
    ----------
    Rubin (1987), Multiple Imputation for Nonresponse in Surveys. Zhou & Reiter (2010), A note on
    Bayesian inference after multiple imputation, The American Statistician 64.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("calibrated", 200, random_state=1)
    >>> other = np.clip(y_prob + np.random.default_rng(1).normal(0, 0.02, 200), 0.01, 0.99)
    >>> posts = [bc.fit(y_true, score, random_state=1) for score in (y_prob, other)]
    >>> len(bc.combine_imputations(posts).imputations)
    2
    """
    each = [
        post if isinstance(post, MultilevelPosterior) else as_posterior(post, f"posts[{k}]")
        for k, post in enumerate(as_items(posts, "posts"))
    ]
    if len(each) < 2:
        raise InputError(
            f"posts must hold at least two posteriors, one for each imputation, got {len(each)}."
        )
    for index, post in enumerate(each):
        if len(post.imputations) > 1:
            raise InputError(
                f"posts[{index}] is of several imputations, which cannot be combined again. Pass "
                "what bayescal.fit or bayescal.compare makes of the scores of one imputation."
            )
        which = post._one_of if isinstance(post, CalibrationPosterior) else None
        if which is not None and "at" not in which.key:
            raise InputError(
                f"posts[{index}] is {which.title[0].lower()}{which.title[1:]}, whose exact "
                "calibration or whose own scores imputations do not share. Combine sites, "
                "subgroups or periods that were seen, such as post.at(site='A')."
            )
        if index:
            _check_alike(each[0], post, index)
    several = [post for post in each if isinstance(post, MultilevelPosterior)]
    if several:
        return MultilevelPosterior([post._fits[0] for post in several])
    one: CalibrationPosterior = mixture([as_posterior(post) for post in each])
    return one


def _check_alike(first: Any, other: Any, index: int) -> None:
    """Refuse posteriors that are not of the same cases, curves and settings."""
    cures = {"the curve": "Take the same one of each."}
    cures["the family"] = f"Fit every imputation in the same way. {UNLIKE_IMPUTATIONS}"
    cures |= dict.fromkeys(("cases", "effective_size"), "Imputations are of the same cases.")
    one, two = _settings(first), _settings(other)
    for what, value in one.items():
        if value != two.get(what):
            told, beside = (shortened(repr(each), 200) for each in (value, two.get(what)))
            cure = cures.get(what, "Fit every imputation in the same way.")
            raise InputError(
                f"posts[0] has {what} {told} and posts[{index}] has {what} {beside}. {cure}"
            )


def _settings(post: Any) -> dict[str, Any]:
    """What posteriors that are combined have in common, in the order in which it is compared."""
    of: dict[str, Any] = {"the type": type(post).__name__}
    if isinstance(post, MultilevelPosterior):
        pooled, drawn = post.problem.pooled, post._free
        of |= {"levels": post.levels, "vary": post.vary}
        of |= {"the prior of scales": post.problem.heterogeneity}
    else:
        pooled, drawn = post.problem, post._parts[0]
        of |= {"the curve": post._title}
    return {
        **of,
        "cases": float(f"{pooled.data.n:.9g}"),  # two sums of weights of the same cases
        "effective_size": float(f"{pooled.data.effective_size:.9g}"),
        "the family": getattr(post, "prior_weights", None) or pooled.curve.name,
        "the prior": pooled.prior,
        "(chains, draws)": (drawn.chains, post.draws),
    }
