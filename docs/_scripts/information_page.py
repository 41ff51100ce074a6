"""Benchmark page on the value of information, from stored results."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmark_pages import markdown, stored

COLUMNS = {
    "evpi": "EVPI",
    "evpi_of_recalibrating": "EVPI of recalibrating",
    "evsi": "EVSI",
    "evsi_of_recalibrating": "EVSI of recalibrating",
    "cells": "EVPI by cells",
}
PRIOR, KNOWN, LIKE = "prior, ", "these scores", "scores like these"


def information_page() -> str:
    """Expected losses and gains beside the realised ones."""
    record = stored("value_of_information")
    if not record:
        return ""
    drawn = {key: cell for key, cell in record.items() if key.startswith(PRIOR)}
    fixed = {key: cell for key, cell in record.items() if key not in (*drawn, "thresholds")}
    runs = {cell["runs"] for cell in drawn.values()}
    paragraphs = [
        "# Value of information",
        "Expected values, as `post.value_of_information` gives them, beside what was lost or won "
        "when the truth was known, in net benefit per 1000 patients. EVSI is of as many further "
        "patients as there were. In brackets: the standard error of the difference. Made by "
        "`docs/benchmarks/value_of_information.py`; "
        "[the page on its use](../how-to/value-of-information.md) has the definitions.",
        "## Curves drawn from the prior",
        f"Logistic curves of the neutral prior, {min(runs)} in each cell, fitted with the same "
        "family. Here both must agree on average where the population is that of *these scores*. "
        "Of *scores like these* they need not, quite: the true law of the scores is always the "
        "same here, and the Bayesian bootstrap does not know it. All cells of one size have the "
        "same curves, so that their numbers are not independent.",
        *_tables(drawn, record["thresholds"]),
        _farthest(drawn),
    ]
    if fixed:
        few = min(cell["runs"] for cell in fixed.values())
        paragraphs += [
            "## Fixed populations",
            f"The averaged posterior on {few} data sets of one population each. An average over "
            "data sets of one truth need not agree with expectations under the posterior.",
            *_tables(fixed, record["thresholds"]),
        ]
    return "\n\n".join(paragraphs) + "\n"


def _tables(cells: dict[str, Any], thresholds: list[float]) -> list[str]:
    tables = []
    for name, title in COLUMNS.items():
        rows = {
            (key.removeprefix(PRIOR), f"{threshold:g}"): _shown(cell[name], index)
            for key, cell in cells.items()
            if _is_shown(key, name)
            for index, threshold in enumerate(thresholds)
        }
        if not rows:
            continue
        table = pd.DataFrame.from_dict(rows, orient="index", columns=["expected", "realised"])
        table.index = pd.MultiIndex.from_tuples(rows, names=["data", "threshold"])
        tables += [f"**{title}**", markdown(table)]
    return tables


def _shown(value: dict[str, list[float]], index: int) -> tuple[str, str]:
    expected, realised, error = (
        1000 * value[part][index] for part in ("expected", "realised", "error")
    )
    return f"{expected:.3f}", f"{realised:.3f} ({error:.3f})"


def _is_shown(key: str, name: str) -> bool:
    """The cells are about patients like these."""
    return name != "cells" or KNOWN not in key


def _farthest(cells: dict[str, Any]) -> str:
    """In how many numbers expected and realised values are far apart, and which way."""
    told = []
    for kind in (KNOWN, LIKE):
        ratios = [
            ratio
            for key, cell in cells.items()
            if kind in key
            for name in COLUMNS
            if _is_shown(key, name)
            for ratio in _ratios(cell[name])
        ]
        high, low = sum(ratio > 3 for ratio in ratios), sum(ratio < -3 for ratio in ratios)
        told.append(
            f"Of {len(ratios)} numbers of *{kind}*, the expected value is more than three standard "
            f"errors too high in {high} and too low in {low}."
        )
    return " ".join(told)


def _ratios(value: dict[str, list[float]]) -> list[float]:
    """By how many standard errors the expected value is above the realised one."""
    parts = zip(value["expected"], value["realised"], value["error"], strict=True)
    return [(expected - realised) / error for expected, realised, error in parts if error > 0]
