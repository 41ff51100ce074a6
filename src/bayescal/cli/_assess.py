"""`bayescal assess`: how well calibrated are the predictions in this file?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["assess"]


def assess(
    file: Annotated[
        Path, typer.Argument(help="Predictions: CSV (also .tsv, .txt, .gz) or Parquet.")
    ],
    outcome: Annotated[
        str | None, typer.Option(help="Column with the outcome. Guessed if only one fits.")
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(help="Column with the predicted probability. Guessed if only one fits."),
    ] = None,
    event: Annotated[
        str | None,
        typer.Option(help="The outcome that was predicted, when outcomes are not 0 and 1."),
    ] = None,
    weight: Annotated[
        str | None, typer.Option(help="Column with the number of cases each row stands for.")
    ] = None,
    drop_missing: Annotated[
        bool, typer.Option("--drop-missing", help="Leave out rows with a missing value.")
    ] = False,
    curve: Annotated[
        str,
        typer.Option(help="Family of curves: beta, logistic, temperature, intercept or identity."),
    ] = "beta",
    prior: Annotated[
        str, typer.Option(help="Prior on the curve: neutral or clinical.")
    ] = "neutral",
    p: Annotated[
        float, typer.Option("--p", help="Norm of the true calibration error: 1, 2, ... or inf.")
    ] = 1,
    ci_prob: Annotated[float, typer.Option(help="Probability of the credible intervals.")] = 0.95,
    edge: Annotated[
        float | None, typer.Option(help="How far inside scores of exactly 0 and 1 are read.")
    ] = None,
    engine: Annotated[str, typer.Option(help="Engine: auto, importance or nuts.")] = "auto",
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed. Drawn and shown if not given.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the reliability diagram to this file.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write all numbers to this file.")] = None,
) -> None:
    """Assess the calibration of the predictions in a file: one row per case."""
    from bayescal.cli._analysis import Analysis
    from bayescal.cli._cases import read_cases
    from bayescal.cli._columns import choose_columns
    from bayescal.cli._read import open_source
    from bayescal.cli._terminal import output, say, working
    from bayescal.data import CalibrationData

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
    with working(f"Reading {file} ..."):
        source = open_source(file)
        frame = source.load()
        columns = choose_columns(frame, outcome, score, weight)
        cases = read_cases(frame, columns, source, event=event, drop_missing=drop_missing)
        data = CalibrationData(cases.outcome, cases.score, cases.weight)
    console = output()
    say(
        console,
        f"Calibration of {columns.score} as the probability that {columns.outcome} is "
        f"{cases.event} ({file.name})",
        "bold",
    )
    if cases.dropped:
        say(console, f"{cases.dropped} of {len(frame)} rows left out: a value is missing.")
    analysis.run(
        data,
        console,
        {
            "file": str(file),
            "event": cases.event,
            "rows_dropped": cases.dropped,
            **columns._asdict(),
        },
    )
