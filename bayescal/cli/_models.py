"""`bayescal compare-models`: how far models differ on the same patients of several sites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescal.cli import _options as option
from bayescal.cli.reading import RowReading

if TYPE_CHECKING:
    from rich.table import Table

    from bayescal.fitting import ModelComparison

__all__ = ["compare_models"]

MEASURES_SHOWN = {"tce": "TCE", "brier": "Brier score", "c_statistic": "C-statistic"}


@option.bundled
def compare_models(
    reading: RowReading,
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
    """Compare models on the same patients: here, at each site, in the average and the next one.

    Every case has a --site and a prediction by each --model.
    """
    from bayescal._base.arrays import as_seed
    from bayescal._base.errors import InputError
    from bayescal._base.text import count, shortened
    from bayescal.cli._pairs import read_models
    from bayescal.cli._progress import working
    from bayescal.cli._terminal import output, say, wrote
    from bayescal.cli._write import check_targets, write_record
    from bayescal.data.validate import as_level
    from bayescal.model.priors import as_prior

    level, chosen, seed = as_level(ci_prob), as_prior(prior), as_seed(seed)
    names = list(dict.fromkeys(model or ()))
    if reading.score is not None or len(names) < 2 or len(names) < len(model or ()):
        raise InputError(
            "name two columns of predictions or more with --model, each once, such as --model old "
            "--model new. --score is for one model."
        )
    for role in ("stratum", "weight_type"):
        if getattr(reading, role) is not None:
            raise InputError(
                f"--{role.replace('_', '-')} is not taken: patients of several models are weighed "
                "as counts. Leave it out."
            )
    if reading.site is None:
        raise InputError(
            "--site is needed: models are compared by site. Of one population, compare two columns "
            "with bayescal gain --before old --after new."
        )
    check_targets(None, json, inputs=[reading.file])
    read = read_models(reading, names)
    from bayescal.fitting import compare_models as compare

    console, cases = output(json), read.cases.given
    say(
        console,
        f"{count(len(names), 'model')} ({', '.join(map(shortened, names))}) of the probability "
        f"that {shortened(str(read.columns.outcome))} is {shortened(reading.event or '1')} "
        f"({shortened(reading.file.name)})",
        "bold",
    )
    if read.cases.dropped:
        say(console, f"{read.cases.dropped} of {read.rows} rows left out: a value is missing.")
    scores = [cases["y_prob"], *read.cases.others.values()]
    with working("Fitting each model at all sites"), read.checked():
        result = compare(
            cases["y_true"],
            dict(zip(names, scores, strict=True)),
            groups=cases["site"],
            cluster=cases.get("cluster"),
            sample_weight=cases.get("sample_weight"),
            prior=chosen,
            random_state=seed,
            pos_label=reading.event,
        )
    with working("Comparing the models on the same patients"):
        tables = {measure: result.table(measure, level) for measure in MEASURES_SHOWN}
    for measure, title in MEASURES_SHOWN.items():
        console.print(differences_table(result, measure, title, level))
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
        source["outcome"] = read.columns.outcome
        source |= reading.roles | reading.form().source | {"rows_dropped": read.cases.dropped}
        write_record(json, {"differences": record, "ci_prob": level, "seed": seed} | source)
        wrote(console, json)


def differences_table(result: ModelComparison, measure: str, title: str, level: float) -> Table:
    """One measure of each population and site, for a terminal."""
    from bayescal._base.text import chance, decimals, percent, signed
    from bayescal.cli._terminal import new_table

    shown = new_table()
    shown.add_column(f"{title}, difference")
    for heading in ("Estimate", f"{percent(level)} interval", "P(better)"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for key, row in result.table(measure, level).iterrows():
        who = ", ".join(key) if isinstance(key, tuple) else str(key)
        places = decimals(row["lower"], row["upper"])
        middle, low, high = (signed(row[each], places) for each in ("difference", "lower", "upper"))
        shown.add_row(who, middle, f"{low} to {high}", chance(float(row["prob_better"])))
    return shown
