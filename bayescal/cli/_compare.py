"""`bayescal compare`: which curve, and is the model calibrated?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescal.cli import _options as option

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from bayescal.inference import CurveComparison

__all__ = ["compare"]

CLOSE = 0.03


def compare(
    file: option.File,
    outcome: option.Outcome = None,
    score: option.Score = None,
    event: option.Event = None,
    weight: option.Weight = None,
    weight_type: option.WeightType = None,
    drop_missing: option.DropMissing = False,
    encoding: option.Encoding = None,
    prior: option.Prior = "neutral",
    prior_calibrated: Annotated[
        float, typer.Option(help="Prior probability that the model is exactly calibrated.")
    ] = 0.1,
    below: Annotated[
        float, typer.Option(help="A true calibration error that would be close enough.")
    ] = CLOSE,
    ci_prob: option.CiProb = 0.95,
    edge: option.Edge = None,
    seed: option.Seed = None,
    json: option.Record = None,
) -> None:
    """Compare families of calibration curves, and say how probable calibration is."""
    from bayescal.cli._predictions import read_predictions
    from bayescal.cli._terminal import output, say, working
    from bayescal.cli._write import check_targets, write_record
    from bayescal.data.validate import as_level
    from bayescal.model.priors import as_prior

    level, chosen = as_level(ci_prob), as_prior(prior)
    as_level(below, "below")
    check_targets(None, json, inputs=[file])
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
    from bayescal.cli._table import describe_cases
    from bayescal.inference import compare as compare_curves

    console = output()
    predictions.introduce(console, "Curves")
    say(console, describe_cases(predictions.data))
    with working("Fitting the ladder of curves ..."):
        ladder = compare_curves(
            predictions.data,
            prior=chosen,
            prior_calibrated=prior_calibrated,
            random_state=seed,
            edge=edge,
        )
        lower, upper = ladder.posterior.interval("tce", level)
        close = ladder.prob_tce_below(below), ladder.prob_tce_above(below)
    with working("Leaving each case out, and trying other priors ..."):
        table, sensitivity = ladder.table, ladder.sensitivity
    console.print(ladder_table(table))
    say(console, describe_calibration(ladder, below, close), "bold")
    say(console, describe_interval(ladder, level, lower, upper))
    say(console, "")
    say(console, "Probability of exact calibration, by prior on the curve and by alternative:")
    console.print(sensitivity_table(sensitivity, prior_calibrated))
    say(console, f"Seed {ladder.settings.seed} repeats these numbers.", "dim")
    if json is not None:
        write_record(json, numbers_of(ladder, (lower, upper), below, close) | predictions.source)
        say(console, f"Wrote {json}.", "dim")


def ladder_table(table: pd.DataFrame) -> Table:
    """The ladder for a terminal: how well each family predicted, and how probable it is."""
    from bayescal.cli._terminal import new_table

    shown = new_table()
    shown.add_column("Curve")
    for heading in ("Bayes factor", "Prior", "Posterior", "elpd", "Stacking"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for name, row in table.iterrows():
        shown.add_row(
            str(name),
            f"{row['bayes_factor']:.3g}",
            f"{row['prior']:.2f}",
            f"{row['posterior_prob']:.3f}",
            f"{row['elpd_loo']:.1f}",
            f"{row['stacking_weight']:.2f}",
        )
    shown.caption = "Bayes factors are against identity, which is perfect calibration."
    return shown


def describe_calibration(ladder: CurveComparison, limit: float, close: tuple[float, float]) -> str:
    """How probable it is that the model is calibrated, or nearly."""
    from bayescal._base.text import chance

    return (
        f"On the safe side, the true calibration error is below {limit:g} with probability "
        f"{chance(close[0])} and above with {chance(close[1])}. Exact calibration has probability "
        f"{chance(ladder.prob_calibrated)} ({chance(ladder.prob_calibrated_at(0.5))} at even odds)."
    )


def describe_interval(ladder: CurveComparison, level: float, lower: float, upper: float) -> str:
    """The true calibration error, averaged over the families."""
    from bayescal._base.text import percent, rounded

    estimate = ladder.posterior.estimate("tce", level)
    middle, low, high = rounded((estimate, lower, upper), lower, upper)
    return (
        f"Averaged over the curves it is {middle} ({percent(level)} credible interval {low} to "
        f"{high})."
    )


def sensitivity_table(sensitivity: pd.DataFrame, prior_calibrated: float) -> Table:
    """How much the probability of calibration owes to the prior."""
    from bayescal.cli._terminal import new_table

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
    for name, row in sensitivity.iterrows():
        cells = (f"{row[key]:.3f}" if row[key] == row[key] else "" for key in columns)
        shown.add_row(str(name), *cells)
    return shown


def numbers_of(
    ladder: CurveComparison,
    interval: tuple[float, float],
    below: float,
    close: tuple[float, float],
) -> dict[str, Any]:
    """The comparison as plain numbers and names, for the record."""
    lower, upper = interval
    return {
        "cases": ladder.data.n,
        "events": ladder.data.events,
        "prob_calibrated": ladder.prob_calibrated,
        "prob_calibrated_even_odds": ladder.prob_calibrated_at(0.5),
        "prob_calibrated_bic": ladder.prob_calibrated_bic,
        "tce": {
            "lower": lower,
            "upper": upper,
            "below": below,
            "prob_below": close[0],
            "prob_above": close[1],
        },
        "curves": {
            str(name): {str(key): float(value) for key, value in row.items()}
            for name, row in ladder.table.iterrows()
        },
        "sensitivity": {
            str(name): {str(key): float(value) for key, value in row.items()}
            for name, row in ladder.sensitivity.iterrows()
        },
        "seed": ladder.settings.seed,
    }
