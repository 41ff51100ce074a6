"""`bayescal assess`: how well calibrated are the predictions in this file?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bayescal.cli import _options as option
from bayescal.cli.reading import GROUPS, OF_TIMES, Reading, Times, read_predictions, reads

__all__ = ["assess"]

AVERAGED = "average"


@reads(*GROUPS, *OF_TIMES)
def assess(
    reading: Reading,
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
    word: option.Word = None,
    update: Annotated[
        Path | None,
        typer.Option(
            help="Keep a table of all cases in this file: add the new cases, assess all cases, and "
            "write the table at the end. The file is created if it does not exist."
        ),
    ] = None,
    force: option.Force = False,
) -> None:
    """Assess the calibration of the predictions in a file: one row per case."""
    from bayescal.cli._analysis import Analysis
    from bayescal.cli._averaged import Averaged
    from bayescal.cli._terminal import output, say
    from bayescal.cli._update import RunningTable
    from bayescal.core.errors import check_choice
    from bayescal.model.curves import CURVES

    groups = [name for name, given in reading.groups.items() if given]
    if groups:
        _refuse(dict.fromkeys(groups[1:], True), f"all cases as one, not with {groups[0]}")
    followed = Times.of(reading, update=update, takes_several=True)
    check_choice(curve, (AVERAGED, *CURVES), "curve")
    analysis: Analysis | Averaged
    common: dict[str, Any] = {
        "prior": prior,
        "ci_prob": ci_prob,
        "seed": seed,
        "edge": edge,
        "plot": plot,
        "record": json,
        "file": reading.file,
        "table": update,
    }
    if curve == AVERAGED:
        _refuse({"--p": p != 1, "--engine": engine != "auto"}, "one family: add --curve beta")
        analysis = Averaged(close=close, thresholds=threshold or (), html=html, word=word, **common)
    else:
        averaged = {
            "--close": close,
            "--threshold": threshold or None,
            "--html": html,
            "--word": word,
        }
        given = {name: value is not None for name, value in averaged.items()}
        _refuse(given | reading.groups, "the average: leave out --curve")
        analysis = Analysis(curve=curve, engine=engine, p=p, **common)
    if followed is not None and len(followed.horizons) > 1:
        from bayescal.cli._horizons import assess_horizons

        _refuse({f"--curve {curve}": curve != AVERAGED}, "one horizon")
        options: dict[str, Any] = {"close": close, "ci_prob": ci_prob}
        options |= {
            "prior": prior,
            "random_state": seed,
            "edge": edge,
            "thresholds": threshold or (),
        }
        assess_horizons(reading, followed, options, plot=plot, json=json, html=html, word=word)
        return
    _refuse({"--force": force and update is None}, "--update, the file of a running table")
    running = None if update is None else RunningTable.open(update)
    predictions = read_predictions(reading, followed)
    data, source = predictions.data, predictions.source
    if running is not None:
        running = running.with_cases(predictions, force=force)
        data, source = running.cases, source | running.source
    console = output(json)
    predictions.introduce(console, "Calibration")
    if running is not None:
        say(console, running.introduce())
    analysis.run(data, console, source)
    if running is not None:
        running.write()
        say(console, f"Wrote {running.path}.", "dim")


def _refuse(options: dict[str, bool], goes_with: str) -> None:
    """Say no to an option that would have no effect."""
    from bayescal.core.errors import InputError

    for name, given in options.items():
        if given:
            raise InputError(f"{name} goes with {goes_with}.")
