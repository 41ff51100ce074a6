"""`bayescal gain`: the gain of a recalibration."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayescal.cli import _options as option
from bayescal.cli._recalibrate import BAYESIAN, METHODS, recalibrator_of

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from bayescal._base.arrays import Floats
    from bayescal.cli._pairs import Pairs
    from bayescal.gain import RecalibrationGain
    from bayescal.model.priors import Prior

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


def gain(
    file: option.RowFile,
    before: Annotated[str | None, typer.Option(help="Column with the probability before.")] = None,
    after: Annotated[str | None, typer.Option(help="Column with the probability after.")] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            help="Instead of --before and --after: recalibrate --score by cross-fitting with this "
            "number of folds."
        ),
    ] = None,
    score: option.Score = None,
    method: Annotated[str | None, typer.Option(help=f"With --folds: {METHODS}")] = None,
    outcome: option.Outcome = None,
    event: option.Event = None,
    weight: option.Weight = None,
    weight_type: option.WeightType = None,
    cluster: option.Cluster = None,
    stratum: option.Stratum = None,
    drop_missing: option.DropMissing = False,
    logit: option.Logit = False,
    percent: option.Percent = False,
    encoding: option.Encoding = None,
    sheet: option.Sheet = None,
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

    from bayescal._base.arrays import as_seed
    from bayescal._base.errors import InputError
    from bayescal._base.text import count
    from bayescal.cli._fitted_to import find_mark
    from bayescal.cli._pairs import read_pairs
    from bayescal.cli._progress import working
    from bayescal.cli._roles import RoleColumns
    from bayescal.cli._terminal import note, output, say
    from bayescal.cli._write import check_targets, write_record
    from bayescal.cli.form import Form
    from bayescal.data.validate import as_count, as_level
    from bayescal.model.priors import as_prior

    level = as_level(ci_prob)
    check_targets(plot, json, inputs=[file])
    _check_columns(before, after, folds, score, method, in_sample)
    chosen = as_prior(prior)
    thresholds = tuple(as_level(risk, "threshold") for risk in threshold or ())
    roles = RoleColumns.of(cluster=cluster, stratum=stratum)
    if folds is not None:
        as_count(folds, "folds", 2)
        if cluster is not None:
            raise InputError(
                "--cluster goes with --before and --after: --folds would put cases of one cluster "
                "in several folds."
            )
    form = Form.of(file, encoding=encoding, sheet=sheet, logit=logit, percent=percent)
    pairs = read_pairs(
        file,
        outcome=outcome,
        before=before if folds is None else score,
        after=after,
        event=event,
        weight=weight,
        weight_type=weight_type,
        drop_missing=drop_missing,
        form=form,
        roles=roles,
    )
    from bayescal.data.data import CalibrationData
    from bayescal.gain import recalibration_gain

    if folds is not None:
        recalibrator_of(method or BAYESIAN, chosen, seed)  # refuses an unknown name
    console = output()
    title = f"{after} over {pairs.before}"
    mark = None
    if pairs.after is None:
        title = f"{method or BAYESIAN} recalibration of {pairs.before}"
    else:
        cases = CalibrationData(
            pairs.cases.outcome,
            pairs.cases.score,
            pairs.cases.weight,
            weight_type=pairs.cases.weight_type,
        )
        mark = find_mark(file.parent, cases, str(after))
    say(
        console,
        f"Gain of {title} as the probability that {pairs.outcome} is {pairs.cases.event} "
        f"({file.name})",
        "bold",
    )
    seed = as_seed(seed)
    predicted = _cross_fitted(pairs, folds, method, chosen, seed)
    with working("Computing the gain"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "after was fitted to these patients")
        result = recalibration_gain(
            pairs.cases.outcome,
            pairs.cases.score,
            predicted,
            thresholds=thresholds,
            in_sample=in_sample or mark is not None,
            prior=chosen,
            sample_weight=pairs.cases.weight,
            weight_type=pairs.cases.weight_type,
            cluster=pairs.cases.roles.get("cluster"),
            strata=pairs.cases.roles.get("stratum"),
            random_state=seed,
        )
        table = result.summary(level, parts=True)
    if pairs.dropped:
        say(console, f"{pairs.dropped} of {pairs.rows} rows left out: a value is missing.")
    else_say = "" if folds is not None or result.in_sample else "; if not: --in-sample"
    say(console, f"{count(result.n, 'case')}; {result.evidence}{else_say}.")
    if pairs.cases.weight is not None:
        say(console, pairs.cases.about_weights())
    if mark is not None:
        say(console, f"{mark.name} says that the map was fitted to these patients.")
    if result.in_sample:
        note(console, "a gain on the patients that the map was fitted to is overestimated.")
    console.print(gain_table(table))
    say(console, improvement(table), "bold")
    for line in result.notes:
        note(console, line)
    exact = result.prob_calibrated
    say(
        console,
        f"P(exactly calibrated): {exact['before']:.2f} before, {exact['after']:.2f} after.",
    )
    how = (
        "one curve, since after is a function of before"
        if result.route == "curve"
        else "paired Bayesian bootstrap, since after is not a function of before"
        if cluster is None
        else f"paired Bayesian bootstrap of the clusters of {cluster}"
    )
    say(console, f"Method: {how}. Seed {result.seed} repeats these numbers.", "dim")
    if plot is not None:
        _draw(plot, result, level)
        say(console, f"Wrote {plot}.", "dim")
    if json is not None:
        numbers = {
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
        if mark is not None:
            numbers["mark"] = str(mark)
        if folds is not None:
            numbers |= {"folds": folds, "method": method or BAYESIAN}
        source = {"file": str(file), "before": pairs.before, "after": after}
        source |= {"outcome": pairs.outcome} | dict(roles.told) | form.source
        write_record(json, numbers | source | {"rows_dropped": pairs.dropped})
        say(console, f"Wrote {json}.", "dim")


def _check_columns(
    before: str | None,
    after: str | None,
    folds: int | None,
    score: str | None,
    method: str | None,
    in_sample: bool,
) -> None:
    """Check the options: two columns of scores, or one column and a number of folds."""
    from bayescal._base.errors import InputError

    if folds is None and (before is None or after is None):
        raise InputError(
            "name two columns of predictions with --before and --after, or give --folds to "
            "cross-fit a recalibration of the column --score."
        )
    if folds is None and (score is not None or method is not None):
        raise InputError("--score and --method need --folds, which is missing.")
    if folds is not None and (before is not None or after is not None or in_sample):
        raise InputError(
            "--folds cross-fits a recalibration of the column --score, so --before, --after and "
            "--in-sample cannot be used with it."
        )


def _cross_fitted(
    pairs: Pairs, folds: int | None, method: str | None, prior: Prior, seed: int
) -> Floats:
    """The predictions after: a column of the file, or repeats of a cross-fit."""
    from bayescal.cli._progress import counting
    from bayescal.gain import cross_fit

    if pairs.after is not None:
        return pairs.after
    with counting("Fitting on all folds but one", "fits") as progress:
        return cross_fit(
            pairs.cases.outcome,
            pairs.cases.score,
            recalibrator_of(method or BAYESIAN, prior, seed),
            n_folds=folds or 0,
            sample_weight=pairs.cases.weight,
            random_state=seed,
            progress=progress,
        )


def gain_table(table: pd.DataFrame) -> Table:
    """The gains for a terminal, per patient and positive where recalibration helped."""
    from bayescal._base.text import percent
    from bayescal.cli._terminal import new_table

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


def _cells(name: str, table: pd.DataFrame) -> tuple[str, str, str]:
    """Estimate, interval and probability of a gain."""
    from bayescal._base.text import NO_CHANGE, rounded, signed

    if name in table.attrs["unchanged"]:
        return NO_CHANGE, "", ""
    best, lower, upper = (float(table[key][name]) for key in ("estimate", "lower", "upper"))
    improved = f"{float(table['prob_improved'][name]):.2f}"
    if not math.isfinite(best):
        ends = "" if lower == upper else f"{signed(lower)} to {signed(upper)}"
        return signed(best), ends, improved
    middle, low, high = rounded((best, lower, upper), lower, upper)
    return middle, f"{low} to {high}", improved


def improvement(table: pd.DataFrame) -> str:
    """How probable it is that either score improves, in a sentence."""
    if "brier" in table.attrs["unchanged"]:
        return "The predictions are the same before and after."
    brier, log = (float(table["prob_improved"][name]) for name in ("brier", "log_score"))
    told = f"The Brier score improves with probability {brier:.2f}"
    gain = float(table["estimate"]["log_score"])
    if math.isfinite(gain):
        return f"{told}, the log score with probability {log:.2f}."
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
