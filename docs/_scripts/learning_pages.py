"""The pages on selective prediction and on curves of many classes, from the stored results."""

from __future__ import annotations

import pandas as pd

from benchmark_pages import markdown, stored

JUDGED = {
    "log_loss": "Log loss",
    "brier": "Brier score of all classes",
    "counts": "Squared error of observed / expected, mean over classes",
}


def selective_page() -> str:
    """How often promises of selective prediction are kept."""
    known = stored("selective")
    if not known:
        return ""
    rows = {}
    for cell in known["cells"]:
        name = f"{cell['truth']}, n = {cell['n']}"
        rows[name] = {
            "data sets": cell["sets"],
            "a promise was made": cell["promised"],
            "it was kept": cell["kept"],
            "broken, of all sets": cell["promised"] * (1 - cell["kept"]),
            "lowest true accuracy": cell["worst"],
            "coverage": cell["coverage"],
            "possible coverage": cell["possible"],
            "raw threshold, kept": cell["raw_kept"],
            "AURC covered": cell["aurc"],
            "accuracy covered": cell["accuracy"],
        }
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("truth")
    lines = [
        "# Selective prediction",
        "Answers are simulated with a known accuracy at every score. Of each data set, "
        f"`post.selective().threshold({known['asked']:g})` names the lowest threshold above which "
        f"the accuracy is at least {known['asked']:g} with probability 0.95, or none. *It was "
        "kept*: the share of these promises for which the true accuracy of 200 000 new answers "
        "above the threshold is at least that. *Coverage* is the mean share of cases answered by a "
        "promise, *possible coverage* that of the best threshold if the truth were known. *Raw "
        "threshold*: the lowest score above which the accuracy in the data is high enough. "
        f"*Covered*: the share of 95 % intervals of AURC, and of the accuracy at coverage "
        f"{known['at']:g}, that contain the true value. Made by `docs/benchmarks/selective.py`.",
        markdown(table, 2),
        "The probability is of the posterior, that is on average over curves drawn from the "
        "prior. Of a single truth in which few cases can be answered, promises are made in part of "
        "the data sets, those that look best, and fewer than 95 % of them are kept. The accuracy "
        "is then lower than promised by a few points at most. Check a threshold on new answers.",
    ]
    return "\n\n".join(lines) + "\n"


def class_joint_page() -> str:
    """A curve for each class, and one joint map of all classes."""
    known = stored("class_joint")
    if not known:
        return ""
    lines = [
        "# A curve for each class, or one map of all",
        "ResNet110 on CIFAR-10: maps are fitted to some cases of one half of the test cases, and "
        'judged by the other half. *class-wise* is `bc.fit(labels, matrix, mode="class-wise")` '
        "with rows scaled to a sum of 1; *joint* is the map of Dirichlet calibration (Kull et al., "
        "2019), whose prior is centred on the identity and has the scale of most evidence. Both "
        "are also fitted after temperature scaling. Lower is better. Made by "
        "`docs/benchmarks/class_joint.py`.",
    ]
    for key, title in JUDGED.items():
        rows = {
            f"{n} cases, {cell['splits']} splits": {
                name: told[key] for name, told in cell["maps"].items()
            }
            for n, cell in known["sizes"].items()
        }
        table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("fitted to")
        lines += [f"## {title}", markdown(table, 4 if key != "counts" else 6)]
    won = [
        f"{100 * cell['better'][after]:.0f} % of the splits with {n} cases{after}"
        for after in ("", " after temperature")
        for n, cell in known["sizes"].items()
    ]
    took = known["time"]
    lines += [
        "## What follows",
        f"By the log loss the joint map beat class-wise curves in {', '.join(won)}.",
        "After temperature scaling neither is clearly better, with 5000 cases also before it, and "
        "most of the gain is that of the temperature. In O/E both are worse than no "
        "map at every size. Splits share cases, so that no error by chance is "
        "given. bayescal therefore has curves for "
        "each class, and no joint map.",
        f"A class-wise fit of {took['classes']} classes and {took['n']:,} cases took "
        f"{took['processor']:.1f} seconds of one processor, with {took['draws']} draws.",
    ]
    return "\n\n".join(lines) + "\n"
