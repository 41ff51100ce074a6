"""Benchmark page on subgroups by crossed factors, and on classes as groups of one fit."""

from __future__ import annotations

import pandas as pd

from benchmark_pages import markdown, stored

CHANCES = {
    "any_level": "a level",
    "any_combination": "a combination",
    "any_alone": "a combination, fitted alone",
}
KINDS = {"levels": "levels", "cells": "combinations"}


def chances(record: dict) -> str:
    """The share of data sets without differences in which it seems likely that any is off."""
    rows = [each for each in record.values() if each["truth"] == "no differences"]
    table = pd.DataFrame(
        {
            "combinations": [row["subgroups"] for row in rows],
            "patients": [row["n"] for row in rows],
            "data sets": [row["runs"] for row in rows],
            **{
                f"P({title}) > .5": [row[name]["above_half"] for row in rows]
                for name, title in CHANCES.items()
            },
            **{
                f"mean P({title})": [row[name]["mean"] for row in rows]
                for name, title in CHANCES.items()
            },
        }
    )
    return markdown(table.set_index("combinations"), 2)


def estimates(record: dict) -> str:
    """Coverage of O/E, and squared error of shrunk and raw estimates."""
    rows = [
        {
            "truth": row["truth"],
            "combinations": row["subgroups"],
            "patients": row["n"],
            "data sets": row["runs"],
            "of": title,
            "covered": row[kind]["covered"],
            "error, shrunk": row[kind]["shrunk"] ** 0.5,
            "error, raw": row[kind]["raw"] ** 0.5,
        }
        for row in record.values()
        for kind, title in KINDS.items()
    ]
    return markdown(pd.DataFrame(rows).set_index("truth"), 3)


def bad_cells(record: dict) -> str:
    """Coverage and interval scores of O/E with normal and with robust effects of cells."""
    rows = [
        {
            "truth": row["truth"],
            "data sets": row["runs"],
            **{
                f"{title} covered, {how}": row["mean"][f"{how}.{name}.covered"]
                for name, title in {"small": "small cell", "rest": "others"}.items()
                for how in ("normal", "robust")
            },
            "small cell covered, told": row["mean"].get("told.small.covered", "-"),
            **{f"score, {how}": row["mean"][f"{how}.all.score"] for how in ("normal", "robust")},
            "P(small cell unlike)": row["mean"]["unlike.small"],
            "P(another unlike)": row["mean"]["unlike.rest"],
            "largest k-hat": row["robust.largest_k"],
        }
        for row in record.values()
    ]
    return markdown(pd.DataFrame(rows).set_index("truth"), 3)


def classes(record: dict) -> str:
    """Errors of class-wise estimates on cases that were not seen."""
    rows = [
        {
            "cases": row["n"],
            "O/E, shrunk": row["ratio_shrunk"],
            "O/E, raw": row["ratio_raw"],
            "shrunk is nearer": row["ratio_better"],
            "Brier, shrunk": row["brier_shrunk"],
            "Brier, raw": row["brier_raw"],
            "Brier, no update": row["brier_none"],
            "shrunk is better": row["brier_better"],
        }
        for row in record.values()
    ]
    return markdown(pd.DataFrame(rows).set_index("cases"), 5)


def subgroups_page() -> str:
    """How fits of many subgroups and of many classes do."""
    crossed, of_classes = stored("subgroups"), stored("classes")
    if not crossed:
        return ""
    paragraphs = [
        "# Subgroups and classes",
        "Subgroups are all combinations of two or three factors: 4 of two factors with two levels "
        "each, 16 (2 x 2 x 4), 64 (4 x 4 x 4). There are 100 patients for each combination, or "
        "4000 in all.",
        "## Nothing is off",
        "In these data sets the model is calibrated in every subgroup. How often does a fit say "
        "that it is more likely than not that some subgroup is off by more than .05 (true "
        "calibration error)?",
        chances(crossed),
        "Of levels (4, 8 and 12 of them) the share does not grow with their number. Of "
        "combinations it depends on how many patients each has. With 100 each, the share does not "
        "grow with their number. With 4000 in all it grows, from "
        "combinations of 1000 patients, in which an error would be seen, to those of 62, in which "
        "errors cannot be ruled out: there we miss what we aimed at, and the probability says "
        "more about the few patients than about the model. Fitted one by one, some combination "
        "seems to be off in every data set, except where each has 1000 patients.",
        "## Estimates",
        "*Covered* is the share of 95 % intervals of O/E that contain the true value, and *error* "
        "the root mean squared error of O/E: shrunk as in `post.subgroups`, and raw as the ratio "
        "itself. With *differences* the shift has effects of levels of standard deviation .25, "
        "and of combinations of .1.",
        estimates(crossed),
    ]
    one_bad = stored("cells_robust")
    if one_bad:
        further = (
            " With *differences* the shift has effects of levels of standard deviation .25, and of "
            "combinations of .1."
            if "differences" in one_bad
            else ""
        )
        paragraphs += [
            "## One bad cell",
            "Twelve cells of three factors (2 x 2 x 3). One small cell has 80 patients, or two of "
            "them have, and each other one 300 (or 80: *all small*). With *one bad cell*, or two, "
            "the small ones have a true O/E of 1.56, and all others are calibrated."
            f"{further} Each data set is fitted with normal effects, the default, and "
            "with `robust=True` in the term of the cells. *Covered* is of 95 % intervals of O/E, "
            "and the score their mean interval score over all cells (smaller is better). We aimed "
            "at a coverage of the bad cell of .85 and miss it: in the sets that are missed, 80 "
            "patients look as if little were wrong with their cell, and with a prior probability "
            "of .1 it then counts as one of the others. *Told* is a robust fit that knows which "
            "cell is bad. The k-hats count the weights of all sets of unlike cells that were not "
            "fitted, however few draws these have; those of a fit do so from a tenth of the draws "
            "on. Made by `docs/benchmarks/cells_robust.py`.",
            bad_cells(one_bad),
        ]
    if of_classes:
        paragraphs += [
            "## Classes as groups",
            "ResNet110 on CIFAR-10, ten classes, each against the rest. Estimates are from some "
            "hundred test cases, and are judged by the half of the test cases that was not seen: "
            "squared distance to its O/E, on average over classes, and Brier score of the "
            "recalibrated probabilities. Raw curves are logistic, by maximum likelihood class by "
            "class.",
            classes(of_classes),
        ]
    paragraphs.append("Made by `docs/benchmarks/subgroups.py` and `docs/benchmarks/classes.py`.")
    return "\n\n".join(paragraphs) + "\n"
