"""`bayescal missing`: an assessment where some outcomes are not known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescal.cli import _options as option
from bayescal.cli.reading import Reading, checked, read_from, reads

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from bayescal.fitting.unknown import KnownFit

__all__ = ["missing"]

AT_RANDOM = (
    "Missing outcomes are left out of the likelihood, not of the population. This takes them as "
    "missing at random given the score: at each score, patients without an outcome are like those "
    "with one."
)
DELTAS = (-1.0, -0.5, 0.0, 0.5, 1.0)


@reads(hides=("drop_missing",))
def missing(
    reading: Reading,
    delta: Annotated[
        list[float] | None,
        typer.Option(
            help="By how much the log-odds of missing outcomes may differ from those of the known. "
            "Can be repeated; by default -1, -0.5, 0, 0.5 and 1."
        ),
    ] = None,
    prior: option.Prior = "neutral",
    close: option.Close = None,
    ci_prob: option.CiProb = 0.95,
    edge: option.Edge = None,
    seed: option.Seed = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the error by these differences to this file.")
    ] = None,
    json: option.Record = None,
) -> None:
    """Assess all patients where some outcomes are missing, and say what it would take to be wrong.

    The outcome is left empty where it is missing; every patient has a score.
    """
    from bayescal.assessment.performance import close_enough
    from bayescal.assessment.record import functionals_record
    from bayescal.cli._progress import working
    from bayescal.cli._terminal import output, say, wrote
    from bayescal.cli._write import check_targets, save_figure, write_record
    from bayescal.core.arrays import as_seed
    from bayescal.core.errors import InputError, as_level
    from bayescal.core.text import count, shortened
    from bayescal.data.cases import as_floats
    from bayescal.model.priors import as_prior

    level, chosen, seed = as_level(ci_prob), as_prior(prior), as_seed(seed)
    limit = None if close is None else as_level(close, "close")
    if reading["drop_missing"]:
        raise InputError("--drop-missing leaves out the patients that this is about. Leave it out.")
    deltas = as_floats(delta or DELTAS, "delta")
    check_targets(plot, json, inputs=[reading.file])
    outcome, scores, names, options = _read(reading)
    from bayescal.fitting import fit_known

    console = output(json)
    say(
        console,
        f"Calibration of {shortened(names[1])} as the probability that {shortened(names[0])} is "
        f"{shortened(reading.positive or '1')}, of all patients ({shortened(reading.file.name)})",
        "bold",
    )
    with working("Fitting the curve"):
        result = fit_known(outcome, scores, prior=chosen, edge=edge, random_state=seed, **options)
    enough = close_enough(result.posterior.data) if limit is None else limit
    cases, known = float(result.missing["cases"].sum()), float(result.missing["known"].sum())
    say(console, f"{count(known)} of {count(cases, 'outcome')} are known. {AT_RANDOM}")
    console.print(fifths_table(result.missing))
    console.print(populations_table(result, level))
    with working("Looking for what would change the verdict"):
        change = result.delta_to_change(enough, level)
        verdicts = result.verdicts(enough, deltas, level)
    say(console, change_in_words(change, enough), "bold")
    console.print(verdicts_table(verdicts, level, enough))
    say(console, f"Seed {seed} repeats these numbers.", "dim")
    if plot is not None:
        from matplotlib.figure import Figure

        from bayescal import plots

        with working("Drawing"):
            figure = Figure(figsize=(6.4, 3.6), layout="constrained")
            plots.missing_outcomes(result, enough, figure.subplots(), ci_prob=level)
            save_figure(plot, figure)
    if json is not None:
        told = {
            "file": str(reading.file),
            "assumption": AT_RANDOM,
            "missing_by_fifth": result.missing.to_dict("index"),
            "close": enough,
            "all": functionals_record(result.posterior.summary(level)),
            "known": functionals_record(result.known.summary(level)),
            "verdicts": verdicts.to_dict("index"),
            "delta_to_change": change.to_dict(),
            "ci_prob": level,
            "seed": seed,
        }
        write_record(json, told)
    for path in (plot, json):
        wrote(console, path)


def _read(reading: Reading) -> tuple[Any, Any, tuple[str, str], dict[str, Any]]:
    """Outcomes, None where one is missing, scores, the columns of both, and further arguments."""
    from dataclasses import replace

    import numpy as np
    import pandas as pd

    from bayescal.core.errors import InputError
    from bayescal.data.table import CalibrationData

    cases = read_from(reading, keeps_unknown=True)
    unknown = np.asarray(pd.isna(cases.outcome))
    if not unknown.any():
        raise InputError(
            f"no outcome is missing in {reading.file}: use bayescal assess {reading.file}."
        )
    if unknown.all():
        raise InputError(f"every outcome is missing in {reading.file}. One at least must be known.")
    options = cases.request.of_table | {"sample_weight": cases.weight}
    known = {
        name: values if np.ndim(values) == 0 else values[~unknown]
        for name, values in options.items()
    }
    with checked(replace(cases, at=cases.at[~unknown])):
        CalibrationData(cases.outcome[~unknown], cases.prob[~unknown], **known)
    outcome = np.where(unknown, None, cases.outcome.astype(object))
    return outcome, cases.prob, (str(cases.columns.outcome), str(cases.columns.prob)), options


def fifths_table(table: pd.DataFrame) -> Table:
    """How many outcomes are missing, by fifth of the score."""
    from bayescal.cli._terminal import new_table
    from bayescal.core.text import count

    shown = new_table()
    shown.add_column("Fifth of the score")
    for heading in ("Patients", "Known", "Missing", "Share missing"):
        shown.add_column(heading, justify="right")
    for row in table.to_dict("records"):
        numbers = (count(row[name]) for name in ("cases", "known", "missing"))
        share = f"{100 * row['share_missing']:.0f} %"
        shown.add_row(f"{row['lowest']:.3g} to {row['highest']:.3g}", *numbers, share)
    return shown


def populations_table(result: KnownFit, level: float) -> Table:
    """The main measures of all patients, and of those whose outcome is known."""
    from bayescal.assessment.words import with_interval
    from bayescal.cli._terminal import new_table
    from bayescal.core.text import capitalised, percent
    from bayescal.posterior.functionals import FUNCTIONALS, main_functionals

    shown = new_table()
    shown.add_column(f"Estimate and {percent(level)} interval")
    for heading in ("All patients", "Outcome known"):
        shown.add_column(heading, justify="right")
    tables = [post.summary(level) for post in (result.posterior, result.known)]
    for name in main_functionals():
        if all(name in each.index for each in tables):
            apart = FUNCTIONALS[name].apart
            cells = [with_interval(each.loc[name].to_dict(), apart=apart) for each in tables]
            shown.add_row(capitalised(FUNCTIONALS[name].short), *cells)
    return shown


def change_in_words(change: pd.Series, close: float) -> str:
    """The verdict on all patients, and what would change it."""
    told = f"All patients, limit {close:g}: {change['verdict']}."
    ends = [f"{change[end]:+.2f}" for end in ("lower", "upper") if abs(change[end]) != float("inf")]
    if not ends:
        return f"{told} No difference of the missing outcomes up to 3 in log-odds changes this."
    return (
        f"{told} This changes if the log-odds of missing outcomes differ from those of the known "
        f"by {' or '.join(ends)} (odds {change['odds_ratio']:.2f} times as high)."
    )


def verdicts_table(table: pd.DataFrame, level: float, close: float) -> Table:
    """The error of all patients by delta."""
    from bayescal.assessment.words import with_interval
    from bayescal.cli._terminal import new_table
    from bayescal.core.text import chance, percent

    shown = new_table()
    shown.add_column("Delta")
    for heading in (f"TCE ({percent(level)} interval)", f"P(TCE < {close:g})", "Verdict"):
        shown.add_column(heading, justify="right")
    for delta, row in zip(table.index, table.to_dict("records"), strict=True):
        verdict = str(row["verdict"])
        shown.add_row(
            f"{delta:+g}" if delta else "0", with_interval(row), chance(row["prob_close"]), verdict
        )
    return shown
