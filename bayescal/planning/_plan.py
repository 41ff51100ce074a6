"""plan(): how many patients, by simulating studies and the analysis that will be run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit

from bayescal.core.arrays import Floats, RandomState, as_seed
from bayescal.core.errors import (
    InputError,
    as_count,
    as_draws,
    as_level,
    as_number,
    check_callable,
    check_choice,
)
from bayescal.core.optimise import clipped, zero_of
from bayescal.core.progress import Progress
from bayescal.core.text import chance, shortened
from bayescal.model.curves import CURVES, Curve, as_curve
from bayescal.model.priors import Prior, as_prior
from bayescal.planning._riley import (
    CLOSED_FORMS,
    c_statistic_size,
    half_width,
    observed_expected_size,
    slope_size,
)
from bayescal.planning.result import PLANNED_LABELS, Plan
from bayescal.planning.search import LARGEST_SIZE, Goal, Search
from bayescal.planning.setting import PlannedClusters, Setting, as_clusters, as_truth, setting_of
from bayescal.planning.studies import CONCLUSIONS, Analysis, Studies

__all__ = ["ANALYSES", "plan"]

ANALYSES = ("average", "curve", "wald")

LEAST_SIMULATED, MOST_STUDIES = 50, 100_000
SAME_SIZE = 1e-6
WIDEST_COUNTED = 1e6


def plan(
    *,
    truth: Any,
    scores: Any = None,
    width: float | None = None,
    of: str = "tce",
    assurance: float | None = 0.8,
    conclude: str | None = None,
    limit: float = 0.03,
    analysis: str = "average",
    curve: str | Curve = "beta",
    prior: str | Prior | Mapping[str, Any] = "neutral",
    update: Callable[[Floats], Any] | None = None,
    ci_prob: float = 0.95,
    n_simulations: int = 400,
    draws: int = 1000,
    random_state: RandomState = None,
    n_jobs: int = -1,
    progress: Progress = None,
    icc: float | None = None,
    cluster_size: ArrayLike | None = None,
) -> Plan:
    """How many patients a validation study needs.

    Studies are simulated from what is assumed to be true, each is analysed as the study will be,
    and the size is searched at which a share `assurance` of them reach the goal: an interval no
    wider than `width`, or a conclusion.

    Parameters
    ----------
    truth : {"neutral", "clinical"}, Prior, mapping, posterior, Truth, or name of a Truth
        The calibration that is assumed. A prior (a preset; your own; or what earlier studies say,
        `bc.priors.from_studies`) and a pilot's posterior give every simulated study a curve of its
        own; of several sites, that of a new site. A `bc.simulate.Truth` is one known curve.
    scores : array-like of shape (n,), posterior, law of scores, or distribution, optional
        The scores that patients will have: those of earlier patients, those of a pilot, or
        `bc.simulate.scores(prevalence=, c_statistic=)`. By default those of the truth.
    width : float, optional
        Widest interval that is allowed.
    of : str
        What the interval is of: a row of `summary()` such as "tce", "observed_expected" or
        "calibration_slope"; "gain", the fall in the Brier score by `update`; or "c_statistic"
        (the interval is then DeLong's, whatever the analysis).
    assurance : float in (0, 1), or None
        Probability with which a study of the size reaches the goal. None takes the mean width.
    conclude : {"close enough", "miscalibrated", "update"}, optional
        A conclusion that studies shall be able to draw, instead of `width`: that the interval of
        the true calibration error lies below `limit`, or above it, or that `bayescal.recommend`
        recommends an update.
    limit : float
        Error that counts as close enough.
    analysis : {"average", "curve", "wald"}
        The average over families of curves, with which `bayescal.assess` gives its intervals and
        its verdict; the posterior of one family, `bayescal.fit(..., curve=)`; or the usual
        frequentist intervals of O/E (on the log scale, with the expected events known),
        c-statistic and slope (logistic regression).
    curve, prior : as in `bayescal.fit`
        `prior` is that of the analysis, and `curve` the family of `analysis="curve"`. `curve` is
        also the family of curves of a `truth` that is a prior, and "beta" stands for families that
        a prior does not describe.
    update : callable, optional
        With `of="gain"`, the map of scores that the study will test; by default the mean of the
        true curves.
    ci_prob : float in (0, 1)
        Probability of the intervals.
    n_simulations : int
        Studies simulated at each size, at least 50.
    draws : int
        Posterior draws of each analysis. An interval read off 1000 draws differs from that of 4000
        by a few per cent of how much intervals differ between studies.
    random_state : int or numpy.random.Generator, optional
    n_jobs : int
        Processes to work in; -1 is one a core. Results do not depend on it. A cluster is used
        inside `joblib.parallel_config(backend="dask")`.
    progress : bool or callable, optional
        Whether to show a progress bar on stderr; by default when that is a terminal. Or what to
        call with the number of studies of one size that are done, and of all.
    icc : float, optional
        Patients come in clusters (repeated visits, practices, households): the correlation of the
        residuals of two patients of one cluster. With `cluster_size`.
    cluster_size : float or array-like of float of shape (clusters,), optional
        Patients of a cluster; or of each of several, of which those planned are alike.

    Returns
    -------
    Plan
        With the size `n`, its `monte_carlo_error`, the expected `events`, the `table` of simulated
        sizes and a paragraph for the `protocol()`.

    Raises
    ------
    InputError
        If the goal is out of reach of a million patients, or an argument is out of range.

    See Also
    --------
    bayescal.planning.riley : Closed forms, without assurance.
    bayescal.plots.plan : The figure.

    Notes
    -----
    Sizes are taken from one grid (20, 28, 40, ... to 1.3 million), with the same simulated studies
    at a size whatever is asked of them. Between two sizes the logarithm of the width, or the
    probit of the probability, is a line in log n. Tables are simulated at 128 scores. Near zero a
    distance is bounded, so that its interval narrows more slowly than 1 / sqrt(n).

    Every study is analysed. The average over families takes about ten times as long as one family.
    Few studies are looked at first; a size stays with 100 if these leave no doubt on which side of
    the goal it is, and the two sizes on either side of the goal get all.

    With clusters, the size is that of independent patients times the design effect 1 + (m - 1) icc,
    where m is the sum of the squared cluster sizes over the sum of the sizes. Few clusters make
    intervals longer, and longer in some studies than in others, since each study estimates its
    design effect. It is that of the number of events, and of O/E; that of the slope is smaller
    where scores differ within clusters.

    With sites, `n` is the number of patients of all sites. The interval of the next site hardly
    narrows with more patients, and that of the average site not below what so few sites say:
    add sites.

    References
    ----------
    Riley et al. (2021), Minimum sample size for external validation of a clinical prediction model
    with a binary outcome, Statistics in Medicine 40. O'Hagan, Stevens & Campbell (2005), Assurance
    in clinical trial design, Pharmaceutical Statistics 4.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.simulate.scores(prevalence=0.2, c_statistic=0.75)
    >>> goal = {"of": "calibration_slope", "width": 0.3, "analysis": "wald"}
    >>> result = bc.plan(**goal, truth="clinical", scores=scores, random_state=1)
    >>> 2000 < result.n < 5000
    True
    """
    half, level, seed, size = (
        half_width(ci_prob),
        as_level(ci_prob),
        as_seed(random_state),
        as_draws(draws),
    )
    studies = as_count(n_simulations, "n_simulations", LEAST_SIMULATED, MOST_STUDIES)
    goal = _as_goal(width, assurance, conclude)
    name = check_choice(of, PLANNED_LABELS, "of")
    method = _as_method(analysis, name, conclude)
    limit = as_number(limit, "limit")
    if not 0 < limit < 1:
        raise InputError(f"limit must lie strictly between 0 and 1, got {limit:g}.")
    family, chosen, assumed = as_curve(curve), as_prior(prior), as_truth(truth)
    check_callable(update, "update", "scores")
    if update is not None and name != "gain":
        raise InputError("update was given without of='gain', which it is of.")
    of_truth = family if _is_line(family) else CURVES["beta"]
    clusters = as_clusters(icc, cluster_size)
    setting = setting_of(assumed, scores, studies, seed, of_truth)
    if clusters is not None:
        setting = replace(setting, described=f"{setting.described}; {clusters.described}")
    if conclude is not None:
        _check_reachable(setting, goal, conclude, limit)
    planned = Analysis(
        *(name, conclude, limit, method, family, chosen, level, size),
        _update(update, name, setting),
    )
    work = Studies(planned, setting, seed, n_jobs, progress, clusters)
    search = Search(goal, work.values, seed)
    n, error = search.size(_first_guess(setting, name, goal.width, limit, half, clusters))
    for other in (n / 2, 2 * n):
        work.around(other, search)
    table = _table(search, goal, setting, name, half, clusters)
    closed = _closed_form(setting, name, goal.width, half)
    if clusters is not None:
        closed = {key: clusters.effect * size for key, size in closed.items()}
    table.attrs |= {
        "n": n,
        "monte_carlo_error": error,
        "width": goal.width,
        "assurance": goal.assurance,
        "interval": f"{100 * level:g} % interval of the {PLANNED_LABELS[name]}",
        "conclude": conclude,
    }
    return Plan(
        n,
        error,
        setting.prevalence,
        name if conclude is None else "tce",
        goal.width,
        conclude,
        limit,
        goal.assurance,
        method,
        level,
        setting.described,
        table,
        closed,
        seed,
        None if clusters is None else clusters.number(n),
    )


def _as_goal(width: Any, assurance: Any, conclude: Any) -> Goal:
    if conclude is not None:
        check_choice(conclude, CONCLUSIONS, "conclude")
        if width is not None:
            raise InputError("width and conclude are two goals: pass one of them.")
        if assurance is None:
            raise InputError("assurance must be a probability where a conclusion is asked for.")
        return Goal(None, as_level(assurance, "assurance"))
    if width is None:
        raise InputError("width is missing: how wide may the interval be? Or say what to conclude.")
    wanted = as_number(width, "width")
    if not 1e-6 <= wanted <= 1e4:
        raise InputError(f"width must be a positive number, from 1e-6 to 10,000, got {wanted:g}.")
    return Goal(wanted, None if assurance is None else as_level(assurance, "assurance"))


def _as_method(analysis: Any, of: str, conclude: str | None) -> str:
    method = check_choice(analysis, ANALYSES, "analysis")
    if method == "wald" and (of not in CLOSED_FORMS or conclude is not None):
        raise InputError(
            f"analysis='wald' has intervals of {', '.join(CLOSED_FORMS)} alone, and of is {of!r}. "
            "Take analysis='average'."
        )
    return method


def _is_line(family: Curve) -> bool:
    """Whether a prior describes it by shift, slope and asymmetry alone."""
    return not family.is_rough and not family.has_atoms and family.size > 0 and not family.priors


def _update(
    update: Callable[[Floats], Any] | None, of: str, setting: Setting
) -> tuple[Floats, Floats] | None:
    """The map that a gain is of, as points of a line."""
    if of != "gain":
        return None
    at = setting.mean_score
    values = setting.mean_curve if update is None else np.asarray(update(at), dtype=np.float64)
    if values.shape != at.shape or not ((values >= 0) & (values <= 1)).all():
        raise InputError(
            f"update must give a probability for each of {at.size} scores, got "
            f"{shortened(repr(values))}."
        )
    if np.abs(values - at).max() < SAME_SIZE:
        raise InputError(
            "update leaves every score as it is, so there is nothing to gain. Pass another map."
        )
    return at, values


def _check_reachable(setting: Setting, goal: Goal, conclude: str, limit: float) -> None:
    """Whether the conclusion is true often enough to be drawn that often."""
    if conclude == "update":
        return
    error = setting.functional("tce")
    true = error < limit if conclude == "close enough" else error > limit
    share = float(true.mean())
    assert goal.assurance is not None
    if share < goal.assurance:
        side = "below" if conclude == "close enough" else "above"
        raise InputError(
            f"assurance {goal.assurance:g} is out of reach of any number of patients: under truth "
            f"the true calibration error is {side} limit={limit:g} with probability "
            f"{chance(share)}."
        )


def _first_guess(
    setting: Setting,
    of: str,
    width: float | None,
    limit: float,
    half: float,
    clusters: PlannedClusters | None,
) -> float:
    """About so many patients, by a closed form: that of the share of events, or of its log-odds."""
    sizes, spread = _closed_form(setting, of, width, half), setting.prevalence
    spread *= 1 - spread
    if of in ("calibration_in_the_large", "calibration_intercept"):
        spread = 1 / spread
    (size,) = (sizes or {of: spread * (2 * half / (width or limit)) ** 2}).values()
    if sizes and size > 2 * LARGEST_SIZE:
        raise InputError(
            f"width {width:g} is out of reach: it would take about {size:,.0f} patients, and "
            f"more than {LARGEST_SIZE:,} are not simulated. Ask for a wider interval."
        )
    return min(size * (1 if clusters is None else clusters.effect), LARGEST_SIZE)


def _table(
    search: Search,
    goal: Goal,
    setting: Setting,
    of: str,
    half: float,
    clusters: PlannedClusters | None,
) -> Any:
    import pandas as pd

    rows = []
    for n, values in sorted(search.values.items()):
        share, size = goal.share(values), values.size
        # Of a share of 0 or 1 too, half a study more or less.
        error = np.sqrt(max(share * (1 - share), 0.25 / size) / size)
        row = {"n": n, "events": n * setting.prevalence, "studies": size}
        widths = dict.fromkeys(("width", "width_assured", "closed_form"), np.nan)
        if goal.width is not None:
            level = goal.assurance if goal.assurance is not None else 0.5
            widths["width"] = float(values.mean())
            widths["width_assured"] = float(np.quantile(np.minimum(values, WIDEST_COUNTED), level))
            alone = n if clusters is None else n / clusters.effect
            widths["closed_form"] = _closed_width(setting, of, alone, half)
        rows.append(row | widths | {"reached": share, "reached_error": float(error)})
    return pd.DataFrame(rows)


def _closed_width(setting: Setting, of: str, n: float, half: float) -> float:
    """The width of the closed form at a size, by bisection of the size of a width."""
    sizes = _closed_form(setting, of, 1.0, half)
    if not sizes:
        return float("nan")

    def excess(log_width: float) -> float:
        (size,) = _closed_form(setting, of, float(np.exp(log_width)), half).values()
        return float(np.log(size / n))

    return float(np.exp(zero_of(excess, -20, 20)))


def _closed_form(setting: Setting, of: str, width: float | None, half: float) -> dict[str, float]:
    """Riley's size for a width, of a calibrated model with the mean scores."""
    if width is None or of not in CLOSED_FORMS:
        return {}
    score = clipped(setting.mean_score)
    prevalence = setting.prevalence
    if of == "observed_expected":
        return {of: observed_expected_size(prevalence, width, half)}
    if of == "calibration_slope":
        return {of: slope_size(logit(score), setting.weight, width, half)}
    return {of: c_statistic_size(prevalence, _c(setting), width, half)}


def _c(setting: Setting) -> float:
    """The c-statistic of the mean curve."""
    events = setting.weight * setting.mean_curve
    others = setting.weight - events
    below = np.cumsum(others) - others / 2
    return float(events @ below / (events.sum() * others.sum()))
