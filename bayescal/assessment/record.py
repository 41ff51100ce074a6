"""An assessment as plain numbers and names."""

from __future__ import annotations

import json
import math
from html.parser import HTMLParser
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.assessment.findings import Findings
from bayescal.assessment.followed import OTHER_HAZARD, censoring_by_fifth, median_follow_up
from bayescal.assessment.notes import assessment_notes
from bayescal.assessment.performance import mean_score, values_in_data
from bayescal.assessment.schema.validate import first_fault, parsed
from bayescal.assessment.text.periods import periods_record
from bayescal.assessment.text.sites import sites_record
from bayescal.assessment.text.subgroups import subgroups_record
from bayescal.assessment.verdict.words import advice, headline
from bayescal.assessment.words import first_words
from bayescal.core.errors import InputError, check_type
from bayescal.core.files import existing_file
from bayescal.core.text import shortened
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "RECORD_ID",
    "SCHEMA_VERSION",
    "as_dict",
    "functionals_record",
    "read_report",
    "schema",
    "whole_count",
]

RECORD_ID = "assessment"
"""Of the element of a page that carries the record."""

SCHEMA_VERSION = 2
"""Version of the format. Another number means that a name has gone or has another meaning."""


NAMES_OF_COUNTS = ("cases", "events", "distinct_scores", "more_to_settle", "moved")
"""Names of counts in a record."""


def schema() -> dict[str, Any]:
    """The JSON schema of an assessment's record."""
    from importlib.resources import files

    folder = files("bayescal.assessment") / "schema"
    text = (folder / f"assessment-{SCHEMA_VERSION}.json").read_text("utf-8")
    return dict(json.loads(text))


def metrics(f: Findings, prefix: str) -> dict[str, float]:
    """The main numbers by flat names; see `Assessment.metrics`."""
    told: dict[str, Any] = {}
    for table in (f.table, f.performance):
        for name in table.index:
            told[name] = table.loc[name, "estimate"]
            told |= {f"{name}_{end}": table.loc[name, end] for end in ("lower", "upper")}
    if f.has_own_curves:
        told["own_error"] = f.error["estimate"]
        told |= {f"own_error_{end}": f.error[end] for end in ("lower", "upper")}
    data = f.posterior.data
    told |= {
        "prob_close": f.prob_tce_below(f.close),
        "prob_miscalibrated": f.prob_tce_above(f.close),
        "prob_calibrated": f.prob_calibrated,
        "cases": data.n,
        "events": data.events,
    }
    check_type(prefix, str, "prefix", "Pass a text such as 'calibration/'.")
    return {f"{prefix}{name}": float(v) for name, v in told.items() if np.isfinite(v)}


def as_dict(f: Findings) -> dict[str, Any]:
    """Plain numbers and names, ready for JSON; what is not finite is None."""
    data, problem, stated = f.posterior.data, f.comparison.problem, f.table.attrs
    record = {
        "schema": SCHEMA_VERSION,
        "cases": data.n,
        "events": data.events,
        "distinct_scores": data.score.size,
        "mean_score": mean_score(data),
        "observed_expected_in_data": values_in_data(data).get("observed_expected"),
        "sha256": f.sha256,
        "off": f.off._asdict(),
        "verdict": f.verdict,
        "more_to_settle": f.more_to_settle,
        "first": first_words(f),
        "headline": headline(f),
        "close": f.close,
        "prob_close": f.prob_tce_below(f.close),
        "prob_miscalibrated": f.prob_tce_above(f.close),
        "prob_calibrated": f.prob_calibrated,
        "prob_calibrated_even_odds": f.prob_calibrated_at(0.5),
        "functionals": functionals_record(f.table),
        "undefined": stated["undefined"],
        "stretches": [part._asdict() for part in f.stretches],
        "curves": _rows(f.comparison.table) if f.several is None else {},
        "sensitivity": _rows(f.comparison.sensitivity) if f.several is None else {},
        "estimators": _rows(f.estimators),
        "performance": _rows(f.performance),
        "recommendation": {
            "choice": f.recommendation.choice,
            "text": advice(f),
            "equation": None if f.equation is None else str(f.equation),
            "prob_better_next": f.prob_better_elsewhere,
            "table": _rows(f.recommendation.table),
        },
        "net_benefit": _rows(f.net_benefit),
        "lower_bound": None if f.lower_bound is None else f.lower_bound._asdict(),
        "refused": f.refused,
        "essentials": essentials_record(f),
        "net_benefit_lost": _rows(f.net_benefit_lost),
        "value_of_information": _rows(f.information),
        "val_prob": f.val_prob().to_dict(),
        "settings": {
            "curve": "average" if f.several is None else "logistic",
            "prior": problem.prior.name,
            "prior_weights": f.comparison.prior_prob if f.several is None else {},
            "engine": f.posterior.engine,
            "seed": f.seed,
            "p": 1,
            "ci_prob": f.ci_prob,
            "interval": stated["interval"],
            "population": stated["population"],
            "pseudo_posterior": stated["pseudo_posterior"],
            "weight_type": stated["weight_type"],
        },
        "scores_of_0_and_1": {
            "moved": stated["moved"],
            "zero_read_as": stated["zero_read_as"],
            "one_read_as": stated["one_read_as"],
        },
        "diagnostics": f.posterior.diagnostics,
        "notes": assessment_notes(f),
        "versions": f.versions,
    }
    if f.posterior.data.follow_up is not None:
        record["follow_up"] = follow_up_record(f)
    if f.data.groups:
        record["groups"] = _rows(f.by_group)
        if f.sites is not None:
            record["sites"] = sites_record(f)
        if f.periods is not None:
            record["periods"] = periods_record(f)
    if f.has_own_curves:
        record["own_error"], record["clearly_off"] = f.error, f.clearly_off
    if f.populations is not None:
        record["populations"] = _rows(f.populations)
    if f.missing_information is not None:
        record["imputations"] = {
            "number": len(f.posterior.imputations),
            "functionals": _rows(f.missing_information),
        }
    if f.crossed is not None:
        record["subgroups"] = subgroups_record(f)
    if f.clinical is not None:
        record["clinical_prior"] = {
            "off": f.clinical.off._asdict(),
            "verdict": f.clinical.verdict,
            "headline": headline(f.clinical),
            "functionals": functionals_record(f.clinical.table),
        }
    return dict(_plain(record))


def whole_count(name: str, value: Any) -> Any:
    """The value of this name in a record: a count as an integer, if weights give no fraction."""
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if name in NAMES_OF_COUNTS and is_whole else value


def follow_up_record(f: Findings) -> dict[str, Any]:
    """How long cases were followed, and what is assumed of those who left, in numbers."""
    data = f.posterior.data
    followed = data.follow_up
    assert followed is not None
    median = median_follow_up(followed)
    return {
        "horizon": followed.horizon,
        "censored": followed.censored,
        "competing": followed.competing,
        "median": median,
        "hazard_ratio": OTHER_HAZARD,
        "observed_expected_at_other_hazard": f.ratio_at_other_hazard,
        "by_fifth": _rows(censoring_by_fifth(data)),
    }


def essentials_record(f: Findings) -> dict[str, Any]:
    """The thresholds of the decision curve, and what holds at them, overall and by group."""
    over = f.decision_range
    record = {
        "lowest": over.lowest,
        "highest": over.highest,
        "is_default": over.is_default,
        "classification": _rows(f.classification),
    }
    if f.data.groups:
        record["groups"] = _rows(f.essentials_by_group)
    if f.crossed is not None:
        record["subgroups"] = _rows(f.essentials_by_subgroup)
    return record


def functionals_record(summary: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """The rows of a summary of functionals, with their words."""
    return {name: _words(name) | row for name, row in _rows(summary).items()}


def _words(name: str) -> dict[str, Any]:
    """What the registry says of a functional."""
    known = FUNCTIONALS[name]
    return {key: getattr(known, key) for key in ("label", "short", "hint", "unit", "ideal")}


def _rows(table: Any) -> dict[str, dict[str, Any]]:
    return {
        str(name): {str(key): value for key, value in row.items()} for name, row in table.iterrows()
    }


def _plain(value: Any) -> Any:
    """Numbers and names as JSON knows them."""
    if isinstance(value, dict):
        return {str(key): whole_count(str(key), _plain(item)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str | bool) or value is None:
        return value
    number = float(value)
    if not math.isfinite(number):
        return None
    return value if isinstance(value, int) else number


class _Record(HTMLParser):
    """The text of the element that carries the record."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "script" and dict(attrs).get("id") == RECORD_ID

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.text += data


def read_report(path: str | PathLike[str]) -> dict[str, Any]:
    """Read the numbers of an assessment back from its report, or from what `--json` wrote.

    Parameters
    ----------
    path : str or path-like
        A page that `Assessment.to_html` wrote, or a record in JSON.

    Returns
    -------
    dict
        As `Assessment.to_dict` gives it, and `source`, where the data came from.

    Raises
    ------
    InputError
        If the file does not exist, is no report of bayescal, is of another version, or a value in
        it is not one that a report has; the value is named by its place.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
    >>> a = bc.assess(y_true, y_prob, random_state=1)
    >>> a.to_html("report.html")  # doctest: +SKIP
    >>> bc.read_report("report.html")["verdict"]  # doctest: +SKIP
    'cannot tell'
    """
    file = existing_file(path)
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = shortened(error, 200)
        raise InputError(f"path {shortened(file)} cannot be read: {reason}.") from error
    if not text.lstrip().startswith("{"):
        page = _Record()
        page.feed(text)
        text = page.text
    try:
        record = parsed(text)
    except json.JSONDecodeError:
        record = None
    except RecursionError:
        raise InputError(f"{file} is nested too deeply to be a report.") from None
    if not isinstance(record, dict) or "verdict" not in record:
        raise InputError(
            f"{file} carries no assessment. Pass a report that Assessment.to_html or "
            "bayescal assess --html wrote."
        )
    version = record.get("schema")
    if type(version) is int and version != SCHEMA_VERSION:
        raise InputError(
            f"{file} is of version {shortened(version)} of the format, and this bayescal reads "
            f"version {SCHEMA_VERSION}. Read it with the bayescal that wrote it."
        )
    fault = first_fault(record, schema())
    if fault:
        raise InputError(
            f"{file} is damaged or was edited: {fault}. Pass the report as bayescal wrote it."
        )
    return record
