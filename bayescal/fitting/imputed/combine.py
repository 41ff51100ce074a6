"""combine_imputations(): posteriors of the same cases under several imputations, mixed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayescal._base.errors import InputError, as_items
from bayescal.fitting.imputed.posterior import ImputedPosterior
from bayescal.multilevel.view import CurveView
from bayescal.posterior.posterior import CalibrationPosterior, as_posterior

__all__ = ["combine_imputations"]

SAME_CASES = 1e-9
"""Relative difference of two sums of weights of the same cases."""


def combine_imputations(posts: Sequence[CalibrationPosterior]) -> ImputedPosterior:
    """Combine posteriors of the same cases whose scores were imputed several times.

    Their draws are mixed in equal shares, whatever is then asked of them; see
    `ImputedPosterior` for what is done when there are few.

    Parameters
    ----------
    posts : sequence of CalibrationPosterior
        One for each imputation, two at least: of the same cases, family, prior and number of draws.
        Averages of several families, `bayescal.compare(...).posterior`, too.

    Returns
    -------
    ImputedPosterior

    Raises
    ------
    InputError
        If there are fewer than two, or they differ in cases, events, family, prior or draws.

    See Also
    --------
    bayescal.fit : with `imputations=`, fits and combines in one call.

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
    each = [as_posterior(post, f"posts[{k}]") for k, post in enumerate(as_items(posts, "posts"))]
    if len(each) < 2:
        raise InputError(
            f"posts must hold at least two posteriors, one for each imputation, got {len(each)}."
        )
    for index, post in enumerate(each):
        if isinstance(post, ImputedPosterior):
            raise InputError(
                f"posts[{index}] is an ImputedPosterior, which cannot be combined again. Pass "
                "what bayescal.fit or bayescal.compare makes of the scores of one imputation."
            )
        if post.problem.of_times:
            raise InputError(
                f"posts[{index}] is of times to an event, and posteriors of outcomes that are "
                "known are combined. Read each posterior by itself."
            )
        if not post.problem.likelihood.is_linear:
            raise InputError(
                f"posts[{index}] is of outcomes that a judge recorded, and posteriors of outcomes "
                "that are known are combined. Read each posterior by itself."
            )
        if isinstance(post, CurveView) and (post.is_new or post.prob_calibrated is not None):
            raise InputError(
                f"posts[{index}] is {post.title[0].lower()}{post.title[1:]}, whose exact "
                "calibration or whose own scores imputations do not share. Combine sites, "
                "subgroups or periods that were seen, such as post.at(site='A')."
            )
        if index:
            _check_alike(each[0], post, index)
    return ImputedPosterior.of_posteriors(each)


def _check_alike(first: CalibrationPosterior, other: CalibrationPosterior, index: int) -> None:
    """Refuse posteriors that are not of the same cases and settings."""

    def both(what: str, one: object, two: object, cure: str) -> InputError:
        return InputError(f"posts[0] has {what} {one} and posts[{index}] has {what} {two}. {cure}")

    same_cases = "Imputations are of the same cases with the same outcomes."
    for what in ("n", "events", "effective_size"):
        one, two = getattr(first.data, what), getattr(other.data, what)
        if not np.isclose(one, two, SAME_CASES, 0):
            raise both({"n": "cases"}.get(what, what), f"{one:g}", f"{two:g}", same_cases)
    alike = "Fit every imputation in the same way."
    families = [post._families or post.family.name for post in (first, other)]
    if families[0] != families[1]:
        raise both("the family", families[0], families[1], alike)
    if first.problem.prior != other.problem.prior:
        raise both("the prior", first.problem.prior, other.problem.prior, alike)
    shapes = [(post._drawn.chains, post.draws) for post in (first, other)]
    if shapes[0] != shapes[1]:
        raise both("(chains, draws)", shapes[0], shapes[1], alike)
