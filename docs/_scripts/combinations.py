"""Which parts of an analysis go together, by door: `python docs/_scripts/combinations.py`.

Every part and every pair of parts is given to every door, with few patients and few draws. What
comes back is a result whose numbers are finite, or a refusal. Both are kept in
`docs/data/combinations.json`, of which the tables of `docs/how-to/combinations.md` are made. To
add a part or a door, add it to `PARTS` or `DOORS` and run this script.
"""

from __future__ import annotations

import functools
import inspect
import json
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import bayescal as bc
from bayescal.errors import DiagnosticWarning, ImputationWarning, InputError
from bayescal.fitting import ModelComparison, ModelDifferences
from bayescal.gain import SeveralGains, SeveralRecommendations

DOCS = Path(__file__).resolve().parents[1]
STORED, PAGE = DOCS / "data/combinations.json", DOCS / "how-to/combinations.md"
BEGIN, END = "<!-- made by combinations.py -->", "<!-- end -->"

N, FIRST = 160, 96
RNG = np.random.default_rng(2)
SCORE = np.round(RNG.uniform(0.05, 0.95, N), 2)
OUTCOME = (RNG.random(N) < SCORE).astype(int)
ROWS = RNG.permutation(N)
CLUSTER = ROWS // 4
HAPPENS, LEAVES = np.where(OUTCOME, RNG.uniform(0.1, 1, N), 2), RNG.uniform(0.3, 3, N)
TIME, EVENT = np.minimum(HAPPENS, LEAVES), (HAPPENS <= LEAVES).astype(int)


@dataclass(frozen=True)
class Part:
    """A part of an analysis: roles of the cases, options of the doors, and words for both.

    Attributes
    ----------
    roles : mapping of str to array
        Columns of the table beside outcome and score.
    options : mapping of str to object
        By keyword, for the doors that have one.
    words : tuple of str
        A refusal has one of them.
    is_imputed : bool
        Whether there are two imputations, of scores that differ.
    has_imputed_outcomes : bool
        Whether outcomes of a few cases differ between them, and scores do not.
    terms : tuple
        What curves vary by, which is said where two parts have terms.
    """

    words: tuple[str, ...]
    roles: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    is_imputed: bool = False
    has_imputed_outcomes: bool = False
    is_followed: bool = False
    terms: tuple[Any, ...] = ()


PARTS = {
    "sites": Part(
        ("site", "site"), {"site": np.array(list("ABCD"))[np.arange(N) % 4]}, terms=("site",)
    ),
    "known sites": Part(
        ("known", "site", "Site", "Sites"),
        options={"known": {"site": ["K"], "observed": [52], "expected": [50.0], "n": [100]}},
    ),
    "periods": Part(("period",), {"period": np.arange(N) // 40 + 1}, terms=(bc.walk("period"),)),
    "factors": Part(
        ("factor", "sex", "age"),
        {"subgroup": {"sex": ROWS % 2, "age": (ROWS // 2) % 2}},
        terms=("sex", "age"),
    ),
    "robust cells": Part(
        ("factor", "sex", "age", "vary"),
        {"subgroup": {"sex": ROWS % 2, "age": (ROWS // 2) % 2}},
        options={
            "vary": ["sex", "age", bc.by("sex", "age", robust=True)],
            "engine": "importance",  # k-hat of so few draws would have NUTS run for minutes
        },
        terms=("sex", "age", bc.by("sex", "age", robust=True)),
    ),
    "clusters": Part(("cluster",), {"cluster": CLUSTER}),
    "strata": Part(("cluster", "strat"), {"cluster": CLUSTER, "stratum": CLUSTER % 2}),
    "imputations": Part(("imputation",), is_imputed=True),
    "imputed outcomes": Part(("imputation",), is_imputed=True, has_imputed_outcomes=True),
    "sampling weights": Part(
        ("weight", "sampling"),
        {"sample_weight": np.linspace(0.6, 1.4, N), "weight_type": "sampling"},
    ),
    "times": Part(("time", "Survival", "follow"), is_followed=True),
    "spline": Part(("spline",), options={"curve": "spline", "curves": ["spline"]}),
    "pieces": Part(("pieces",), options={"curve": "pieces", "curves": ["pieces"]}),
}
ALTERNATIVES = {
    frozenset({"spline", "pieces"}),
    frozenset({"clusters", "strata"}),
    frozenset({"factors", "robust cells"}),
    frozenset({"imputations", "imputed outcomes"}),
}
"""Pairs that are one choice, or one that has the other."""


def pairs() -> list[tuple[str, ...]]:
    """Every part alone, and every two."""
    two = [pair for pair in combinations(PARTS, 2) if frozenset(pair) not in ALTERNATIVES]
    return [*((name,) for name in PARTS), *two]


def table_of(names: Sequence[str], rows: slice = slice(None)) -> bc.CalibrationData:
    """The cases with the roles of some parts."""
    roles: dict[str, Any] = {}
    for name in names:
        roles |= PARTS[name].roles
    own = {key: _rows(values, rows) for key, values in roles.items()}
    parts = [PARTS[name] for name in names]
    outcomes, shifts = [OUTCOME], [0.0]
    if any(part.is_imputed for part in parts):
        other = any(part.has_imputed_outcomes for part in parts)
        flipped = np.where(np.arange(N) % 16 == 0, 1 - OUTCOME, OUTCOME)
        outcomes, shifts = [OUTCOME, flipped if other else OUTCOME], [0.0, 0.0 if other else 0.02]
    if any(part.is_followed for part in parts):
        own["horizon"] = 1
    each = []
    for outcome, shift in zip(outcomes, shifts, strict=True):
        seen: Any = outcome[rows]
        if "horizon" in own:
            seen = bc.Survival(TIME[rows], np.where(outcome == OUTCOME, EVENT, 1 - EVENT)[rows])
        each.append(bc.CalibrationData(seen, SCORE[rows] + shift, **own))
    return each[0] if len(each) == 1 else bc.CalibrationData.from_imputations(each)


def _rows(values: Any, rows: slice) -> Any:
    if isinstance(values, Mapping):
        return {name: _rows(each, rows) for name, each in values.items()}
    return values[rows] if isinstance(values, np.ndarray) else values


def options_of(door: Callable[..., Any], names: Sequence[str]) -> dict[str, Any]:
    """The options of the parts, as far as the door has them, and the terms of several.

    Raises
    ------
    NoKeywordError
        If a part is an option that the door does not have.
    """
    known, given = inspect.signature(door).parameters, {}
    for name in names:
        own = {key: value for key, value in PARTS[name].options.items() if key in known}
        if PARTS[name].options and not own:
            raise NoKeywordError
        given |= own
    if "curve" in given:
        given.pop("curves", None)
    terms = [PARTS[name].terms for name in names if PARTS[name].terms]
    if len(terms) > 1 and "vary" in known:
        given["vary"] = [term for of_part in terms for term in of_part]
    return given


class NoKeywordError(Exception):
    """The door has no keyword for a part."""


@functools.lru_cache(maxsize=4)
def fitted(names: tuple[str, ...], *, is_first: bool = False) -> Any:
    """The posterior of some parts; of the first cases alone, if there are more to come."""
    given = {"curve": "logistic"} | options_of(bc.fit, names)
    cases = table_of(names, slice(FIRST) if is_first else slice(None))
    return bc.fit(cases, draws=200, random_state=1, **given)


def of_all_cases(names: tuple[str, ...]) -> Any:
    """The posterior of one curve, of several that of all cases together."""
    post = fitted(names)
    return post.at() if hasattr(post, "average") else post


def _of(door: Callable[..., Any], **fixed: Any) -> Callable[[tuple[str, ...]], Any]:
    """A door that takes cases."""
    return lambda names: door(table_of(names), random_state=1, **fixed, **options_of(door, names))


def _models(names: tuple[str, ...]) -> Any:
    """Two models, of which the door takes sites, clusters and times."""
    keyword, given = {"site": "site", "cluster": "cluster"}, {}
    seen: Any = OUTCOME
    for part in (PARTS[name] for name in names):
        if part.is_imputed or part.options or not part.roles.keys() <= keyword.keys():
            raise NoKeywordError
        given |= {keyword[role]: values for role, values in part.roles.items()}
        if part.is_followed:
            seen, given["horizon"] = bc.Survival(TIME, EVENT), 1
    models = {"one": SCORE, "another": np.sqrt(SCORE)}
    return bc.compare_models(seen, models, draws=200, random_state=1, **given)


def _updated(names: tuple[str, ...]) -> Any:
    """More cases; of periods they are of the last two."""
    return bc.update(fitted(names, is_first=True), table_of(names, slice(FIRST, None)))


def _loaded(names: tuple[str, ...]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        fitted(names).to_netcdf(Path(folder) / "post.nc")
        return bc.load(Path(folder) / "post.nc")


DOORS: dict[str, Callable[[tuple[str, ...]], Any]] = {
    "fit": fitted,
    "load": _loaded,
    "update": _updated,
    "value_of_information": lambda names: of_all_cases(names).value_of_information([0.3]),
    "check_consistency": lambda names: bc.check_consistency(
        fitted(names), n_resamples=20, random_state=1
    ),
    "compare": _of(bc.compare, draws=200),
    "assess": _of(bc.assess, draws=200, estimators=()),
    "recommend": _of(bc.recommend, draws=200),
    "recalibration_gain": _of(bc.recalibration_gain, after=np.sqrt, draws=200),
    "compare_models": _models,
}
OF_A_FIT = ("load", "update", "value_of_information", "check_consistency")


def outcome(names: tuple[str, ...], door: str) -> str:
    """What a door makes of some parts: "works", "no keyword", "no fit", or the refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticWarning)
        warnings.simplefilter("ignore", ImputationWarning)
        try:
            if door in OF_A_FIT:
                fitted(names)
        except InputError:
            return "no fit"
        try:
            check_sane(DOORS[door](names))
        except NoKeywordError:
            return "no keyword"
        except InputError as refusal:
            return str(refusal)
    return "works"


def check_sane(result: Any) -> None:
    """That the numbers of a result are finite."""
    for name, values in numbers_of(result).items():
        if not np.isfinite(np.asarray(values, dtype=float)).all():
            raise ArithmeticError(f"{name} of {type(result).__name__} is not finite")


def numbers_of(result: Any) -> dict[str, Any]:
    """Numbers of a result that follow from all of its draws."""
    if hasattr(result, "evpi"):
        return {"evpi": result["evpi"], "net benefit": result["net_benefit"]}
    if isinstance(result, ModelComparison):
        return {"differences": result.table("tce")[["difference", "prob_better"]]}
    if isinstance(result, ModelDifferences):
        return {"differences": result.summary(measures=["tce"])[["difference", "prob_better"]]}
    if isinstance(result, SeveralGains):
        return {f"gain in {name}": result.table(name)["estimate"] for name in ("brier", "tce")}
    if isinstance(result, SeveralRecommendations):
        return {"recommended": result.by_curve()[["gain", "prob_better"]]}
    if hasattr(result, "average"):
        told = {"heterogeneity": result.heterogeneity["mean"], "each": result.tce()}
        for of in (result.average(), result.at()):
            told |= {f"{of._title}, {name}": each for name, each in numbers_of(of).items()}
        return told
    if hasattr(result, "functional"):
        shown = result.summary(names=["tce", "observed_expected", "signed_error"])
        return {"summary": shown, "curve": result.curve([0.2, 0.7]).mean(["chain", "draw"])}
    if hasattr(result, "headline"):
        return {"measures": result.summary().loc[["tce", "observed_expected"], "estimate"],
                "words": 0.0 if "nan" not in str(result).lower().split() else np.nan}  # fmt: skip
    if hasattr(result, "posterior_prob"):
        return {"probability": list(result.posterior_prob.values())} | numbers_of(result.posterior)
    if hasattr(result, "under_calibration"):
        return {"under calibration": result.under_calibration}
    if hasattr(result, "missing_information") or hasattr(result, "summary"):
        return {"gain": result.summary().loc[["brier"], ["mean", "lower", "upper"]]}
    return {"recommended": result.table[["brier_gain", "prob_better"]]}


def measured() -> dict[str, dict[str, str]]:
    """What every door makes of every part and pair."""
    return {" + ".join(names): {door: outcome(names, door) for door in DOORS} for names in pairs()}


MARKS = {"works": "yes", "no keyword": "", "no fit": ""}


def tables(record: Mapping[str, Mapping[str, str]]) -> str:
    """The table of the page: what each function refuses, and what it has no option for."""
    lines = ["| function | refuses | has no option for |", "|---|---|---|"]
    for door in DOORS:
        told = {names: row[door] for names, row in record.items()}
        without = [names for names in PARTS if told.get(names) == "no keyword"]
        refused = [names for names, answer in told.items() if answer not in MARKS]
        alone = {names for names in refused if names in PARTS}
        shown = [names for names in refused if names in PARTS or not alone & {*names.split(" + ")}]
        lines.append(f"| `{door}` | {_listed(shown)} | {_listed(without)} |")
    return "\n".join(lines)


def _listed(names: Sequence[str]) -> str:
    """Parts and pairs; the pairs of one part together."""
    firsts = dict.fromkeys(name.split(" + ")[0] for name in names)
    told = []
    for first in firsts:
        others = [name.split(" + ")[1] for name in names if name.startswith(f"{first} + ")]
        told += [first] * (first in names)
        told += [f"{first} with {', '.join(others)}"] * bool(others)
    return "; ".join(told) or "nothing"


def with_tables(page: str, record: Mapping[str, Mapping[str, str]]) -> str:
    """The page with its tables made anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables(record)}\n\n{END}{after}"


def stored() -> dict[str, dict[str, str]]:
    """What was measured last."""
    record: dict[str, dict[str, str]] = json.loads(STORED.read_text())
    return record


if __name__ == "__main__":
    STORED.write_text(json.dumps(measured(), indent=1) + "\n")
    PAGE.write_text(with_tables(PAGE.read_text(), stored()))
