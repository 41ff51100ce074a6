"""`bayescal recalibrate`: fit a recalibration to one file and apply it to another."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayescal.cli import _options as option

if TYPE_CHECKING:
    from bayescal._base.arrays import Floats
    from bayescal.cli._predictions import Predictions
    from bayescal.cli._read import Source
    from bayescal.model.priors import Prior
    from bayescal.recalibrate import Recalibrator

__all__ = ["BAYESIAN", "METHODS", "recalibrate", "recalibrator_of"]

BAYESIAN = "bayesian"
METHODS = (
    "bayesian (the averaged posterior), or a recalibrator by name: intercept, logistic, "
    "temperature, beta, isotonic, histogram, spline, ..."
)


def recalibrate(
    file: option.File,
    output: Annotated[Path, typer.Option(help="CSV file to write.")],
    apply_to: Annotated[
        Path | None,
        typer.Option(help="Recalibrate the scores of this file. By default those of FILE."),
    ] = None,
    outcome: option.Outcome = None,
    score: option.Score = None,
    event: option.Event = None,
    weight: option.Weight = None,
    weight_type: option.WeightType = None,
    drop_missing: option.DropMissing = False,
    encoding: option.Encoding = None,
    method: Annotated[
        str,
        typer.Option(help=METHODS),
    ] = BAYESIAN,
    prior: option.Prior = "neutral",
    ci_prob: option.CiProb = 0.95,
    seed: option.Seed = None,
) -> None:
    """Fit a recalibration to outcomes, and write recalibrated probabilities to a file."""
    from bayescal.cli._fitted_to import mark_of, write_mark
    from bayescal.cli._predictions import read_predictions
    from bayescal.cli._read import open_source
    from bayescal.cli._terminal import note, say, working
    from bayescal.cli._terminal import output as terminal
    from bayescal.cli._write import check_targets, write_table
    from bayescal.data.validate import as_level
    from bayescal.model.priors import as_prior

    level, chosen = as_level(ci_prob), as_prior(prior)
    recalibrator = recalibrator_of(method, chosen, seed)
    check_targets(None, output, inputs=[file, apply_to])
    check_targets(None, output, mark_of(output), inputs=[file, apply_to])
    target = open_source(apply_to or file, encoding) if file.is_dir() else None
    predictions = read_predictions(
        file,
        outcome=outcome,
        score=score,
        event=event,
        weight=weight,
        weight_type=weight_type,
        drop_missing=drop_missing,
        encoding=encoding,
    )
    target = target or open_source(apply_to or file, encoding)
    scores = scores_of(target, predictions.columns.score)
    new = new_names(target, predictions.columns.score, recalibrator)
    console = terminal()
    predictions.introduce(console, "Recalibration")
    from bayescal.gain import recommend

    with working("Fitting ..."):
        advice = recommend(predictions.data, prior=chosen, random_state=seed)
        columns = new_columns(predictions, scores, recalibrator, level)
    table = target.load(verbatim=True)
    for name, values in zip(new, columns, strict=True):
        table[name] = values
    write_table(output, table)
    say(console, str(advice))
    mark = write_mark(output, file, predictions.data, method=method, columns=new)
    if apply_to is None:
        note(
            console,
            "these are the patients that the map was fitted to, on whom its gain is overestimated. "
            "Estimate the gain on other patients, or by cross-fitting:",
        )
        say(console, f"  {gain_command(predictions, method, chosen.name, encoding)}")
    say(
        console,
        f"Wrote {output} with {len(table)} rows and the new columns {', '.join(new)}, and "
        f"{mark.name} with a fingerprint of the patients that the map was fitted to.",
        "dim",
    )


def gain_command(
    predictions: Predictions, method: str, prior: str, encoding: str | None = None
) -> str:
    """The command that cross-fits the same recalibration."""
    columns = predictions.columns
    words = ["gain", str(predictions.path), "--outcome", columns.outcome, "--score", columns.score]
    words += [] if columns.weight is None else ["--weight", columns.weight]
    words += [] if predictions.event == "1" else ["--event", predictions.event]
    words += [] if encoding is None else ["--encoding", encoding]
    words += [] if method == BAYESIAN else ["--method", method]
    words += [] if prior == "neutral" else ["--prior", prior]
    return f"bayescal {shlex.join([*words, '--folds', '10'])}"


def scores_of(source: Source, name: str) -> Floats:
    """The scores in a column of a file."""
    from bayescal._base.errors import InputError
    from bayescal.cli._cases import as_numbers
    from bayescal.data.validate import as_scores

    if name not in source.names:
        raise InputError(
            f"{source.path} has no column {name!r}, which holds the scores of the other file."
        )
    if source.names.count(name) > 1:
        raise InputError(
            f"{source.names.count(name)} columns of {source.path} are called {name!r}. Rename all "
            "but one."
        )
    scores = as_numbers(source.load()[name], name, source)
    return as_scores(scores, f"column {name!r} of {source.path}")


def new_names(source: Source, score: str, recalibrator: Recalibrator) -> list[str]:
    """The columns that are added to a file, none of which it may have already."""
    from bayescal._base.errors import InputError

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
    from bayescal.data.validate import check_choice

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
    predictions: Predictions, scores: Floats, recalibrator: Recalibrator, level: float
) -> list[Floats]:
    """Recalibrated probabilities, then the ends of their intervals where there are any."""
    recalibrator.fit(predictions.data)
    columns = [recalibrator.transform(scores)]
    if hasattr(recalibrator, "interval"):
        columns += recalibrator.interval(scores, level)
    return columns
