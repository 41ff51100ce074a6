"""An assessment in words. Every verdict has one wording, which stands here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from bayescal._base.arrays import Floats
from bayescal._base.text import cases_and_events, chance, decimals, percent, rounded
from bayescal.assessment.findings import Findings
from bayescal.assessment.performance import mean_score, observed_expected
from bayescal.assessment.references import REFERENCES, cited
from bayescal.assessment.stretches import LIKELY, Stretch
from bayescal.data.data import CalibrationData
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.posterior.one_sided import SURE
from bayescal.validation.consistency import RARE

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "SIDES",
    "UNDEFINED",
    "VERDICTS",
    "EstimatorRow",
    "curve_rows",
    "describe",
    "directions",
    "estimator_row",
    "exactness",
    "headline",
    "in_the_data",
    "meaning",
    "methods",
    "numbers",
    "of_group",
    "side",
    "where",
    "with_interval",
]

VERDICTS = {
    "close enough": "The model is close enough to calibrated",
    "miscalibrated": "The model is miscalibrated",
    "cannot tell": "These data cannot tell whether the model is close enough to calibrated",
}
"""The verdict on the true calibration error, as a sentence."""

SIDES = {
    "observed_expected": (
        "events are rarer than predicted",
        "events are more frequent than predicted",
        "events are not clearly rarer or more frequent than predicted",
    ),
    "calibration_in_the_large": (
        "risks are too high on average",
        "risks are too low on average",
        "risks are not clearly too high or too low on average",
    ),
    "calibration_slope": (
        "predictions are too extreme (over-confident)",
        "predictions are too moderate (under-confident)",
        "predictions are not clearly too extreme or too moderate",
    ),
    "calibration_intercept": (
        "events are rarer than predicted at one half",
        "events are more frequent than predicted at one half",
        "events are not clearly rarer or more frequent at one half",
    ),
}
"""What a measure says when its interval is below its ideal value, above it, or around it."""

AS_IF_CALIBRATED, LARGER, UNDEFINED = "as if calibrated", "larger", "undefined"
"""The verdicts on an estimate."""

STATES = {"on": "calibrated", "high": "too high", "low": "too low"}
MOST_STRETCHES = 4
FEWEST_CASES = 0.04  # share of the cases below which a stretch is not told


class EstimatorRow(NamedTuple):
    """An estimator as a row of text.

    Attributes
    ----------
    title : str
    estimate, interval, if_calibrated : str
        Empty where the estimate is undefined.
    verdict : str
        "as if calibrated", "larger" or "undefined".
    """

    title: str
    estimate: str
    interval: str
    if_calibrated: str
    verdict: str


def headline(f: Findings) -> str:
    """The verdict, and the error with its interval."""
    middle, low, high = numbers(f.table.loc["tce"])
    below, above = f.prob_tce_below(f.close), f.prob_tce_above(f.close)
    return (
        f"{VERDICTS[f.verdict]}: the true calibration error is {middle} "
        f"({percent(f.ci_prob)} credible interval {low} to {high}). On the safe side it is below "
        f"{f.close:g} with probability {chance(below)} and above with {chance(above)}"
        f"{_rest(1 - below - above)}."
    )


def _rest(probability: float) -> str:
    return "" if probability < 0.005 else f"; {chance(probability)} is left open"


def meaning(f: Findings) -> str:
    """What the error and its direction are for a reader who is no statistician."""
    middle, low, high = _points(f.table.loc["tce"])
    spread = f"{middle} percentage points ({low} to {high})"
    data = f.posterior.data
    return (
        f"On average, a prediction is off by {spread}. {directions(f.table, data)} "
        f"{where(f.stretches)}"
    )


def exactness(f: Findings) -> str:
    """How probable exact calibration is, and how much that owes to what it is compared with."""
    even = f.comparison.sensitivity["average"].dropna()
    by_prior = ", ".join(f"{chance(value)} ({name})" for name, value in even.items())
    return (
        f"Exact calibration has probability {chance(f.prob_calibrated)}, from a prior of "
        f"{f.comparison.prior_prob['identity']:g}. At even odds it depends on the errors that are "
        f"expected otherwise: {by_prior}."
    )


def directions(table: pd.DataFrame, data: CalibrationData) -> str:
    """Which way predictions err, as far as the intervals of O/E and slope say.

    Parameters
    ----------
    table : pandas.DataFrame
        A summary of functionals.
    data : CalibrationData
        Whose own O/E stands beside that of the posterior.

    Returns
    -------
    str
    """
    sentences = [_direction(table, "observed_expected", "O/E", in_the_data(data))]
    if "calibration_slope" in table.index:
        sentences.append(_direction(table, "calibration_slope", "slope"))
    return " ".join(sentences)


def _direction(table: pd.DataFrame, name: str, label: str, beside: str = "") -> str:
    row = table.loc[name]
    told = side(name, row)
    return f"{told[:1].upper()}{told[1:]}: {label} {with_interval(row, beside)}."


def side(name: str, row: Any) -> str:
    """On which side of its ideal value a measure lies, as far as its interval says.

    Parameters
    ----------
    name : str
        One of the keys of `SIDES`.
    row : mapping
        With the keys lower and upper.

    Returns
    -------
    str
        A clause without a full stop.
    """
    below, above, neither = SIDES[name]
    ideal = FUNCTIONALS[name].calibrated
    if row["upper"] < ideal:
        return below
    return above if row["lower"] > ideal else neither


def in_the_data(data: CalibrationData) -> str:
    """O/E of the data, to stand beside that of the posterior; empty where no event is expected."""
    ratio = observed_expected(data)
    return "" if ratio is None else f"; {ratio:#.3g} in the data"


def describe(f: Findings) -> str:
    """Methods and results, in the order of a paper, and the publications they cite."""
    text = f"{methods(f)}\n\n{results(f)}"
    listed = [f"{REFERENCES[key].text} doi:{REFERENCES[key].doi}" for key in cited(text)]
    return "\n".join([text, "", "References", *listed])


def methods(f: Findings) -> str:
    """What was done, with citations."""
    settings = f.comparison.settings
    weights = f.comparison.prior_prob
    families = ", ".join(f"{name} ({weight:.2g})" for name, weight in weights.items() if weight)
    return (
        "Calibration was assessed by the posterior of the calibration curve, seen through "
        "binomial observations (Dong et al., 2025). Families of curves were weighed by their "
        f"evidence (Hoeting et al., 1999), with prior probabilities {families}; identity is exact "
        "calibration, whose probability is stated and which has no part in the averaged curve. "
        f"The {settings.prior.name} prior was used for the coordinates of the curves. "
        "The true calibration error is the mean absolute difference between the curve and the "
        "predicted probability, over a population of cases like these: the Bayesian bootstrap of "
        f"the scores (Rubin, 1981). {_interval_in_words(f)} An error below {f.close:g} was taken "
        "as close enough to none. Calibration slope and intercept are those "
        "of the line in log-odds nearest to the curve (Cox, 1958). Estimators were compared with "
        "their distribution under perfect calibration, by consistency resampling (Broecker and "
        "Smith, 2007). Updates of the model were compared by leave-one-out log score (Vehtari, "
        "Gelman and Gabry, 2017). Computed with bayescal "
        f"{f.versions['bayescal']}, seed {f.seed}."
    )


def _interval_in_words(f: Findings) -> str:
    tail = (1 - f.ci_prob) / 2
    return (
        f"{percent(f.ci_prob)} credible intervals are equal-tailed, over the curves that are not "
        f"exactly calibrated. The interval of an error ends at their {percent(1 - tail)} quantile "
        f"and starts at the {percent(tail)} quantile under a second prior, which makes calibration "
        "likely, everywhere or over a range of predictions; there an error counts only where its "
        f"side is known with probability {SURE:g}, so that chance does not add up to an error. The "
        "estimate of an error is that of the posterior mean curve."
    )


def results(f: Findings) -> str:
    """The results, with the numbers that TRIPOD+AI asks for."""
    data, table = f.posterior.data, f.table
    sentences = [
        f"Among {cases_and_events(data.n, data.events, data.effective_size, ' with ')}, the mean "
        f"predicted probability was {mean_score(data):#.3g}.",
        headline(f),
        exactness(f),
        "The ratio of observed to expected events was "
        f"{with_interval(table.loc['observed_expected'], in_the_data(data))}; "
        "calibration-in-the-large (the intercept with the slope fixed at 1) was "
        f"{with_interval(table.loc['calibration_in_the_large'])}.",
    ]
    if "calibration_slope" in table.index:
        sentences.append(
            f"The calibration slope was {with_interval(table.loc['calibration_slope'])}, with a "
            f"jointly fitted intercept of {with_interval(table.loc['calibration_intercept'])}."
        )
    c_statistic = f.performance.loc["c_statistic"]
    if c_statistic["estimate"] == c_statistic["estimate"]:
        sentences.append(
            f"The C-statistic was {with_interval(c_statistic)} and the Brier score "
            f"{with_interval(f.performance.loc['brier_score'])}, with bootstrap intervals."
        )
    sentences += [where(f.stretches), str(f.recommendation)]
    return " ".join(sentences)


def numbers(row: Any) -> tuple[str, ...]:
    """Estimate, lower and upper end of a row, as far as its interval says they are known."""
    return rounded((row["estimate"], row["lower"], row["upper"]), row["lower"], row["upper"])


def with_interval(row: Any, beside: str = "") -> str:
    """Estimate and interval, `0.04 (0.02 to 0.07)`, with `beside` within the brackets."""
    middle, low, high = numbers(row)
    return f"{middle} ({low} to {high}{beside})"


def curve_rows(f: Findings, scores: Floats) -> list[tuple[str, ...]]:
    """The curve at some scores: mean, lower and upper end, as far as the interval tells."""
    return [
        rounded((mean, lower, upper), lower, upper) for mean, lower, upper in f.curve_at(scores)
    ]


def _points(row: Any) -> list[str]:
    """Estimate, lower and upper end of a row in percentage points."""
    places = max(decimals(row["lower"], row["upper"]) - 2, 0)
    return [f"{100 * row[part]:.{places}f}" for part in ("estimate", "lower", "upper")]


def of_group(row: Any, functional: str) -> str:
    """A functional of one group and its interval; empty where the group does not define it.

    Parameters
    ----------
    row : mapping
        A row of `Findings.by_group`.
    functional : str

    Returns
    -------
    str
    """
    parts = {part: row[f"{functional}_{part}"] for part in ("estimate", "lower", "upper")}
    return "" if math.isnan(parts["estimate"]) else with_interval(parts)


def estimator_row(row: Any) -> EstimatorRow:
    """An estimate beside what calibrated models give, and the verdict on it.

    Parameters
    ----------
    row : mapping
        A row of `Findings.estimators`.

    Returns
    -------
    EstimatorRow
    """
    title = str(row["title"])
    if math.isnan(row["estimate"]):
        return EstimatorRow(title, "", "", "", UNDEFINED)
    return EstimatorRow(
        title,
        f"{row['estimate']:.3f}",
        f"{row['lower']:.3f} to {row['upper']:.3f}",
        f"{row['calibrated_lower']:.3f} to {row['calibrated_upper']:.3f}",
        LARGER if row["prob_exceeds"] < RARE else AS_IF_CALIBRATED,
    )


def where(parts: Sequence[Stretch]) -> str:
    """Where predictions are calibrated, and where they are too high or too low, in a sentence.

    Parameters
    ----------
    parts : sequence of Stretch

    Returns
    -------
    str
        Such as "By range, predictions are calibrated up to 0.6 (probability 0.93), too high from
        0.62 on (probability > 0.99)."
    """
    told = [part for part in parts if part.cases >= FEWEST_CASES and part.probability >= LIKELY]
    if not any(part.state in ("high", "low") for part in told):
        return "Over no range of predictions is it clear that they are too high or too low."
    if len(told) > MOST_STRETCHES:
        told = sorted(told, key=lambda part: -part.cases)[:MOST_STRETCHES]
        told.sort(key=lambda part: part.start)
    clauses = [_told(part, parts) for part in told]
    return f"By range, predictions are {', '.join(clauses)}."


def _told(part: Stretch, parts: Sequence[Stretch]) -> str:
    """A stretch as a clause: its state, its range and its probability."""
    from_start, to_end = part == parts[0], part == parts[-1]
    if from_start and to_end:
        at = "throughout"
    elif part.start == part.stop:
        at = f"at {_shown(part.start)}"
    elif from_start:
        at = f"up to {_shown(part.stop)}"
    elif to_end:
        at = f"from {_shown(part.start)} on"
    else:
        at = f"from {_shown(part.start)} to {_shown(part.stop)}"
    return f"{STATES[part.state]} {at} (probability {chance(part.probability)})"


def _shown(score: float) -> str:
    """A score to two digits; near 1, two digits of its distance from 1."""
    if score <= 0.99 or score == 1:
        return f"{score:.2g}"
    return f"{score:.{1 - math.floor(math.log10(1 - score))}f}"
