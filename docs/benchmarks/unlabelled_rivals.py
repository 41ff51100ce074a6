"""NannyML on the data sets of `unlabelled_coverage.py`: performance without outcomes.

Run `python docs/benchmarks/unlabelled_rivals.py --runs 200` after `pip install -e ".[dev,rivals]"`.
NannyML's confidence-based performance estimation (CBPE) is fitted to the patients with outcomes as
reference data, and asked of all patients without outcomes as one chunk. Its band is its own: the
estimate and three sampling errors on either side, cut at 0 and 1. Ours on the same sets is in
`results/unlabelled_coverage.json`.
"""

from __future__ import annotations

import os

os.environ["NML_DISABLE_USAGE_LOGGING"] = "1"  # it reports each call to its makers otherwise

import argparse
import importlib.metadata
import json
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kept import Rows
from unlabelled_coverage import RESULTS, SETTINGS, SIZES, THRESHOLD, study, true_performance

MEASURES = {"accuracy": "accuracy", "c_statistic": "roc_auc"}
"""What both estimate, and what NannyML calls it."""


def bands_of(y: np.ndarray, score: np.ndarray, later: np.ndarray) -> pd.Series:
    """What NannyML estimates of the patients without outcomes."""
    import nannyml

    columns = {"y_true": "outcome", "y_pred_proba": "score", "y_pred": "predicted"}
    cbpe = nannyml.CBPE(
        **columns,
        metrics=list(MEASURES.values()),
        problem_type="classification_binary",
        chunk_number=1,
    )
    known = pd.DataFrame({"score": score, "predicted": (score >= THRESHOLD).astype(int)})
    cbpe.fit(known.assign(outcome=y))
    new = pd.DataFrame({"score": later, "predicted": (later >= THRESHOLD).astype(int)})
    return cbpe.estimate(new).filter(period="analysis").to_df().iloc[0]


def one(setting: str, n: int, run: int) -> Iterator[dict[str, Any]]:
    """Whether the bands of one data set have the truth."""
    y, score, _, later, risk, outcome = study(setting, n, run)
    told = bands_of(y, score, later)
    true = {"expected": true_performance(risk, later), "realised": true_performance(outcome, later)}
    for measure, name in MEASURES.items():
        lower, upper = (told[name, f"{end}_confidence_boundary"] for end in ("lower", "upper"))
        for of, values in true.items():
            yield {
                "setting": setting,
                "labelled": n,
                "measure": measure,
                "of": of,
                "covered": bool(lower <= values[measure] <= upper),
                "width": upper - lower,
                "error": abs(told[name, "value"] - values[measure]),
            }


def summarise(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Coverage, mean width and mean error of each cell."""
    table = pd.DataFrame(rows)
    grouped = table.groupby(["setting", "labelled", "measure", "of"], sort=False)
    means = grouped[["covered", "width", "error"]].mean()
    means["data_sets"] = grouped.size()
    versions = {name: importlib.metadata.version(name) for name in ("nannyml", "numpy", "pandas")}
    return {"versions": versions, "rows": means.reset_index().to_dict("records")}


def page_table(theirs: dict[str, Any], ours: dict[str, Any]) -> str:
    """Both on the same data sets, as the page has it."""
    names = {"accuracy": "accuracy", "c_statistic": "C-statistic"}
    lines = [
        "| setting | with outcomes | measure | fit | expected: coverage | width | mean error "
        "| realised: coverage |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in theirs["rows"]:
        if row["of"] != "expected":
            continue
        keys = {name: row[name] for name in ("setting", "labelled", "measure")}
        for fit, rows in (("ours, one curve", ours["rows"]), ("NannyML", theirs["rows"])):
            of = {
                each["of"]: each
                for each in rows
                if keys.items() <= each.items() and each.get("analysis", "one curve") == "one curve"
            }
            cells = [f"{of['expected'][name]:.3f}" for name in ("covered", "width", "error")]
            cells.append(f"{of['realised']['covered']:.3f}")
            first = f"{row['setting']} | {row['labelled']} | {names[row['measure']]}"
            lines.append(f"| {first} | {fit} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Run all cells, and write what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS / "unlabelled_rivals.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    kept = Rows("unlabelled_rivals")
    for setting in SETTINGS:
        for n in SIZES:
            rows += kept.all_of(f"{setting}, {n} cases", options.runs, partial(one, setting, n))
    options.out.write_text(json.dumps(summarise(rows), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
