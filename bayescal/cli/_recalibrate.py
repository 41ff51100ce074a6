"""`bayescal recalibrate`: fit a recalibration to one file and apply it to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayescal.cli import _options as option
from bayescal.cli._reversed import note_if_reversed
from bayescal.cli.reading import Reading, read_predictions, reads

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.cli._progress import Progress
    from bayescal.cli.reading import Predictions
    from bayescal.core.arrays import Floats
    from bayescal.data.files import Source
    from bayescal.model.priors import Prior
    from bayescal.recalibrate import Recalibrator

__all__ = ["BAYESIAN", "METHODS", "recalibrate", "recalibrator_of"]

BAYESIAN = "bayesian"
ROWS_AT_ONCE = 1 << 13
"""Rows that are recalibrated between two messages of progress."""
METHODS = (
    "bayesian (the averaged posterior), or a recalibrator by name: intercept, logistic, "
    "temperature, beta, isotonic, histogram, spline, ..."
)


@reads()
def recalibrate(
    reading: Reading,
    output: Annotated[Path, typer.Option(help="CSV file to write.")],
    apply_to: Annotated[
        Path | None,
        typer.Option(help="Recalibrate the scores of this file. By default those of FILE."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(help=METHODS),
    ] = BAYESIAN,
    prior: option.Prior = "neutral",
    ci_prob: option.CiProb = 0.95,
    seed: option.Seed = None,
) -> None:
    """Fit a recalibration to outcomes, and write recalibrated probabilities to a file."""
    import numpy as np

    from bayescal.cli._fitted_to import mark_of, write_mark
    from bayescal.cli._progress import Steps
    from bayescal.cli._terminal import note, say
    from bayescal.cli._terminal import output as terminal
    from bayescal.cli._write import check_csv, check_targets, write_table
    from bayescal.core.errors import as_level
    from bayescal.core.text import count, shortened
    from bayescal.data.reading import open_as, read_scores
    from bayescal.model.priors import as_prior

    file, level, chosen = reading.file, as_level(ci_prob), as_prior(prior)
    recalibrator = recalibrator_of(method, chosen, seed)
    check_targets(None, output, inputs=[file, apply_to])
    check_csv(output)
    check_targets(None, output, mark_of(output), inputs=[file, apply_to])
    predictions = read_predictions(reading)
    request, score = predictions.cases.request, str(predictions.columns.prob)
    target, scale = open_as(request, apply_to or file), request.as_written
    scores = read_scores(request, apply_to or file, score)
    known = ~np.isnan(scores)
    new = new_names(target, score, recalibrator)
    console = terminal()
    predictions.introduce(console, "Recalibration")
    from bayescal.gain import recommend

    steps = Steps(3)
    with steps.working("Comparing updates"):
        advice = recommend(predictions.data, prior=chosen, random_state=seed)
    with steps.working("Fitting"):
        recalibrator.fit(predictions.data)
    with steps.counting("Recalibrating", "rows") as progress:
        columns = new_columns(recalibrator, scores[known], level, progress)
    columns = [scale.from_probability(column) for column in columns]
    table = target.load(verbatim=True)
    for name, values in zip(new, columns, strict=True):
        table[name] = np.nan
        table.loc[known, name] = values
    write_table(output, table, **marks_of(target, table[score], output))
    say(console, str(advice))
    note_if_reversed(console, predictions.data)
    say(console, _written(method))
    mark = write_mark(output, file, predictions.data, method=method, columns=new)
    if apply_to is None:
        note(
            console,
            "these are the patients that the map was fitted to, on whom its gain is overestimated. "
            "Estimate the gain on other patients, or by cross-fitting:",
        )
        say(console, f"  {gain_command(predictions, method, chosen.name)}")
    if not known.all():
        say(
            console,
            f"{count(int((~known).sum()), 'row')} of {shortened(str(apply_to or file))} without a "
            "score: the new cells are empty there.",
        )
    written = "" if scale.name == "probabilities" else f" ({scale.name}, as read)"
    say(
        console,
        f"Wrote {output} with {len(table)} rows and the new columns {', '.join(new)}{written}, and "
        f"{mark.name} with a fingerprint of the patients that the map was fitted to.",
        "dim",
    )


def _written(method: str) -> str:
    """Which map the new column has, since it need not be the update that is recommended."""
    if method == BAYESIAN:
        return (
            "The new column has the posterior mean of the averaged curve, to which all updates "
            "contribute; it has no equation. --method intercept, logistic or beta writes one "
            "update."
        )
    return f"The new column has what --method {method} fitted, whatever is recommended."


def gain_command(predictions: Predictions, method: str, prior: str) -> str:
    """The command that cross-fits the same recalibration."""
    from bayescal.cli._terminal import as_command

    columns = predictions.columns
    words = ["gain", str(predictions.path), "--outcome", str(columns.outcome)]
    words += ["--prob", str(columns.prob)]
    weight = columns.sample_weight
    words += [] if weight is None else ["--sample-weight", weight]
    words += [] if predictions.event == "1" else ["--positive", predictions.event]
    words += predictions.reading.words
    words += [] if method == BAYESIAN else ["--method", method]
    words += [] if prior == "neutral" else ["--prior", prior]
    return as_command(["bayescal", *words, "--folds", "10"])


def marks_of(source: Source, score: pd.Series, output: Path) -> dict[str, str]:
    """The separator and the decimal mark to write: those of the source; tabs in a .tsv file.

    Parameters
    ----------
    score : pandas.Series
        The column of scores as it stands in the source.
    """
    from bayescal.data.files import SEPARATORS

    separator = "\t" if output.suffix.lower() == ".tsv" else source.separator
    if separator is None or separator not in SEPARATORS:
        separator = ","
    commas = separator != "," and score.astype("string").str.contains(",", regex=False).any()
    return {"separator": separator, "decimal": "," if commas else "."}


def new_names(source: Source, score: str, recalibrator: Recalibrator) -> list[str]:
    """The columns that are added to a file, none of which it may have already."""
    from bayescal.core.errors import InputError

    ends = ["recalibrated", *(("lower", "upper") if hasattr(recalibrator, "interval") else ())]
    names = [f"{score}_{end}" for end in ends]
    for name in names:
        if name in source.names:
            raise InputError(
                f"{source.path} already has a column {name!r}, which would be added. Rename or "
                "remove it first."
            )
    return names


def recalibrator_of(method: str, prior: Prior, seed: int | None) -> Recalibrator:
    """The recalibrator with this name, in small letters and without its ending."""
    from bayescal import recalibrate as room
    from bayescal.core.errors import check_choice

    names = {
        name.removesuffix("Recalibrator").lower(): name
        for name in room.__all__
        if name.endswith("Recalibrator") and name != "Recalibrator"
    }
    kind: type[Recalibrator] = getattr(room, names[check_choice(method, names, "method")])
    if method == BAYESIAN:
        return room.BayesianRecalibrator(prior=prior, random_state=seed)
    made = kind()
    return made.set_params(random_state=seed) if "random_state" in made.get_params() else made


def new_columns(
    recalibrator: Recalibrator, scores: Floats, level: float, progress: Progress
) -> list[Floats]:
    """Recalibrated probabilities, then the ends of their intervals where there are any.

    Parameters
    ----------
    recalibrator : Recalibrator
        Fitted.
    scores : ndarray of shape (n,)
    progress : callable
        Called with the number of scores that are done, and of all.

    Returns
    -------
    list of ndarray of shape (n,)
    """
    import numpy as np

    parts = []
    for start in range(0, scores.size, ROWS_AT_ONCE):
        block = scores[start : start + ROWS_AT_ONCE]
        columns = [recalibrator.transform(block)]
        if hasattr(recalibrator, "interval"):
            columns += recalibrator.interval(block, level)
        parts.append(np.stack(columns))
        progress(start + block.size, scores.size)
    return list(np.concatenate(parts, axis=1))
