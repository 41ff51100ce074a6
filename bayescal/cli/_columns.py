"""Which column is which: as told, or guessed when there is only one way to read the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayescal.cli._codes import codes_in
from bayescal.cli._questions import ask_about_columns
from bayescal.cli.form import Scale
from bayescal.cli.reading import Reading
from bayescal.core.errors import InputError
from bayescal.core.text import shortened
from bayescal.data.cases import OVERSHOOT
from bayescal.data.sources.columns import Columns, listed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ask_about_ids", "check_column", "choose_columns"]

OUTCOME_NAMES = {
    "event", "label", "obs", "observed", "outcome", "outcomes", "target", "y", "y_true", "ytrue",
}  # fmt: skip
OTHER_OUTCOME_NAMES = {
    "case", "dead", "death", "deceased", "died", "disease", "mortality", "readmitted", "relapse",
    "result", "status", "survived",
}  # fmt: skip
"""Names that say nothing of a column with two values, and something of one without."""
SCORE_NAMES = {
    "p", "phat", "pred", "predicted", "prediction", "predictions", "prob", "probability", "risk",
    "score", "scores", "y_pred", "y_prob", "y_score", "yprob",
}  # fmt: skip
ID_NAMES = {
    "case", "id", "ids", "mrn", "participant", "patient", "patients", "person", "pid", "psu",
    "subject", "subjects",
}  # fmt: skip
IMPUTATION_NAMES = {"_imp", "imp", "imputation", "m"}
"""Names of columns that say which imputation a row is of, as mice calls it `.imp`."""
CALLED = {"outcome": "outcome", "prob": "score"}
"""What the columns that are guessed are called, by their options."""
CLASSES = 2
"""Values of a column of outcomes."""
FIRST = 1000
"""Rows that mostly show whether a column has more values than that."""


def choose_columns(frame: pd.DataFrame, reading: Reading, scale: Scale) -> Columns:
    """Check the columns that were named, and guess outcome and score if they were not."""
    names = [str(name) for name in frame.columns]
    outcome, score, told = reading.outcome, reading.prob, reading.told
    for option, name in told:
        check_column(name, names, option)
    taken = {name for _, name in told}
    if outcome is None:
        outcome = _guess(
            "outcome",
            names,
            [
                name
                for name in _free(names, taken)
                if _is_named(name, OUTCOME_NAMES) and _distinct(frame[name], CLASSES) <= CLASSES
            ],
            lambda name: _distinct(frame[name], CLASSES) == CLASSES,
            _free(names, taken),
            lambda: _why_none(frame, _free(names, taken)),
        )
        taken.add(outcome)
    if score is None:
        score = _guess(
            "prob",
            names,
            [name for name in _free(names, taken) if _is_named(name, SCORE_NAMES)],
            lambda name: _holds_scores(frame[name], scale),
            _free(names, taken),
        )
    return reading.columns(outcome, score)


def ask_about_ids(frame: pd.DataFrame, reading: Reading, taken: Sequence[str]) -> None:
    """Refuse a table with an id that repeats, when an option could say what that means.

    Parameters
    ----------
    taken : sequence of str
        Columns that mean something else.
    """
    known = {*taken, *reading.ignored}
    names = [str(name) for name in frame.columns] if reading.asks_about_ids else []
    for name in _free(names, known):
        plain = _plain(name)
        if plain not in ID_NAMES and not plain.endswith("_id"):
            continue
        ids, rows = _distinct(frame[name]), int(frame[name].notna().sum())
        if 2 <= ids < rows:
            shown = shortened(name)
            imputed = [each for each in names if _plain(each) in IMPUTATION_NAMES]
            hint = " If rows of one are its imputations, add --imputation {}."
            hint = hint.format(shortened(imputed[0])) if imputed else ""
            raise InputError(
                f"column {shown!r} repeats ({rows:,} rows, {ids:,} ids). If rows of one "
                f"{shown} are not independent, add --cluster {shown}; if they are, add "
                f"--independent.{hint}"
            )
    if reading.asks_about_groups:
        ask_about_columns(frame, known, options=reading.asks_about_groups)


def check_column(name: str, names: Sequence[str], option: str) -> None:
    """Refuse a name that is no column's, or that of several, by the option that it came with."""
    if name not in names:
        raise InputError(f"--{option}: there is no column {name!r}. There are {listed(names)}.")
    if names.count(name) > 1:
        raise InputError(
            f"--{option}: {names.count(name)} columns are called {name!r}. Rename all but one."
        )


def _guess(
    role: str,
    names: Sequence[str],
    by_name: Sequence[str],
    fits: Callable[[str], bool],
    free: Sequence[str],
    why_none: Callable[[], str] = str,
) -> str:
    """The one column with a telling name, or else the one whose content fits.

    Contents are looked at only if no name tells; `why_none` says why near ones do not fit.
    """
    candidates = by_name or [name for name in free if fits(name)]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise InputError(
            f"several columns could be the {CALLED[role]}: {listed(candidates)}. "
            f"Say which with --{role}."
        )
    other = " Log-odds are read with --logit, percentages with --percent." * (role == "prob")
    raise InputError(
        f"no column looks like the {CALLED[role]}.{why_none()} Say which it is with --{role}: "
        f"{listed(names)}.{other}"
    )


def _why_none(frame: pd.DataFrame, names: Sequence[str]) -> str:
    """Why columns do not fit that are called as outcomes are."""
    told = []
    for name in names:
        if not _is_named(name, OUTCOME_NAMES | OTHER_OUTCOME_NAMES):
            continue
        values = frame[name].dropna().drop_duplicates().tolist()
        if not values:
            told.append(f" Column {name!r} is empty.")
        elif len(values) == 1:
            told.append(f" Column {name!r} is {shortened(str(values[0]))} in all rows.")
        elif len(values) > CLASSES:
            shown = ", ".join(shortened(str(value)) for value in sorted(values, key=str)[:3])
            more = ", ..." * (len(values) > 3)
            told.append(f" Column {name!r} has {len(values)} values ({shown}{more}), not two.")
            codes = [shortened(repr(code)) for code in codes_in(values)]
            if codes and len(values) - len(codes) <= CLASSES:
                told.append(
                    f" If {' and '.join(codes)} is for missing outcomes, empty these cells."
                )
    return "".join(told)


def _free(names: Sequence[str], taken: set[str]) -> list[str]:
    """Columns that may still be guessed: not taken, and the only ones of their name."""
    return [name for name in names if name not in taken and names.count(name) == 1]


def _is_named(name: str, known: set[str]) -> bool:
    return name.strip().lower().replace(" ", "_").replace(".", "_") in known


def _distinct(column: pd.Series, enough: float = np.inf) -> float:
    """How many values there are, missing ones aside; or fewer, if these are more than enough."""
    try:
        few = len(column.iloc[:FIRST].dropna().unique())
        return few if few > enough else len(column.dropna().unique())
    except TypeError:  # lists and the like, from Parquet
        return np.inf


def _holds_scores(column: pd.Series, scale: Scale) -> bool:
    """Whether these are numbers on the scale of scores, and not just a code of zeros and ones."""
    if column.dtype.kind != "f" or _distinct(column, CLASSES) <= CLASSES:
        return False
    values = column.dropna().to_numpy()
    rounding = OVERSHOOT * (scale.highest - scale.lowest)
    inside = (values >= scale.lowest - rounding) & (values <= scale.highest + rounding)
    return values.size > 0 and bool(np.all(inside))


def _plain(name: str) -> str:
    """The name of a column in small letters, with underscores for blanks and points."""
    return name.strip().lower().replace(" ", "_").replace(".", "_")
