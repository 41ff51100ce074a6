"""Benchmark page on hierarchical fits of several sites, from stored results."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from benchmark_pages import PAGES, markdown, stored
from number_pages import AIM
from robust_part import robust_part

WHO = {"sites": "a site", "average": "the average site", "new": "a new site"}
NUMBERS = {"observed_expected": "O/E", "calibration_slope": "slope"}
SPREAD = {"shift": "sd of the shift", "log_slope": "sd of the log slope"}
RIVALS = {"two_stage": "two-stage pooling", "mixed": "mixed model"}
CELL = ["truth", "sites", "spread"]
TERMS = {
    "factors": "a sex and three ages, six cells of 60 to 180 patients",
    "periods": "five of 130 patients",
}
ENDS = (0.025, 0.1, 0.3, 0.5, 0.7, 0.9, 0.975)
RANGES = [f"{low:g} to {high:g}" for low, high in zip((0, *ENDS), (*ENDS, 1), strict=True)]
COLOURS = {0.0: "#999999", 0.15: "#56B4E9", 0.33: "#0072B2"}
MARKERS = {"sites": "o", "average": "s", "new": "D"}


def sites_page() -> str:
    """Coverage, error and interval scores of hierarchical fits, ranks of truths, and speed."""
    record, rivals = stored("sites"), stored("sites_rivals")
    if not record or not rivals:
        return ""
    table = pd.DataFrame(record["cells"])
    covered, scores, errors = (
        coverage(table),
        interval_scores(record, rivals),
        squared(table),
    )
    draw(covered, PAGES / "sites.png")
    paragraphs = [
        "# Several sites",
        f"Hierarchical fits of 5, 15 and 50 sites with 20 to 500 patients each, from {runs(table)} "
        "simulated data sets a cell. A *cell* is a number of sites, a standard deviation of the "
        "shift between sites (that of the log slope is half of it) and a population: calibrated on "
        "average, or with a shift of 0.25 and a slope of 0.82. Curve and priors are of "
        '`bc.fit(data, vary=bc.by("site", robust=False), curve="logistic")`, so that effects are '
        "normal. How robust effects differ, the default, stands in a part of its own. Made by "
        "`docs/benchmarks/sites.py`, `sites_rivals.py`, `sites_sbc.py` and `sites_speed.py`; what "
        "is said of errors by `sites_distances.py`, and the ranks of factors and periods by "
        "`terms_sbc.py`.",
        "## Where we lose",
        *losses(covered, scores, errors),
        *coverage_part(covered, table),
        *error_part(errors),
        *score_part(scores, rivals),
        *many_part(table),
        *distances_part(),
        *robust_part(),
        *ranks_part(),
        *speed_part(),
    ]
    return "\n\n".join(paragraphs) + "\n"


def runs(table: pd.DataFrame) -> str:
    """How many data sets a cell rests on."""
    least, most = table["runs"].min(), table["runs"].max()
    return str(most) if least == most else f"{least} to {most}"


def coverage(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each cell, number and whose it is: coverage, its error, and whether it is short."""
    rows = []
    for cell in table.to_dict("records"):
        for who, number in product(WHO, NUMBERS):
            share, error = (cell[what][f"{who}.{number}"] for what in ("mean", "error"))
            row = {name: cell[name] for name in (*CELL, "runs")}
            rows.append(row | {"who": who, "number": number, "coverage": share, "error": error})
    result = pd.DataFrame(rows)
    result["short"] = result["coverage"] < AIM - 2 * result["error"]
    return result


def coverage_part(covered: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    """Coverage by cell, and that of the spread between sites."""
    named = covered.assign(
        column=[f"{NUMBERS[n]}, {WHO[w]}" for n, w in zip(covered.number, covered.who, strict=True)]
    )
    wide = named.pivot(index=CELL, columns="column", values="coverage")[named["column"].unique()]
    spread = pd.DataFrame(
        [
            {title: cell["mean"][f"spread.{name}"] for name, title in SPREAD.items()}
            | {"correlation": cell["mean"]["spread.correlation"]}
            for cell in table.to_dict("records")
        ],
        pd.MultiIndex.from_frame(table[CELL]),
    )
    spread = spread[spread.index.get_level_values("spread") > 0]
    return [
        "## Coverage of 95 % intervals",
        "Of a site and of the average site: the share of true values inside. Of a new site: the "
        "share of 100 sites drawn from the same population that are inside, on average over data "
        "sets. Monte Carlo errors are at most "
        f"{covered['error'].max():.3f}; the figure shows two of them each way, where the "
        "population is miscalibrated.",
        "![Coverage by number of sites, of O/E and slope](sites.png)",
        markdown(readable(wide), 2),
        "Of the standard deviations between sites and their correlation, where there are any (a "
        "standard deviation of zero is never in the interval, whose lower end is positive):",
        markdown(readable(spread), 2),
    ]


def key(cell: dict) -> tuple:
    """What names a cell."""
    return tuple(cell[name] for name in CELL)


def distances_part() -> list[str]:
    """What is said of the error of the average, of a new site and of sites."""
    record = stored("sites_distances")
    if not record:
        return []
    sets, views = record["sets"], {"average": "average", "new": "new", "site": "site"}
    table = pd.DataFrame(
        {
            cell: {"sets": str(sets[cell])}
            | {title: each[view]["cover"] for view, title in views.items()}
            | {f"width, {title}": each[view]["width"] for view, title in views.items()}
            | {"P(every site)": each["every_site"], "P(average)": each["average_site"]}
            for cell, each in record["cells"].items()
        }
    ).T
    paragraphs = [
        "## What is said of the error",
        "Every data set has a population of its own. *Calibrated*: every site is exactly "
        "calibrated. *Mixed*: the average is, and the sites differ round it. *Off*: neither. These "
        "are the three components that distances are read from. *Some* is none of them: each site "
        "is exactly calibrated with probability one half, and the others are off, so that no "
        "normal law describes the sites. Standard deviations between sites, and the coordinates of "
        "the average, are drawn at random; sites have 20 to 500 patients; true errors are over "
        "the law of the scores. The table has the share of 95 % intervals of the TCE that contain "
        "the true one, and their median widths: of the average, of 40 new sites, and of the first "
        "ten sites of each data set. The last columns are the mean posterior probabilities that "
        "every site, and that the average, is exactly calibrated"
        + (
            f"; NUTS drew {record['by_nuts']} of the {sum(sets.values())} data sets, and computes "
            "no such probability."
            if record.get("by_nuts")
            else "."
        ),
        markdown(table.rename_axis("population"), 2),
        "How true are stated probabilities? Of the statements P(TCE < x), for x of "
        f"{', '.join(f'{x:g}' for x in record['limits'])}, those with a probability in a range: "
        "their mean, then the share that is true, and their number.",
    ]
    for view, title in {"average": "the average", "new": "a new site", "site": "a site"}.items():
        each = {kind: rows[view]["bins"] for kind, rows in record["kinds"].items()}
        if has_all_kinds(record):
            each["as the prior weighs them"] = as_weighed(each)
        paragraphs += [f"**{title.capitalize()}.**", markdown(stated_and_true(each), 2)]
    return [*paragraphs, weighed_in_words(record)] if has_all_kinds(record) else paragraphs


PRIOR_OF_KINDS = {"calibrated": 0.1, "mixed": 0.1, "off": 0.8}
"""Prior probabilities of the three components that distances are read from."""


def has_all_kinds(record: dict) -> bool:
    """Whether populations of all components were run, and those of all together."""
    return {*PRIOR_OF_KINDS, ", ".join(PRIOR_OF_KINDS)} <= set(record["kinds"])


def as_weighed(kinds: dict[str, list[list[float]]]) -> list[list[float]]:
    """Bins of the three kinds, each counted as often as the prior says that it occurs."""
    sums = np.zeros((len(RANGES), 4))
    for kind, weight in PRIOR_OF_KINDS.items():
        total = sum(count for *_, count in kinds[kind])
        for stated_as, true, count in kinds[kind]:
            share = weight * count / total
            at = int(np.searchsorted(ENDS, stated_as, side="right"))
            sums[at] += [share * stated_as, share * true, share, count]
    return [[a / share, b / share, int(n)] for a, b, share, n in sums if share]


def weighed_in_words(record: dict) -> str:
    """How far stated probabilities are from true ones, in equal thirds and by prior weights."""
    gaps = {}
    for view in ("average", "new", "site"):
        each = {kind: rows[view]["bins"] for kind, rows in record["kinds"].items()}
        in_thirds, weighed = each[", ".join(PRIOR_OF_KINDS)], as_weighed(each)
        gaps[view] = [max(abs(b - a) for a, b, _ in bins) for bins in (in_thirds, weighed)]
    return (
        "In equal thirds of *calibrated*, *mixed* and *off* the largest gap between stated and "
        f"true is {gaps['average'][0]:.2f} for the average, {gaps['new'][0]:.2f} for a new site "
        f"and {gaps['site'][0]:.2f} for a site: P(TCE < x) is then too low. Two thirds of these "
        "populations have an exactly calibrated average, for which every such statement is true, "
        "and the prior gives that a fifth. In the last row, where each kind counts as often as the "
        f"prior says, the gaps are {gaps['average'][1]:.2f}, {gaps['new'][1]:.2f} and "
        f"{gaps['site'][1]:.2f}. The gap of the average that remains comes from the three in "
        "ten draws of distances that are always of curves that are not exact."
    )


def stated_and_true(kinds: dict[str, list[list[float]]]) -> pd.DataFrame:
    """By kind of population, a column for each range of what was said."""
    rows = {}
    for kind, bins in kinds.items():
        rows[kind] = dict.fromkeys(RANGES, "")
        for stated_as, true, count in bins:
            at = RANGES[int(np.searchsorted(ENDS, stated_as, side="right"))]
            rows[kind][at] = f"{stated_as:.2f} > {true:.2f} ({count})"
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("population")


def squared(table: pd.DataFrame) -> pd.DataFrame:
    """Mean squared error of the sites' curves, by cell."""
    kinds = ("hierarchical", "unpooled", "pooled")
    values = [{kind: 1e3 * cell[f"error.{kind}"] for kind in kinds} for cell in table["mean"]]
    return pd.DataFrame(values, pd.MultiIndex.from_frame(table[CELL]))


def error_part(errors: pd.DataFrame) -> list[str]:
    """Squared errors of the sites' curves."""
    mean = errors.mean()
    return [
        "## Error of the sites' curves",
        "A thousand times the mean squared error of the posterior mean curve of a site, at 16 "
        "scores from .05 to .8. *Unpooled* fits each site alone, *pooled* fits one curve to all. "
        f"On average over the cells it is {mean['hierarchical']:.2f} hierarchically, "
        f"{mean['unpooled']:.2f} unpooled and {mean['pooled']:.2f} pooled.",
        markdown(readable(errors), 2),
    ]


def interval_scores(record: dict, rivals: dict) -> pd.DataFrame:
    """Mean interval scores of ours and of the rivals, over the data sets that all have."""
    rows = []
    both = {key(cell): cell for cell in rivals["cells"]}
    for cell in record["cells"]:
        other = both.get(key(cell))
        if other is None:
            continue
        for who in ("average", "new"):
            name = f"{who}.interval_score"
            scores = {"hierarchical": cell["scores"][name]}
            scores |= {title: other["scores"][f"{rival}.{name}"] for rival, title in RIVALS.items()}
            common = min(map(len, scores.values()))
            means = {title: float(np.mean(each[:common])) for title, each in scores.items()}
            rows.append({part: cell[part] for part in CELL} | {"who": who} | means)
    return pd.DataFrame(rows)


def score_part(scores: pd.DataFrame, rivals: dict) -> list[str]:
    """Interval scores beside those of the rivals."""
    paragraphs = [
        "## Against other methods",
        "Mean interval score of the 95 % interval of the curve, at the same scores: its width, and "
        "40 times what it misses by (Gneiting & Raftery, 2007); smaller is better. *Two-stage* is "
        "a logistic regression on a restricted cubic spline with three knots at each site, then at "
        "each score a random-effects meta-analysis (restricted maximum likelihood, interval of "
        "Hartung and Knapp, prediction interval of a t distribution). *Mixed model* is a logistic "
        "regression with random intercept and slope; the interval of its average curve is from the "
        "fixed effects alone, that of a new site adds the covariance between sites.",
    ]
    for who in ("average", "new"):
        mine = scores[scores["who"] == who].set_index(CELL).drop(columns="who")
        mean = ", ".join(f"{value:.3f} {title}" for title, value in mine.mean().items())
        paragraphs += [
            f"**Curve of {WHO[who]}.** On average over the cells: {mean}.",
            markdown(readable(mine), 3),
        ]
    cells = pd.DataFrame(rivals["cells"])
    means = pd.DataFrame(list(cells["mean"]))
    apart = means["mixed_singular"].groupby(cells["spread"]).mean()
    words = ", ".join(f"{share:.0%} with sd {spread:g}" for spread, share in apart.items())
    left = sum(cell["mean"]["left_out"] * cell["runs"] for cell in rivals["cells"])
    total = sum(cell["sites"] * cell["runs"] for cell in rivals["cells"])
    failed = 1 - np.average(means["mixed_converged"], weights=cells["runs"])
    singular = f"The covariance of the mixed model is singular in many data sets: {words}."
    stopped = f" Its search does not converge in {failed:.1%}." if failed else ""
    return [
        *paragraphs,
        f"{singular}{stopped} Of the sites, {left / total:.1%} are left out of the first stage "
        "because their regression has no maximum.",
    ]


def many_part(table: pd.DataFrame) -> list[str]:
    """The probability that any site is off, where none is."""
    calm = table[(table["truth"] == "calibrated") & (table["spread"] == 0)].set_index("sites")
    shares = ", ".join(f"{cell['any']:.2f} with {k} sites" for k, cell in calm["mean"].items())
    return [
        "## Many sites, none of them off",
        "The probability that the TCE of any site is above .05, on average over data sets in which "
        f"every site is calibrated: {shares}. Many sites tell how little sites differ, and that "
        "draws those of few patients to the average, so that the probability does not grow.",
    ]


def ranks_part() -> list[str]:
    """Simulation-based calibration of sites, factors and periods."""
    record = stored("sites_sbc")
    if not record:
        return []
    others = stored("terms_sbc")
    of_terms = [
        paragraph for name in TERMS if name in others for paragraph in ranks_of(name, others)
    ]
    table = pd.DataFrame(record["quantities"]).set_index("quantity")
    verdict = "All ranks are" if record["inside"] else "Not all ranks are"
    return [
        "## Simulation-based calibration",
        f"{record['simulations']} truths were drawn from the priors, and outcomes of "
        f"{len(record['sizes'])} sites of {min(record['sizes'])} to {max(record['sizes'])} "
        "patients from each; the rank of the truth among posterior draws must be uniform (Talts et "
        f"al., 2018). {verdict} inside their joint 99 % band. The largest Pareto k-hat is "
        f"{record['largest_pareto_k']:.2f}.",
        markdown(table[["inside", "worst_at", "difference", "level"]], 3),
        *of_terms,
    ]


def ranks_of(name: str, record: dict) -> list[str]:
    """The same of factors, or of periods."""
    mine = record[name]
    table = pd.DataFrame(mine["quantities"]).set_index("quantity")
    out = list(table.index[~table["inside"]])
    verdict = "All ranks are inside" if not out else f"Outside are {', '.join(out)}: not all are in"
    return [
        f"**{name.capitalize()}**, {TERMS[name]}, from {record['simulations']} truths. {verdict} "
        f"their joint 99 % band. The largest Pareto k-hat is {mine['largest_pareto_k']:.2f}; it is "
        f"above 0.7 in {mine['pareto_k_above_0.7']:.1%}.",
        markdown(table[["inside", "worst_at", "difference", "level"]], 3),
    ]


def speed_part() -> list[str]:
    """Seconds and memory."""
    rows = stored("sites_speed").get("rows", {})
    if not rows:
        return []
    table = pd.DataFrame(
        {
            name: {
                "patients": str(row["patients"]),
                "table": row["table_cpu_seconds"],
                "fit": row["fit_cpu_seconds"],
                "all groups": row.get("groups_cpu_seconds", np.nan),
                "a new site": row["new_site_cpu_seconds"],
                "MB": row["megabytes"],
                "MB before": row["megabytes_before"],
            }
            for name, row in rows.items()
        }
    ).T
    table.index.name = "sites"
    paragraphs = [
        "## Speed",
        "CPU seconds of making the table, of the fit, and of the interval of a new site's TCE; "
        "and the largest memory of the process, and that before there were data. *All groups* are "
        "the intervals of all sites, cells or periods, where they were asked for.",
        markdown(table, 2),
    ]
    nuts = [row for row in rows.values() if row["engine"] == "nuts"]
    for row in nuts:
        numbers = row["diagnostics"]
        paragraphs.append(
            f"NUTS has four chains of 1000 draws after 1000 steps of adaptation, with "
            f"{numbers['divergences']:.0f} divergences and r-hat up to {numbers['r_hat']:.3f}; its "
            f"time includes compilation. On two cores that others used as well it took "
            f"{row['fit_clock_seconds']:.0f} seconds of the clock."
        )
    return paragraphs


def losses(covered: pd.DataFrame, scores: pd.DataFrame, errors: pd.DataFrame) -> list[str]:
    """Sentences on what falls short."""
    short = covered[covered["short"]]
    lines = []
    if short.empty:
        lines.append(
            f"In none of the {len(covered)} cells and numbers is coverage below {AIM:.2f} by more "
            "than two Monte Carlo errors."
        )
    else:
        each = "; ".join(
            f"{NUMBERS[row.number]} of {WHO[row.who]} ({row.truth}, {row.sites} sites, sd "
            f"{row.spread:g}): {row.coverage:.2f}"
            for row in short.itertuples()
        )
        lines.append(
            f"Coverage is below {AIM:.2f} by more than two Monte Carlo errors in {len(short)} of "
            f"{len(covered)} cells and numbers: {each}."
        )
    same = errors[errors.index.get_level_values("spread") == 0]
    ratio = (same["hierarchical"] / same["pooled"]).groupby("sites").mean()
    times = ", ".join(f"{value:.1f} with {sites} sites" for sites, value in ratio.items())
    lines.append(
        "Where sites do not differ at all, one curve for all of them is better: the squared error "
        f"is {times} times that of the pooled fit. Standard deviations between sites are never "
        "taken for zero, and small sites say little about them."
    )
    apart = errors[errors.index.get_level_values("spread") > 0]
    for kind in ("unpooled", "pooled"):
        worse = apart[apart["hierarchical"] > apart[kind]]
        if worse.empty:
            continue
        named = "; ".join(
            f"{cell_name(index)}: {row['hierarchical']:.2f} and {row[kind]:.2f}"
            for index, row in worse.iterrows()
        )
        lines.append(f"Where sites differ, the squared error is above the {kind} one in {named}.")
    lines += [
        sentence
        for who in ("average", "new")
        for title in RIVALS.values()
        if (sentence := lost_to(scores, who, title))
    ]
    return ["\n".join(f"* {line}" for line in lines)]


def lost_to(scores: pd.DataFrame, who: str, title: str) -> str:
    """In which cells a rival's interval score is better."""
    mine = scores[scores["who"] == who].set_index(CELL)
    worse = mine[mine["hierarchical"] > mine[title]]
    if worse.empty:
        return ""
    named = "; ".join(
        f"{cell_name(index)} ({row['hierarchical']:.3f} and {row[title]:.3f})"
        for index, row in worse.iterrows()
    )
    return (
        f"Interval score of the curve of {WHO[who]}: {title} is better in {len(worse)} of "
        f"{len(mine)} cells (ours and theirs): {named}."
    )


def cell_name(index: tuple) -> str:
    """A cell in words."""
    truth, sites, spread = index
    return f"{truth}, {sites} sites, sd {spread:g}"


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """Cells as columns that are read, the standard deviation as it was written."""
    flat = table.reset_index().rename(columns={"truth": "population", "spread": "sd"})
    flat["sd"] = flat["sd"].map("{:g}".format)
    return flat.set_index("population")


def draw(covered: pd.DataFrame, path: Path) -> None:
    """Coverage by number of sites, a panel for each number."""
    figure, axes = plt.subplots(
        1, len(NUMBERS), figsize=(10, 3.6), sharey=True, layout="constrained"
    )
    sizes = sorted(covered["sites"].unique())
    for ax, (number, title) in zip(axes, NUMBERS.items(), strict=True):
        ax.axhspan(AIM, 1.0, color="#0072B2", alpha=0.08, lw=0)
        ax.axhline(0.95, color="#666666", lw=0.8, ls="--")
        mine = covered[(covered["number"] == number) & (covered["truth"] == "miscalibrated")]
        series = mine.groupby(["who", "spread"], sort=False)
        for step, ((who, spread), rows) in enumerate(series):
            at = [sizes.index(k) + (step - (len(series) - 1) / 2) * 0.08 for k in rows["sites"]]
            ax.errorbar(
                at, rows["coverage"], 2 * rows["error"], fmt=MARKERS[who], color=COLOURS[spread],
                ms=5, lw=1, label=f"{WHO[who]}, sd {spread:g}",
            )  # fmt: skip
        ax.set_xticks(range(len(sizes)), [f"{k} sites" for k in sizes])
        ax.set_title(title, fontsize="medium")
        ax.set_ylim(top=1.01)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("share of 95 % intervals\nthat contain the truth")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    figure.savefig(path, dpi=110)
    plt.close(figure)
