"""Options that several commands share, so that they are spelt and explained alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

__all__ = [
    "PYTHON_NAMES",
    "Cause",
    "Censored",
    "CiProb",
    "Close",
    "Cluster",
    "DropMissing",
    "Edge",
    "Encoding",
    "Entry",
    "Event",
    "Every",
    "File",
    "Horizon",
    "Html",
    "IgnoreColumn",
    "Imputation",
    "Independent",
    "Logit",
    "Outcome",
    "Percent",
    "Period",
    "Positive",
    "Prior",
    "Prob",
    "Record",
    "SampleWeight",
    "Seed",
    "Sheet",
    "Site",
    "Stratum",
    "Subgroup",
    "Survival",
    "Threshold",
    "Time",
    "WeightType",
    "Word",
    "bundled",
]

PYTHON_NAMES = {
    "delta": "deltas",
    "folds": "n_folds",
    "jobs": "n_jobs",
    "outcome": "y_true",
    "positive": "pos_label",
    "prob": "y_prob",
    "seed": "random_state",
    "simulations": "n_simulations",
    "threshold": "thresholds",
}
"""Options whose argument has another name in Python, by which they can be given as well."""

File = Annotated[
    Path,
    typer.Argument(
        help="Predictions: CSV (also .tsv, .txt, .gz), Excel (.xlsx), SPSS (.sav), Stata (.dta), "
        "SAS (.sas7bdat, .xpt) or Parquet."
    ),
]
Outcome = Annotated[
    str | None, typer.Option(help="Column with the outcome. Not needed if only one column fits.")
]
Prob = Annotated[
    str | None,
    typer.Option(help="Column with the predicted probability. Not needed if only one column fits."),
]
Event = Annotated[
    str | None,
    typer.Option(
        help="With --time: column of what ended it: 1 the event, 0 the case left, 2, 3, ... a "
        "competing event."
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(help="Value of the outcome that is the event, if outcomes are not 0 and 1."),
]
Cause = Annotated[
    str | None,
    typer.Option(help="With --time: code or word of the event in --event, if it is not 1."),
]
Censored = Annotated[
    str | None,
    typer.Option(
        help="With --time: code or word in --event of a case that left, if it is not 0. Of two "
        "words, the one that --cause does not name."
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        help="Column with the time to the event, or until the case left, if some left before the "
        "horizon. Needs --event and --horizon."
    ),
]
Entry = Annotated[
    str | None,
    typer.Option(help="With --time: column with when each case came under observation, if late."),
]
Horizon = Annotated[
    str | None,
    typer.Option(
        help="With --time: by when the scores are risks of the event, in its units. Several are "
        "typed as 1,3,5, beside --prob r1,r3,r5, a column for each."
    ),
]
SampleWeight = Annotated[
    str | None, typer.Option(help="Column with the weight of each row; see --weight-type.")
]
WeightType = Annotated[
    str | None,
    typer.Option(
        help="counts: weights are numbers of cases. sampling: they correct for how cases were "
        "sampled. Needed if the type is not clear from the data."
    ),
]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing", metavar=" ", help="Leave out rows with a missing value.")
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Encoding of text files, such as latin-1 or cp1252. By default UTF-8, or UTF-16 if "
        "the file starts with its byte order mark."
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(help="Sheet of an Excel workbook. By default the only one that is not empty."),
]
Logit = Annotated[bool, typer.Option("--logit", metavar=" ", help="Scores are log-odds.")]
Percent = Annotated[
    bool,
    typer.Option(
        "--percent", metavar=" ", help="Scores are percentages, with or without the sign."
    ),
]
Survival = Annotated[
    bool,
    typer.Option(
        "--survival",
        metavar=" ",
        help="With --time: scores are probabilities of survival to the horizon, one minus the "
        "risk.",
    ),
]
Prior = Annotated[str, typer.Option(help="Prior on the curve: neutral or clinical.")]
CiProb = Annotated[float, typer.Option(help="Probability of the credible intervals.")]
Edge = Annotated[
    float | None,
    typer.Option(help="Least distance of a score from 0 and 1; nearer ones are moved."),
]
Seed = Annotated[
    int | None, typer.Option(min=0, help="Random seed. If not given, it is drawn and shown.")
]
Close = Annotated[
    float | None,
    typer.Option(
        help="Limit of the true calibration error for the verdict 'close enough'. By default "
        "0.03, smaller for rare events."
    ),
]
Site = Annotated[
    list[str] | None,
    typer.Option(help="Column with the site of each case, such as its hospital."),
]
Period = Annotated[
    str | None, typer.Option(help="Column with the time of each case, such as its month.")
]
Every = Annotated[
    str | None,
    typer.Option(
        help="With --period, a column of dates: take them by week, month, quarter or year."
    ),
]
IgnoreColumn = Annotated[
    list[str] | None,
    typer.Option(
        help="Column of hospitals, dates or ids that does not matter, so that nobody asks what it "
        "means. Repeat it for several."
    ),
]
Subgroup = Annotated[
    list[str] | None,
    typer.Option(help="Column of subgroups. Repeat it for several: --subgroup sex --subgroup age."),
]
Imputation = Annotated[
    str | None,
    typer.Option(
        help="Column with the number of the imputation, of a long table in which every case has "
        "one row for each imputation."
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        help="Column with the cluster of each case, such as its patient, if cases of one cluster "
        "are not independent."
    ),
]
Stratum = Annotated[
    str | None, typer.Option(help="Column with the stratum that the cluster was drawn from.")
]
Independent = Annotated[
    bool,
    typer.Option("--independent", metavar=" ", help="Cases are independent, though ids repeat."),
]
Threshold = Annotated[
    list[float] | None,
    typer.Option(
        help="Risk from which a patient is treated, for the net benefit. Can be repeated."
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force",
        metavar=" ",
        help="With --update: add the cases even if the table seems to contain them already.",
    ),
]
Html = Annotated[
    Path | None, typer.Option(help="Write the report, a web page, to this file (.html).")
]
Word = Annotated[
    Path | None, typer.Option(help="Write the report as a Word document to this file (.docx).")
]
Record = Annotated[
    Path | None,
    typer.Option(
        "--json", help="Write all numbers to this file; to stdout if it is -, and text to stderr."
    ),
]


def bundled(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the fields of a parameter that is a bundle as options of its own."""
    hints = get_type_hints(command, include_extras=True)
    del hints["return"]
    bundles: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}

    @wraps(command)
    def run(**given: Any) -> None:
        for name, kind in bundles.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        command(**given)

    shown: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        of = bundles.get(name)
        own = get_type_hints(of, include_extras=True) if of else hints
        each = signature(of).parameters.values() if of else [parameter]
        shown += [
            one.replace(kind=Parameter.KEYWORD_ONLY, annotation=own[one.name]) for one in each
        ]
    run.__signature__ = Signature(shown)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in shown}
    return run
