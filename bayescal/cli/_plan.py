"""`bayescal plan`: how many patients a validation study needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescal.cli import _options as option

if TYPE_CHECKING:
    from rich.table import Table

    from bayescal.planning import Plan

__all__ = ["plan"]

OF_PILOT = "pilot"


def plan(
    pilot: Annotated[
        Path | None,
        typer.Argument(help="Predictions of a pilot, whose scores the patients will have."),
    ] = None,
    width: Annotated[
        float | None, typer.Option(help="Widest interval that is allowed, such as 0.1.")
    ] = None,
    of: Annotated[
        str,
        typer.Option(
            help="What the interval is of: tce, observed_expected, calibration_slope, "
            "c_statistic, gain, or another row of the summary."
        ),
    ] = "tce",
    conclude: Annotated[
        str | None,
        typer.Option(
            help="Instead of --width, what studies shall be able to conclude: 'close enough', "
            "miscalibrated, or update."
        ),
    ] = None,
    close: Annotated[
        float, typer.Option(help="Calibration error that counts as close enough.")
    ] = 0.03,
    assurance: Annotated[
        float, typer.Option(help="Probability with which a study reaches the goal.")
    ] = 0.8,
    prevalence: Annotated[
        float | None, typer.Option(help="Share of events, where there is no pilot.")
    ] = None,
    c_statistic: Annotated[
        float | None, typer.Option(help="C-statistic, with --prevalence.")
    ] = None,
    truth: Annotated[
        str,
        typer.Option(
            help="Calibration that is assumed: the prior clinical or neutral, the name of a "
            "population (bc.simulate.names() in Python), or pilot, what its outcomes say."
        ),
    ] = "clinical",
    analysis: Annotated[
        str,
        typer.Option(
            help="Analysis of the study: average, which bayescal assess runs; curve, one family "
            "of curves; or wald, the usual frequentist intervals."
        ),
    ] = "average",
    curve: Annotated[str, typer.Option(help="Family of curves of --analysis curve.")] = "beta",
    icc: Annotated[
        float | None,
        typer.Option(
            help="Correlation of two patients of one cluster, such as a practice; with "
            "--cluster-size."
        ),
    ] = None,
    cluster_size: Annotated[
        float | None, typer.Option(help="Patients of a cluster, with --icc.")
    ] = None,
    horizon: Annotated[
        float | None,
        typer.Option(
            help="The scores are risks of an event by this time, and some patients leave before; "
            "with --leaving or --follow-up."
        ),
    ] = None,
    leaving: Annotated[
        float | None,
        typer.Option(help="Share who would leave before --horizon if no event came, such as 0.3."),
    ] = None,
    leaving_ratio: Annotated[
        float | None,
        typer.Option(
            help="By how much the rate of --leaving is multiplied for each standard deviation of "
            "the log-odds of the score."
        ),
    ] = None,
    follow_up: Annotated[
        tuple[float, float] | None,
        typer.Option(
            help="With --horizon, how long the last and the first patients are followed when the "
            "study ends: two numbers, such as 2 6."
        ),
    ] = None,
    prior: option.Prior = "neutral",
    ci_prob: option.CiProb = 0.95,
    simulations: Annotated[
        int, typer.Option(min=50, help="Number of studies simulated at each size.")
    ] = 400,
    outcome: option.Outcome = None,
    prob: option.Prob = None,
    positive: option.Positive = None,
    drop_missing: option.DropMissing = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed.")] = 0,
    jobs: Annotated[int, typer.Option(help="Number of parallel processes; -1 is one a core.")] = -1,
    resume: Annotated[
        Path | None,
        typer.Option(help="Folder for finished studies, so that an interrupted search goes on."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw width and assurance against size to this file.")
    ] = None,
) -> None:
    """Say how many patients a validation study needs, by simulating such studies."""
    from bayescal.cli._progress import counting
    from bayescal.cli._terminal import output, say
    from bayescal.cli._write import check_targets
    from bayescal.cli.reading import Reading, read_predictions
    from bayescal.core.errors import InputError

    check_targets(plot, inputs=[pilot] if pilot is not None else [])
    data = None
    if pilot is not None:
        typed = {"outcome": outcome, "prob": prob, "positive": positive}
        reading = Reading(pilot, typed | {"drop_missing": drop_missing}, ())
        data = read_predictions(reading).data
    elif prevalence is None or c_statistic is None:
        raise InputError("--prevalence and --c-statistic are missing; or name the file of a pilot.")
    from bayescal.fitting import fit
    from bayescal.planning import plan as planned
    from bayescal.validation.simulate import scores

    if pilot is not None and (prevalence is not None or c_statistic is not None):
        raise InputError(
            "--prevalence and --c-statistic were given beside a pilot; leave them out."
        )
    assumed: Any = truth
    if truth == OF_PILOT:
        if data is None:
            raise InputError("--truth pilot needs the file of a pilot.")
        assumed = fit(data, curve=curve, prior=prior, random_state=seed)
    law = data if data is not None else scores(prevalence=prevalence, c_statistic=c_statistic)
    with counting("Simulating studies", "studies") as progress:
        result = planned(
            truth=assumed,
            scores=law,
            width=width,
            of=of,
            assurance=assurance,
            conclude=conclude,
            close=close,
            analysis=analysis,
            curve=curve,
            prior=prior,
            ci_prob=ci_prob,
            n_simulations=simulations,
            random_state=seed,
            n_jobs=jobs,
            progress=progress,
            resume=resume,
            icc=icc,
            cluster_size=cluster_size,
            horizon=horizon,
            leaving=leaving,
            leaving_ratio=leaving_ratio,
            follow_up=follow_up,
        )
    console = output()
    say(console, repr(result).splitlines()[0], "bold")
    say(console, "")
    console.print(size_table(result))
    say(console, result.protocol())
    if plot is not None:
        _draw(result, plot)
        say(console, f"Wrote {plot}.", "dim")


def size_table(result: Plan) -> Table:
    """Simulated sizes, for a terminal."""
    from bayescal.cli._terminal import new_table

    shown = new_table()
    headings = ["Patients", "Events", "Mean width", "Goal reached"]
    is_width = result.width is not None
    for heading in headings if is_width else [headings[0], headings[1], headings[3]]:
        shown.add_column(heading, justify="right", no_wrap=True)
    for row in result.table.to_dict("records"):
        cells = [f"{row['n']:,}", f"{row['events']:,.0f}"]
        cells += [f"{row['width']:.3g}"] if is_width else []
        shown.add_row(*cells, f"{row['reached']:.2f} ± {row['reached_error']:.2f}")
    return shown


def _draw(result: Plan, path: Path) -> None:
    from matplotlib.figure import Figure

    from bayescal.cli._write import save_figure
    from bayescal.plots import plan as draw

    panels = 1 if result.width is None else 2
    figure = Figure(figsize=(4.4 * panels, 3.5), layout="constrained")
    draw(result, figure.subplots(1, panels, squeeze=False)[0])
    save_figure(path, figure)
