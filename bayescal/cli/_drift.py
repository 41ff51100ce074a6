"""`bayescal drift`: has calibration changed, since when, and how large is the error now?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescal.cli import _options as option
from bayescal.cli.reading import OF_ROWS, OF_TIMES, Reading, Times, read_predictions, reads

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from bayescal.data.table import CalibrationData

__all__ = ["drift"]


@reads("period", "every", *OF_ROWS, *OF_TIMES)
def drift(
    reading: Reading,
    prior: option.Prior = "neutral",
    close: option.Close = None,
    ci_prob: option.CiProb = 0.95,
    edge: option.Edge = None,
    seed: option.Seed = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw O/E by period, and when the curve changed, to this file."),
    ] = None,
    json: option.Record = None,
    update: Annotated[
        Path | None,
        typer.Option(
            help="Keep a table of all cases in this file: add the new cases, look at all periods, "
            "and write the table at the end. The file is created if it does not exist."
        ),
    ] = None,
    force: option.Force = False,
) -> None:
    """Say whether calibration has changed, since when, and how large the error is now.

    Every case has a --period, such as its month. With --update the file is of the new month alone.
    Outcomes may be times to an event: --time, --event and --horizon.
    """
    from bayescal.assessment.text.periods import IN_USE
    from bayescal.cli._progress import working
    from bayescal.cli._table import describe_cases
    from bayescal.cli._terminal import note, output, say, wrote
    from bayescal.cli._update import RunningTable
    from bayescal.cli._write import check_targets, write_record
    from bayescal.core.arrays import as_seed
    from bayescal.core.errors import InputError, as_level
    from bayescal.model.priors import as_prior

    level, chosen, seed = as_level(ci_prob), as_prior(prior), as_seed(seed)
    limit = None if close is None else as_level(close, "close")
    if reading["period"] is None:
        raise InputError("--period is needed: name the column with the month or date of each case.")
    if force and update is None:
        raise InputError("--force goes with --update, the file of a running table.")
    followed = Times.of(reading)
    check_targets(plot, json, update, inputs=[reading.file])
    running = None if update is None else RunningTable.open(update)
    predictions = read_predictions(reading, followed)
    data, source = predictions.data, predictions.source
    if running is not None:
        running = running.with_cases(predictions, force=force)
        data, source = running.cases, source | running.source
    console = output(json)
    predictions.introduce(console, "Drift")
    if running is not None:
        say(console, running.introduce())
    say(console, describe_cases(data))
    note(console, IN_USE)
    record: dict[str, Any] = {"assumption": IN_USE, "periods": list(data.levels["period"])}
    if len(data.levels["period"]) < 2:
        say(
            console,
            f"There is one period so far, {data.levels['period'][0]}, so that nothing can have "
            "changed. Add the next with --update, and assess this one with bayescal assess.",
        )
    else:
        from bayescal.fitting import fit

        with working("Fitting the curves of all periods"):
            how: dict[str, Any] = {"prior": chosen, "edge": edge, "random_state": seed}
            post: Any = fit(data, curve="logistic", **how)
        record |= _told(post, data, limit, level, console)
        if plot is not None:
            _draw(plot, post, level)
            wrote(console, plot)
    say(console, f"Seed {seed} repeats these numbers.", "dim")
    if json is not None:
        write_record(json, record | {"ci_prob": level, "seed": seed, "source": source})
        wrote(console, json)
    if running is not None:
        running.write()
        wrote(console, running.path)


def _told(
    post: Any,
    data: CalibrationData,
    close: float | None,
    level: float,
    console: Console,
) -> dict[str, Any]:
    """Print what the fit says: now, whether and when it changed, the periods; and the record."""
    from bayescal.assessment.performance import close_enough
    from bayescal.assessment.populations import populations_of
    from bayescal.assessment.record import functionals_record
    from bayescal.assessment.tables.groups import table_of_populations
    from bayescal.assessment.text.drift import changed_in_words, gain_in_words, now_in_words
    from bayescal.assessment.text.periods import drift_sentences
    from bayescal.cli._progress import working
    from bayescal.cli._terminal import say

    enough = close_enough(data.pooled()) if close is None else close
    with working("Computing measures of calibration"):
        populations = populations_of(post, enough, level)
        gains = post.gain_of_updating(level)
    say(console, now_in_words(post, populations, enough), "bold")
    for line in table_of_populations(populations, post, enough, level).lines():
        say(console, line)
    say(console, changed_in_words(post))
    for text in drift_sentences(post)[:-1]:
        say(console, text)
    console.print(periods_table(post))
    say(console, gain_in_words(gains))
    return {
        "close": enough,
        "populations": {str(name): row.to_dict() for name, row in populations.iterrows()},
        "now": functionals_record(post.now().summary(level)),
        "explanations": post.explanations.to_dict(),
        "prob_changed": float(1 - post.explanations["constant"]),
        "when_changed": post.when_changed().to_dict("index"),
        "by_period": post.table().to_dict("index"),
        "gain_of_updating": {
            " ".join(map(str, key)): row
            for key, row in zip(gains.index, gains.to_dict("records"), strict=True)
        },
        "diagnostics": post.diagnostics,
    }


def periods_table(post: Any) -> Table:
    """The record: each period, by itself and by the fit of all, and when the curve changed."""
    from bayescal.assessment.words import with_interval
    from bayescal.cli._terminal import new_table
    from bayescal.core.text import chance, count, shortened

    shown = new_table()
    shown.add_column("Period")
    for heading in ("Cases", "Events", "O/E alone", "O/E (95 % interval)", "P(changed most)"):
        shown.add_column(heading, justify="right")
    into = post.when_changed()["prob"].to_dict()
    row: Any
    for name, row in post.table().iterrows():
        ends = {
            "estimate": row["observed_expected"],
            "lower": row["observed_expected_lower"],
            "upper": row["observed_expected_upper"],
        }
        alone = row["observed_expected_raw"]
        shown.add_row(
            shortened(str(name)),
            count(row["cases"]),
            count(row["events"]),
            f"{alone:.2f}" if alone == alone else "",
            with_interval(ends, apart=1),
            chance(into[str(name)]) if name in into else "",
        )
    return shown


def _draw(path: Path, post: Any, level: float) -> None:
    """Draw the figure of drift to a file, without a window."""
    from matplotlib.figure import Figure

    from bayescal import plots
    from bayescal.cli._progress import working
    from bayescal.cli._write import save_figure

    with working("Drawing"):
        figure = Figure(figsize=(7.2, 5.2), layout="constrained")
        axes = figure.subplots(2, 1, height_ratios=[3, 1.2])
        plots.drift(post, axes=list(axes), ci_prob=level)
        save_figure(path, figure)
