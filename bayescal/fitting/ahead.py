"""What to expect of cases whose outcomes are not known yet: of single ones, or of many together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from bayescal.core.arrays import Floats
from bayescal.core.page import Figure, Page, Section
from bayescal.core.table import Column, Row, Table
from bayescal.core.text import capitalised, chance, percent, rounded
from bayescal.data.table import CalibrationData
from bayescal.fitting._fit import fit
from bayescal.multilevel.words import LEAST_OF_NEXT
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

UNCHANGED = (
    "This holds if the curve is unchanged: at each score, the risk of new cases is that of the "
    "cases with outcomes. Scores alone cannot show whether it is. A model in use changes outcomes "
    "where patients are treated because of their score."
)
FEW = (
    "With fewer than 5 groups the data say little of a new one: its interval rests mostly on what "
    "is assumed before the data of how much groups differ."
)
WHOSE = {"site": " of another site", "period": " of the next period"}
DEFAULT_THRESHOLDS = (0.5,)


@dataclass(frozen=True)
class CaseRisks:
    """The actual risk of single cases. Made by `predict`."""

    data: CalibrationData
    posterior: Any
    table: pd.DataFrame  # as of `CalibrationPosterior.risks`, by whose curve it is
    thresholds: tuple[float, ...]
    at: str | None
    ci_prob: float

    def page(self) -> Page:
        """The risk of each case, by each curve."""
        rows = [
            Row(f"{curve}, {k}", f"{curve}", {str(name): value for name, value in row.items()})
            for k, ((curve, _), row) in enumerate(
                zip(self.table.index, self.table.to_dict("records"), strict=True)
            )
        ]
        first = rows[0]
        middle, low, high = _rounded(first, "risk")
        told = f"The score is {first['score']:.3g}, the risk {middle} ({low} to {high})."
        flips = [str(name) for name in self.table.columns if str(name).startswith("flips@")]
        columns = [
            Column("score", "Score", lambda row: f"{row['score']:.3g}"),
            *_columns("risk", "Risk", self.ci_prob),
            *(_flip(name) for name in flips),
        ]
        table = Table("risks", "Risk of the case", "Whose curve", columns, rows, names_cases=True)
        blocks: tuple[Any, ...] = (table,)
        if len({row["score"] for row in rows}) == 1 and len(self.thresholds) < 2:
            options = {"y_prob": first["score"], "at": self.at, "ci_prob": self.ci_prob}
            options |= {"threshold": self.thresholds[0]} if self.thresholds else {}
            blocks += (Figure("risks", self.posterior, options, "Risk of the case", alt=told),)
        notes = (
            "The interval is of the share with the event among cases with this score.",
            UNCHANGED,
            *_few(self.data),
        )
        risks = [{"curve": row.label, **row.values} for row in rows]
        record = {"risks": risks, "ci_prob": self.ci_prob}
        sections = (Section("Risk", blocks),)
        return Page("Risk of a case", _subject(self.data), (told,), sections, notes, record)

    def __str__(self) -> str:
        return str(self.page())


def predict(
    data: CalibrationData,
    scores: Floats,
    *,
    thresholds: Sequence[float] = (),
    ci_prob: float = 0.95,
    at: str | None = None,
    **options: Any,
) -> CaseRisks:
    """The actual risk of cases with these scores.

    `data`: cases with outcomes. Of several sites, periods or subgroups, the risk is by the curve of
    the average and of a new one, and first by that of `at`; `thresholds`: risks from which a case
    is treated; `at`: the level that the case is of; `**options`: of `bayescal.fit`.
    """
    post: Any = fit(data, curve="logistic" if data.groups else "average", **options)
    where = {"at": at} if data.groups else {}
    table = post.risks(scores, thresholds, ci_prob, **where)
    if not data.groups:
        table = table.set_index([["these cases"] * len(table), table.index])
    return CaseRisks(data, post, table, tuple(thresholds), at, ci_prob)


def _flip(name: str) -> Column:
    head = f"P(other decision at {name.partition('@')[2]})"
    return Column(name, head, lambda row: chance(row[name]))


def _columns(name: str, head: str, level: float) -> tuple[Column, Column]:
    """A number, and its interval."""
    interval = Column("interval", f"{percent(level)} interval", partial(_ends, of=""))
    return Column(name, head, lambda row: _rounded(row, name)[0]), interval


def _rounded(row: Row, name: str, of: str = "") -> tuple[str, ...]:
    """A number of a row and the ends of its interval, as exact as the interval is narrow."""
    ends = float(row[f"{of}lower"]), float(row[f"{of}upper"])
    return rounded((float(row[name]), *ends), *ends)


def _ends(row: Row, of: str) -> str:
    name = f"{of}lower"
    return " to ".join(_rounded(row, name, of)[1:]) if name in row.values else ""


@dataclass(frozen=True)
class Expected:
    """How a model is expected to perform on new cases. Made by `expect`.

    `expected`, `realised`: measures on average over what can come, and of the outcomes that will
    come.
    """

    data: CalibrationData
    posterior: CalibrationPosterior  # seen on the new scores
    whose: str  # of which site or period the new cases are
    expected: pd.DataFrame
    realised: pd.DataFrame
    shifts: pd.DataFrame  # by threshold, how far risks must shift before another decision is best
    new: float

    def page(self) -> Page:
        """The measures, and at which shift of the risks another decision is best."""
        level = self.expected.attrs["ci_prob"]
        later = {str(name): row for name, row in self.realised.iterrows()}
        rows = []
        for name, row in self.expected.iterrows():
            at = str(name).partition("@")[2]
            label = capitalised(str(row["label"])) + f" at {at}" * bool(at)
            values = {str(key): row[key] for key in ("mean", "lower", "upper")}
            if str(name) in later:
                values |= {f"later_{key}": later[str(name)][key] for key in ("lower", "upper")}
            rows.append(Row(str(name), label, values))
        columns = [
            *_columns("mean", "Expected", level),
            Column("later", "Of these cases' outcomes", partial(_ends, of="later_")),
        ]
        table = Table("expected", "Measures of the new cases", "Measure", columns, rows)
        events = self.expected.loc["events"].to_dict()
        ends = 100 * float(events["lower"]), 100 * float(events["upper"])
        middle, low, high = rounded((100 * float(events["mean"]), *ends), *ends)
        outside = 100 * self.posterior.outside
        scores = self.data.score
        of = f"{self.new:,.0f} new cases{self.whose}"
        answer = (
            f"The event is expected of {middle} % ({low} to {high} %) of {of}.",
            *(_decision(float(str(risk)), row.to_dict()) for risk, row in self.shifts.iterrows()),
        )
        told = (
            f"{outside:.2g} % of the new scores lie outside {scores.min():.3g} to "
            f"{scores.max():.3g}, the range of the cases with outcomes."
        )
        record = {
            "assumption": UNCHANGED,
            "scores": self.new,
            "outside": self.posterior.outside,
            "ci_prob": level,
            "expected": self.expected.to_dict("index"),
            "realised": self.realised.to_dict("index"),
            "shift_to_change": {f"{risk:g}": row.to_dict() for risk, row in self.shifts.iterrows()},
        }
        notes = (UNCHANGED, told, *_few(self.data))
        sections = (Section("Expected performance", (table,)),)
        return Page("Expected performance", _subject(self.data), answer, sections, notes, record)

    def __str__(self) -> str:
        return str(self.page())


def expect(
    data: CalibrationData,
    scores: Floats,
    *,
    thresholds: Sequence[float] = (),
    ci_prob: float = 0.95,
    **options: Any,
) -> Expected:
    """How a model is expected to perform on new cases with these scores, if the curve is unchanged.

    `data`: cases with outcomes. Of sites the new cases are of another one, of periods of the next;
    `scores` (m,); `thresholds`: risks from which a case is treated; by default 0.5; `**options`: of
    `bayescal.fit`.
    """
    fitted: Any = fit(data, **options)
    of = fitted.new() if data.groups else fitted
    at, seen = tuple(thresholds) or DEFAULT_THRESHOLDS, of.on(scores)
    return Expected(
        data,
        seen,
        next((told for axis, told in WHOSE.items() if axis in data.levels), ""),
        seen.performance_summary(at, ci_prob),
        seen.performance_summary(at, ci_prob, realised=True),
        seen.shift_to_change(at),
        float(scores.size),
    )


def _decision(risk: float, row: Mapping[Any, Any]) -> str:
    """Which decision is best at a threshold, and how far the risks may shift until it is not."""
    told = {"model": "to treat by the model", "treat all": "to treat everyone"}
    best = told.get(str(row["best"]), "to treat no one")
    sides = {"below": row["lower"], "above": row["upper"]}
    ends = [f"{side} {end:+.2f}" for side, end in sides.items() if math.isfinite(end)]
    if not ends:
        return f"At {risk:g} the best decision is {best}, however the risks shift."
    nearer = "the nearer: " * (len(ends) == 2)
    return (
        f"At {risk:g} the best decision is {best}. It stays best unless all risks shift, in "
        f"log-odds, {' or '.join(ends)} ({nearer}odds {row['odds_ratio']:.2f} times as high)."
    )


def _subject(data: CalibrationData) -> str:
    return f"{capitalised(data.size_in_words)} with outcomes"


def _few(data: CalibrationData) -> tuple[str, ...]:
    """That few groups say little of a new one."""
    return (FEW,) if 0 < len(data.levels.get("site", ())) < LEAST_OF_NEXT else ()
