"""`bayescal monitor`: the performance to expect before the outcomes are known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescal.cli import _options as option
from bayescal.cli.reading import GROUPS, Reading, read_predictions, reads

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["monitor"]

UNCHANGED_CURVE = (
    "This holds if the curve is unchanged: at each score, the risk of the new patients is that of "
    "the patients with outcomes. Scores alone cannot show whether it is. A model in use changes "
    "outcomes where patients are treated because of their score."
)
DEFAULT_THRESHOLDS = (0.5,)


@reads(*GROUPS)
def monitor(
    reading: Reading,
    unlabelled: Annotated[
        Path, typer.Argument(help="Scores of patients without outcomes, in a column of that name.")
    ],
    threshold: option.Threshold = None,
    ci_prob: option.CiProb = 0.95,
    seed: option.Seed = None,
    json: option.Record = None,
) -> None:
    """Say how the model is expected to perform on patients whose outcomes are not known yet.

    With --site the new patients are of another hospital, with --period of the next period.
    """
    from bayescal.cli._few import note_if_few
    from bayescal.cli._progress import working
    from bayescal.cli._terminal import note, output, say, wrote
    from bayescal.cli._write import check_targets, write_record
    from bayescal.core.arrays import as_seed
    from bayescal.core.errors import InputError, as_level
    from bayescal.data.reading import read_scores

    level, seed = as_level(ci_prob), as_seed(seed)
    thresholds = tuple(as_level(risk, "threshold") for risk in threshold or DEFAULT_THRESHOLDS)
    if len(reading.roles.keys() & {"site", "period"}) > 1:
        raise InputError("--site and --period each say what the new patients are of. Take one.")
    if reading.subgroups:
        raise InputError("--subgroup names no new patients. Take --site or --period, or neither.")
    check_targets(None, json, inputs=[reading.file, unlabelled])
    predictions = read_predictions(reading)
    new = read_scores(predictions.cases.request, unlabelled, str(predictions.columns.prob))
    new = new[new == new]
    from bayescal.fitting import fit
    from bayescal.posterior.posterior import CalibrationPosterior

    console = output(json)
    predictions.introduce(console, "Expected performance")
    with working("Fitting the curve"):
        fitted = fit(predictions.data, random_state=seed)
        of = fitted if isinstance(fitted, CalibrationPosterior) else fitted.new()
        seen = of.on(new)
        expected = seen.performance_summary(thresholds, level)
        realised = seen.performance_summary(thresholds, level, realised=True)
        shifts = seen.shift_to_change(thresholds)
    note(console, UNCHANGED_CURVE)
    lower, upper = predictions.data.score.min(), predictions.data.score.max()
    say(
        console,
        f"{new.size} new scores{_whose(of, fitted)}; {100 * seen.outside:.2g} % of them lie "
        f"outside {lower:.3g} to {upper:.3g}, the range of the patients with outcomes.",
    )
    note_if_few(console, fitted)
    console.print(performance_table(expected, realised))
    for risk, row in shifts.iterrows():
        say(console, decision_in_words(float(str(risk)), row))
    if json is not None:
        told = {
            "file": str(reading.file),
            "unlabelled": str(unlabelled),
            "assumption": UNCHANGED_CURVE,
            "scores": int(new.size),
            "outside": seen.outside,
            "ci_prob": level,
            "seed": seed,
            "expected": _record(expected),
            "realised": _record(realised),
            "shift_to_change": {f"{risk:g}": _numbers(row) for risk, row in shifts.iterrows()},
        }
        write_record(json, told)
        wrote(console, json)


def _whose(of: CalibrationPosterior, fitted: object) -> str:
    """Which patients they are taken to be, where it is not those that were fitted."""
    title = "" if of is fitted else str(getattr(of, "title", ""))
    return f" of {title[0].lower()}{title[1:]}" if title else ""


def performance_table(expected: pd.DataFrame, realised: pd.DataFrame) -> Table:
    """The measures for a terminal: on average, and for the outcomes that will come."""
    from bayescal.cli._terminal import new_table
    from bayescal.core.text import percent, rounded

    shown = new_table()
    shown.add_column("Measure")
    level = percent(expected.attrs["ci_prob"])
    for heading in ("Expected", f"{level} interval", "Of these patients' outcomes"):
        shown.add_column(heading, justify="right")
    drawn = dict(realised.iterrows())
    for name, row in expected.iterrows():
        at = str(name).partition("@")[2]
        middle, low, high = rounded((row["mean"], row["lower"], row["upper"]), *_ends(row))
        later = ""
        if name in drawn:
            ends = _ends(drawn[name])
            later = " to ".join(rounded(ends, *ends))
        label = f"{row['label'][0].upper()}{row['label'][1:]}"
        shown.add_row(label + f" at {at}" * bool(at), middle, f"{low} to {high}", later)
    return shown


def decision_in_words(risk: float, row: pd.Series) -> str:
    """Which decision is best at a threshold, and how far the risks may shift until it is not."""
    told = {"model": "to treat by the model", "treat all": "to treat everyone"}
    best = told.get(str(row["best"]), "to treat no one")
    sides = {"below": row["lower"], "above": row["upper"]}
    ends = [f"{side} {end:+.2f}" for side, end in sides.items() if abs(end) != float("inf")]
    if not ends:
        return f"At {risk:g} the best decision is {best}, however the risks shift."
    nearer = "the nearer: " * (len(ends) == 2)
    return (
        f"At {risk:g} the best decision is {best}. It stays best unless all risks shift, in "
        f"log-odds, {' or '.join(ends)} ({nearer}odds {row['odds_ratio']:.2f} times as high)."
    )


def _ends(row: pd.Series) -> tuple[float, float]:
    return float(row["lower"]), float(row["upper"])


def _record(table: pd.DataFrame) -> dict[str, Any]:
    return {str(name): _numbers(row) for name, row in table.iterrows()}


def _numbers(row: pd.Series) -> dict[str, Any]:
    """A row as JSON has it, which knows no infinity."""
    return {
        str(key): None if isinstance(value, float) and abs(value) == float("inf") else value
        for key, value in row.items()
    }
