"""`bayescal compare-models`: how far models differ on the same patients, also of several sites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from bayescal.cli import _options as option
from bayescal.cli.reading import (
    CLUSTERS,
    OF_TIMES,
    Reading,
    Times,
    checked,
    labels_of,
    read_from,
    reads,
)

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from bayescal.fitting import ModelComparison, ModelDifferences

__all__ = ["compare_models"]

MEASURES_SHOWN = {"tce": "TCE", "brier": "Brier score", "c_statistic": "C-statistic"}


@reads("site", *CLUSTERS, *OF_TIMES)
def compare_models(
    reading: Reading,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Column with the probability by one model. Repeat it for each; the first is the "
            "one that others are compared with."
        ),
    ] = None,
    prior: option.Prior = "neutral",
    ci_prob: option.CiProb = 0.95,
    seed: option.Seed = None,
    json: option.Record = None,
) -> None:
    """Compare models on the same patients: here and, with --site, in the average and the next one.

    Every case has a prediction by each --model. With --time they are risks by the --horizon.
    """
    from bayescal.cli._progress import working
    from bayescal.cli._terminal import output, say, wrote
    from bayescal.cli._write import check_targets, write_record
    from bayescal.core.arrays import as_seed
    from bayescal.core.errors import InputError, as_level
    from bayescal.core.text import count, shortened
    from bayescal.model.priors import as_prior

    level, chosen, seed = as_level(ci_prob), as_prior(prior), as_seed(seed)
    names = list(dict.fromkeys(model or ()))
    if reading["prob"] is not None or len(names) < 2 or len(names) < len(model or ()):
        raise InputError(
            "name two columns of predictions or more with --model, each once, such as --model old "
            "--model new. --prob is for one model."
        )
    for role in ("stratum", "weight_type"):
        if reading[role] is not None:
            raise InputError(
                f"--{role.replace('_', '-')} is not taken: patients of several models are weighed "
                "as counts. Leave it out."
            )
    times = Times.of(reading)
    check_targets(None, json, inputs=[reading.file])
    how: dict[str, Any] = {"prior": chosen, "random_state": seed}
    told = _compared(reading, times, names, how)
    console, result = output(json), told.result
    say(
        console,
        f"{count(len(names), 'model')} ({', '.join(map(shortened, names))}) of the probability "
        f"{told.event} ({shortened(reading.file.name)})",
        "bold",
    )
    if told.dropped:
        say(console, f"{told.dropped} of {told.rows} rows left out: a value is missing.")
    with working("Comparing the models on the same patients"):
        tables = {measure: _table(result, measure, level) for measure in MEASURES_SHOWN}
    for measure, title in MEASURES_SHOWN.items():
        console.print(differences_table(tables[measure], title, level))
    say(
        console,
        f"Differences are those from {shortened(names[0])}, on the same patients. Seed {seed} "
        "repeats these numbers.",
        "dim",
    )
    if json is not None:
        record: dict[str, Any] = {
            measure: table.reset_index().to_dict("records") for measure, table in tables.items()
        }
        source: dict[str, Any] = {"file": str(reading.file), "models": names}
        source |= told.columns | reading.roles | reading.source
        source |= {"rows_dropped": told.dropped}
        write_record(json, {"differences": record, "ci_prob": level, "seed": seed} | source)
        wrote(console, json)


class Told(NamedTuple):
    """A comparison, and what was read.

    Attributes
    ----------
    event : str
        What the probabilities are of, in words.
    columns : dict of str to str
        Those of the outcomes, by what they are.
    dropped, rows : int
        Rows left out, and rows in all.
    """

    result: ModelComparison | ModelDifferences
    event: str
    columns: dict[str, Any]
    dropped: int
    rows: int


def _compared(reading: Reading, times: Times | None, names: list[str], how: dict[str, Any]) -> Told:
    """Read the file, and compare the models on its cases."""
    from bayescal.cli._progress import working
    from bayescal.core.text import shortened
    from bayescal.fitting import compare_models as compare

    read = read_from(reading, times, prob=names[0], others=[("model", name) for name in names])
    of_outcome: dict[str, Any] = {"pos_label": reading.positive}
    columns: dict[str, Any] = {"outcome": read.columns.outcome}
    event = f"that {shortened(read.columns.outcome)} is {shortened(reading.positive or '1')}"
    if times is not None:
        of_outcome = {"horizon": (at := times.one_horizon)}
        columns = {"time": times.time, "event": times.event, "entry": times.entry, "horizon": at}
        event = f"of {shortened(times.event)} {times.cause or 1} {times.by(at)}"
    arguments = {f"models[{shortened(name)!r}]": name for name in names}
    with working("Fitting each model"), checked(read, **arguments):
        result = compare(
            read.outcome,
            {name: read.probs[name] for name in names},
            site=labels_of(read, "site"),
            cluster=labels_of(read, "cluster"),
            sample_weight=read.weight,
            **of_outcome,
            **how,
        )
    return Told(result, event, columns, read.dropped, read.rows)


def _table(result: ModelComparison | ModelDifferences, measure: str, level: float) -> pd.DataFrame:
    """One measure of each population and site, or of all cases."""
    from bayescal.fitting import ModelComparison

    if isinstance(result, ModelComparison):
        return result.table(measure, level)
    return result.summary(level, [measure]).droplevel("measure")


def differences_table(table: pd.DataFrame, title: str, level: float) -> Table:
    """One measure of each population and site, for a terminal."""
    from bayescal.cli._terminal import new_table
    from bayescal.core.text import chance_of_better, decimals, percent, signed

    shown = new_table()
    shown.add_column(f"{title}, difference")
    for heading in ("Estimate", f"{percent(level)} interval", "P(better)"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for key, row in table.iterrows():
        who = ", ".join(key) if isinstance(key, tuple) else str(key)
        places = decimals(row["lower"], row["upper"])
        middle, low, high = (signed(row[each], places) for each in ("difference", "lower", "upper"))
        better = chance_of_better(row["lower"], row["upper"], row["prob_better"])
        shown.add_row(who, middle, f"{low} to {high}", better)
    return shown
