"""An assessment in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayescal._text import cases_and_events, chance, decimals, percent, rounded
from bayescal.assessment._references import REFERENCES, cited
from bayescal.assessment._risk import mean_score

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.assessment._assess import Assessment

__all__ = ["VERDICTS", "describe", "directions", "headline", "meaning", "methods", "numbers"]

VERDICTS = {
    "close": "The model is close to calibrated",
    "calibrated": "The data agree with perfect calibration",
    "miscalibrated": "The model is miscalibrated",
    "off": "The model is not exactly calibrated, but it may be close enough",
    "far": "The model is not exactly calibrated, and probably not close enough",
    "unknown": "These data cannot tell whether the model is calibrated",
}


def headline(a: Assessment) -> str:
    """The verdict, and the error with its interval."""
    middle, low, high = numbers(a.table.loc["tce"])
    near = a.prob_tce_below(a.close)
    side, probability = ("below", near) if near >= 0.5 else ("above", 1 - near)
    said = VERDICTS["far" if a.verdict == "off" and near < 0.5 else a.verdict]
    return (
        f"{said}: the true calibration error is {middle} "
        f"({percent(a.ci_prob)} credible interval {low} to {high}), and {side} {a.close:g} with "
        f"probability {chance(probability)}."
    )


def meaning(a: Assessment) -> str:
    """What the error and its direction are for a reader who is no statistician."""
    error = a.table.loc["tce"]
    middle, low, high = _points(error)
    spread = f"{middle} percentage points ({low} to {high})"
    if float(low) == 0:
        spread = f"somewhere between 0 and {high} percentage points"
    if error["lower"] == 0:
        spread += f"; 0, exact calibration, has probability {chance(a.prob_calibrated)}"
    return f"On average, a prediction is off by {spread}. {directions(a.table)}"


def directions(table: pd.DataFrame) -> str:
    """Which way predictions err, as far as the intervals of O/E and slope say.

    Parameters
    ----------
    table : pandas.DataFrame
        A summary of functionals.

    Returns
    -------
    str
    """
    said = [
        _compare(
            table.loc["o_e"],
            "O/E",
            below="Events are rarer than predicted",
            above="Events are more frequent than predicted",
            neither="Events are not clearly rarer or more frequent than predicted",
        )
    ]
    if "slope" in table.index:
        said.append(
            _compare(
                table.loc["slope"],
                "slope",
                below="Predictions are too extreme (over-confident)",
                above="Predictions are too moderate (under-confident)",
                neither="Predictions are not clearly too extreme or too moderate",
            )
        )
    return " ".join(said)


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
        "binomial observations (Dong et al., 2025). Families of curves were averaged by their "
        f"evidence (Hoeting et al., 1999), with prior probabilities {families}; identity is exact "
        f"calibration. The {settings.prior.name} prior was used for the coordinates of the curves. "
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
        f"Its {percent(a.ci_prob)} credible interval ends at the {percent(1 - tail)} quantile of "
        "the draws that are not exactly calibrated. It starts at zero if exact calibration has a "
        f"probability of {percent(tail)} or more, and otherwise at the {percent(tail)} quantile of "
        "all draws, lowered, by half at most, by what chance adds to an error."
    )


def results(a: Assessment) -> str:
    """What was found, with the numbers that TRIPOD+AI asks for."""
    data, table = a.posterior.data, a.table
    said = [
        f"Among {cases_and_events(data.n, data.events, data.effective_size, ' with ')}, the mean "
        f"predicted probability was {mean_score(data):#.3g}.",
        headline(a),
        f"The probability of exact calibration was {chance(a.prob_calibrated)} (from a prior of "
        f"{a.comparison.prior_prob['identity']:g}; "
        f"{chance(a.comparison.prob_calibrated_at(0.5))} at even odds).",
        f"The ratio of observed to expected events was {_interval(table.loc['o_e'])}; "
        "calibration-in-the-large (the intercept with the slope fixed at 1) was "
        f"{_interval(table.loc['calibration_in_the_large'])}.",
    ]
    if "slope" in table.index:
        said.append(
            f"The calibration slope was {_interval(table.loc['slope'])}, with a jointly fitted "
            f"intercept of {_interval(table.loc['intercept'])}."
        )
    c_statistic = a.performance.loc["c_statistic"]
    if c_statistic["estimate"] == c_statistic["estimate"]:
        said.append(
            f"The C-statistic was {_estimate(c_statistic)} and the Brier score "
            f"{_estimate(a.performance.loc['brier_score'])}, with bootstrap intervals."
        )
    said.append(str(a.recommendation))
    return " ".join(said)


def numbers(row: Any) -> tuple[str, ...]:
    """Median, lower and upper end of a row, as far as its interval says they are known."""
    return rounded((row["median"], row["lower"], row["upper"]), row["lower"], row["upper"])


def _estimate(row: Any) -> str:
    shown = rounded((row["estimate"], row["lower"], row["upper"]), row["lower"], row["upper"])
    return f"{shown[0]} ({shown[1]} to {shown[2]})"


def _points(row: Any) -> list[str]:
    """The same, in percentage points."""
    places = max(decimals(row["lower"], row["upper"]) - 2, 0)
    return [f"{100 * row[part]:.{places}f}" for part in ("median", "lower", "upper")]


def _interval(row: Any) -> str:
    middle, low, high = numbers(row)
    return f"{middle} ({low} to {high})"


def _compare(row: Any, name: str, *, below: str, above: str, neither: str) -> str:
    said = below if row["upper"] < 1 else above if row["lower"] > 1 else neither
    middle, low, high = numbers(row)
    return f"{said}: {name} {middle} ({low} to {high})."
