"""Times to an event: as they are passed, as a table keeps them, and as a file has their ends."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.arrays import Floats, is_single
from bayescal.core.errors import (
    CaseError,
    InputError,
    LabelWarning,
    ScoreWarning,
    as_count,
    as_number,
    warn,
)
from bayescal.core.text import count, exact, shortened
from bayescal.data.cases import (
    Index,
    aligned,
    as_floats,
    as_vector,
    check_same_length,
    common_labels,
    refuse_first,
)
from bayescal.data.columns import PYTHON, TIME_COLUMNS, Door
from bayescal.data.rows import Rows, add_up, numbered_by

__all__ = ["Ends", "FollowUp", "Survival"]

# Steps of the grid from 0 to the horizon.
TIME_STEPS = 1200
STEP_ROUNDING = 1e-6
# Share of the time to the horizon by which some case must be under observation.
EARLY_SHARE = 0.05
# Fewer cases, each for so many that have left, say too little of what happens from then on.
FEW_UNDER_OBSERVATION, LEFT_FOR_EACH = 10, 20
# What tells the entries of a follow-up apart, each an array of whole numbers.
FOLLOWED_COLUMNS = ("row", "entry", "exit", "kind")
# Kinds of exit: without an event, with that of interest, and with one that rules it out.
LEFT, OWN_EVENT, OTHER_EVENT = KINDS = range(3)
# Events and others from which scores are looked at, and standard errors below one half.
FEWEST_OF_KIND, ERRORS_BELOW = 10, 4
MOST_CAUSES = 20
# How far from the end of its step a time is put, so that rounding leaves it there.
WITHIN_STEP = 0.25
CODES = (
    "Pass 0 for a case that left, 1 for the event, and 2, 3, ... for other events that rule it out"
)
WHERE_TAKEN = (
    "a Survival was passed where outcomes are 0 or 1. Times to an event are taken by "
    "bayescal.fit, compare, update, assess, recommend, recalibration_gain, compare_models, "
    "build_model and CalibrationData, with horizon=."
)


class Exits:
    """What ended the time of each case: `LEFT`, `OWN_EVENT` or `OTHER_EVENT`."""

    kind: NDArray[np.int8]

    @property
    def event(self) -> NDArray[np.bool_]:
        """Whether each time ended with the event of interest."""
        return np.asarray(self.kind == OWN_EVENT)

    @property
    def other(self) -> NDArray[np.bool_]:
        """Whether each time ended with a competing event, which rules the event out."""
        return np.asarray(self.kind == OTHER_EVENT)


class Survival(Exits):
    """Times to an event, some of them censored, in place of outcomes.

    Parameters
    ----------
    time : array-like of shape (n,)
        How long each case was followed, from the moment that its risk was predicted for: until the
        event, or until it left (was censored).
    event : array-like of shape (n,)
        What ended it: 0 or False if the case left, 1 or True if it had the event. With competing
        risks a code for each: 2, 3, ... for other events, such as death from another cause, after
        which the event cannot come.
    entry : array-like of shape (n,), optional
        When each case came under observation, if that was later: cases that had the event before
        are not among them.
    cause : int, optional
        The code of the event that scores are risks of: 1 by default. All other codes but 0 are
        competing events.

    Attributes
    ----------
    event, other : ndarray of bool of shape (n,)
        Whether the event of interest, or a competing one, ended each time.

    Raises
    ------
    InputError
        If times are negative or missing, events are no codes, an entry is not before the time, or
        all events are 1 and 2, as R writes 0 and 1, and no `cause` was named.

    Warns
    -----
    LabelWarning
        If a `cause` above 1 is the code of no case.

    Notes
    -----
    Cases that left are taken to have the outlook of other cases with the same score: censoring may
    depend on the score, but not on more that says when the event will come. A competing event is
    not censoring: whoever had one is known not to have the event by the horizon.

    Examples
    --------
    >>> import bayescal as bc
    >>> outcome = bc.Survival(time=[2.5, 5.0, 1.2, 7.1], event=[1, 0, 0, 1])
    >>> outcome
    Survival(4 cases, 2 events, 2 censored)
    >>> table = bc.CalibrationData(outcome, [0.4, 0.1, 0.2, 0.3], horizon=5)
    >>> table
    CalibrationData(4 cases, 1 event by 5, 1 censored before, 4 rows)
    >>> bc.Survival(time=[2.5, 5.0, 1.2, 7.1], event=[1, 2, 0, 2], cause=2)
    Survival(4 cases, 2 events, 1 competing event, 1 censored)
    """

    time: Floats
    entry: Floats | None
    index: Index | None
    unnamed_codes: frozenset[int]

    def __init__(
        self,
        time: Any,
        event: ArrayLike | None = None,
        entry: ArrayLike | None = None,
        *,
        cause: int | None = None,
    ) -> None:
        if event is None:
            raise InputError(
                "event is missing: pass what ended each case's time, bc.Survival(time, event). Of "
                "a structured array or a frame pass two of its fields: bc.Survival(y['time'], "
                "y['event'])."
            )
        self.index = common_labels(time, event, entry)
        time, event, entry = aligned(time=time, event=event, entry=entry)
        self.time, codes = as_floats(time, "time"), _as_codes(event)
        own = 1 if cause is None else as_count(cause, "cause", maximum=MOST_CAUSES)
        kind = np.where(codes == own, OWN_EVENT, np.where(codes > 0, OTHER_EVENT, LEFT))
        self.kind = kind.astype(np.int8)
        if own > 1 and not self.event.any():
            known = ", ".join(map(str, np.unique(codes).tolist()))
            warn(
                f"cause={own} does not occur in event, whose codes are {known}, so that no case "
                "has the event. Check the code.",
                LabelWarning,
            )
        self.unnamed_codes = frozenset() if cause is not None else frozenset(codes.tolist())
        self.entry = None if entry is None else as_floats(entry, "entry")
        check_same_length(self.time.size, "time", self.kind.size, "event")
        refuse_first(
            ~((self.time >= 0) & (self.time < np.inf)),
            self.time,
            "time",
            "is no time under observation",
            more="; times are finite and not negative",
            cure="Correct or drop it.",
        )
        if self.entry is None:
            return
        check_same_length(self.time.size, "time", self.entry.size, "entry")
        wrong, problem = ~(self.entry >= 0), "is before the start of time, 0"
        refuse_first(wrong, self.entry, "entry", problem, cure="Correct or drop it.")
        after = self.entry >= self.time
        if after.any():
            at = int(after.argmax())
            what = "the event" if self.event[at] else "the end of follow-up"
            raise CaseError(
                "entry",
                f"is not before {what}",
                row=at,
                value=exact(self.entry[at]),
                others={"time": exact(self.time[at])},
                more=": such a case was never under observation",
                cure="Leave it out.",
            )

    def __len__(self) -> int:
        return int(self.time.size)

    def __array__(self, *args: Any, **kwargs: Any) -> NDArray[Any]:
        raise InputError(WHERE_TAKEN)

    def __iter__(self) -> NoReturn:
        raise InputError(WHERE_TAKEN)

    def __repr__(self) -> str:
        events, others, size = int(self.event.sum()), int(self.other.sum()), self.time.size
        told = [f"{size} cases", f"{events} events"]
        told += [count(others, "competing event")] * (others > 0)
        told += [f"{size - events - others} censored"]
        told += ["delayed entry"] * (self.entry is not None)
        return f"Survival({', '.join(told)})"

    def outcome(self, horizon: float) -> Floats:
        """Whether each case is known to have the event by a horizon, 0 or 1."""
        return (self.event & (self.time <= as_horizon(horizon))).astype(np.float64)

    def known(self, horizon: float) -> Floats:
        """The outcome of each case by a horizon, 0 or 1; NaN of a case that left before."""
        left = (self.kind == LEFT) & (self.time < as_horizon(horizon))
        return np.where(left, np.nan, self.outcome(horizon))

    def steps(self, horizon: float) -> dict[str, NDArray[Any]]:
        """When each case came and went, and by which kind of exit, as `FollowUp` has them."""
        came = np.zeros(len(self)) if self.entry is None else self.entry
        problem, more = f"is not before the horizon {horizon:g}", ": such a case says nothing of it"
        refuse_first(came >= horizon, came, "entry", problem, "Leave it out.", more, alone=True)
        at = self.time / horizon * TIME_STEPS
        kind = np.where(self.time <= horizon, self.kind, LEFT).astype(np.int8)
        had = kind != LEFT
        of_event = np.clip(np.ceil(at - STEP_ROUNDING), 1, TIME_STEPS)
        left = np.where(self.time >= horizon, TIME_STEPS, np.clip(np.rint(at), 0, TIME_STEPS - 1))
        went = np.where(had, of_event, left).astype(np.intp)
        entry = np.minimum(np.rint(came / horizon * TIME_STEPS).astype(np.intp), went - had)
        return {"entry": entry, "exit": went, "kind": kind}

    def of(self, some: NDArray[Any]) -> Survival:
        """Some of the cases, without their labels."""
        part = copy(self)
        part.time, part.kind = self.time[some], self.kind[some]
        part.entry = None if self.entry is None else self.entry[some]
        part.index = None
        return part

    @classmethod
    def joined(cls, parts: Sequence[Survival]) -> Survival:
        """The cases of several, one after the other, without their labels."""
        time, kind = (
            np.concatenate([getattr(p, name) for p in parts]) for name in ("time", "kind")
        )
        late = any(part.entry is not None for part in parts)
        none = (np.zeros(len(part)) if part.entry is None else part.entry for part in parts)
        return cls(time, kind, np.concatenate([*none]) if late else None, cause=OWN_EVENT)


@dataclass(frozen=True, eq=False)
class FollowUp(Exits):
    """Cases by row of a table, and by when they came, when they went, and by which kind of exit.

    Times are steps of a fixed grid, 0 to `TIME_STEPS`, so that tables can be added. An event lies
    within the step that ends at its exit; a case that left did so at its exit, and was followed to
    the horizon where that is the last step. `weight` sums the weights of the cases of an entry.
    """

    horizon: float
    row: NDArray[np.intp]
    entry: NDArray[np.intp]
    exit: NDArray[np.intp]
    kind: NDArray[np.int8]
    weight: Floats

    @classmethod
    def of_cases(cls, outcome: Survival, horizon: float, weight: Floats) -> FollowUp:
        """One entry of each case, which is in the row of its number."""
        return cls(horizon, np.arange(len(outcome)), **outcome.steps(horizon), weight=weight)

    @classmethod
    def of_rows(cls, cases: Rows, row: NDArray[np.intp], horizon: float) -> FollowUp:
        """One entry of each of the cases, which are in these rows."""
        assert cases.entry is not None and cases.exit is not None and cases.kind is not None
        return cls(horizon, row, cases.entry, cases.exit, cases.kind, cases.trials)

    def in_rows(self, row: NDArray[np.intp]) -> FollowUp:
        """The same, where what was in row r is now in row `row[r]`, or, below 0, left out."""
        kept = row[self.row] >= 0
        of: list[Any] = [getattr(self, n)[kept] for n in (*FOLLOWED_COLUMNS[1:], "weight")]
        return FollowUp(self.horizon, row[self.row][kept], *of).summed()[0]

    def summed(self) -> tuple[FollowUp, NDArray[np.intp]]:
        """The entries that are alike together, and where each one went."""
        told = {name: getattr(self, name) for name in FOLLOWED_COLUMNS}
        first, at = numbered_by(np.zeros(self.row.size, np.intp), 1, told)
        own: dict[str, Any] = {name: values[first] for name, values in told.items()}
        return FollowUp(self.horizon, **own, weight=add_up(at, self.weight, first.size)), at

    def check(self) -> None:
        """Refuse a horizon of which, or of a time before which, the cases say nothing."""
        at, longest = self.horizon, float(self.exit.max()) * self.horizon / TIME_STEPS
        if self.exit.max() < TIME_STEPS and self.left_early.any():
            left = self.censored
            raise InputError(
                f"horizon is {at:g}, but no case was followed beyond {longest:.3g}, and {left:g} "
                f"left before the event: nothing says what happens between {longest:.3g} and "
                f"{at:g}. Choose a horizon of at most {longest:.3g}, with risks by then."
            )
        first = float(self.entry.min()) * at / TIME_STEPS
        if first > at * EARLY_SHARE:
            raise InputError(
                f"no case was under observation before {first:.3g}, so that nothing says how many "
                f"had the event by then, and the scores are risks from 0 to {at:g}. Count time "
                "from a moment at which cases were under observation, with risks from then on."
            )
        self._refuse_thin()

    def _refuse_thin(self) -> None:
        """Refuse a stretch of time in which nobody, or hardly anybody, is under observation."""
        at, under = self.horizon, self._under_observation
        left = np.bincount(self.exit, self.weight * self.left_early, TIME_STEPS + 1)
        left = np.cumsum(left)[:TIME_STEPS]
        thin = (under < FEW_UNDER_OBSERVATION) & (left >= LEFT_FOR_EACH * under)
        thin &= np.arange(TIME_STEPS) >= int(self.entry.min())
        for some in (thin & (under <= 0), thin):
            start, end = _longest(some)
            if end - start <= EARLY_SHARE * TIME_STEPS:
                continue
            since, until = start * at / TIME_STEPS, end * at / TIME_STEPS
            most, gone = float(under[start:end].max()), float(left[start])
            who = f"never more than {count(most, 'case')} were" if most > 0 else "no case was"
            before = f", and {gone:.6g} had left by {since:.3g}" if gone else ""
            raise InputError(
                f"between {since:.3g} and {until:.3g} {who} under observation{before}: hardly "
                f"anything says what happens then. Choose a horizon of at most {since:.3g}, with "
                "risks by then."
            )

    def warn_of_survival(self, rows: int) -> None:
        """Warn if scores look like probabilities of survival: fewer events where they are high."""
        free = ~self.event & ~self.left_early
        event, other = (
            np.bincount(self.row[some], self.weight[some], rows) for some in (self.event, free)
        )
        events, others = event.sum(), other.sum()
        if min(events, others) < FEWEST_OF_KIND:
            return
        c_statistic = float(event @ (np.cumsum(other) - other / 2)) / (events * others)
        error = np.sqrt((events + others + 1) / (12 * events * others))
        if c_statistic < 0.5 - ERRORS_BELOW * error:
            warn(
                "scores are lower for cases with the event than for cases followed to the horizon "
                f"without it (C-statistic {c_statistic:.2f}): they look like probabilities of "
                "survival. If they are, pass 1 - y_prob.",
                ScoreWarning,
            )

    @property
    def _under_observation(self) -> Floats:
        """Cases under observation in each step, without any event before."""
        came = np.bincount(self.entry, self.weight, TIME_STEPS + 1)
        went = np.bincount(self.exit, self.weight, TIME_STEPS + 1)
        return np.maximum(np.cumsum(came - went)[:TIME_STEPS], 0.0)

    @property
    def left_early(self) -> NDArray[np.bool_]:
        """Which entries left before the horizon, without any event."""
        return np.asarray((self.kind == LEFT) & (self.exit < TIME_STEPS))

    @property
    def censored(self) -> float:
        """Cases that left before the horizon, without any event (the sum of their weights)."""
        return float(self.weight[self.left_early].sum())

    @property
    def competing(self) -> float:
        """Cases with a competing event by the horizon (the sum of their weights)."""
        return float(self.weight[self.other].sum())

    @property
    def is_delayed(self) -> bool:
        """Whether some cases came under observation later than at time 0."""
        return bool(self.entry.any())

    def at_risk(self, times: Floats, of: NDArray[np.bool_] | None = None) -> Floats:
        """Cases `of` some entries under observation, without any event, just before each time."""
        step = np.asarray(times, np.float64) / self.horizon * TIME_STEPS
        inside = (self.entry < step[:, None]) & (self.exit >= step[:, None] - STEP_ROUNDING)
        inside |= (step[:, None] <= 0) & (self.entry == 0)
        return np.asarray(inside @ (self.weight if of is None else self.weight * of))

    def cuts(self, intervals: int) -> tuple[int, ...]:
        """Steps between intervals with as much time at risk each: from 0 to the horizon."""
        risk = self._under_observation
        share = np.cumsum(risk) / max(float(risk.sum()), np.finfo(float).tiny)
        inner = np.searchsorted(share, np.arange(1, intervals) / intervals) + 1
        inner = np.unique(np.clip(inner, 1, TIME_STEPS - 1))
        return (0, *map(int, inner), TIME_STEPS)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FollowUp) or self.horizon != other.horizon:
            return False
        same = all(np.array_equal(getattr(self, n), getattr(other, n)) for n in FOLLOWED_COLUMNS)
        return same and np.allclose(self.weight, other.weight, rtol=1e-12, atol=0)


def timed(given: dict[str, Any]) -> dict[str, Any]:
    """Columns by their names, of which those of times are one outcome."""
    seen = {name: given[name] for name in TIME_COLUMNS if given.get(name) is not None}
    rest = {name: each for name, each in given.items() if name not in TIME_COLUMNS}
    return {"y_true": Survival(**seen)} | rest if seen else rest


def seen_as(followed: FollowUp) -> Survival:
    """One case of each entry of a follow-up, which is this entry again when it is read."""
    had = followed.kind != LEFT
    step = followed.exit + np.where(had, -WITHIN_STEP, WITHIN_STEP)
    unit = followed.horizon / TIME_STEPS
    entry = followed.entry * unit if followed.is_delayed else None
    return Survival(step * unit, followed.kind.astype(np.int64), entry, cause=OWN_EVENT)


def as_horizon(horizon: Any) -> float:
    """The horizon as a positive number."""
    if horizon is None:
        raise InputError(
            "horizon is missing: times to an event were given, and the scores are risks of the "
            "event by some time. Pass it in the units of time, such as horizon=5."
        )
    if not is_single(horizon):
        times = count(np.asarray(horizon, dtype=object).size, "time")
        raise InputError(
            f"horizon is {times} here: several are taken by bayescal.fit, compare and assess, "
            "with a column of risks for each. Pass one number, such as horizon=5."
        )
    at = as_number(horizon, "horizon")
    if not 0 < at < np.inf:
        raise InputError(f"horizon must be a positive time, got {shortened(repr(horizon))}.")
    return at


def refuse_horizon(horizon: Any) -> None:
    """Refuse a horizon of outcomes that have no times."""
    if horizon is not None:
        raise InputError(
            "horizon was given, but no times to an event. Pass bc.Survival(time, event) in place "
            "of the outcomes; a CalibrationData holds its own horizon."
        )


def check_codes(codes: Collection[int]) -> None:
    """Refuse codes, none named, of which it is not clear whether two causes are meant, or none."""
    if {1, 2} <= set(codes) and 0 not in codes:
        raise CaseError(
            "event",
            "holds 1 and 2 and no 0, and R writes 1 for a case that left and 2 for the event",
            cure="codes",
        )


def _as_codes(event: Any) -> NDArray[np.int64]:
    vector = as_vector(event, "event")
    if vector.dtype == np.bool_:
        return vector.astype(np.int64)
    values, cure = vector, f"{CODES}."
    texts = np.array([isinstance(label, str) for label in vector.tolist()])
    if texts.any():
        wrong, cure = texts, f"{CODES}, as in event == 'dead' of a column of texts."
    else:
        values = as_floats(vector, "event")
        wrong = ~np.isin(values, np.arange(MOST_CAUSES + 1))
    refuse_first(wrong, values, "event", "is no code of what ended it", cure=cure, alone=True)
    return values.astype(np.int64)


def _longest(some: NDArray[np.bool_]) -> tuple[int, int]:
    """Start and end of the longest run of true values; (0, 0) without any."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], some.astype(np.int8), [0]])))
    starts, ends = edges[::2], edges[1::2]
    if not starts.size:
        return 0, 0
    longest = int(np.argmax(ends - starts))
    return int(starts[longest]), int(ends[longest])


# Codes or words that a message names.
MOST_SHOWN = 8
# What they are written as, if nothing else is said.
AS_EVENT, AS_LEFT = "1", "0"


class Ends(NamedTuple):
    """A column of what ended each time: 0 the case left, else a number for each kind of event.

    `cause` is the code of the event, where one was named; `event` and `left` what the file has.
    """

    column: str
    codes: NDArray[Any]
    cause: int | None
    event: str = AS_EVENT
    left: str = AS_LEFT

    @classmethod
    def of(
        cls,
        column: str,
        values: NDArray[Any],
        event: str | None,
        left: str | None,
        door: Door = PYTHON,
    ) -> Ends:
        """Read numbers or words.

        Parameters
        ----------
        values : ndarray of shape (n,)
            Nothing is missing.
        event, left : str or None
            What they are written as, where it was said.
        """
        import pandas as pd

        row, distinct = pd.factorize(values)
        texts = [_as_text(value) for value in distinct.tolist()]
        words, are_numbers = sorted({*texts}), values.dtype.kind == "f"

        if are_numbers and left is not None:
            event = event or AS_EVENT
        for argument, wanted in (("cause", event), ("censored", left)):
            if wanted is not None and wanted not in words:
                raise InputError(
                    f"{door.option(argument, wanted)}: no case has this in the column {column!r} "
                    f"of {door.option('event')}, which holds {_listed(words)}. Name one of these, "
                    "or another column."
                )
        if are_numbers and left is None:
            if event is not None and not event.isdecimal():
                raise InputError(
                    f"{door.option('cause', event)}: codes of events are whole numbers from 1. "
                    f"Write them into the column {column!r}."
                )
            return cls(column, values, int(event) if event else None, event or AS_EVENT)
        if left is None and event is not None and len(words) == 2:
            left = next(word for word in words if word != event)
        if event is None or left is None:
            raise InputError(_question(column, words, event, door))
        if event == left:
            raise InputError(
                f"{door.option('cause')} and {door.option('censored')} are both {event!r}. Name "
                "one for each."
            )
        others = [word for word in words if word not in (event, left)]
        code = {left: 0.0, event: 1.0} | {text: 2.0 + k for k, text in enumerate(others)}
        return cls(column, np.array([code[text] for text in texts])[row], 1, event, left)

    def in_words(self, outcome: Survival, *, is_told: bool, door: Door = PYTHON) -> str:
        """What the codes mean, and how to say which is the event, unless that was told."""
        cure = f" If the event has another code, name it with {door.option('cause')}."
        return (
            f"{shortened(self.column)} says what ended each time: {shortened(self.event)} is the "
            f"event ({count(int(outcome.event.sum()), 'case')}), {shortened(self.left)} a case "
            "that left, and anything else a competing event, after which the event cannot come "
            f"({int(outcome.other.sum()):,}).{'' if is_told else cure}"
        )


def _question(column: str, words: list[str], event: str | None, door: Door) -> str:
    """What is to be said of words; of two, one says which the other is."""
    holds = f"column {column!r} of {door.option('event')} holds {_listed(words)}"
    if event is None:
        more = f", and which a case that left: {door.option('censored', words[0])}"
        return (
            f"{holds}. Say which of these is the event, such as {door.option('cause', words[-1])}"
            f"{more * (len(words) != 2)}."
        )
    rest = [word for word in words if word != event]
    if rest:
        return (
            f"{holds}. Say which of these is a case that left, such as "
            f"{door.option('censored', rest[0])}: the others are competing events."
        )
    return (
        f"{holds} alone, so that it is not known how a case that left would be written. Name it "
        f"with {door.option('censored')}."
    )


def _as_text(value: object) -> str:
    return value.strip() if isinstance(value, str) else f"{value:.15g}"


def _listed(words: list[str]) -> str:
    shown = ", ".join(map(shortened, words[:MOST_SHOWN]))
    return shown + ", ..." * (len(words) > MOST_SHOWN)
