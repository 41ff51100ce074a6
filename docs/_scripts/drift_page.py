"""Benchmark page on drift, from stored results."""

from __future__ import annotations

import pandas as pd

from benchmark_pages import markdown, standard_error, stored

TARGET = 0.8
SUDDEN = "sudden"
FORMER = (0.5, 0.25, 0.25)
"""Prior probabilities of the explanations in results that do not name them."""
WORDS = {"now": "drift", "former": "even prior", "alone": "last month"}


def drift_page() -> str:
    """When a change was placed, the present error without one, and coverage of the present."""
    record = stored("drift")
    if not record:
        return ""
    table = pd.DataFrame.from_dict(record, orient="index")
    table.index.name = "truth"
    runs = sorted({int(number) for number in table["runs"]})
    sudden = table[table.index.str.startswith(SUDDEN)]
    told = {
        "placed": "best within one",
        "stated": "probability stated",
        "placed_most_probable": "most probable month",
        "stated_most_probable": "probability stated of it",
        "oracle": "oracle",
        "largest_step": "month of the largest `prob`",
        "stated_largest_step": "largest `prob`",
    }
    placed = sudden[[*told]].rename(columns=told)
    short = placed.index[placed["best within one"] < TARGET].tolist()
    missed = (
        f"The aim of 80 % within one month is missed for {'; '.join(short)}; with {min(runs)} "
        f"years the standard error of 80 % is {100 * standard_error(TARGET, min(runs)):.0f} %."
        if short
        else "The aim of 80 % within one month is reached in every cell."
    )
    explained = table[["constant", "sudden", "gradual"]]
    above = table[["above", "above_single", "moved"]].rename(
        columns={
            "above": "drift",
            "above_single": "one fit",
            "moved": "mean distance",
        }
    )
    coverage = {
        f"{label}, {who}": table[f"{key}_{name}"]
        for name, label in (("observed_expected", "O/E"), ("tce", "TCE"))
        for key, who in (("now", "drift"), ("alone", "last month"), ("single", "one fit"))
    }
    width = {
        f"{label}, {who}": table[f"{key}_{name}_width"]
        for name, label in (("observed_expected", "O/E"), ("tce", "TCE"))
        for key, who in (("now", "drift"), ("alone", "last month"), ("single", "one fit"))
    }
    prior = {tuple(cell.get("prior", FORMER)) for cell in record.values()}
    before = " or ".join(f"{one:.2f}, {two:.2f} and {three:.2f}" for one, two, three in prior)
    made = (
        " These were made under the even prior, which the last section describes."
        if prior == {FORMER}
        else ""
    )
    paragraphs = [
        "# Drift",
        "Years of 100 patients a month, with no change, a sudden shift of the log-odds into the "
        "seventh month if no other is named, or one that grows from month to month; "
        f"{' and '.join(map(str, runs))} simulated years a cell, logistic curves. Made by "
        f"`docs/benchmarks/drift.py`.{made}",
        "## When it changed",
        "Share of years in which the month is placed within one of the truth: by the largest "
        "`within_one` of `when_changed()`, and by the largest `if_sudden`. *Probability stated* is "
        "the mean of `within_one` there. All months are alike before the data. The oracle knows "
        "the curve before, the size of the shift and that there was one; on average no method does "
        "better. The last two columns are of the single month with the largest `prob`, which is "
        "printed as P(changed most): how often it was the month of the change, and the mean of "
        f"`prob` there. {missed}",
        markdown(placed),
        *in_words(table),
        "## What explains the year",
        f"Mean posterior probabilities; before the data they are {before}.",
        markdown(explained),
        "## P(TCE now > 0.05)",
        "Beside that of one fit of all months, which knows of no change; the last column is the "
        "mean of the distance between both.",
        markdown(above),
        "## Coverage of the present",
        "Shares of 95 % intervals that contain the last month's true value, over its scores, and "
        "their mean width: of the drift fit, of the last month alone, and of one fit of all "
        "months. Where the truth is calibrated, the TCE is zero, which an interval of one "
        "logistic curve cannot contain; that of the drift fit knows of exact calibration.",
        markdown(pd.DataFrame(coverage)),
        markdown(pd.DataFrame(width)),
    ]
    return "\n\n".join([*paragraphs, *present()]) + "\n"


def in_words(table: pd.DataFrame) -> list[str]:
    """How often a month is named in words, and how often it is the right one."""
    if "named_if_sudden" not in table:
        return []
    told = {"if_sudden": "`bayescal drift`", "prob": "assessment"}
    named = pd.DataFrame({f"{who}, named": table[f"named_{name}"] for name, who in told.items()})
    sudden = table.index.str.startswith(SUDDEN)
    for name, who in told.items():
        right = table[f"right_{name}"] / table[f"named_{name}"]
        named[f"{who}, right of those"] = [
            f"{share:.3f}" if shown and share == share else "-"
            for share, shown in zip(right, sudden, strict=True)
        ]
    likely, least = table["rule"].iloc[0]
    return [
        "## When a month is named",
        "Share of years in which the text names a month, and the share of these in which it is "
        "within one of the month of the change. `bayescal drift` names the month of the largest "
        "`if_sudden`, and an assessment of a table with periods that of the largest `prob`. Both "
        f"do so only if the curve has changed with probability {likely:g} or more and the month "
        f"stands out: its value is {least:g} or more, and also "
        f"{likely:g} or more or at least twice the mean of all months. Where nothing changed, or "
        "everything little by little, no month is right.",
        markdown(named),
    ]


def present() -> list[str]:
    """The last section: the interval of the present, by how long ago there was a change."""
    record = stored("drift_now")
    rows = {key: cell for key, cell in record.items() if "alone" in cell}
    looks = {key: cell for key, cell in record.items() if "alone" not in cell}
    if not rows:
        return []
    table = pd.DataFrame(
        {
            key: {"series": cell["runs"], "P(changed) > .9": cell["now"]["sure"]}
            | {
                f"{WORDS[who]}, {name}": cell[who][name] if who in cell else "-"
                for who in WORDS
                for name in ("covered", "width", "score")
            }
            for key, cell in rows.items()
        }
    ).T
    table = table.astype({"series": int}).rename_axis("truth")
    former = sorted({cell["former"]["runs"] for cell in rows.values() if "former" in cell})
    ever = "; ".join(
        f"{key}: in {cell['now']['sure'] * cell['runs']:.0f} of {cell['runs']} series"
        for key, cell in looks.items()
    )
    return [
        "## The present after a change",
        "O/E in the last month: how often its 95 % interval contains the true value, its mean "
        "width on the log scale, and its mean interval score (width, and 40 times the distance of "
        "a miss; low is good). Shifts are of the log-odds. Where not said otherwise there are 100 "
        "patients a month, a mean risk of 0.31, and a change comes after 11 months. With the *even "
        "prior*, for comparison, a sudden change into each month has the same probability, 1/4 in "
        "all, and its shift is expected to be half as large; its columns are of the first "
        f"{' or '.join(map(str, former))} series of a cell. Made by "
        "`docs/benchmarks/drift_now.py`.",
        markdown(table),
        *([f"P(changed) was ever above 0.9, looked at after each month: {ever}."] if ever else []),
    ]
