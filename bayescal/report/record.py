"""An assessment as plain numbers and names, and reading it back from a report."""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from bayescal.core.errors import InputError
from bayescal.core.files import existing_file
from bayescal.core.text import shortened
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.report.facts import Facts
from bayescal.report.followed import OTHER_HAZARD, censoring_by_fifth, median_follow_up
from bayescal.report.performance import mean_score
from bayescal.report.render import RECORD_ID
from bayescal.report.verdict import Verdict, band, seen, spread_of

if TYPE_CHECKING:
    import pandas as pd

# Of a whole number; more digits than a double can count are read as a double, as infinity.
MOST_DIGITS = 300
# Of values inside values.
DEEPEST_LEVEL = 50
# Names of a path that are shown.
MOST_NAMES = 6

Rules = Mapping[str, Any]
Path = tuple[str | int, ...]


def parsed(text: str) -> Any:
    """The value that a text in JSON stands for."""
    return json.loads(
        text, parse_int=lambda digits: (int if len(digits) <= MOST_DIGITS else float)(digits)
    )


def first_fault(record: Any, schema: Rules) -> str:
    """What of a parsed record contradicts a schema, and where; empty if nothing does.

    Numbers must be finite, and values nested at most 50 levels deep.
    """
    return next(_faults(record, schema, schema.get("$defs", {}), ()), "")


def _faults(value: Any, rules: Rules, named: Rules, path: Path) -> Iterator[str]:
    """Faults of a value, then those of the values in it."""
    while "$ref" in rules:
        rules = named[rules["$ref"].rpartition("/")[2]]
    at, known = _shown_path(path), rules.get("properties", {})
    other = rules.get("additionalProperties", True)
    if isinstance(value, float) and not math.isfinite(value):
        yield f"{at} is not a finite number"
    if len(path) > DEEPEST_LEVEL:
        yield f"{at} is more than {DEEPEST_LEVEL} levels deep"
    for keyword, (keeps, words, show) in CHECKS.items():
        if keyword in rules and not keeps(value, rules[keyword]):
            rule = rules[keyword] if isinstance(rules[keyword], list) else [rules[keyword]]
            yield f"{at} is {_shown(value)}, and must be {words}{' or '.join(map(show, rule))}"
    if isinstance(value, dict):
        missing = [name for name in rules.get("required", ()) if name not in value]
        yield from (f"{at} lacks {name}" for name in missing)
        unknown = [name for name in value if other is False and name not in known]
        yield from (f"{at} holds {shortened(name)}, which is not known" for name in unknown)
        for name, item in value.items():
            more = known.get(name, other if isinstance(other, dict) else {})
            yield from _faults(item, more, named, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _faults(item, rules.get("items", {}), named, (*path, index))


def _equal(value: Any, other: Any) -> bool:
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_of_type(value: Any, names: str | list[str]) -> bool:
    for name in [names] if isinstance(names, str) else names:
        is_integer = name != "integer" or (_is_number(value) and value % 1 == 0)
        is_bool = isinstance(value, bool)
        if isinstance(value, TYPES[name]) and is_integer and is_bool == (name == "boolean"):
            return True
    return False


def _limit(keeps: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda value, limit: not _is_number(value) or keeps(value, limit)


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    return shortened(json.dumps(value))


def _shown_path(path: Path) -> str:
    """The names on the way to a value: `stretches[0].state`."""
    names = [f"[{part}]" if isinstance(part, int) else f".{shortened(part)}" for part in path]
    shown = "".join(names[:MOST_NAMES]).removeprefix(".") + "…" * (len(names) > MOST_NAMES)
    return shown or "the record"


TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "number": int | float,
    "integer": int | float,
}

# Whether a value keeps what a keyword asks of it by itself, and how that is said.
CHECKS: dict[str, tuple[Callable[[Any, Any], bool], str, Callable[[Any], str]]] = {
    "type": (_is_of_type, "of type ", str),
    "const": (_equal, "", repr),
    "enum": (lambda value, known: any(_equal(value, one) for one in known), "", repr),
    "pattern": (
        lambda value, like: not isinstance(value, str) or bool(re.search(like, value)),
        "like ",
        str,
    ),
    "minimum": (_limit(operator.ge), "at least ", str),
    "maximum": (_limit(operator.le), "at most ", str),
    "exclusiveMinimum": (_limit(operator.gt), "above ", str),
    "exclusiveMaximum": (_limit(operator.lt), "below ", str),
}


# Version of the format. Another number means that a name has gone or has another meaning.
SCHEMA_VERSION = 3


def schema() -> dict[str, Any]:
    """The JSON schema of an assessment's record."""
    from importlib.resources import files

    text = (files("bayescal.report") / f"assessment-{SCHEMA_VERSION}.json").read_text("utf-8")
    return dict(json.loads(text))


def as_dict(f: Facts, verdict: Verdict, to_do: str, notes: list[str]) -> dict[str, Any]:
    """Everything that was computed, not rounded."""
    data, stated = f.posterior.data, f.table.attrs
    record = {
        "schema": SCHEMA_VERSION,
        "rule": verdict.name,
        "headline": verdict.first,
        "spread": spread_of(seen(f)),
        "cases": data.n,
        "events": data.events,
        "distinct_scores": data.score.size,
        "mean_score": mean_score(data),
        "sha256": f.sha256,
        "error": f.error,
        "limit": _limit_record(f),
        "prob_calibrated": f.prob_calibrated,
        "prob_calibrated_even_odds": f.prob_calibrated_at(0.5),
        "functionals": functionals_record(f.table),
        "data_alone": f.alone,
        "undefined": stated["undefined"],
        "runs_wrong_way": None if f.runs_wrong_way is None else f.runs_wrong_way._asdict(),
        "curves": _rows(f.comparison.table) if f.several is None else {},
        "estimators": _rows(f.estimators),
        "performance": _rows(f.performance),
        "recommendation": {
            "choice": f.recommendation.choice,
            "text": to_do,
            "equation": None if f.equation is None else str(f.equation),
            "closed_test": f.recommendation.closed_test,
            "prob_better_next": f.prob_better_next,
            "table": _rows(f.recommendation.table),
        },
        "net_benefit": _rows(f.net_benefit),
        "net_benefit_lost": _rows(f.net_benefit_lost),
        "classification": _rows(f.classification),
        "val_prob": f.val_prob.to_dict(),
        "settings": {
            "curve": "average" if f.several is None else "logistic",
            "prior": f.prior.name,
            "prior_weights": f.comparison.prior_prob if f.several is None else {},
            "engine": f.posterior.engine,
            "seed": f.seed,
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
        "notes": notes,
        "versions": f.versions,
    }
    return record | _of_roles(f)


def _limit_record(f: Facts) -> dict[str, Any] | None:
    """The limit, when it was set, and P(error < limit) with its band by kind of model."""
    if f.limit is None:
        return None
    new, validated = band(f.prob_below_limit)
    told = {"value": f.limit.value, "moved": f.limit.moved, "mark": f.limit.mark}
    return told | {"prob_below": f.prob_below_limit, "if_new": new, "if_validated": validated}


def _of_roles(f: Facts) -> dict[str, Any]:
    """What only some tables have: follow-up, groups, subgroups, imputations."""
    record: dict[str, Any] = {}
    if (followed := f.posterior.data.follow_up) is not None:
        record["follow_up"] = {
            "horizon": followed.horizon,
            "censored": followed.censored,
            "competing": followed.competing,
            "median": median_follow_up(followed),
            "hazard_ratio": OTHER_HAZARD,
            "observed_expected_at_other_hazard": f.ratio_at_other_hazard,
            "by_fifth": _rows(censoring_by_fifth(f.posterior.data)),
        }
    if f.has_own_curves:
        record["clearly_off"], record["prob_differ"] = f.clearly_off, f.prob_differ
    if f.subgroups and f.data.groups:
        record["subgroups_off"] = f.subgroups_off
    if f.data.groups:
        record["groups"] = _rows(f.by_group)
    if f.populations is not None:
        record["populations"] = _rows(f.populations)
    if f.sites is not None:
        record["heterogeneity"] = f.spread.to_dict(orient="index")
    if f.periods is not None and f.kind != "period":
        record["over_time"] = {"prob_changed": f.prob_changed, "periods": _rows(f.by_period)}
    elif f.periods is not None:
        record["periods"] = {
            "explanations": f.periods.explanations.to_dict(),
            "largest_change_into": f.periods.when_changed()["prob"].to_dict(),
        }
    if f.missing_information is not None:
        record["imputations"] = {
            "number": len(f.posterior.imputations),
            "functionals": _rows(f.missing_information),
        }
    if f.subgroups:
        rows = zip(f.subgroups, f.by_subgroup.to_dict("records"), strict=True)
        record["subgroups"] = [
            {"factor": each.factor, "level": each.level, "levels": each.levels, **numbers}
            for each, numbers in rows
        ]
    return record


def functionals_record(summary: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """The rows of a summary of functionals, with their words."""
    keys = ("label", "short", "hint", "unit", "ideal")
    return {
        name: {key: getattr(FUNCTIONALS[name], key) for key in keys} | row
        for name, row in _rows(summary).items()
    }


def _rows(table: Any) -> dict[str, dict[str, Any]]:
    return {
        str(name): {str(key): value for key, value in row.items()} for name, row in table.iterrows()
    }


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
    >>> bc.assess(y_true, y_prob, random_state=1).to_html("report.html")  # doctest: +SKIP
    >>> bc.read_report("report.html")["cases"]  # doctest: +SKIP
    300
    """
    file = existing_file(path)
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = shortened(error, 200)
        raise InputError(f"path {shortened(file)} cannot be read: {reason}.") from error
    if not text.lstrip().startswith("{"):
        element = rf'<script\b[^>]*\bid="?{RECORD_ID}\b[^>]*>(.*?)</script>'
        text = (re.findall(element, text, re.I | re.S) or [""])[-1]
    try:
        record = parsed(text)
    except json.JSONDecodeError:
        record = None
    except RecursionError:
        raise InputError(f"{file} is nested too deeply to be a report.") from None
    if not isinstance(record, dict) or "headline" not in record:
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
