"""`bayescal compare`: which curve, and is the model calibrated?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescal.cli import _options as option
from bayescal.cli.reading import OF_ROWS, OF_TIMES, Reading, Times, read_predictions, reads

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from bayescal.inference import CurveComparison

__all__ = ["compare"]


@reads(*OF_ROWS, *OF_TIMES)
def compare(
    reading: Reading,
    prior: option.Prior = "neutral",
    prior_calibrated: Annotated[
        float, typer.Option(help="Prior probability that the model is exactly calibrated.")
    ] = 0.05,
    close: option.Close = None,
    ci_prob: option.CiProb = 0.95,
    edge: option.Edge = None,
    seed: option.Seed = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the comparison of the curves to this file.")
    ] = None,
    json: option.Record = None,
    html: option.Html = None,
) -> None:
    """Compare families of calibration curves, and say how probable calibration is."""
    from bayescal.cli._progress import Steps
    from bayescal.cli._terminal import output, say, wrote
    from bayescal.cli._write import check_targets, write_record, write_report
    from bayescal.core.errors import as_level
    from bayescal.model.priors import as_prior

    level, chosen = as_level(ci_prob), as_prior(prior)
    as_level(prior_calibrated, "prior_calibrated")
    if close is not None:
        as_level(close, "close")
    check_targets(plot, json, page=html, inputs=[reading.file])
    followed = Times.of(reading)
    predictions = read_predictions(reading, followed)
    from bayescal.assessment import Assessment
    from bayescal.assessment.panel import PANEL
    from bayescal.assessment.performance import close_enough
    from bayescal.cli._table import about_clusters, describe_cases
    from bayescal.fitting import compare as compare_curves

    console = output(json)
    predictions.introduce(console, "Curves")
    say(console, describe_cases(predictions.data))
    steps = Steps(2 + sum(path is not None for path in (plot, html)))
    with steps.working("Fitting the families of curves"):
        comparison = compare_curves(
            predictions.data,
            prior=chosen,
            prior_calibrated=prior_calibrated,
            random_state=seed,
            edge=edge,
        )
        lower, upper = comparison.posterior.interval("tce", level)
        limit = close_enough(predictions.data) if close is None else close
        chances = comparison.posterior.prob_below(limit), 1 - comparison.posterior.prob_below(limit)
    with steps.working("Computing leave-one-out and the sensitivity to the prior"):
        table, by_prior = comparison.table, comparison.prob_by_prior
    console.print(comparison_table(table))
    say(console, describe_calibration(comparison, limit, chances), "bold")
    say(console, describe_interval(comparison, level, lower, upper))
    say(console, "")
    shown = sensitivity_table(by_prior, prior_calibrated)
    if shown is None:
        say(console, "Exact calibration is as probable under each prior on the curve.")
    else:
        say(console, "Probability of exact calibration, by prior on the curve and by alternative:")
        console.print(shown)
    about = about_clusters(comparison.posterior)
    say(console, f"{about}Seed {comparison.problem.seed} repeats these numbers.", "dim")
    if json is not None:
        numbers = numbers_of(comparison, (lower, upper), limit, chances)
        write_record(json, numbers | predictions.source)
    if plot is not None:
        with steps.working("Drawing"):
            _draw(plot, comparison)
    if html is not None:
        options = {"prior": chosen, "prior_calibrated": prior_calibrated, "edge": edge}
        assessment = Assessment(comparison, predictions.data, limit, level, PANEL, options)
        with steps.working("Writing the report"):
            write_report(html, assessment, predictions.source)
    for path in (plot, json, html):
        wrote(console, path)


def _draw(path: Path, comparison: CurveComparison) -> None:
    """How probable each curve is, and how well it predicts, to a file and without a window."""
    from matplotlib.figure import Figure

    from bayescal import plots
    from bayescal.cli._write import save_figure

    figure = Figure(figsize=(9, 1.6 + 0.42 * len(comparison.table)), layout="constrained")
    _, right = plots.comparison(comparison, figure.subplots(1, 2, sharey=True))
    right.tick_params(axis="y", labelleft=False)
    save_figure(path, figure)


def comparison_table(table: pd.DataFrame) -> Table:
    """The families for a terminal: how well each predicts, and how probable it is."""
    from bayescal.cli._terminal import new_table
    from bayescal.core.text import chance, ratio

    shown = new_table()
    shown.add_column("Curve")
    for heading in ("Bayes factor", "Prior", "Posterior", "elpd", "Stacking"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for name, row in table.iterrows():
        shown.add_row(
            str(name),
            ratio(row["bayes_factor"]),
            f"{row['prior']:.2f}",
            chance(row["posterior_prob"]) if row["prior"] else "not averaged",
            f"{row['elpd_loo']:.1f}",
            f"{row['stacking_weight']:.2f}",
        )
    shown.caption = "Bayes factors are relative to identity, which is perfect calibration."
    return shown


def describe_calibration(
    comparison: CurveComparison, limit: float, close: tuple[float, float]
) -> str:
    """How probable it is that the model is calibrated, or nearly."""
    from bayescal.core.text import chance

    return (
        f"The true calibration error is below the limit of {limit:g} with probability "
        f"{chance(close[0])}, above it with probability {chance(close[1])}. Exact calibration has "
        "probability "
        f"{chance(comparison.prob_calibrated)} "
        f"({chance(comparison.prob_calibrated_at(0.5))} at even prior odds)."
    )


def describe_interval(comparison: CurveComparison, level: float, lower: float, upper: float) -> str:
    """The true calibration error, averaged over the families."""
    from bayescal.core.text import percent, rounded

    estimate = comparison.posterior.estimate("tce", level)
    middle, low, high = rounded((estimate, lower, upper), lower, upper)
    return (
        f"Averaged over the curves it is {middle} ({percent(level)} credible interval {low} to "
        f"{high})."
    )


def sensitivity_table(by_prior: pd.DataFrame, prior_calibrated: float) -> Table | None:
    """How much the probability of calibration owes to the prior; None if it owes nothing."""
    from bayescal.cli._terminal import new_table
    from bayescal.core.text import chance

    shown = new_table()
    shown.add_column("Prior")
    columns = {
        "prob_calibrated": f"From prior {prior_calibrated:g}",
        "average": "Even odds: all",
        "logistic": "logistic only",
        "beta": "beta only",
    }
    for heading in columns.values():
        shown.add_column(heading, justify="right", no_wrap=True)
    rows = {
        str(name): [chance(row[key]) if row[key] == row[key] else "" for key in columns]
        for name, row in by_prior.iterrows()
    }
    if len({cell for cells in rows.values() for cell in cells if cell}) == 1:
        return None
    for name, cells in rows.items():
        shown.add_row(name, *cells)
    return shown


def numbers_of(
    comparison: CurveComparison,
    interval: tuple[float, float],
    limit: float,
    chances: tuple[float, float],
) -> dict[str, Any]:
    """The comparison as plain numbers and names, for the record."""
    lower, upper = interval
    return {
        "cases": comparison.data.n,
        "events": comparison.data.events,
        "prob_calibrated": comparison.prob_calibrated,
        "prob_calibrated_even_odds": comparison.prob_calibrated_at(0.5),
        "prob_calibrated_bic": comparison.prob_calibrated_bic,
        "tce": {
            "lower": lower,
            "upper": upper,
            "close": limit,
            "prob_below": chances[0],
            "prob_above": chances[1],
        },
        "curves": {
            str(name): {str(key): float(value) for key, value in row.items()}
            for name, row in comparison.table.iterrows()
        },
        "sensitivity": {
            str(name): {str(key): float(value) for key, value in row.items()}
            for name, row in comparison.sensitivity.iterrows()
        },
        "seed": comparison.problem.seed,
    }
