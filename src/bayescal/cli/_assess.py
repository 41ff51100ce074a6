"""`bayescal assess`: how well calibrated are the predictions in this file?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayescal.cli import _options as option

__all__ = ["assess"]


def assess(
    file: option.File,
    outcome: option.Outcome = None,
    score: option.Score = None,
    event: option.Event = None,
    weight: option.Weight = None,
    drop_missing: option.DropMissing = False,
    curve: Annotated[
        str,
        typer.Option(help="Family of curves: beta, logistic, temperature, intercept or identity."),
    ] = "beta",
    prior: option.Prior = "neutral",
    p: Annotated[
        float, typer.Option("--p", help="Norm of the true calibration error: 1, 2, ... or inf.")
    ] = 1,
    ci_prob: option.CiProb = 0.95,
    edge: option.Edge = None,
    engine: Annotated[str, typer.Option(help="Engine: auto, importance or nuts.")] = "auto",
    seed: option.Seed = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the reliability diagram to this file.")
    ] = None,
    json: option.Record = None,
) -> None:
    """Assess the calibration of the predictions in a file: one row per case."""
    from bayescal.cli._analysis import Analysis
    from bayescal.cli._predictions import read_predictions
    from bayescal.cli._terminal import output

    analysis = Analysis.of(
        curve=curve,
        prior=prior,
        engine=engine,
        p=p,
        ci_prob=ci_prob,
        seed=seed,
        edge=edge,
        plot=plot,
        record=json,
    )
    found = read_predictions(
        file, outcome=outcome, score=score, event=event, weight=weight, drop_missing=drop_missing
    )
    console = output()
    found.introduce(console, "Calibration")
    analysis.run(found.data, console, found.source)
