"""What a posterior says of itself: whether draws can be trusted, its lines in print, its page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.page import Figure, Page, Section
from bayescal.core.sampling import BAD_K
from bayescal.core.table import Column, Row, Table
from bayescal.core.text import capitalised, chance, count, interval, percent, rounded
from bayescal.model.clusters import Design, cluster_design
from bayescal.model.curve import RATES
from bayescal.model.draws import Part, worst_of
from bayescal.model.families import RATE_PRIORS
from bayescal.model.prior import Prior
from bayescal.model.problem import Problem
from bayescal.model.reversed import reversed_scores
from bayescal.posterior.departures import AtPrevalence
from bayescal.posterior.functionals import FUNCTIONALS, main_functionals, undefined_measures
from bayescal.posterior.intervals import equal_tailed
from bayescal.posterior.stored import posterior_of

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

# A rate whose interval is longer than this share of its prior's is not said to be known.
MOST_OF_THE_PRIOR = 0.5

# Least share of the draws with a floor and a ceiling.
FEWEST_BOUNDED = 0.5
PRIOR_DRAWS = 20_000
BAD_R_HAT = 1.01
NEAR_ENDS = 1e-3

# From so many cases on, and this share of them, with scores that near to 0 or 1 one is told.
FEWEST_CASES, LEAST_SHARE = 20, 0.02
CI_PROB = 0.95


def rates_table(draws: Mapping[str, Floats], prior: Prior, ci_prob: float) -> pd.DataFrame:
    """The floor and the ceiling of the curve, those whose posterior has left the prior.

    On most clinical scores the data do not tell a floor from a flatter slope. Draws of an average
    are zero where they are of a family without floor and ceiling.
    """
    import pandas as pd

    rows: dict[str, tuple[float, ...]] = {}
    bounded = np.any([draws[name] > 0 for name in RATES if name in draws], axis=0)
    levels = (1 - ci_prob) / 2, (1 + ci_prob) / 2
    even, prior = np.random.default_rng(0), prior.with_others(RATE_PRIORS)
    for name, title in zip(RATES, ("floor", "ceiling"), strict=True):
        if name not in draws or bounded.mean() < FEWEST_BOUNDED:
            continue
        before, rate = prior.of(name).sample(even, PRIOR_DRAWS), draws[name][bounded]
        short = np.ptp(np.quantile(rate, levels))
        if short <= MOST_OF_THE_PRIOR * np.ptp(np.quantile(before, levels)):
            risk = rate if title == "floor" else 1 - rate
            rows[title] = (float(risk.mean()), *equal_tailed(risk, ci_prob))
    columns = ["estimate", "lower", "upper"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns, dtype=np.float64)


def verdict_of(numbers: Mapping[str, float | str], cure: str = "sample with engine='nuts'") -> str:
    """What is wrong with draws of these diagnostics, or "ok": never of an unknown number."""
    unknown = [
        name for name, number in numbers.items() if isinstance(number, float) and math.isnan(number)
    ]
    if unknown:
        return f"{', '.join(unknown)} cannot be computed, so the draws cannot be checked"
    if float(numbers.get("pareto_k", 0)) > BAD_K:
        return f"Pareto k-hat is above {BAD_K}: {cure}"
    if float(numbers.get("divergences", 0)) > 0:
        return "divergences: the sampler missed part of the posterior; use a tighter prior"
    if float(numbers.get("r_hat", 1)) > BAD_R_HAT:
        return f"r-hat is above {BAD_R_HAT}: the chains disagree; draw more"
    return "ok"


def convergence(posterior: xr.Dataset) -> dict[str, float]:
    """The largest r-hat and the smallest effective sizes of any variable.

    `posterior`: draws with dims (chain, draw, ...); returns r_hat, ess_bulk and ess_tail.
    """
    import arviz_stats

    def each(values: xr.Dataset) -> list[float]:
        return [float(values[name].max()) for name in values.data_vars]

    def least(values: xr.Dataset) -> float:
        return min(float(values[name].min()) for name in values.data_vars)

    return {
        "r_hat": max(each(arviz_stats.rhat(posterior))),
        "ess_bulk": least(arviz_stats.ess(posterior, method="bulk")),
        "ess_tail": least(arviz_stats.ess(posterior, method="tail")),
    }


def diagnosed(parts: Sequence[Part], design: Design | None) -> dict[str, Any]:
    """How far draws can be trusted: numbers and a verdict; of several imputations the worst.

    `design`: what clusters make of the number of cases, over all imputations.
    """
    each = [_numbers(part) for part in parts]
    verdicts = [_verdict(part, numbers) for part, numbers in zip(parts, each, strict=True)]
    told = {} if design is None else design.to_dict()
    if len(parts) == 1:
        return {**each[0], **told, "verdict": verdicts[0]}
    return {**worst_of(each), **told, "verdict": of_imputations(verdicts)}


def of_imputations(verdicts: Sequence[Any]) -> str:
    """One verdict of those of all imputations, which are counted from 1."""
    bad = [f"imputation {k}: {each}" for k, each in enumerate(verdicts, 1) if each != "ok"]
    return "; ".join(bad) or "ok"


def _numbers(part: Part) -> dict[str, float]:
    """What importance sampling tells of itself, or the chains of NUTS of each other."""
    if "diverging" not in part.stats:
        return {name: value for name, value in part.stats.items() if not np.ndim(value)}
    drawn, curve = posterior_of(part), part.problem.curve
    kept = {*curve.variables, *curve.coordinates} & set(drawn.data_vars)
    return convergence(drawn[sorted(kept)]) | {"divergences": float(part.stats["diverging"].sum())}


def _verdict(part: Part, numbers: Mapping[str, Any]) -> str:
    """NUTS, the cure of importance sampling, samples one family of single cases."""
    cure, clusters = "sample with engine='nuts'", part.problem.clusters
    if clusters is not None:
        cure = "fit a simpler curve, such as curve='logistic'"
    elif part.averaged is not None:
        cure = "fit one family with engine='nuts', such as curve='beta'"
    if clusters is None:
        return verdict_of(numbers, cure)
    design = cluster_design(part.problem)
    verdict = verdict_of({**numbers, **design.to_dict()}, cure)
    return design.verdict if verdict == "ok" else verdict


def cautions_at_ends(tables: Sequence[Problem]) -> dict[str, str]:
    """Distances whose intervals are less sure on these scores, and why, as a clause.

    It depends on the scores alone. In simulations such intervals of E90 and Emax were at times too
    narrow, more often the more cases there were.
    """
    for problem in tables:
        data = problem.data
        near = np.minimum(data.score, 1 - data.score) < NEAR_ENDS
        cases = float(data.trials[near].sum()) * data.weight_scale
        share = float(data.trials[near].sum() / data.n)
        if cases >= FEWEST_CASES and share >= LEAST_SHARE:
            why = f"{100 * share:.0f} % of scores are near 0 or 1: its interval may be too narrow"
            return {name: why for name, each in FUNCTIONALS.items() if each.is_of_ends}
    return {}


def lines_of(post: Any) -> list[str]:
    """Cases, clusters, curve, error, and what missing data cost."""
    problem, atom, size = post.problem, post.prob_calibrated, len(post._parts)
    curve = f"{problem.curve.name} curve" if post.prior_weights is None else "average over families"
    several = f"{size} imputations of " if size > 1 else ""
    estimate, *_, lower, upper = post._rows([("tce", {})], 0.95)[0].tolist()
    told = interval(estimate, lower, upper, 0.95)
    known = "exact calibration was not considered"
    is_new = post._one_of is not None and post._one_of.is_new
    is_new = is_new and post._fitted is None and post._departure is None
    told_wrong = reversed_scores(post.data) if post.has_outcomes and not is_new else None
    return [
        *([] if is_new else [f"{several}{_cases(post)}"]),
        *([] if told_wrong is None else [str(told_wrong)]),
        *([] if post.design is None else [str(post.design)]),
        f"{curve}, {problem.prior.name} prior, {post.engine}",
        f"TCE {told}; {known if atom is None else f'P(exactly calibrated) {chance(atom)}'}",
        *([missing_in_words(post)] if size > 1 else []),
    ]


def _cases(post: Any) -> str:
    if post.has_outcomes:
        size: str = post.data.size_in_words
        return size
    told = f"{count(post.data.n, 'score')}, without outcomes"
    if post._fitted is not None:
        lower, upper = post._fitted_range
        told += (
            f", {100 * post.outside:.2g} % of them outside {lower:.3g} to {upper:.3g}, "
            "the range of the scores fitted"
        )
    if not isinstance(post._departure, AtPrevalence):
        return told
    (implied, lower, upper), (at, *_), (shift, *_) = post.prevalence_told.to_numpy()
    moved = f"the log-odds of all risks are shifted by {shift:+.2f}"
    if not post._departure.keeps_scores:
        return f"{told}\n  at a prevalence of {at:.3g}, not {implied:.3g}: {moved}"
    return (
        f"{told}\n  conflict: curve and scores imply a prevalence of {implied:.3g} ({lower:.3g} to "
        f"{upper:.3g}), told was {at:.3g}; the curve gives way: {moved}"
    )


def missing_in_words(post: Any) -> str:
    """The fractions of missing information of the main functionals."""
    shares = post.missing_information["missing_information"]
    told = [f"{name} {shares[name]:.2f}" for name in main_functionals() if name in shares.index]
    return f"missing information: {', '.join(told)}"


def told_beside(post: Any, asked: Sequence[str]) -> dict[str, Any]:
    """What is told beside a summary of functionals: how scores and weights are read, what to doubt.

    Those that the scores do not define are `undefined`.
    """
    problems = [part.problem for part in post._parts]
    undefined, cautions = undefined_measures(problems), cautions_at_ends(problems)
    shown = [name for name in asked if name not in undefined]
    known = "is among the draws of distances"
    if post.prob_calibrated is None:
        known = "was not considered"
    edges, data = post.problem.edges, post.data
    return {
        "interval": f"equal-tailed; exact calibration {known}",
        "moved": edges.moved,
        "zero_read_as": edges.low,
        "one_read_as": edges.high,
        "pseudo_posterior": data.is_pseudo,
        "weight_type": data.weight_type,
        "undefined": {name: why for name, why in undefined.items() if name in asked},
        "cautions": {name: why for name, why in cautions.items() if name in shown},
        **({} if post.design is None else post.design.to_dict()),
        **({"imputations": len(problems)} if len(problems) > 1 else {}),
    }


def page_of_posterior(post: Any) -> Page:
    """What the posterior of one curve tells; see `CalibrationPosterior.page`."""
    table = post.summary(CI_PROB)
    defined = table.dropna(subset=["estimate"])
    rows = [
        Row(str(name), capitalised(FUNCTIONALS[str(name)].label), numbers.to_dict())
        for name, numbers in defined.iterrows()
    ]
    head = f"Estimate ({percent(CI_PROB)} CrI)"
    measures = Table("measures", "Measures", "Measure", [Column("estimate", head, _shown)], rows)
    alt = f"The posterior mean of the curve with its {percent(CI_PROB)} band, and the diagonal."
    figure = Figure("reliability", post, title="Calibration curve", alt=alt)
    told = post.diagnostics["verdict"]
    record = {
        "summary": table.to_dict(orient="index"),
        "curve": post.problem.curve.name,
        "engine": post.engine,
        "diagnostics": post.diagnostics,
    }
    return Page(
        "Calibration",
        _cases(post).replace("\n  ", "; "),
        tuple(_answer(defined)),
        (Section("Measures", (measures,)), Section("Curve", (figure,))),
        () if told == "ok" else (f"{capitalised(str(told))}.",),
        record,
    )


def _answer(table: Any) -> list[str]:
    """The error and the slope, as a sentence each."""
    sentences = {"tce": "Risks are off by {} on average.", "calibration_slope": "The slope is {}."}
    ends = ("estimate", "lower", "upper")
    numbers = {
        name: [float(table.loc[name, end]) for end in ends]
        for name in sentences
        if name in table.index
    }
    return [
        sentences[name].format(interval(middle, low, high, CI_PROB))
        for name, (middle, low, high) in numbers.items()
    ]


def _shown(row: Row) -> str:
    ends = row["lower"], row["upper"]
    middle, low, high = rounded((row["estimate"], *ends), *ends, None)
    return f"{middle} ({low} to {high})"
