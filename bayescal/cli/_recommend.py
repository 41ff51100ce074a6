"""`bayescal recommend`: whether to update the model, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayescal.cli import _options as option
from bayescal.cli._reversed import note_if_reversed
from bayescal.cli.reading import GROUPS, OF_TIMES, Reading, Times, read_predictions, reads

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from bayescal.gain import Recommendation

__all__ = ["recommend"]


@reads(*GROUPS, *OF_TIMES)
def recommend(
    reading: Reading,
    threshold: option.Threshold = None,
    prior: option.Prior = "neutral",
    ci_prob: option.CiProb = 0.95,
    seed: option.Seed = None,
    json: option.Record = None,
) -> None:
    """Say whether to update the model, and how, by what an update probably gains on new patients.

    With --site, --period or --subgroup also in each of them, on average, and in the next site.
    """
    from bayescal.cli._progress import working
    from bayescal.cli._table import describe_cases
    from bayescal.cli._terminal import output, say, wrote
    from bayescal.cli._write import check_targets, write_record
    from bayescal.core.arrays import as_seed
    from bayescal.core.errors import as_level
    from bayescal.model.priors import as_prior

    level, chosen, seed = as_level(ci_prob), as_prior(prior), as_seed(seed)
    risks = tuple(as_level(risk, "threshold") for risk in threshold or ())
    check_targets(None, json, inputs=[reading.file])
    followed = Times.of(reading)
    predictions = read_predictions(reading, followed)
    from bayescal.gain import SeveralRecommendations
    from bayescal.gain import recommend as recommend_update

    console = output(json)
    predictions.introduce(console, "Updates")
    say(console, describe_cases(predictions.data))
    with working("Fitting the updates, and computing what each gains"):
        advice = recommend_update(
            predictions.data, thresholds=risks, ci_prob=level, prior=chosen, random_state=seed
        )
        several = advice if isinstance(advice, SeveralRecommendations) else None
        by_curve = None if several is None else several.by_curve()
        told = str(advice)
    console.print(updates_table(advice))
    say(console, told, "bold")
    if several is not None and by_curve is not None:
        console.print(curves_table(by_curve, several.asked, level))
    note_if_reversed(console, predictions.data)
    say(console, advice.rule, "dim")
    say(console, f"Seed {seed} repeats these numbers.", "dim")
    if json is not None:
        record: dict[str, Any] = {
            "choice": advice.choice,
            "told": told,
            "decided_by": advice.measure,
            "cases": advice.n,
            "updates": advice.table.to_dict("index"),
            "ci_prob": level,
            "seed": seed,
            "source": predictions.source,
        }
        if by_curve is not None:
            rows = by_curve.reset_index().to_dict("records")
            record |= {"update": by_curve.attrs["update"], "by_curve": rows}
        write_record(json, record)
        wrote(console, json)


def updates_table(advice: Recommendation) -> Table:
    """What each update gains per 1000 patients, for a terminal."""
    from bayescal.cli._terminal import new_table
    from bayescal.core.text import chance, percent
    from bayescal.model.curves import CURVES

    shown = new_table()
    shown.add_column("Update")
    gain = "Rise of net benefit" if advice.thresholds else "Fall of Brier score"
    shown.add_column(f"{gain}, {percent(advice.ci_prob)}", justify="right", no_wrap=True)
    shown.add_column("P(better)", justify="right", no_wrap=True)
    for name, row in advice.table.drop(index="identity").iterrows():
        better = chance(float(row["prob_better"]))
        shown.add_row(CURVES[str(name)].update, advice.shown(str(name)), better)
    shown.caption = "Gains are per 1000 patients."
    return shown


def curves_table(table: pd.DataFrame, update: str, level: float) -> Table:
    """What one update gains for every population and level, for a terminal."""
    from bayescal.cli._terminal import new_table
    from bayescal.core.text import chance, per_thousand, percent
    from bayescal.model.curves import CURVES

    shown = new_table()
    shown.add_column(f"To {CURVES[update].update}")
    shown.add_column(f"Gain, {percent(level)} interval", justify="right", no_wrap=True)
    shown.add_column("P(better)", justify="right", no_wrap=True)
    for title, row in table.iterrows():
        ends = per_thousand(float(row["gain"]), float(row["lower"]), float(row["upper"]))
        middle, low, high = ends
        shown.add_row(str(title), f"{middle} ({low} to {high})", chance(float(row["prob_better"])))
    return shown
