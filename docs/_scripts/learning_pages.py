"""The page on curves of many classes, from the stored results."""

from __future__ import annotations

import pandas as pd

from benchmark_pages import markdown, stored

JUDGED = {
    "log_loss": "Log loss",
    "brier": "Brier score of all classes",
    "counts": "Squared error of observed / expected, mean over classes",
}


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
