"""`bayescal gain`: the gain of a recalibration."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescal.cli import _options as option
from bayescal.cli._recalibrate import BAYESIAN, METHODS, recalibrator_of
from bayescal.cli.reading import (
    CLUSTERS,
    OF_TIMES,
    Reading,
    Times,
    about_weights,
    checked,
    labels_of,
    read_from,
    reads,
)

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from bayescal.core.arrays import Floats
    from bayescal.gain import RecalibrationGain

__all__ = ["gain"]

LABELS = {
    "tce": "Fall in calibration error (TCE)",
    "brier": "Fall in Brier score",
    "log_score": "Fall in log score",
    "brier_calibration": "  by calibration",
    "brier_refinement": "  by refinement",
    "log_calibration": "  by calibration",
    "log_refinement": "  by refinement",
}
WHOLE = ("tce", "brier", "log_score")
ORDER = (
    "tce",
    "brier",
    "brier_calibration",
    "brier_refinement",
    "log_score",
    "log_calibration",
    "log_refinement",
)


@reads("site", *CLUSTERS, *OF_TIMES)
def gain(
    reading: Reading,
    before: Annotated[str | None, typer.Option(help="Column with the probability before.")] = None,
    after: Annotated[str | None, typer.Option(help="Column with the probability after.")] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            help="Instead of --before and --after: recalibrate --prob by cross-fitting with this "
            "number of folds."
        ),
    ] = None,
    method: Annotated[str | None, typer.Option(help=f"With --folds: {METHODS}")] = None,
    threshold: option.Threshold = None,
    in_sample: Annotated[
        bool,
        typer.Option("--in-sample", metavar=" ", help="The map was fitted to these patients."),
    ] = False,
    prior: option.Prior = "neutral",
    ci_prob: option.CiProb = 0.95,
    seed: option.Seed = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the posterior of the Brier gain to this file.")
    ] = None,
    json: option.Record = None,
) -> None:
    """Say what was gained by replacing one prediction by another, on the same patients.

    Either of two columns, or of one and its recalibration by cross-fitting (--folds).
    """
    import warnings

    from bayescal.cli._fitted_to import find_mark
    from bayescal.cli._progress import counting, working
    from bayescal.cli._terminal import note, output, say, wrote
    from bayescal.cli._write import check_targets, write_record
    from bayescal.core.arrays import as_seed
    from bayescal.core.errors import InputError, as_count, as_level
    from bayescal.core.text import chance, count
    from bayescal.data.cases import as_outcomes
    from bayescal.model.priors import as_prior

    level = as_level(ci_prob)
    check_targets(plot, json, inputs=[reading.file])
    _check_columns(before, after, folds, reading["prob"], method, in_sample)
    chosen = as_prior(prior)
    thresholds = tuple(as_level(risk, "threshold") for risk in threshold or ())
    if folds is not None:
        as_count(folds, "folds", 2)
        if reading["cluster"] is not None:
            raise InputError(
                "--cluster goes with --before and --after: --folds would put cases of one cluster "
                "in several folds."
            )
        if "site" in reading.roles:
            raise InputError(
                "--site goes with --before and --after: predictions by --folds are of several maps."
            )
    followed = Times.of(reading)
    if followed is not None and folds is not None:
        raise InputError(
            "--folds does not go with --time: recalibrations are fitted to outcomes that are known "
            "of all cases. Name the predictions with --before and --after."
        )
    if before is not None and before == after:
        raise InputError(f"--before and --after name the same column, {before!r}. Name two.")
    if folds is None:
        pair = [("before", str(before)), ("after", str(after))]
        read = read_from(reading, followed, prob=before, others=pair)
    else:
        read = read_from(reading)
    from bayescal.data.table import CalibrationData
    from bayescal.gain import SeveralGains, cross_fit, recalibration_gain

    if folds is not None:
        recalibrator_of(method or BAYESIAN, chosen, seed)  # refuses an unknown name
    console = output(json)
    before = str(read.columns.prob)
    of_cases: dict[str, Any] = {"y_true": read.outcome, "sample_weight": read.weight}
    of_cases |= {"weight_type": reading["weight_type"]}
    happens = f"{read.columns.outcome} is {reading.positive or '1'}"
    if followed is None:
        of_cases["pos_label"] = reading.positive
    else:
        of_cases["horizon"] = at = followed.one_horizon
        happens = f"{followed.event} is {followed.cause or 1} {followed.by(at)}"
    with checked(read, before=before, after=after):
        data = CalibrationData(y_prob=read.prob, **of_cases)
    outcome = None
    if folds is not None:
        outcome = as_outcomes(read.outcome, pos_label=reading.positive)
        _check_folds(outcome, folds, str(read.columns.outcome))
    mark = None if after is None or followed is not None else find_mark(reading.file, data, after)
    title = f"{method or BAYESIAN} recalibration of {before}" if folds else f"{after} over {before}"
    say(
        console,
        f"Gain of {title} as the probability that {happens} ({reading.file.name})",
        "bold",
    )
    seed = as_seed(seed)
    predicted = None if after is None else read.probs[after]
    if folds is not None and outcome is not None:
        with counting("Fitting on all folds but one", "fits") as progress:
            predicted = cross_fit(
                outcome,
                read.prob,
                recalibrator_of(method or BAYESIAN, chosen, seed),
                n_folds=folds,
                sample_weight=read.weight,
                random_state=seed,
                progress=progress,
            )
    with working("Computing the gain"), checked(read, before=before, after=after):
        warnings.filterwarnings("ignore", "after was fitted to these patients")
        result = recalibration_gain(
            before=read.prob,
            after=predicted,
            thresholds=thresholds,
            in_sample=in_sample or mark is not None,
            prior=chosen,
            cluster=labels_of(read, "cluster"),
            stratum=labels_of(read, "stratum"),
            site=labels_of(read, "site"),
            random_state=seed,
            **of_cases,
        )
        table = result.summary(level, parts=True)
    if read.dropped:
        say(console, f"{read.dropped} of {read.rows} rows left out: a value is missing.")
    else_say = "" if folds is not None or result.in_sample else "; if not: --in-sample"
    say(console, f"{count(result.n, 'case')}; {result.evidence}{else_say}.")
    if read.weight is not None:
        say(console, about_weights(data, len(read.at)))
    if mark is not None:
        say(console, f"{mark.name} says that the map was fitted to these patients.")
    if result.in_sample:
        note(console, "a gain on the patients that the map was fitted to is overestimated.")
    console.print(gain_table(table))
    say(console, improvement(table), "bold")
    if isinstance(result, SeveralGains):
        console.print(gains_by_curve(result.table("brier", level)))
    for line in result.notes:
        note(console, line)
    exact = result.prob_calibrated
    say(
        console,
        f"P(exactly calibrated): {chance(exact['before'])} before, {chance(exact['after'])} after.",
    )
    how = (
        "curves of all sites, fitted together"
        if isinstance(result, SeveralGains)
        else "one curve, since after is a function of before"
        if result.route == "curve"
        else "paired Bayesian bootstrap, since after is not a function of before"
        if reading["cluster"] is None
        else f"paired Bayesian bootstrap of the clusters of {reading['cluster']}"
    )
    say(console, f"Method: {how}. Seed {result.seed} repeats these numbers.", "dim")
    if plot is not None:
        _draw(plot, result, level)
        say(console, f"Wrote {plot}.", "dim")
    if json is not None:
        numbers: dict[str, Any] = {
            "cases": result.n,
            "weight_type": result.weight_type,
            "route": result.route,
            "evidence": result.evidence,
            "in_sample": result.in_sample,
            "notes": result.notes,
            "prob_calibrated": result.prob_calibrated,
            "ci_prob": level,
            "seed": result.seed,
            "contradicted": result.contradicted,
            "gains": {str(name): gain_record(str(name), table) for name in table.index},
        }
        if isinstance(result, SeveralGains):
            numbers["brier_by_curve"] = curves_record(result.table("brier", level))
        if mark is not None:
            numbers["mark"] = str(mark)
        if folds is not None:
            numbers |= {"folds": folds, "method": method or BAYESIAN}
        source = {"file": str(reading.file), "before": before, "after": after}
        source |= {"outcome": read.columns.outcome} | reading.roles | reading.source
        write_record(json, numbers | source | {"rows_dropped": read.dropped})
        wrote(console, json)


def _check_columns(
    before: str | None,
    after: str | None,
    folds: int | None,
    score: str | None,
    method: str | None,
    in_sample: bool,
) -> None:
    """Check the options: two columns of scores, or one column and a number of folds."""
    from bayescal.core.errors import InputError

    if folds is None and (before is None or after is None):
        raise InputError(
            "name two columns of predictions with --before and --after, or give --folds to "
            "cross-fit a recalibration of the column --prob."
        )
    if folds is None and (score is not None or method is not None):
        raise InputError("--prob and --method need --folds, which is missing.")
    if folds is not None and (before is not None or after is not None or in_sample):
        raise InputError(
            "--folds cross-fits a recalibration of the column --prob, so --before, --after and "
            "--in-sample cannot be used with it."
        )


def _check_folds(outcome: Floats, folds: int, column: str) -> None:
    """Refuse more folds than there are events, or cases without one."""
    from bayescal.core.errors import InputError
    from bayescal.core.text import count

    events = int(outcome.sum())
    others = outcome.size - events
    fewest = min(events, others)
    if folds <= fewest:
        return
    cure = f"Give --folds at most {fewest}."
    if fewest < 2:
        cure = (
            "No number of folds works: the map is fitted to all folds but one, and needs events "
            "and cases without one there. Collect more cases."
        )
    raise InputError(
        f"--folds {folds}: column {column!r} has {count(events, 'event')} and "
        f"{count(others, 'case')} without one, and every fold needs one of each. {cure}"
    )


def gain_table(table: pd.DataFrame) -> Table:
    """The gains for a terminal, per patient and positive where recalibration helped."""
    from bayescal.cli._terminal import new_table
    from bayescal.core.text import percent

    shown = new_table()
    shown.add_column("Gain per patient")
    for heading in ("Estimate", f"{percent(table.attrs['ci_prob'])} interval", "P(improved)"):
        shown.add_column(heading, justify="right", no_wrap=True)
    benefits = [str(name) for name in table.index if str(name).startswith("net_benefit")]
    split = table.loc["brier_refinement", ["lower", "upper"]].any()  # else there is nothing to tell
    for name in (*(ORDER if split else WHOLE), *benefits):
        at = name.rpartition("@")[2]
        shown.add_row(LABELS.get(name, f"Rise in net benefit at {at}"), *_cells(name, table))
    return shown


def gains_by_curve(table: pd.DataFrame) -> Table:
    """The fall in Brier score of every population and site, for a terminal."""
    from bayescal.cli._terminal import new_table
    from bayescal.core.text import chance, percent, rounded

    shown = new_table()
    shown.add_column("Fall in Brier score")
    for heading in ("Cases", "Estimate", f"{percent(table.attrs['ci_prob'])} interval"):
        shown.add_column(heading, justify="right", no_wrap=True)
    shown.add_column("P(improved)", justify="right", no_wrap=True)
    for title, row in table.iterrows():
        cases = "" if math.isnan(row["cases"]) else f"{row['cases']:,.0f}"
        ends = float(row["lower"]), float(row["upper"])
        middle, low, high = rounded((float(row["estimate"]), *ends), *ends)
        better = chance(float(row["prob_improved"]))
        shown.add_row(str(title), cases, middle, f"{low} to {high}", better)
    return shown


def curves_record(table: pd.DataFrame) -> list[dict[str, float | str | None]]:
    """The gain of every population and site, for the record."""
    return [
        {"curve": str(title)}
        | {str(name): None if math.isnan(value) else float(value) for name, value in row.items()}
        for title, row in table.iterrows()
    ]


def _cells(name: str, table: pd.DataFrame) -> tuple[str, str, str]:
    """Estimate, interval and probability of a gain."""
    from bayescal.core.text import NO_CHANGE, chance, rounded, signed

    if name in table.attrs["unchanged"]:
        return NO_CHANGE, "", ""
    best, lower, upper = (float(table[key][name]) for key in ("estimate", "lower", "upper"))
    improved = chance(float(table["prob_improved"][name]))
    if not math.isfinite(best):
        ends = "" if lower == upper else f"{signed(lower)} to {signed(upper)}"
        return signed(best), ends, improved
    middle, low, high = rounded((best, lower, upper), lower, upper)
    return middle, f"{low} to {high}", improved


def improvement(table: pd.DataFrame) -> str:
    """How probable it is that either score improves, in a sentence."""
    from bayescal.core.text import chance

    if "brier" in table.attrs["unchanged"]:
        return "The predictions are the same before and after."
    brier, log = (float(table["prob_improved"][name]) for name in ("brier", "log_score"))
    told = f"The Brier score improves with probability {chance(brier)}"
    gain = float(table["estimate"]["log_score"])
    if math.isfinite(gain):
        return f"{told}, the log score with probability {chance(log)}."
    side = "after" if gain < 0 else "before"
    return f"{told}. The log score {side} is infinitely bad."


def gain_record(name: str, table: pd.DataFrame) -> dict[str, float | bool | str]:
    """A gain for the record; JSON has no infinity, so that a name says what null stands for."""
    row: dict[str, float | bool | str] = {
        str(key): float(column[name]) for key, column in table.items()
    }
    row["unchanged"] = name in table.attrs["unchanged"]
    gain = float(table["estimate"][name])
    if not math.isfinite(gain):
        row["infinite"] = "minus" if gain < 0 else "plus"
    return row


def _draw(path: Path, result: RecalibrationGain, level: float) -> None:
    from matplotlib.figure import Figure

    from bayescal.cli._write import save_figure
    from bayescal.plots import gain as draw_gain

    figure = Figure(figsize=(5, 3.4), layout="constrained")
    draw_gain(result, ax=figure.subplots(), ci_prob=level)
    save_figure(path, figure)
