"""Doors: functions of cases, which come as a table, as arrays, or as columns of a data frame."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial, wraps
from inspect import signature
from textwrap import fill, indent
from typing import Any, TypeVar, cast, overload

import numpy as np

from bayescal.core.arrays import is_single
from bayescal.core.errors import CaseError, InputError, KeywordError, as_items
from bayescal.core.text import documented
from bayescal.data.cases import is_matrix
from bayescal.data.columns import OF_TABLE, ROLES, Columns, WeightType, listed, spelt_out
from bayescal.data.frames import columns_of, note_groups
from bayescal.data.guesses import may_be_groups
from bayescal.data.matrices import ClassMode, Risks, risks_by
from bayescal.data.roles import LabelRoles, Labels, are_columns
from bayescal.data.table import CalibrationData
from bayescal.data.times import WHERE_TAKEN, Survival, refuse_horizon, timed

Function = TypeVar("Function", bound=Callable[..., Any])


class CaseRoles(LabelRoles, total=False):
    """What every door takes by keyword of its cases; `ROLES` says what each is."""

    sample_weight: Labels
    weight_type: WeightType | None
    pos_label: Any
    horizon: float | Sequence[float] | None
    mode: ClassMode | None
    outcome: str | None
    prob: str | Sequence[str] | None
    time: str | None
    event: str | None
    entry: str | None
    ignore: str | Sequence[str] | None


TABLE_WORDS = ("weight_type", "pos_label", "horizon", "mode")
# Keywords that several horizons go with.
WITH_HORIZONS = {"sample_weight", "weight_type", "cluster", "stratum", "horizon"}


def _paragraphs() -> dict[str, str]:
    """What the docstrings of all doors share, by name."""
    told = {role.name: role.line for role in ROLES.values()} | {
        "weight_type": "What `sample_weight` is: by default counts if all are whole numbers, else "
        "sampling weights, which are rescaled to Kish's effective sample size.",
        "pos_label": "The outcome that counts as the event, when outcomes are not 0/1.",
        "horizon": "Of times to an event: by when the scores are risks of it. Of several ascending "
        "ones `y_prob` has a column each, or is a frame of whole predicted curves, risks or "
        "probabilities of survival, whose columns are named by the times.",
        "mode": "Of a matrix: the event is that the predicted class is right, by default; or each "
        "class is taken against the rest.",
    }
    kinds = dict.fromkeys(told, "array-like of shape (n,)") | {
        "subgroup": "data frame or mapping",
        "imputation": "array-like of shape (n,) or (m, n)",
        "weight_type": '{"counts", "sampling"}',
        "pos_label": "object",
        "horizon": "float or sequence of float",
        "mode": '{"top-label", "class-wise"}',
    }
    parts = {
        "outcomes": {
            "y_true : array-like of shape (n,), Survival, data frame or CalibrationData": "Outcomes"
            ", 0/1 or boolean; times to an event; labels of classes beside a matrix; or a table. "
            "Of outcomes that were imputed m times, one row each. Of a data frame `outcome` and "
            "`prob` name the columns, and so do roles."
        },
        "scores": {
            "y_prob : array-like of shape (n,) or (n, k), optional": "Predicted probabilities of "
            "the event, in [0, 1]; or of k classes, one a column."
        },
        "roles": {f"{name} : {kinds[name]}, optional": line for name, line in told.items()}
        | {
            f"{', '.join([*OF_TABLE, 'ignore'])} : str, optional": "Of a data frame: columns of "
            "outcomes and probabilities; of times; and those that may tell groups apart and do not "
            "matter."
        },
    }
    filled = {
        name: "\n".join(f"{head}\n{indent(fill(line, 88), ' ' * 4)}" for head, line in part.items())
        for name, part in parts.items()
    }
    return filled | {"cases": "\n".join(filled.values())}


# `%(cases)s` of a docstring, or its parts.
OF_DOORS = _paragraphs()


@dataclass(frozen=True)
class Given:
    """What a door was given of its cases: arrays, before they become a table.

    Roles have the weights; `words` are of the table: weight_type, pos_label, horizon and mode.
    `columns` says of which columns of a data frame they were.
    """

    y_true: Any
    y_prob: Any
    roles: dict[str, Any] = field(default_factory=dict)
    words: dict[str, Any] = field(default_factory=dict)
    columns: Columns | None = None

    def refuse(self, taken: Collection[str], why: str) -> None:
        """Refuse roles and words but those that a door takes; `why` follows the name."""
        for name in (*self.roles, *self.words):
            if name not in taken:
                raise InputError(f"{name} {why}")

    def beside(self, *names: str) -> dict[str, Any]:
        """Some of the roles and words, and None where one was not given."""
        return {name: (self.roles | self.words).get(name) for name in names}

    @contextmanager
    def named(self) -> Iterator[None]:
        """Say what is wrong with a case by its column, where there is one."""
        try:
            yield
        except CaseError as error:
            if self.columns is None:
                raise
            raise error.changed(argument=self.columns.called(error.argument)) from None

    def table(
        self,
        *,
        times: bool = False,
        classes: bool = False,
        check_sites: Callable[[Any], None] | None = None,
    ) -> CalibrationData:
        """The table of the cases; see `table_of`."""
        y_true, y_prob, site = self.y_true, self.y_prob, self.roles.get("site")
        if isinstance(y_true, CalibrationData):
            return y_true.complete(takes_times=times)
        with self.named():
            if check_sites is not None and site is not None and not are_columns(site):
                check_sites(site)
            is_followed = isinstance(y_true, Survival)
            if is_followed and not times:
                raise InputError(WHERE_TAKEN)
            if is_matrix(y_prob) and not (classes or is_followed):
                raise InputError(
                    f"y_prob holds {np.asarray(y_prob).shape[1]} columns, and one score a case is "
                    "taken here. Of two classes pass that of the event, y_prob[:, 1]; of more, "
                    "CalibrationData(y_true, y_prob, mode='top-label'), of whether the predicted "
                    "class is right."
                )
            return CalibrationData(y_true, y_prob, **self.roles, **self.words)


def table_of(y_true: Any, y_prob: Any, roles: CaseRoles, **takes: Any) -> CalibrationData:
    """The cases of a door as one table: the first line of nearly every door.

    `y_true` itself when it is a table that is complete. It is said whether the door takes `times`
    to an event or `classes`, a matrix; `check_sites` is called with the labels of sites before any
    case is read.
    """
    return given_of(y_true, y_prob, roles).table(**takes)


def given_of(y_true: Any, y_prob: Any, roles: CaseRoles, *, name: str = "y_prob") -> Given:
    """The cases of a door as arrays, those of a frame by its columns; `y_prob` is called `name`."""
    named: dict[str, Any] = {key: each for key, each in roles.items() if each is not None}
    if isinstance(y_true, CalibrationData):
        horizon = named.pop("horizon", None)
        for beside in (*[name] * (y_prob is not None), *named):
            raise InputError(
                f"{beside} was given beside a CalibrationData, which holds its own. Pass arrays, "
                f"or the table alone, made with {beside}=."
            )
        refuse_horizon(horizon)
        return Given(y_true, None)
    if not named and y_prob is not None:
        return Given(y_true, y_prob)
    of_roles = {name: named[name] for name in ROLES if name in named}
    words = {name: named[name] for name in TABLE_WORDS if name in named}
    if named.keys().isdisjoint(OF_TABLE):
        if y_prob is None and "imputation" not in named:
            _refuse_frame(y_true)
        return Given(y_true, y_prob, of_roles, words)
    _check_frame(y_true, y_prob, named)
    probs = as_items(named["prob"], "prob")
    of_cases = {name: named[name] for name in OF_TABLE if name in named and name != "prob"}
    each = [Columns.given(prob=prob, **of_cases, **of_roles) for prob in probs]
    read = [columns_of(y_true, columns) for columns in each]
    note_groups(y_true, each[0], named.get("ignore", ()))
    scores, arrays = [one.pop("y_prob") for one in read], timed(read[0])
    outcomes, of_scores = arrays.pop("y_true"), scores[0]
    if not isinstance(named["prob"], str):
        import pandas as pd

        of_scores = pd.DataFrame(dict(zip(probs, scores, strict=True)))
    return Given(outcomes, of_scores, arrays, words, each[0])


def _check_frame(frame: Any, y_prob: Any, named: Mapping[str, Any]) -> None:
    """Refuse columns that are named beside arrays, and a data frame without its probabilities."""
    columns = _columns_of(frame)
    first = next(name for name in OF_TABLE if name in named)
    if columns is None or y_prob is not None:
        raise InputError(
            f"{first}= names a column of a data frame, and arrays were passed. Pass the frame "
            "first and nothing beside it; or arrays, (y_true, y_prob), and leave it out."
        )
    if "prob" not in named:
        lacking, cure = "prob", "Name the column with prob=."
    elif "outcome" in named or "event" in named:
        return
    elif "time" in named:
        lacking = "event"
        cure = "Times to an event need event=, the column of what ended them, beside time=; when a "
        cure += "case was, such as its month, is its period=."
    else:
        lacking, cure = "outcome", "Name the column with outcome=."
    raise InputError(f"{lacking} is missing. {cure} There are {listed(columns)}.")


def _refuse_frame(y_true: Any) -> None:
    """Refuse a data frame in place of outcomes and scores, and say what to name."""
    names = _columns_of(y_true)
    if names is None:
        return
    told = "the first argument is a data frame. Name its columns: outcome=..., prob=..."
    for name, role in [*may_be_groups(names).items()][:1]:
        told += f", and {role}={name!r} if calibration may differ by it"
    raise InputError(f"{told}. There are {listed(names)}.")


def _columns_of(values: Any) -> list[str] | None:
    """The names of the columns of a data frame; None of anything else."""
    if hasattr(values, "data_vars"):  # a Dataset of xarray, which is a mapping
        return [str(name) for name in values.data_vars]
    columns = getattr(values, "columns", None)
    if columns is None or callable(columns) or isinstance(values, Mapping):
        return None
    return [str(name) for name in columns]


@overload
def door(function: Function, /) -> Function: ...
@overload
def door(
    *, several: Callable[[dict[float, Any], Risks], Any], refuses: Collection[str] = ()
) -> Callable[[Function], Function]: ...
def door(
    function: Function | None = None,
    /,
    *,
    several: Callable[[dict[float, Any], Risks], Any] | None = None,
    refuses: Collection[str] = (),
) -> Function | Callable[[Function], Function]:
    """Make a function a door, which takes cases in any form and says what it takes.

    Its `**roles: Unpack[CaseRoles]` are shown one by one in its signature, and `%(cases)s` in its
    docstring is what they mean; a keyword that it lacks is refused with the one that may be meant.
    `several` makes one result of those of several horizons and of the risks by them, which go
    without the keywords that it `refuses`; without it there is one horizon.
    """
    if function is None:
        return partial(door, several=several, refuses=refuses)
    own, name = signature(function), function.__name__
    positional = [n for n, p in own.parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    first = positional.index("y_true")

    @spelt_out(CaseRoles)
    @wraps(function)
    def made(*args: Any, **keywords: Any) -> Any:
        _check_positions(name, args[first:], len(positional) - first)
        if several is not None and not is_single(keywords.get("horizon")):
            given = own.bind(*args, **keywords).arguments
            return _at_each(function, several, refuses, given)
        return function(*args, **keywords)

    return cast(Function, documented(made, OF_DOORS))


def _at_each(
    function: Callable[..., Any],
    several: Callable[[dict[float, Any], Risks], Any],
    refuses: Collection[str],
    arguments: dict[str, Any],
) -> Any:
    """What a door gives at each of several horizons, as one result."""
    options = dict(arguments)
    named: CaseRoles = options.pop("roles", {})
    given = given_of(options.pop("y_true"), options.pop("y_prob", None), named)
    beside = (name for name in refuses if options.get(name) is not None)
    for name in (*given.roles, *given.words, *beside):
        if name not in WITH_HORIZONS:
            raise InputError(
                f"{name} was given beside several horizons, which are fitted without. Fit each "
                "horizon by itself."
            )
    horizons = given.words.pop("horizon")
    options |= given.roles | given.words
    with given.named():
        risks = risks_by(given.y_true, given.y_prob, horizons)
        pairs = zip(risks.horizons, risks.columns, strict=True)
        each = {at: function(risks.outcome, column, horizon=at, **options) for at, column in pairs}
    return several(each, risks)


def _check_positions(door: str, cases: Sequence[Any], most: int) -> None:
    """Refuse columns, models and options by position, and say how the door is called."""
    first, others = (cases[0] if cases else None), cases[1:]
    if not isinstance(first, CalibrationData):
        if str in map(type, others) and _columns_of(first) is not None:
            raise InputError(
                f"columns of a data frame are named: {door}(frame, outcome=..., prob=...). There "
                f"are {listed(_columns_of(first) or [])}."
            )
        if hasattr(first, "predict_proba") or hasattr(first, "predict"):
            raise InputError(
                f"the first argument is a {type(first).__name__}, a model. Pass y_true and y_prob, "
                "outcomes and the probabilities of the event: "
                f"{door}(y, model.predict_proba(X)[:, 1])."
            )
    if len(cases) > most:
        raise KeywordError(
            f"{door} takes {most} arguments by position, and {len(cases)} were given. Name the "
            "others, such as sample_weight=."
        )
