"""Ordered periods: no change, one sudden change and a walk, averaged by their evidence.

Below: when curves changed, and what an update now gains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats, blocks
from bayescal.core.optimise import by_differences, maximise
from bayescal.core.sampling import Sample, importance_sample, mix_samples
from bayescal.core.versions import one_blas_thread
from bayescal.data.table import CalibrationData
from bayescal.inference.density import CurveDensity, sample_importance
from bayescal.model.draws import CHAINS, SAMPLE_STATS
from bayescal.model.priors import StudentT
from bayescal.multilevel.draws import MultilevelDraws, effects_of_prior
from bayescal.multilevel.followed import over_steps_of_sample
from bayescal.multilevel.likelihood import MOST_OFF
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.sample import draw_effects
from bayescal.multilevel.term import FARTHER
from bayescal.posterior.imputed import mixed
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

# Chosen on simulated years of 100 patients a month, between short intervals without a change and
# few misses after one. Where the log-odds had jumped by .5 eleven months after the start, the
# interval of O/E one and two months later covered in .80 and .90 of 400 series, and with all months
# alike, 1/4 for a change and half of its size, in .55 and .82 of 60. Without a change it is 1.4
# times as wide.
PROB_CONSTANT, PROB_SUDDEN, PROB_GRADUAL = 0.5, 0.4, 0.1
# Power of the number of periods since a sudden change by which its prior probability falls.
#
# What is asked is the present. With all periods alike, a change into the last of many has next to
# no prior probability, and an interval of the present that ignores it.
RECENT = 2.0


def explanation_prior(problem: MultilevelProblem) -> Floats:
    """Prior probabilities: of no change, a change into each later period, and a walk."""
    weight = np.arange(len(problem.labels) - 1, 0, -1.0) ** -RECENT
    return np.array([PROB_CONSTANT, *PROB_SUDDEN * weight / weight.sum(), PROB_GRADUAL])


def explanation_probabilities(drawn: MultilevelDraws) -> Floats:
    """Posterior probability of each explanation."""
    assert drawn.log_evidence is not None
    log = drawn.log_evidence + np.log(explanation_prior(drawn.problem))
    weight = np.exp(log - log.max())
    return np.asarray(weight / weight.sum())


def change_prior(problem: MultilevelProblem) -> dict[str, StudentT]:
    """Priors of a sudden change of each coordinate.

    Its shift is one unlike the others: `FARTHER` times as large as all the drift that is expected.
    """
    prior = problem.heterogeneity
    prior = replace(prior, shift=FARTHER * prior.shift)
    return {name: StudentT(prior.nu, 0.0, getattr(prior, name)) for name in problem.varying}


class SharedDensity:
    """Log density of one curve for several periods, where their tables do not add up."""

    def __init__(self, densities: Sequence[CurveDensity]) -> None:
        self.densities, self.curve = densities, densities[0].curve
        self.prior = densities[0].prior

    def log_likelihood(self, u: Floats) -> Floats:
        """Log likelihood of all periods at points of shape (n, d)."""
        total = np.zeros(len(u))
        for density in self.densities:
            total += density.log_likelihood(u)
        return total

    def __call__(self, u: Floats) -> Floats:
        """Log density at points of shape (n, d)."""
        u = np.clip(u, -MOST_OFF, MOST_OFF)
        return self.log_likelihood(u) + self.prior.logpdf(self.curve.coordinates, u)


class ChangeDensity:
    """Log density of the curve before a change, and of the change of its coordinates."""

    def __init__(self, problem: MultilevelProblem, before: OfPeriods, after: OfPeriods) -> None:
        self.before, self.after = before, after
        self.columns, self.laws = problem.columns, list(change_prior(problem).values())
        self.size = problem.pooled.curve.size

    def __call__(self, points: Floats) -> Floats:
        """Log density at points of shape (n, d + r)."""
        u = np.clip(points[:, : self.size], -MOST_OFF, MOST_OFF)
        density = self.before(u) + self.after.log_likelihood(self.curve_after(points))
        for column, law in enumerate(self.laws, self.size):
            density += law.logpdf(points[:, column])
        return density

    def curve_after(self, points: Floats) -> Floats:
        """Coordinates after the change, of shape (n, d)."""
        after = points[:, : self.size].copy()
        after[:, self.columns] += points[:, self.size :]
        return np.clip(after, -MOST_OFF, MOST_OFF)


OfPeriods: TypeAlias = CurveDensity | SharedDensity


def densities_in_time(problem: MultilevelProblem) -> list[CurveDensity]:
    """The density of each period, in order of time."""
    order = np.argsort(problem.terms[0].of_group).tolist()
    densities = problem.densities(order)
    return [densities[k] for k in order]


def around_changes(problem: MultilevelProblem) -> list[tuple[OfPeriods, OfPeriods]]:
    """The densities of the periods before and after each possible change."""
    if not adds_up(problem):
        each = densities_in_time(problem)
        return [
            (SharedDensity(each[:period]), SharedDensity(each[period:]))
            for period in range(1, len(each))
        ]
    groups = list(problem.groups.values())
    tables = [groups[k].data for k in np.argsort(problem.terms[0].of_group)]
    before, after = tables[:1], tables[:0:-1][:1]
    for table in tables[1:-1]:
        before.append(before[-1] + table)
    for table in tables[-2:0:-1]:
        after.append(after[-1] + table)
    return [
        (of_table(problem, first), of_table(problem, second))
        for first, second in zip(before, after[::-1], strict=True)
    ]


def of_table(problem: MultilevelProblem, data: CalibrationData) -> CurveDensity:
    """The density of some cases."""
    return CurveDensity(replace(problem.pooled, data=data))


def adds_up(problem: MultilevelProblem) -> bool:
    """Whether the likelihood of several periods is that of all of their cases as one table.

    That of clusters is flattened period by period, and sampling weights are rescaled in each; of
    times to an event it is given when events come in all of them.
    """
    followed = problem.pooled.of_times
    return not (followed or problem.adjustments or problem.data.is_pseudo)


def sample_constant(problem: MultilevelProblem, draws: int) -> Sample:
    """Draws of one curve for all periods."""
    if adds_up(problem):
        return sample_importance(problem.pooled.of_single_cases(), draws)
    density = SharedDensity(densities_in_time(problem))
    start = np.zeros(density.curve.size)
    mode = maximise(by_differences(density), start, tolerance=1e-3, longest=1.0)
    sample = importance_sample(density, mode, draws, problem.pooled.rng("curve"))
    return over_steps_of_sample(problem, sample, [sample.draws] * len(problem.labels))


def sample_changes(problem: MultilevelProblem, draws: int) -> list[Sample]:
    """Draws for a sudden change into each period but the first.

    They are of shape (draws, 2 d): the coordinates before the change, and those after it.
    """
    samples, start = [], np.zeros(problem.pooled.curve.size + len(problem.columns))
    for period, parts in enumerate(around_changes(problem), 1):
        density = ChangeDensity(problem, *parts)
        mode = maximise(by_differences(density), start, tolerance=1e-3, longest=1.0)
        rng = problem.pooled.rng(f"change into period {period}")
        sample = importance_sample(density, mode, draws, rng)
        points = np.column_stack(
            [sample.draws[:, : density.size], density.curve_after(sample.draws)]
        )
        order, d = problem.terms[0].of_group, density.size
        groups = [points[:, d:] if at >= period else points[:, :d] for at in order]
        samples.append(over_steps_of_sample(problem, replace(sample, draws=points), groups))
    return samples


@one_blas_thread
def draw_terms(problem: MultilevelProblem, draws: int) -> MultilevelDraws:
    """Posterior draws by the fast engine of these terms.

    Half of the prior weight is on narrow scales, but of changes with time.
    """
    if problem.is_walk:
        return draw_changes(problem, draws)
    return draw_effects(problem, draws, two_scales=True)


def draw_changes(problem: MultilevelProblem, draws: int) -> MultilevelDraws:
    """Draws of no change, of each sudden change and of a walk, in proportion to their posterior."""
    single = sample_constant(problem, draws)
    changes = sample_changes(problem, draws)
    walk = draw_effects(problem, draws)
    numbered = np.arange(draws)[:, None].astype(np.float64)
    pareto_k, ess, log_evidence, error = (walk.stats[name] for name in SAMPLE_STATS)
    of_walk = Sample(numbered, log_evidence, error, pareto_k, ess)
    indexed = [replace(each, draws=numbered) for each in (single, *changes)]
    parts = [*indexed, of_walk]
    mixed, explanation = mix_samples(
        parts, np.log(explanation_prior(problem)), draws, problem.pooled.rng("explanations")
    )
    index = mixed.draws[:, 0].astype(np.intp)
    before, after = single.draws[index], single.draws[index]
    d = before.shape[1]
    for period, sample in enumerate(changes, 1):
        rows = np.flatnonzero(explanation == period)
        pair = sample.draws[index[rows]]
        before[rows], after[rows] = pair[:, :d], pair[:, d:]
    return _with_paths(
        problem,
        explanation,
        (before, after),
        (walk, index),
        average=single.draws,
        engine="importance",
        log_evidence=np.array([part.log_evidence for part in parts]),
        stats={name: float(getattr(mixed, name)) for name in SAMPLE_STATS},
    )


def changes_of_prior(problem: MultilevelProblem, size: int, chains: int) -> MultilevelDraws:
    """As many prior draws of all periods, of the next, and of one curve for all."""
    rng, places = problem.pooled.rng("prior of drift"), len(problem.labels)
    first = problem.pooled.sample_prior(rng, size)
    after = first.copy()
    for column, law in zip(problem.columns, change_prior(problem).values(), strict=True):
        after[:, column] += law.sample(rng, size)
    explanation = rng.choice(places + 1, size, p=explanation_prior(problem))
    walk = effects_of_prior(problem, size, chains)
    return _with_paths(
        problem,
        explanation,
        (first, after),
        (walk, np.arange(size)),
        average=problem.pooled.sample_prior(problem.pooled.rng("prior"), size),
        engine="prior",
        log_evidence=None,
        stats={},
    )


def _with_paths(
    problem: MultilevelProblem,
    explanation: NDArray[np.intp],
    curves: tuple[Floats, Floats],
    walk: tuple[MultilevelDraws, NDArray[np.intp]],
    *,
    average: Floats,
    engine: str,
    log_evidence: Floats | None,
    stats: dict[str, float],
) -> MultilevelDraws:
    """Curves of all periods and of the next, from those before and after a change, or from a walk.

    `walk` has draws of a walk, and the one that each draw takes, where a walk explains it.
    """
    (before, after), (walked, of_walk) = curves, walk
    order = np.array(problem.terms[0].of_group)
    places = order.size
    changed = (explanation > 0) & (np.arange(places)[:, None] >= explanation)
    periods = np.where(changed[..., None], after, before)
    rows = np.flatnonzero(explanation == places)
    chosen = of_walk[rows]
    periods[:, rows] = walked.groups[np.argsort(order)[:, None], chosen]
    following = periods[-1].copy()
    assert walked.following is not None
    following[rows] = walked.following[chosen]
    none = np.empty((0, len(average), len(problem.columns)))
    return MultilevelDraws(
        *(problem, average, periods[order], none, CHAINS, engine, stats),
        following=following,
        explanation=explanation,
        log_evidence=log_evidence,
    )


def probabilities_of(each: Sequence[MultilevelDraws]) -> Floats:
    """Probability of no change, of a sudden one into each period, and of gradual ones."""
    return np.asarray(np.mean([explanation_probabilities(drawn) for drawn in each], axis=0))


def when_changed(each: Sequence[MultilevelDraws], delta: float) -> pd.DataFrame:
    """The table of `MultilevelPosterior.when_changed`, of the draws of each imputation."""
    import pandas as pd

    labels = each[0].problem.axes[each[0].problem.terms[0].name]
    steps = np.concatenate([steps_of(drawn) for drawn in each], axis=1)
    explanation = np.concatenate([one.explanation for one in each if one.explanation is not None])
    counted, walk = steps.max(axis=0) > delta, explanation == len(labels)
    prob = np.bincount(steps.argmax(axis=0)[counted & walk], minlength=len(steps)) / counted.size
    sudden, changed = _into(each), (explanation > 0) & ~walk
    for into, share in enumerate(sudden, 1):
        own = explanation == into
        some = counted[own if own.any() else changed]
        prob[into - 1] += share * changed.mean() * some.mean() if some.size else 0.0
    with np.errstate(invalid="ignore"):
        by_then = prob.cumsum() / prob.sum()
    columns = {
        "prob": prob,
        "by_then": by_then,
        "if_sudden": sudden,
        "within_one": np.convolve(sudden, np.ones(3))[1:-1],
    }
    return pd.DataFrame(columns, pd.Index(labels[1:], name="period"))


def _into(each: Sequence[MultilevelDraws]) -> Floats:
    """Probability of a sudden change into each period but the first, given one; all alike."""
    weight = (probabilities_of(each) / explanation_prior(each[0].problem))[1:-1]
    return np.asarray(weight / weight.sum())


def steps_of(drawn: MultilevelDraws) -> Floats:
    """Mean distance of the curves of neighbouring periods, over the scores of all periods.

    Of shape (periods - 1, draws), zero in draws without a change.
    """
    pooled, periods = drawn.problem.pooled, drawn.in_order()
    assert drawn.explanation is not None
    weight = pooled.trials / pooled.trials.sum()
    steps = np.zeros((len(periods) - 1, periods.shape[1]))
    moved = np.flatnonzero(drawn.explanation > 0)
    for part in blocks(moved.size, weight.size):
        rows = moved[part]
        last = pooled.probability(periods[0, rows])
        for index in range(len(steps)):
            curve = pooled.probability(periods[index + 1, rows])
            steps[index, rows] = np.abs(curve - last) @ weight
            last = curve
    return steps


def gains_of_updating(
    now: CalibrationPosterior, each: Sequence[MultilevelDraws], ci_prob: float
) -> pd.DataFrame:
    """The table of `MultilevelPosterior.gain_of_updating`, of each imputation."""
    import pandas as pd

    drawn = [
        _gains(*pair) for pair in zip(now.imputations, [one.average for one in each], strict=True)
    ]
    tail, rows = (1 - ci_prob) / 2, {}
    for key in drawn[0]:
        gain = mixed([one[key] for one in drawn])
        lower, upper = np.quantile(gain, [tail, 1 - tail])
        prob_gain = (gain > 0).mean()
        rows[key] = {"mean": gain.mean(), "lower": lower, "upper": upper, "prob_gain": prob_gain}
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index = pd.MultiIndex.from_tuples(rows, names=["map", "score"])
    return table


def _gains(now: CalibrationPosterior, average: Floats) -> dict[tuple[str, str], Floats]:
    """Draws of the gain of either update, by map and score."""
    (curves,), problem = now.tables, now.problem
    score, single = problem.stated, problem.probability(average).mean(axis=0)
    maps = {"now": curves.observed.mean(axis=0), "all periods": single}
    gains = {
        (name, rule): [
            draws.mean(lost(draws.curve, score) - lost(draws.curve, maps[name]))
            for _, draws in curves.draws("bootstrap")
        ]
        for name in maps
        for rule, lost in SCORING_RULES.items()
    }
    return {key: np.concatenate(each) for key, each in gains.items()}


def _brier(curve: Floats, score: Floats) -> Floats:
    """Expected Brier score, up to what does not depend on the score."""
    return np.asarray((curve - score) ** 2)


def _log_score(curve: Floats, score: Floats) -> Floats:
    """Expected log score."""
    return np.asarray(-curve * np.log(score) - (1 - curve) * np.log1p(-score))


SCORING_RULES = {"brier": _brier, "log_score": _log_score}
