"""`bayescal gain`: what did a recalibration buy?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayescal.cli import _options as option

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from bayescal.gain import RecalibrationGain

__all__ = ["gain"]

LABELS = {
    "tce": "Fall in calibration error (TCE)",
    "brier": "Fall in Brier score",
    "log_score": "Rise in log score",
    "brier_calibration": "  by calibration",
    "brier_refinement": "  by refinement",
    "log_calibration": "  by calibration",
    "log_refinement": "  by refinement",
}
WHOLE = ("tce", "brier", "log_score")
ORDER = (
    "tce",
    "brier",
    "brier_calibration",
    "brier_refinement",
    "log_score",
    "log_calibration",
    "log_refinement",
)


def gain(
    file: option.File,
    before: Annotated[str, typer.Option(help="Column with the probability before.")],
    after: Annotated[str, typer.Option(help="Column with the probability after.")],
    outcome: option.Outcome = None,
    event: option.Event = None,
    weight: option.Weight = None,
    weight_type: option.WeightType = None,
    drop_missing: option.DropMissing = False,
    threshold: Annotated[
        list[float] | None,
        typer.Option(help="Risk from which a patient is treated. May be given several times."),
    ] = None,
    in_sample: Annotated[
        bool, typer.Option("--in-sample", help="The map was fitted to these very patients.")
    ] = False,
    prior: option.Prior = "neutral",
    ci_prob: option.CiProb = 0.95,
    seed: option.Seed = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the posterior of the Brier gain to this file.")
    ] = None,
    json: option.Record = None,
) -> None:
    """Say what was gained by replacing one prediction by another, on the same patients."""
    from bayescal._text import count
    from bayescal._validate import as_level
    from bayescal.cli._pairs import read_pairs
    from bayescal.cli._terminal import note, output, say, working
    from bayescal.cli._write import check_targets, write_record
    from bayescal.gain import recalibration_gain

    level = as_level(ci_prob)
    check_targets(plot, json)
    found = read_pairs(
        file,
        outcome=outcome,
        before=before,
        after=after,
        event=event,
        weight=weight,
        weight_type=weight_type,
        drop_missing=drop_missing,
    )
    console = output()
    say(
        console,
        f"Gain of {after} over {before} as the probability that {found.outcome} is "
        f"{found.cases.event} ({file.name})",
        "bold",
    )
    with working("Computing the gain ..."):
        result = recalibration_gain(
            found.cases.outcome,
            found.cases.score,
            found.after,
            thresholds=tuple(threshold or ()),
            in_sample=in_sample,
            prior=prior,
            sample_weight=found.cases.weight,
            weight_type=found.cases.weight_type,
            random_state=seed,
        )
        table = result.summary(level, parts=True)
    if found.dropped:
        say(console, f"{found.dropped} of {found.rows} rows left out: a value is missing.")
    say(console, f"{count(result.n, 'case')}; {result.evidence}.")
    if found.cases.weight is not None:
        say(console, found.cases.about_weights())
    if in_sample:
        note(console, "a map looks better on the patients that fitted it than on the next ones.")
    console.print(gain_table(table))
    brier, log = (float(table["prob_improved"][name]) for name in ("brier", "log_score"))
    say(
        console,
        f"The Brier score improves with probability {brier:.2f}, the log score with "
        f"probability {log:.2f}.",
        "bold",
    )
    how = (
        "one curve, since after is a map of before"
        if result.route == "curve"
        else "paired Bayesian bootstrap, since after is no map of before"
    )
    say(console, f"Method: {how}. Seed {result.seed} repeats these numbers.", "dim")
    if plot is not None:
        _draw(plot, result, level)
        say(console, f"Wrote {plot}.", "dim")
    if json is not None:
        numbers = {
            "cases": result.n,
            "weight_type": result.weight_type,
            "route": result.route,
            "evidence": result.evidence,
            "ci_prob": level,
            "seed": result.seed,
            "gains": {
                str(name): {str(key): float(value) for key, value in values.items()}
                for name, values in table.iterrows()
            },
        }
        source = {"file": str(file), "before": before, "after": after, "outcome": found.outcome}
        write_record(json, numbers | source | {"rows_dropped": found.dropped})
        say(console, f"Wrote {json}.", "dim")


def gain_table(table: pd.DataFrame) -> Table:
    """The gains for a terminal, per patient and positive where recalibration helped."""
    from rich import box
    from rich.table import Table

    from bayescal._text import percent, rounded

    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    shown.add_column("Gain per patient")
    for heading in ("Median", f"{percent(table.attrs['ci_prob'])} interval", "P(improved)"):
        shown.add_column(heading, justify="right", no_wrap=True)
    benefits = [str(name) for name in table.index if str(name).startswith("net_benefit")]
    split = table.loc["brier_refinement", ["lower", "upper"]].any()  # else there is nothing to tell
    for name in (*(ORDER if split else WHOLE), *benefits):
        median, lower, upper = (float(table[key][name]) for key in ("median", "lower", "upper"))
        middle, low, high = rounded((median, lower, upper), lower, upper)
        at = name.rpartition("@")[2]
        shown.add_row(
            LABELS.get(name, f"Rise in net benefit at {at}"),
            middle,
            f"{low} to {high}",
            f"{float(table['prob_improved'][name]):.2f}",
        )
    return shown


def _draw(path: Path, result: RecalibrationGain, level: float) -> None:
    from matplotlib.figure import Figure

    from bayescal.plots import gain as draw_gain

    figure = Figure(figsize=(5, 3.4), layout="constrained")
    draw_gain(result, ax=figure.subplots(), ci_prob=level)
    figure.savefig(path, dpi=200)
