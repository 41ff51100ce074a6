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
    time: option.Time = None,
    entry: option.Entry = None,
    horizon: option.Horizon = None,
    weight: option.Weight = None,
    weight_type: option.WeightType = None,
    site: option.Site = None,
    period: option.Period = None,
    factor: option.Factor = None,
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
    from bayescal.cli._analysis import Analysis
    from bayescal.cli._averaged import Averaged
    from bayescal.cli._predictions import read_predictions
    from bayescal.cli._roles import RoleColumns
    from bayescal.cli._terminal import output, say
    from bayescal.cli._times import TimeColumns, read_times
    from bayescal.cli._update import RunningTable
    from bayescal.cli.form import Form
    from bayescal.data.validate import check_choice
    from bayescal.model.curves import CURVES

    roles = RoleColumns.of(
        site=site, factor=factor, period=period, cluster=cluster, stratum=stratum,
        imputation=imputation, independent=independent,
    )  # fmt: skip
    groups = [name for name, given in roles.groups.items() if given]
    if groups:
        alone = {name: True for name in groups[1:]}
        alone |= {"--cluster": cluster is not None, "--imputation": imputation is not None}
        _refuse(alone, f"all cases as one, not with {groups[0]}")
    followed = TimeColumns.of(
        time=time, event=event, entry=entry, horizon=horizon,
        **roles.groups, **{"--cluster": cluster, "--imputation": imputation},
        **{"--outcome": outcome, "--update": update},
    )  # fmt: skip
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
            "--html": html,
        }
        _refuse(
            {name: value is not None for name, value in wanted.items()} | roles.groups,
            "the average: leave out --curve",
        )
        analysis = Analysis.of(curve=curve, engine=engine, p=p, **common)
    _refuse({"--force": force and update is None}, "--update, the file of a running table")
    form = Form.of(file, encoding=encoding, sheet=sheet, logit=logit, percent=percent)
    running = None if update is None else RunningTable.open(update)
    of_cases: dict[str, Any] = {
        "score": score,
        "weight": weight,
        "weight_type": weight_type,
        "drop_missing": drop_missing,
        "form": form,
    }
    if followed is not None:
        predictions = read_times(file, followed, **of_cases)
    else:
        predictions = read_predictions(file, outcome=outcome, event=event, roles=roles, **of_cases)
    data, source = predictions.data, predictions.source
    if running is not None:
        running = running.with_cases(predictions, force=force)
        data, source = running.cases, source | running.source
    console = output()
    predictions.introduce(console, "Calibration")
    if running is not None:
        say(console, running.introduce())
    if isinstance(analysis, Averaged) and running is None:
        analysis = analysis.with_raw(predictions.raw)
    analysis.run(data, console, source)
    if running is not None:
        running.write()
        say(console, f"Wrote {running.path}.", "dim")


def _refuse(options: dict[str, bool], goes_with: str) -> None:
    """Say no to an option that would have no effect."""
    from bayescal._base.errors import InputError

    for name, given in options.items():
        if given:
            raise InputError(f"{name} goes with {goes_with}.")
