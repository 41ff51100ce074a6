"""What a reader should know of the data, the prior and the computation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from bayescal.core.sampling import BAD_K
from bayescal.core.text import count, only, shortened
from bayescal.data.matrices import FEW_IMPUTATIONS
from bayescal.posterior.functionals import (
    FUNCTIONALS,
    MOST_AT_ENDS,
    main_functionals,
    share_at_ends,
)
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.report.facts import Facts
from bayescal.report.performance import mean_score

# Share of scores of exactly 0, among others, from which someone may have coded "unknown" so.
MANY_ZEROS = 0.1
FEW_EVENTS, FEW_CLUSTERS = 100, 10
RARE_RISK = 0.05
# Numbers as levels of a factor above which it is rather a quantity; labels that are named.
MOST_NUMBERED, MOST_NAMED = 20, 3
MUCH_MISSING = 0.3
IN_USE = (
    "a model in use changes outcomes: where patients are treated because of their score, fewer of "
    "them have the event, and the curve may change for that reason alone."
)


def notes_of(f: Facts) -> Iterator[str]:
    """What a reader of an assessment should know."""
    post, data, edges = f.posterior, f.posterior.data, f.posterior.problem.edges
    if f.is_imputed:
        yield imputations_words(post)
    if edges.assumed:
        yield (
            f"scores of 0 and 1 are read as {edges.low:g} and 1 - {1 - edges.high:.3g}. Set "
            "another distance from 0 and 1 with edge=."
        )
    yield from _of_data(post)
    yield from _of_labels(f)
    if f.periods is not None:
        yield IN_USE
    if len(f.data.groups) == 1:
        yield (
            f"all cases are of one {f.kind}, {shortened(f.data.groups[0])}: nothing can be said of "
            "another."
        )
    fewer = min(data.events, data.n - data.events) * data.weight_scale
    if 0 < round(fewer, 1) < FEW_EVENTS:
        rarer = "event" if data.events <= data.n - data.events else "non-event"
        yield (
            f"{only(fewer, rarer)}. Fewer than {FEW_EVENTS} are usually too few to assess "
            "calibration precisely (Collins, Ogundimu and Altman, 2016); the intervals show the "
            "uncertainty."
        )
    if any(part.data.is_compressed for part in post.imputations):
        yield (
            "there are more than 2048 distinct scores, so the cases are assigned to the cells of a "
            "fine grid in log-odds. Each cell keeps the mean of its scores; for the C-statistic, "
            "its cases count as equal."
        )
    k = float(post.diagnostics.get("pareto_k", 0))
    if k > BAD_K:
        yield (
            f"importance sampling is unreliable here (Pareto k-hat {k:.2f} > {BAD_K}): check the "
            "result with NUTS for one family of curves, bayescal.fit(..., engine='nuts')."
        )


def notes_on_data(post: CalibrationPosterior) -> list[str]:
    """What is odd about the data of a fit."""
    imputed = [imputations_words(post)] if len(post.imputations) > 1 else []
    return [*imputed, *_of_data(post)]


def _of_data(post: CalibrationPosterior) -> Iterator[str]:
    data = post.data
    if post.design is not None:
        yield (
            f"cases come in {post.design}. Ranges of estimators, which have no curve, take them as "
            "independent."
        )
        if post.design.separated:
            yield f"{post.design.verdict}. Intervals are rough."
        elif post.design.clusters - post.design.strata < FEW_CLUSTERS:
            yield (
                f"{only(post.design.clusters, 'cluster')}, which say little of how "
                "much clusters differ: the intervals are wide for it, and rough."
            )
    yield from _of_edges(post)
    zeros = float(data.trials[data.score == 0].sum()) / data.n
    if zeros >= MANY_ZEROS and not post.problem.edges.assumed:
        yield (
            f"0 may mean no answer: {100 * zeros:.0f} % of scores are exactly 0. If a model gave "
            "no probability there, leave these cases out."
        )
    if data.unknown is not None:
        yield (
            f"{count(data.unknown.n, 'case')} without a known outcome left out of the fit; their "
            "section tells what they could change."
        )
    if data.events in (0, data.n):
        which = "no case" if data.events == 0 else "every case"
        yield f"{which} had the event, so the results depend more on the prior than on the data."
    if data.is_pseudo:
        yield (
            f"the weights are read as sampling weights. They add up to {count(data.n)} and are "
            f"worth {data.effective_size:,.1f} cases (Kish's effective size); the result is a "
            "pseudo-posterior."
        )
    elif data.sampling_size < data.n:
        yield (
            f"the weights are read as counts, {count(data.n, 'case')} in all. If they correct for "
            f"how cases were sampled, they are worth only {data.sampling_size:,.1f} cases: set "
            "weight_type='sampling'."
        )
    mean = mean_score(data)
    if post.problem.prior.name == "neutral" and not RARE_RISK <= mean <= 1 - RARE_RISK:
        yield (
            f"the mean score is {mean:.3g}, and the prior matters more where one outcome is rare; "
            "see also prior='clinical'."
        )


def _of_edges(post: CalibrationPosterior) -> Iterator[str]:
    data, edges = post.data, post.problem.edges
    if not edges.moved or edges.assumed:
        return
    moved = count(edges.moved, "score")
    if edges.given:
        yield (
            f"{moved} nearer to 0 or 1 than {edges.low:.3g} moved to that distance. Change this "
            "with edge=."
        )
        return
    if post.problem.frame.scores:
        yield (
            f"{moved} of exactly 0 or 1 read as they are: "
            f"{only(data.score.size, 'distinct score')}, and each can have a risk of its own."
        )
        return
    moves = [f"0 as {edges.low:.3g}"] if (data.score == 0).any() else []
    moves += [f"1 as 1 - {1 - edges.high:.3g}"] if (data.score == 1).any() else []
    share = share_at_ends(data)
    of_slope = (
        f" The slope would depend on this value more than on the data, with {100 * share:.2g} % of "
        "the scores at 0 or 1, and is therefore not given."
        if share >= MOST_AT_ENDS
        else ""
    )
    yield (
        f"{moved} of exactly 0 or 1 taken as rounded, and read as another value: "
        f"{', '.join(moves)}. Change this with edge=.{of_slope}"
    )


def _of_labels(f: Facts) -> Iterator[str]:
    """Groups that may be one, and factors that are rather a number."""
    data = f.given
    for role, levels in data.levels.items():
        if role not in ("period", "imputation"):
            yield from _written_alike(levels)
        if role in data.subgroups and len(levels) > MOST_NUMBERED and all(map(_is_number, levels)):
            yield (
                f"{shortened(role)} has {len(levels)} levels, which are all numbers, "
                f"with {data.n / len(levels):.1f} cases each on average. If it is a measured "
                "quantity, such as age, cut it into classes, such as 18-39, 40-64 and 65+."
            )


def _written_alike(levels: Sequence[str]) -> Iterator[str]:
    """That labels which differ by case or by blanks alone are different groups."""
    alike: dict[str, list[str]] = {}
    for level in levels:
        alike.setdefault(" ".join(level.split()).casefold(), []).append(repr(shortened(level)))
    told = [" and ".join(names) for names in alike.values() if len(names) > 1]
    if told:
        more = f"; and {len(told) - MOST_NAMED} more" if len(told) > MOST_NAMED else ""
        yield (
            "labels that differ only by capital letters or blanks are taken as different groups: "
            f"{'; '.join(told[:MOST_NAMED])}{more}. If they are one group, write them alike."
        )


def _is_number(label: str) -> bool:
    try:
        return math.isfinite(float(label))
    except ValueError:
        return False


def imputations_words(post: CalibrationPosterior) -> str:
    """How imputations were combined, and what the missing data cost; empty without any."""
    m = len(post.imputations)
    if m == 1:
        return ""
    shares = post.missing_information["missing_information"]
    told = [
        f"{shares[name]:.2f} ({FUNCTIONALS[name].words})"
        for name in main_functionals()
        if name in shares.index
    ]
    text = (
        f"{m} imputations were combined: the curves were fitted to each, and the draws of their "
        "posteriors were mixed in equal shares (Zhou and Reiter, 2010), with the deviations "
        "between imputations enlarged to Rubin's total variance (Rubin, 1987); estimators were "
        f"averaged. The fraction of missing information is {', '.join(told)}. "
    )
    if post.data.has_imputed_outcomes:
        text += (
            "Outcomes were imputed too, so that the number of events is a mean over the "
            "imputations. "
        )
    largest = float(shares.max())
    if m < FEW_IMPUTATIONS and (largest > MUCH_MISSING or post.data.has_imputed_outcomes):
        text += (
            f"With a fraction as large as {largest:.2f}, {m} imputations are too few to estimate "
            f"the variance between them: impute at least {FEW_IMPUTATIONS} times. "
        )
    return text
