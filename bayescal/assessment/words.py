"""An assessment in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayescal._base.text import cases_and_events, chance, decimals, percent, rounded
from bayescal.assessment.references import REFERENCES, cited
from bayescal.assessment.risk import mean_score, observed_expected
from bayescal.assessment.where import where
from bayescal.posterior.one_sided import SURE

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.assessment._assess import Assessment
    from bayescal.data.data import CalibrationData

__all__ = [
    "VERDICTS",
    "describe",
    "directions",
    "exactness",
    "headline",
    "in_the_data",
    "meaning",
    "methods",
    "numbers",
]

VERDICTS = {
    "close enough": "The model is close enough to calibrated",
    "miscalibrated": "The model is miscalibrated",
    "cannot tell": "These data cannot tell whether the model is close enough to calibrated",
}


def headline(a: Assessment) -> str:
    """The verdict, and the error with its interval."""
    middle, low, high = numbers(a.table.loc["tce"])
    below, above = a.prob_tce_below(a.close), a.prob_tce_above(a.close)
    return (
        f"{VERDICTS[a.verdict]}: the true calibration error is {middle} "
        f"({percent(a.ci_prob)} credible interval {low} to {high}). On the safe side it is below "
        f"{a.close:g} with probability {chance(below)} and above with {chance(above)}"
        f"{_rest(1 - below - above)}."
    )


def _rest(probability: float) -> str:
    return "" if probability < 0.005 else f"; {chance(probability)} is left open"


def meaning(a: Assessment) -> str:
    """What the error and its direction are for a reader who is no statistician."""
    middle, low, high = _points(a.table.loc["tce"])
    spread = f"{middle} percentage points ({low} to {high})"
    data = a.posterior.data
    return (
        f"On average, a prediction is off by {spread}. {directions(a.table, data)} "
        f"{where(a.posterior)}"
    )


def exactness(a: Assessment) -> str:
    """How probable exact calibration is, and how much that owes to what it is compared with."""
    even = a.comparison.sensitivity["average"].dropna()
    by_prior = ", ".join(f"{chance(value)} ({name})" for name, value in even.items())
    return (
        f"Exact calibration has probability {chance(a.prob_calibrated)}, from a prior of "
        f"{a.comparison.prior_prob['identity']:g}. At even odds it depends on the errors that are "
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
    said = [
        _compare(
            table.loc["observed_expected"],
            "O/E",
            below="Events are rarer than predicted",
            above="Events are more frequent than predicted",
            neither="Events are not clearly rarer or more frequent than predicted",
            beside=in_the_data(data),
        )
    ]
    if "calibration_slope" in table.index:
        said.append(
            _compare(
                table.loc["calibration_slope"],
                "slope",
                below="Predictions are too extreme (over-confident)",
                above="Predictions are too moderate (under-confident)",
                neither="Predictions are not clearly too extreme or too moderate",
            )
        )
    return " ".join(said)


def in_the_data(data: CalibrationData) -> str:
    """The data's own O/E, to stand behind that of the posterior; empty where it has none."""
    ratio = observed_expected(data)
    return "" if ratio is None else f"; {ratio:#.3g} in the data"


def describe(a: Assessment) -> str:
    """Methods and results, in the order of a paper, and the publications they cite."""
    text = f"{methods(a)}\n\n{results(a)}"
    listed = [f"{REFERENCES[key].text} doi:{REFERENCES[key].doi}" for key in cited(text)]
    return "\n".join([text, "", "References", *listed])


def methods(a: Assessment) -> str:
    """What was done, with citations."""
    settings = a.comparison.settings
    weights = a.comparison.prior_prob
    families = ", ".join(f"{name} ({weight:.2g})" for name, weight in weights.items() if weight)
    return (
        "Calibration was assessed by the posterior of the calibration curve, seen through "
        "binomial observations (Dong et al., 2025). Families of curves were weighed by their "
        f"evidence (Hoeting et al., 1999), with prior probabilities {families}; identity is exact "
        "calibration, whose probability is stated and which has no part in the averaged curve. "
        f"The {settings.prior.name} prior was used for the coordinates of the curves. "
        "The true calibration error is the mean absolute difference between the curve and the "
        "predicted probability, over a population of cases like these: the Bayesian bootstrap of "
        f"the scores (Rubin, 1981). {_interval_in_words(a)} An error below {a.close:g} was taken "
        "as close enough to none. Calibration slope and intercept are those "
        "of the line in log-odds nearest to the curve (Cox, 1958). Estimators were compared with "
        "their distribution under perfect calibration, by consistency resampling (Broecker and "
        "Smith, 2007). Updates of the model were compared by leave-one-out log score (Vehtari, "
        "Gelman and Gabry, 2017). Computed with bayescal "
        f"{a.versions['bayescal']}, seed {a.seed}."
    )


def _interval_in_words(a: Assessment) -> str:
    tail = (1 - a.ci_prob) / 2
    return (
        f"{percent(a.ci_prob)} credible intervals are equal-tailed, over the curves that are not "
        f"exactly calibrated. The interval of an error ends at their {percent(1 - tail)} quantile "
        f"and starts at the {percent(tail)} quantile under a second prior, which makes calibration "
        "likely, everywhere or over a range of predictions; there an error counts only where its "
        f"side is known with probability {SURE:g}, so that chance does not add up to an error. The "
        "estimate of an error is that of the posterior mean curve."
    )


def results(a: Assessment) -> str:
    """What was found, with the numbers that TRIPOD+AI asks for."""
    data, table = a.posterior.data, a.table
    said = [
        f"Among {cases_and_events(data.n, data.events, data.effective_size, ' with ')}, the mean "
        f"predicted probability was {mean_score(data):#.3g}.",
        headline(a),
        exactness(a),
        "The ratio of observed to expected events was "
        f"{_interval(table.loc['observed_expected'], in_the_data(data))}; "
        "calibration-in-the-large (the intercept with the slope fixed at 1) was "
        f"{_interval(table.loc['calibration_in_the_large'])}.",
    ]
    if "calibration_slope" in table.index:
        said.append(
            f"The calibration slope was {_interval(table.loc['calibration_slope'])}, with a "
            f"jointly fitted intercept of {_interval(table.loc['calibration_intercept'])}."
        )
    c_statistic = a.performance.loc["c_statistic"]
    if c_statistic["estimate"] == c_statistic["estimate"]:
        said.append(
            f"The C-statistic was {_estimate(c_statistic)} and the Brier score "
            f"{_estimate(a.performance.loc['brier_score'])}, with bootstrap intervals."
        )
    said += [where(a.posterior), str(a.recommendation)]
    return " ".join(said)


def numbers(row: Any) -> tuple[str, ...]:
    """Estimate, lower and upper end of a row, as far as its interval says they are known."""
    return rounded((row["estimate"], row["lower"], row["upper"]), row["lower"], row["upper"])


def _estimate(row: Any) -> str:
    shown = rounded((row["estimate"], row["lower"], row["upper"]), row["lower"], row["upper"])
    return f"{shown[0]} ({shown[1]} to {shown[2]})"


def _points(row: Any) -> list[str]:
    """The same, in percentage points."""
    places = max(decimals(row["lower"], row["upper"]) - 2, 0)
    return [f"{100 * row[part]:.{places}f}" for part in ("estimate", "lower", "upper")]


def _interval(row: Any, beside: str = "") -> str:
    middle, low, high = numbers(row)
    return f"{middle} ({low} to {high}{beside})"


def _compare(row: Any, name: str, *, below: str, above: str, neither: str, beside: str = "") -> str:
    said = below if row["upper"] < 1 else above if row["lower"] > 1 else neither
    return f"{said}: {name} {_interval(row, beside)}."
