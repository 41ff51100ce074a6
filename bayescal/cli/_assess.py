"""`bayescal assess`: how well calibrated are the predictions in this file?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bayescal.cli import _options as option

__all__ = ["assess"]

AVERAGED = "average"


def assess(
    file: option.File,
    outcome: option.Outcome = None,
    score: option.Score = None,
    event: option.Event = None,
    weight: option.Weight = None,
    weight_type: option.WeightType = None,
    group: option.Group = None,
    imputation: option.Imputation = None,
    cluster: option.Cluster = None,
    stratum: option.Stratum = None,
    independent: option.Independent = False,
    drop_missing: option.DropMissing = False,
    logit: option.Logit = False,
    percent: option.Percent = False,
    encoding: option.Encoding = None,
    sheet: option.Sheet = None,
    curve: Annotated[
        str,
        typer.Option(
            help="average: the full assessment, averaged over families of curves. Or one family: "
            "beta, spline, logistic, temperature, intercept or identity."
        ),
    ] = AVERAGED,
    prior: option.Prior = "neutral",
    close: option.Close = None,
    threshold: option.Threshold = None,
    p: Annotated[
        float,
        typer.Option(
            "--p", help="Norm of the true calibration error of one family: 1, 2, ... or inf."
        ),
    ] = 1,
    ci_prob: option.CiProb = 0.95,
    edge: option.Edge = None,
    engine: Annotated[
        str, typer.Option(help="Engine for one family: auto, importance or nuts.")
    ] = "auto",
    seed: option.Seed = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the reliability diagram to this file.")
    ] = None,
    json: option.Record = None,
    html: option.Html = None,
    update: Annotated[
        Path | None,
        typer.Option(
            help="Keep a table of all cases in this file: add the new cases, assess all cases, and "
            "write the table at the end. The file is created if it does not exist."
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            metavar=" ",
            help="With --update: add the cases even if the table seems to contain them already.",
        ),
    ] = False,
) -> None:
    """Assess the calibration of the predictions in a file: one row per case."""
    from bayescal._base.errors import InputError
    from bayescal.cli._analysis import Analysis
    from bayescal.cli._averaged import Averaged
    from bayescal.cli._clusters import ClusterColumns
    from bayescal.cli._imputed import ImputedCases, read_imputed
    from bayescal.cli._predictions import read_predictions
    from bayescal.cli._terminal import output, say
    from bayescal.cli._update import RunningTable
    from bayescal.cli.form import Form
    from bayescal.data.validate import check_choice
    from bayescal.model.curves import CURVES

    check_choice(curve, (AVERAGED, *CURVES), "curve")
    analysis: Analysis | Averaged
    common: dict[str, Any] = {
        "prior": prior,
        "ci_prob": ci_prob,
        "seed": seed,
        "edge": edge,
        "plot": plot,
        "record": json,
        "file": file,
        "table": update,
    }
    if curve == AVERAGED:
        _refuse({"--p": p != 1, "--engine": engine != "auto"}, "one family: add --curve beta")
        analysis = Averaged.of(close=close, thresholds=threshold or (), html=html, **common)
    else:
        wanted = {
            "--close": close,
            "--threshold": threshold or None,
            "--group": group or None,
            "--html": html,
        }
        _refuse(
            {name: value is not None for name, value in wanted.items()},
            "the average: leave out --curve",
        )
        analysis = Analysis.of(curve=curve, engine=engine, p=p, **common)
    _refuse({"--force": force and update is None}, "--update, the file of a running table")
    if update is not None and len(group or ()) > 1:
        raise InputError(
            "--update keeps a table with one --group; several factors go with files that are read "
            "as a whole. Leave out --update, or all but one --group."
        )
    form = Form.of(file, encoding=encoding, sheet=sheet, logit=logit, percent=percent)
    running = None if update is None else RunningTable.open(update)
    imputed: ImputedCases | None = None
    columns: dict[str, Any] = {
        "outcome": outcome,
        "score": score,
        "event": event,
        "weight": weight,
        "weight_type": weight_type,
        "form": form,
    }
    clusters = {"--cluster": cluster is not None, "--stratum": stratum is not None}
    if update is not None:
        _refuse(clusters, "files that are read as a whole, not with --update")
    if group:
        _refuse(clusters, "all cases as one, not with --group: that is for units of interest")
    if imputation is None:
        clustered = ClusterColumns(cluster, stratum, independent)
        predictions = read_predictions(
            file, drop_missing=drop_missing, group=group, clustered=clustered, **columns
        )
    else:
        _refuse(clusters, "one row per case, not with --imputation")
        alone = {"--group": bool(group), "--update": update is not None}
        _refuse(alone | {"--drop-missing": drop_missing}, "one row per case, not with --imputation")
        predictions, imputed = read_imputed(file, imputation, **columns)
    data, source = predictions.data, predictions.source
    if running is not None:
        running = running.with_cases(predictions, force=force)
        data, source = running.cases, source | running.source
    console = output()
    predictions.introduce(console, "Calibration")
    if running is not None:
        say(console, running.introduce())
    if imputed is not None:
        imputed.introduce(console)
        source = source | imputed.source
    factors = predictions.columns.factors
    if isinstance(analysis, Averaged):
        analysis = analysis.with_factors(factors)
        if running is None:
            analysis = analysis.with_raw(predictions.raw)
    analysis.run(data, console, source, imputed=imputed, clusters=predictions.clusters)
    if running is not None:
        running.write()
        say(console, f"Wrote {running.path}.", "dim")


def _refuse(options: dict[str, bool], goes_with: str) -> None:
    """Say no to an option that would have no effect."""
    from bayescal._base.errors import InputError

    for name, given in options.items():
        if given:
            raise InputError(f"{name} goes with {goes_with}.")
