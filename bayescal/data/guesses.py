"""Which column holds what, where it was not said, with a reason for each guess.

What stays open is asked at once, in one message: which column is the outcome, which of its values
is the event, whether ids that repeat are patients, whether hospitals matter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.core.text import shortened
from bayescal.data.columns import PROBABILITY, Columns, Request, check_columns, listed

if TYPE_CHECKING:
    import pandas as pd

# Values of a column of outcomes.
CLASSES = 2
# Values of an outcome of which one is asked for as the event.
MOST_VALUES = 10
# Levels, beyond which a column of sites or periods is not taken by any result.
MOST_PROPOSED = {"site": 200, "period": 60}
# Rows that mostly show whether a column has more values than that.
TRIED_ROWS = 1000

OUTCOME_NAMES = {
    "correct", "event", "label", "obs", "observed", "outcome", "outcomes", "target", "y", "y_true",
    "ytrue",
}  # fmt: skip
# Words in the name of a column that has two values, of which one is the event.
EVENT_WORDS = {
    "dead", "death", "deceased", "died", "mortality", "outcome", "readmission", "readmitted",
    "recurrence", "relapse",
}  # fmt: skip
# Names that are said not to fit, where they do not.
NEAR_OUTCOMES = OUTCOME_NAMES | EVENT_WORDS | {"case", "disease", "result", "status", "survived"}
SCORE_NAMES = {
    "confidence", "p", "phat", "pred", "predicted", "prediction", "predictions", "prob",
    "probability", "proba", "risk", "score", "scores", "y_pred", "y_prob", "y_proba", "y_score",
    "yprob",
}  # fmt: skip
# Words in the name of a column of numbers that can be scores.
SCORE_WORDS = {
    "confidence", "forecast", "phat", "pred", "predicted", "prediction", "prob", "proba",
    "probability", "risk", "score",
}  # fmt: skip
ID_NAMES = {
    "case", "id", "ids", "mrn", "participant", "patient", "patients", "person", "pid", "psu",
    "subject", "subjects",
}  # fmt: skip
# Names of columns that say which imputation a row is of, as mice calls it `.imp`.
IMPUTATION_NAMES = {"imp", "imputation", "m"}
SITE_NAMES = {
    "center", "centers", "centre", "centres", "clinic", "clinics", "cluster", "clusters",
    "hospital", "hospitals", "region", "regions", "site", "sites", "studies", "study",
}  # fmt: skip
PERIOD_NAMES = {"date", "dates", "month", "months"}
# Values that mostly are the event, which is proposed, and not taken.
LIKELY_EVENTS = {
    "+", "case", "dead", "died", "event", "ja", "oui", "pos", "positive", "s\xed", "si", "sim",
    "true", "y", "yes",
}  # fmt: skip
MISSING_NUMBERS = {-9999, -999, -99, -98, -88, -9, -8, -1, 9, 88, 98, 99, 999, 9999}
MISSING_TEXTS = {
    "", "-", "--", ".", "..", "?", "missing", "n.a.", "n/k", "nk", "not available", "not known",
    "unk", "unknown",
}  # fmt: skip


# What each option is of, beside whose reason its own is told.
COLUMN_OF = {"pos_label": "outcome", "scale": "prob"}


@dataclass
class Guess:
    """What is known of a table so far, why its columns were taken, and what is open."""

    frame: pd.DataFrame
    request: Request
    free: list[str]
    """Columns of no role."""
    reasons: dict[str, str] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)

    @property
    def columns(self) -> Columns:
        """Which hold what."""
        return self.request.columns

    def take(self, role: str, value: str, reason: str) -> None:
        """A column is of this role, or an option has this value."""
        of_column, answer = COLUMN_OF.get(role), cast("dict[str, Any]", {role: value})
        if of_column is None:
            self.request = replace(self.request, columns=self.columns._replace(**answer))
            self.free.remove(value)
            self.reasons[role] = reason
            return
        self.request = replace(self.request, **answer)
        if of_column in self.reasons:
            self.reasons[of_column] += f"; {reason}"

    def ask(self, question: str, likely: tuple[str, str, str] | None = None) -> None:
        """Ask, unless a likely answer is shown to be corrected."""
        if likely is not None and self.request.door.shows:
            self.take(*likely)
        elif question:
            self.questions.append(question)

    def distinct(self, name: str, enough: float = np.inf) -> float:
        """How many values a column has, missing ones aside; or more than enough."""
        column = self.frame[name]
        try:
            few = column.iloc[:TRIED_ROWS].nunique()
            return float(few if few > enough else column.nunique())
        except TypeError:  # lists and the like, from Parquet
            return np.inf

    @property
    def question(self) -> str:
        """All questions as one text; empty without any."""
        if len(self.questions) < 2:
            return "".join(self.questions)
        each = [f"({at}) {text}" for at, text in enumerate(self.questions, 1)]
        return f"{len(each)} questions: {' '.join(each)}"

    def answered(self) -> Request:
        """What is known; an `InputError` asks what is open."""
        if self.questions:
            raise InputError(self.question)
        return self.request


def guess(frame: pd.DataFrame, request: Request) -> Guess:
    """The columns of a table: as they were named, which they must be, or guessed."""
    names = [str(name) for name in frame.columns]
    named = [*request.named, *(("ignore", name) for name in request.ignore)]
    check_columns(named, names, request.door.option)
    taken, often = {name for _, name in named}, Counter(names)
    made = Guess(frame, request, [n for n in names if n not in taken and often[n] == 1])
    if request.columns.outcome is request.columns.time is request.columns.event is None:
        _guess_outcome(made, names)
    _ask_for_event(made)
    _ask_for_times(made)
    if request.columns.prob is None:
        _guess_prob(made, names)
    _ask_for_percent(made)
    if not request.independent and not request.columns.cluster and not request.columns.imputation:
        _ask_for_ids(made, names)
        _ask_for_groups(made)
    return made


def _guess_outcome(guess: Guess, names: Sequence[str]) -> None:
    """By a telling name, else by an event in the name, else as the only one with two values."""
    free, two = guess.free, [n for n in guess.free if guess.distinct(n, CLASSES) == CLASSES]
    named = [name for name in free if _plain(name) in OUTCOME_NAMES]
    tiers = {
        "its name": [name for name in named if guess.distinct(name, CLASSES) <= CLASSES],
        "its name and its two values": [name for name in two if _words(name) & EVENT_WORDS],
        "no other column has two values": two,
    }
    _take_one(guess, "outcome", tiers)
    if guess.columns.outcome is None and not any(tiers.values()):
        guess.ask(
            f"no column looks like the outcome.{_why_none(guess)} Say which it is with "
            f"{guess.request.door.option('outcome')}: {listed(names)}."
        )


def _guess_prob(guess: Guess, names: Sequence[str]) -> None:
    """By a telling name, else by a word in it, else as the only one with numbers in the range."""
    option, free = guess.request.door.option, guess.free
    event = "1" if guess.request.pos_label is None else str(guess.request.pos_label)
    of_event = rf"\.?pred_{re.escape(event)}"  # of .pred_0 and .pred_1 of tidymodels
    worded = [name for name in free if _words(name) & SCORE_WORDS]
    tiers = {
        "its name": [name for name in free if _plain(name) in SCORE_NAMES],
        "its name, which is that of the event": [n for n in free if re.fullmatch(of_event, n)],
        "its name and its numbers": [n for n in worded if _holds_scores(guess, n, by_name=True)],
        "no other column has numbers in this range": [n for n in free if _holds_scores(guess, n)],
    }
    more = f" {guess.request.door.several} compares several."
    _take_one(guess, "prob", tiers, "score", more)
    if guess.columns.prob is None and not any(tiers.values()):
        guess.ask(
            f"no column looks like the score. Say which it is with {option('prob')}: "
            f"{listed(names)}. Log-odds are read with {option('scale', 'logit')}, percentages with "
            f"{option('scale', 'percent')}."
        )


def _take_one(
    guess: Guess,
    role: str,
    tiers: Mapping[str, Sequence[str]],
    called: str = "outcome",
    more: str = "",
) -> None:
    """The column of the first reason that holds of any; a question if it holds of several."""
    for reason, fitting in tiers.items():
        if len(fitting) == 1:
            guess.take(role, fitting[0], reason)
        elif fitting:
            guess.ask(
                f"several columns could be the {called}: {listed(fitting)}. Say which with "
                f"{guess.request.door.option(role)}.{more}"
            )
        if fitting:
            return


def _ask_for_event(guess: Guess) -> None:
    """Ask which value of the outcome is the event, if that is not plain."""
    name = guess.columns.outcome
    if name is None or guess.request.pos_label is not None:
        return
    column = guess.frame[name]
    if column.dtype.kind in "biu" and column.min() >= 0 and column.max() <= 1:
        return
    if not CLASSES <= guess.distinct(name, MOST_VALUES) <= MOST_VALUES:
        return
    values = sorted({*map(stripped, column.dropna().unique().tolist())}, key=str)
    labels = [value for value in values if as_code(value) is None]
    are_numbers = not any(isinstance(value, str) for value in values)
    if {*labels} <= {0, 1} or (len(values) > CLASSES and (are_numbers or len(labels) <= CLASSES)):
        return  # a third number, or a code of missing values, is told when outcomes are read
    option = guess.request.door.option
    likely = [value for value in values if str(value).strip().lower() in LIKELY_EVENTS]
    ways = [option("pos_label", value) for value in values]
    answer = None
    if len(likely) == 1:
        ways.sort(key=lambda way: way != option("pos_label", likely[0]))
        answer = ("pos_label", str(likely[0]), f"{shortened(repr(likely[0]))} is mostly it")
    guess.ask(
        f"column {name!r} must be 0/1 or boolean, but holds "
        f"{' and '.join(shortened(repr(value)) for value in values)}. Say which is the event"
        f"{', against all others' * (len(values) > CLASSES)}: {' or '.join(ways)}.",
        answer,
    )


def _ask_for_times(guess: Guess) -> None:
    """Times need what ended them and a horizon, and nothing goes with times that are not there."""
    request, columns, option = guess.request, guess.columns, guess.request.door.option
    given = {"event": columns.event, "entry": columns.entry, "horizon": request.horizon}
    if columns.time is None:
        given |= {"cause": request.cause, "censored": request.censored}
        given["scale"] = request.scale if request.scale == "survival" else None
        for name, value in given.items():
            if value is not None:
                more = f" The value that is the event is said with {option('pos_label')}."
                guess.ask(
                    f"{option(name, value if name == 'scale' else None)} goes with "
                    f"{option('time')}, the column of times to an event.{more * (name == 'event')}"
                )
        return
    if columns.outcome is not None:
        guess.ask(f"{option('outcome')} does not go with {option('time')}. Leave it out.")
    if columns.event is None:
        guess.ask(
            f"{option('event')} is missing: with {option('time')} it names the column of what "
            "ended the time: 1 the event, 0 the case left, 2, 3, ... a competing event, or words."
        )
    if request.horizon is None:
        guess.ask(
            f"{option('horizon')} is missing: with {option('time')} the scores are risks of the "
            f"event by some time. Say it in the units of the times, such as {option('horizon', 5)}."
        )


def stripped(value: Any) -> Any:
    """A text without spaces around it, anything else as it is."""
    return value.strip() if isinstance(value, str) else value


def _ask_for_percent(guess: Guess) -> None:
    name = guess.columns.prob
    if name is None or guess.request.as_written is not PROBABILITY:
        return
    option, numbers = guess.request.door.option, _numbers(guess.frame[name])
    if numbers is None or not 1 < np.nanmax(numbers) <= 100:
        return
    lowest, highest, question, likely = np.nanmin(numbers), np.nanmax(numbers), "", None
    if _says_percent(name):
        question = f"column {name!r} holds percentages by its name, from {lowest:g} to "
        question += f"{highest:g}. Read them with {option('scale', 'percent')}."
    are_points = not (numbers % 1 > 0).any()  # of a clinical score
    are_percent = lowest >= 0 and np.nanmedian(numbers) > 1 and not are_points
    if "prob" in guess.reasons and (question or are_percent):
        likely = ("scale", "percent", f"numbers up to {highest:g}")
    guess.ask(question, likely)


def _ask_for_ids(guess: Guess, names: Sequence[str]) -> None:
    option = guess.request.door.option
    for name in guess.free:
        if _plain(name) not in ID_NAMES and not _plain(name).endswith("_id"):
            continue
        ids, rows = guess.distinct(name), int(guess.frame[name].notna().sum())
        if not 2 <= ids < rows:
            continue
        shown = shortened(name)
        imputed = [each for each in names if _plain(each) in IMPUTATION_NAMES]
        hint = ""
        if imputed:
            way = option("imputation", shortened(imputed[0]))
            hint = f" If rows of one are its imputations, add {way}."
        guess.ask(
            f"column {shown!r} repeats ({rows:,} rows, {ids:,.0f} ids). If rows of one {shown} are "
            f"not independent, add {option('cluster', shown)}; if they are, add "
            f"{option('independent', True)}.{hint}",
            ("cluster", name, f"its name; {ids:,.0f} ids in {rows:,} rows"),
        )
        return


def _ask_for_groups(guess: Guess) -> None:
    option = guess.request.door.option
    for name, role in may_be_groups(guess.free).items():
        columns = guess.columns
        if columns.site or columns.period or columns.subgroup:
            return
        levels, rows = guess.distinct(name), int(guess.frame[name].notna().sum())
        if not 2 <= levels < rows:
            continue
        shown, is_likely = shortened(name), levels <= MOST_PROPOSED[role]
        ways = [option(each, shown) for each in (role, "cluster") if each in guess.request.asks]
        guess.ask(
            f"column {shown!r} has {levels:,.0f} values in {rows:,} rows. If calibration may "
            "differ between them, or rows of one are alike, say so: "
            f"{', or '.join([*ways, option('ignore', shown)])} if it does not matter.",
            (role, name, f"its name; {levels:,.0f} values in {rows:,} rows") if is_likely else None,
        )


def _why_none(guess: Guess) -> str:
    """Why columns do not fit that are called as outcomes are."""
    told = []
    for name in guess.free:
        if _plain(name) not in NEAR_OUTCOMES:
            continue
        values = guess.frame[name].dropna().drop_duplicates().tolist()
        if not values:
            told.append(f" Column {name!r} is empty.")
        if len(values) == 1:
            told.append(f" Column {name!r} is {shortened(str(values[0]))} in all rows.")
        if len(values) > CLASSES:
            shown = ", ".join(shortened(str(value)) for value in sorted(values, key=str)[:3])
            more = ", ..." * (len(values) > 3)
            told.append(f" Column {name!r} has {len(values)} values ({shown}{more}), not two.")
            codes = [shortened(repr(each)) for each in values if as_code(each) is not None]
            if codes and len(values) - len(codes) <= CLASSES:
                told.append(
                    f" If {' and '.join(codes)} is for missing outcomes, empty these cells."
                )
    return "".join(told)


def _holds_scores(guess: Guess, name: str, *, by_name: bool = False) -> bool:
    """Whether these are numbers on the scale of scores, and not a code of zeros and ones.

    By a telling name whole numbers are, texts with a percent sign, and percentages if it says so.
    """
    if not by_name and guess.frame[name].dtype.kind != "f":
        return False
    if guess.distinct(name, CLASSES) <= CLASSES:
        return False
    numbers = _numbers(guess.frame[name])
    if numbers is None or not np.isfinite(numbers).any():
        return False
    scale = guess.request.as_written
    highest = 100 if by_name and _says_percent(name) else scale.highest
    span = 1e-6 * (scale.highest - scale.lowest)
    return bool(np.nanmin(numbers) >= scale.lowest - span and np.nanmax(numbers) <= highest + span)


def _numbers(column: pd.Series) -> NDArray[np.float64] | None:
    """A column as floats, without percent signs; None if its first rows hold anything else."""
    import pandas as pd

    if column.dtype.kind in "iuf":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if column.dtype.kind in "bmM":
        return None
    text = (
        column.iloc[:TRIED_ROWS].dropna().astype(str).str.strip().str.removesuffix("%").str.strip()
    )
    numbers = pd.to_numeric(text.str.replace(",", ".", regex=False), errors="coerce")
    return None if numbers.isna().any() or not len(numbers) else numbers.to_numpy(dtype=np.float64)


def may_be_groups(names: Collection[str], taken: Collection[str] = ()) -> dict[str, str]:
    """Columns that by their names may be a site or a period, and have no other role."""
    roles = dict.fromkeys(SITE_NAMES, "site") | dict.fromkeys(PERIOD_NAMES, "period")
    free = [name for name in names if name not in taken]
    return {name: roles[_plain(name)] for name in free if _plain(name) in roles}


def as_code(value: Any) -> Any:
    """The value if it usually means a missing one, such as "." of SAS or -99 of SPSS, else None."""
    if isinstance(value, str):
        text = value.strip().lower()
        is_number = text.lstrip("-").isdigit() and int(text) in MISSING_NUMBERS
        return value if text in MISSING_TEXTS or is_number else None
    return None if isinstance(value, (bool, np.bool_)) or value not in MISSING_NUMBERS else value


def _says_percent(name: str) -> bool:
    return "%" in name or bool(_words(name) & {"percent", "percentage", "pct"})


def _words(name: str) -> set[str]:
    return {*_plain(name).split("_")}


def _plain(name: str) -> str:
    """In small letters, with one underscore for all between words: "predicted_mortality"."""
    return re.sub(r"[\W_]+", "_", str(name).lower()).strip("_")
