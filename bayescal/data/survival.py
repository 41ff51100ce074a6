"""Time to event as it is passed: how long each case was followed, and what ended it."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from copy import copy
from typing import Any, NoReturn

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
)
from bayescal.core.text import count, exact, shortened
from bayescal.data.follow_up import LEFT, OTHER_EVENT, OWN_EVENT, TIME_STEPS, FollowUp
from bayescal.data.members import Members
from bayescal.data.sources.alignment import Index, aligned, common_labels
from bayescal.data.table import Rows
from bayescal.data.validate import as_floats, as_vector, check_same_length

__all__ = [
    "Survival",
    "as_horizon",
    "check_codes",
    "followed_in",
    "refuse_horizon",
    "seen_as",
    "warn_of_survival",
]

FEWEST_OF_KIND, ERRORS_BELOW = 10, 4
"""Events and others from which scores are looked at, and standard errors below one half."""
MOST_CAUSES = 20
WITHIN_STEP = 0.25
"""How far from the end of its step a time is put, so that rounding leaves it there."""
CODES = (
    "Pass 0 for a case that left, 1 for the event, and 2, 3, ... for other events that rule it out"
)
WHERE_TAKEN = (
    "a Survival was passed where outcomes are 0 or 1. Times to an event are taken by "
    "bayescal.fit, compare, update, assess, recommend, recalibration_gain, compare_models, "
    "build_model and CalibrationData, with horizon=."
)


class Survival:
    """Times to an event, some of them censored, in place of outcomes.

    Parameters
    ----------
    time : array-like of shape (n,)
        How long each case was followed, from the moment that its risk was predicted for: until the
        event, or until it left (was censored). Or, without `event`, a structured array of a boolean
        and a numeric field, as scikit-survival makes them, or a matrix or data frame with the
        columns time and event.
    event : array-like of shape (n,), optional
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
    event: NDArray[np.bool_]
    other: NDArray[np.bool_]
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
            time, event = _columns(time)
        self.index = common_labels(time, event, entry)
        time, event, entry = aligned(time=time, event=event, entry=entry)
        self.time, codes = as_floats(time, "time"), _as_codes(event)
        own = 1 if cause is None else as_count(cause, "cause", maximum=MOST_CAUSES)
        self.event, self.other = codes == own, (codes != own) & (codes > 0)
        if own > 1 and not self.event.any():
            known = ", ".join(map(str, np.unique(codes).tolist()))
            warnings.warn(
                f"cause={own} does not occur in event, whose codes are {known}, so that no case "
                "has the event. Check the code.",
                LabelWarning,
                stacklevel=2,
            )
        self.unnamed_codes = frozenset() if cause is not None else frozenset(codes.tolist())
        self.entry = None if entry is None else as_floats(entry, "entry")
        check_same_length(self.time.size, "time", self.event.size, "event")
        _refuse_first(
            ~((self.time >= 0) & (self.time < np.inf)),
            self.time,
            "time",
            "is no time under observation",
            "; times are finite and not negative",
        )
        if self.entry is None:
            return
        check_same_length(self.time.size, "time", self.entry.size, "entry")
        _refuse_first(~(self.entry >= 0), self.entry, "entry", "is before the start of time, 0")
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

    @property
    def kind(self) -> NDArray[np.int8]:
        """What ended each time: `LEFT`, `OWN_EVENT` or `OTHER_EVENT`."""
        kind = np.where(self.other, OTHER_EVENT, np.where(self.event, OWN_EVENT, LEFT))
        return kind.astype(np.int8)

    def outcome(self, horizon: float) -> Floats:
        """Whether each case is known to have the event by a horizon, 0 or 1.

        Parameters
        ----------
        horizon : float
        """
        return (self.event & (self.time <= as_horizon(horizon))).astype(np.float64)

    def known(self, horizon: float) -> Floats:
        """The outcome of each case by a horizon, 0 or 1; NaN of a case that left before.

        Parameters
        ----------
        horizon : float
        """
        left = (self.kind == LEFT) & (self.time < as_horizon(horizon))
        return np.where(left, np.nan, self.outcome(horizon))

    def of(self, some: NDArray[Any]) -> Survival:
        """Some of the cases, without their labels."""
        part = copy(self)
        part.time, part.event, part.other = (
            each[some] for each in (self.time, self.event, self.other)
        )
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


def followed_in(
    row: NDArray[np.intp],
    outcome: Survival,
    weight: Floats | None,
    at: float,
    members: Members | None = None,
) -> FollowUp:
    """How long cases were followed that are in the rows of a table.

    Parameters
    ----------
    row : ndarray of int of shape (counted,)
        Of each case that counts.
    weight : ndarray of shape (n,) or None
        A case with the weight 0 does not count.
    at : float
        The horizon.
    members : Members, optional
        The cluster of each case that counts, with its number as its row.
    """
    if outcome.entry is not None and (outcome.entry >= at).any():
        late = int((outcome.entry >= at).argmax())
        raise CaseError(
            "entry",
            f"is not before the horizon {at:g}",
            row=late,
            value=exact(outcome.entry[late]),
            more=": such a case says nothing of it",
            cure="Leave it out.",
        )
    counted = np.ones(len(outcome), bool) if weight is None else weight > 0
    return FollowUp.of_cases(
        at,
        row,
        outcome.time[counted],
        outcome.kind[counted],
        None if outcome.entry is None else outcome.entry[counted],
        np.ones(row.size) if weight is None else weight[counted],
        members,
    )


def seen_as(followed: FollowUp) -> Survival:
    """One case of each entry of a follow-up, which is this entry again when it is read."""
    had = followed.kind != LEFT
    step = followed.exit + np.where(had, -WITHIN_STEP, WITHIN_STEP)
    unit = followed.horizon / TIME_STEPS
    entry = followed.entry * unit if followed.is_delayed else None
    return Survival(step * unit, followed.kind.astype(np.int64), entry, cause=OWN_EVENT)


def warn_of_survival(rows: Rows, followed: FollowUp) -> None:
    """Warn if scores look like probabilities of survival: far fewer events where they are high."""
    sizes = rows.score.size
    free = ~followed.event & ~followed.left_early
    event, other = (
        np.bincount(followed.row[some], followed.weight[some], sizes)
        for some in (followed.event, free)
    )
    events, others = event.sum(), other.sum()
    if min(events, others) < FEWEST_OF_KIND:
        return
    c_statistic = float(event @ (np.cumsum(other) - other / 2)) / (events * others)
    error = np.sqrt((events + others + 1) / (12 * events * others))
    if c_statistic < 0.5 - ERRORS_BELOW * error:
        warnings.warn(
            "scores are lower for cases with the event than for cases followed to the horizon "
            f"without it (C-statistic {c_statistic:.2f}): they look like probabilities of survival."
            " If they are, pass 1 - y_prob.",
            ScoreWarning,
            stacklevel=5,
        )


def check_codes(codes: Collection[int]) -> None:
    """Refuse codes of which it is not clear whether two causes are meant, or none.

    Parameters
    ----------
    codes : collection of int
        All that occur, if nobody named the code of the event.
    """
    if {1, 2} <= set(codes) and 0 not in codes:
        raise CaseError(
            "event",
            "holds 1 and 2 and no 0, and R writes 1 for a case that left and 2 for the event",
            cure="If these are such, pass event == 2. If they are two causes and no case left, "
            "name the one that scores are risks of: bc.Survival(time, event, cause=1).",
        )


def refuse_horizon(horizon: Any) -> None:
    """Refuse a horizon of outcomes that have no times."""
    if horizon is not None:
        raise InputError(
            "horizon was given, but no times to an event. Pass bc.Survival(time, event) in place "
            "of the outcomes; a CalibrationData holds its own horizon."
        )


def _columns(both: Any) -> tuple[Any, Any]:
    """Time and event of a structured array, a matrix or a data frame."""
    names = getattr(getattr(both, "dtype", None), "names", None)
    if names is not None and len(names) == 2:
        kinds = [both.dtype[name].kind for name in names]
        if sorted(kind == "b" for kind in kinds) == [False, True]:
            first = names[kinds.index("b")]
            return both[names[1] if first == names[0] else names[0]], both[first]
    if hasattr(both, "columns") and {"time", "event"} <= set(both.columns):
        return both["time"], both["event"]
    if np.ndim(both) == 2 and np.shape(both)[1] == 2 and not hasattr(both, "columns"):
        matrix = np.asarray(both)
        return matrix[:, 0], matrix[:, 1]
    raise InputError(
        "event is missing: pass whether the event ended each case's time, as "
        "bc.Survival(time, event). One argument can be a structured array of a boolean and a "
        "number, or hold the columns time and event."
    )


def _as_codes(event: Any) -> NDArray[np.int64]:
    vector = as_vector(event, "event")
    if vector.dtype == np.bool_:
        return vector.astype(np.int64)
    if vector.dtype.kind in "OUST":
        at = next((k for k, label in enumerate(vector.tolist()) if isinstance(label, str)), None)
        if at is not None:
            raise CaseError(
                "event",
                "is no code of what ended it",
                row=at,
                value=shortened(repr(str(vector[at]))),
                cure=f"{CODES}, as in event == 'dead' of a column of texts.",
            )
    values = as_floats(vector, "event")
    wrong = ~np.isin(values, np.arange(MOST_CAUSES + 1))
    if wrong.any():
        at = int(wrong.argmax())
        raise CaseError(
            "event",
            "is no code of what ended it",
            row=at,
            value=exact(values[at]),
            cure=f"{CODES}.",
        )
    return values.astype(np.int64)


def _refuse_first(
    wrong: NDArray[np.bool_], values: Floats, name: str, problem: str, more: str = ""
) -> None:
    if wrong.any():
        at = int(wrong.argmax())
        given, cure = exact(values[at]), "Correct or drop it."
        raise CaseError(name, problem, row=at, value=given, more=more, cure=cure)
