"""Do the answers for several sites depend on the prior of how much sites differ?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayescal.multilevel.fit import fit_terms
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.sites import HierarchicalPosterior, as_hierarchical

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["heterogeneity_sensitivity"]


def heterogeneity_sensitivity(post: HierarchicalPosterior) -> pd.DataFrame:
    """Fit several sites again under other priors of how much they differ.

    Between few sites the data say little about how much sites differ, so that the prior of the
    scales has a part in the answer for a new site. And a shift at another score is another prior:
    intercepts and slopes of sites are correlated, and by how much depends on the score at which
    the intercept is read.

    Parameters
    ----------
    post : HierarchicalPosterior

    Returns
    -------
    pandas.DataFrame
        Index: the prior in use, both scales halved, both doubled, and the shift at a score of 1/2.
        Columns: sd_shift and sd_log_slope, the medians of the standard deviations between sites
        (those that the family has); and of the average site and of a new site the estimate of
        tce and its interval, and the interval of observed_expected. Of several imputations, the
        means over them.

    Raises
    ------
    InputError
        If the posterior is not of several sites.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 600, random_state=1)
    >>> post = bc.fit(y_true, y_prob, groups=np.resize(["A", "B", "C"], 600), random_state=1)
    >>> list(bc.heterogeneity_sensitivity(post).index)
    ['as fitted', 'scales halved', 'scales doubled', 'shift at one half']
    """
    import pandas as pd

    if as_hierarchical(post).imputations:
        each = [heterogeneity_sensitivity(one) for one in post.imputations]
        return sum(each[1:], each[0]) / len(each)
    problem = post.problem
    pooled, prior = problem.pooled, problem.heterogeneity
    options: dict[str, Any] = {
        "curve": pooled.curve,
        "draws": post.draws,
        "prior": pooled.prior,
        "edge": None if pooled.edges == pooled.data.edges() else pooled.edges.low,
        "random_state": pooled.seed,
        "known": problem.known or None,
    }
    variants: dict[str, dict[str, Any]] = {
        "scales halved": {"heterogeneity": prior.scaled(0.5)},
        "scales doubled": {"heterogeneity": prior.scaled(2.0)},
        "shift at one half": {"heterogeneity": prior, "centre": 0.5},
    }
    rows = {"as fitted": _answers(post)}
    for name, variant in variants.items():
        again = fit_terms(problem.data, post.vary, engine="importance", **options, **variant)
        rows[name] = _answers(again)
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("prior")


def _answers(post: MultilevelPosterior) -> dict[str, float]:
    spread = post.heterogeneity["median"]
    row = {f"sd_{name}": float(spread[name]) for name in post.problem.varying}
    for title, view in (("average", post.average()), ("new", post.new())):
        row[f"{title}_tce"] = view.estimate("tce")
        for name in ("tce", "observed_expected"):
            ends = view.interval(name)
            row[f"{title}_{name}_lower"], row[f"{title}_{name}_upper"] = ends
    return row
