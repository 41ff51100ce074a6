"""`bayescal predict`: the actual risk of one patient, here, elsewhere and later."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescal.cli import _options as option
from bayescal.cli.reading import GROUPS, OF_TIMES, Reading, Times, read_predictions, reads

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from bayescal.core.arrays import Floats
    from bayescal.data.columns import Scale

__all__ = ["predict"]


@reads(*GROUPS, *OF_TIMES)
def predict(
    reading: Reading,
    risk: Annotated[
        list[float] | None,
        typer.Option(
            help="The model's prediction of a patient, on the scale of the column of scores: a "
            "probability, or a percentage with --percent, log-odds with --logit. Can be repeated."
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(help="With --site or one --subgroup: where the patients are, such as H3."),
    ] = None,
    threshold: option.Threshold = None,
    prior: option.Prior = "neutral",
    ci_prob: option.CiProb = 0.95,
    seed: option.Seed = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the risk of the one patient to this file.")
    ] = None,
    json: option.Record = None,
) -> None:
    """Give the actual risk of single patients, with an interval.

    FILE has patients with outcomes, or with --time of which some left before the --horizon. The
    risk is also that in another hospital (with --site), or now and in the next period (with
    --period).
    """
    from bayescal.cli._few import note_if_few
    from bayescal.cli._progress import working
    from bayescal.cli._table import describe_cases
    from bayescal.cli._terminal import output, say, wrote
    from bayescal.cli._write import check_targets, write_record
    from bayescal.core.arrays import as_seed
    from bayescal.core.errors import InputError, as_level
    from bayescal.model.priors import as_prior

    level, chosen, seed = as_level(ci_prob), as_prior(prior), as_seed(seed)
    if not risk:
        raise InputError("--risk is needed: the model's probability of the patient, such as 0.23.")
    if plot is not None and (len(risk) > 1 or len(threshold or ()) > 1):
        raise InputError("--plot draws one patient and one threshold. Give one --risk for it.")
    if len(reading.roles.keys() & {"site", "period"}) + bool(reading.subgroups) > 1:
        raise InputError("--site, --period and --subgroup each say whose risk it is. Take one.")
    if len(reading.subgroups) > 1:
        raise InputError("--subgroup was given twice, and patients are of one. Take one of them.")
    if at is not None and "site" not in reading.roles and not reading.subgroups:
        raise InputError("--at goes with --site or --subgroup, whose level it is.")
    scores = scores_of(risk, reading.scale)
    thresholds = tuple(as_level(each, "threshold") for each in threshold or ())
    followed = Times.of(reading)
    check_targets(plot, json, inputs=[reading.file])
    predictions = read_predictions(reading, followed)
    data = predictions.data
    from bayescal.fitting import fit

    console = output(json)
    predictions.introduce(console, "Actual risk")
    say(console, describe_cases(data))
    with working("Fitting the curve"):
        curve = "logistic" if data.groups else "average"
        post: Any = fit(data, curve=curve, prior=chosen, random_state=seed)
        if data.groups:
            table = post.risks(scores, thresholds, level, at=at)
        else:
            table = post.risks(scores, thresholds, level)
            table = table.set_index([["these patients"] * len(table), table.index])
    console.print(risks_table(table, level))
    say(console, MEANING)
    note_if_few(console, post)
    if thresholds:
        say(console, OF_DECISION)
    if plot is not None:
        with working("Drawing"):
            _draw(plot, post, float(scores[0]), thresholds, at, level)
    say(console, f"Seed {seed} repeats these numbers.", "dim")
    if json is not None:
        rows = [
            {"curve": str(curve), **row}
            for (curve, _), row in zip(table.index, table.to_dict("records"), strict=True)
        ]
        told = {"risks": rows, "ci_prob": level, "seed": seed, "source": predictions.source}
        write_record(json, told)
    for path in (plot, json):
        wrote(console, path)


MEANING = (
    "The interval is of the share with the event among patients with this score. It holds if the "
    "curve is unchanged. A model in use changes outcomes where patients are treated because of "
    "their score."
)
OF_DECISION = (
    "P(other decision) is the probability that the actual risk is on the other side of the "
    "threshold than the score."
)


def scores_of(risks: list[float], scale: Scale) -> Floats:
    """The probabilities of patients whose predictions were typed on the scale of a file."""
    import numpy as np

    from bayescal.core.errors import InputError
    from bayescal.data.cases import OVERSHOOT

    rounding = OVERSHOOT * (scale.highest - scale.lowest)
    for risk in risks:
        if not scale.lowest - rounding <= risk <= scale.highest + rounding:
            other = (
                ""
                if scale.name != "probabilities"
                else (" Percentages are read with --percent, in the file and here.")
            )
            raise InputError(
                f"--risk {risk:g} is outside [{scale.lowest:g}, {scale.highest:g}]; scores are "
                f"{scale.name}.{other}"
            )
    return scale.to_probability(np.clip(np.asarray(risks, float), scale.lowest, scale.highest))


def risks_table(table: pd.DataFrame, level: float) -> Table:
    """The risks for a terminal."""
    from bayescal.cli._terminal import new_table
    from bayescal.core.text import chance, percent, rounded, shortened

    shown = new_table()
    shown.add_column("Whose curve")
    flips = [str(name) for name in table.columns if str(name).startswith("flips@")]
    heads = [f"P(other decision at {name.partition('@')[2]})" for name in flips]
    for heading in ("Score", "Risk", f"{percent(level)} interval", *heads):
        shown.add_column(heading, justify="right")
    for (curve, _), row in zip(table.index, table.to_dict("records"), strict=True):
        ends = row["lower"], row["upper"]
        middle, low, high = rounded((row["risk"], *ends), *ends)
        decisions = [chance(row[name]) for name in flips]
        name = shortened(str(curve))
        shown.add_row(name, f"{row['score']:g}", middle, f"{low} to {high}", *decisions)
    return shown


def _draw(
    path: Path,
    post: Any,
    risk: float,
    thresholds: tuple[float, ...],
    at: str | None,
    level: float,
) -> None:
    """Draw the risk of one patient to a file, without a window."""
    from matplotlib.figure import Figure

    from bayescal import plots
    from bayescal.cli._write import save_figure

    figure = Figure(figsize=(6.4, 2.6), layout="constrained")
    threshold = thresholds[0] if thresholds else None
    plots.risks(post, risk, figure.subplots(), threshold=threshold, at=at, ci_prob=level)
    save_figure(path, figure)
