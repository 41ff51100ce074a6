"""The page on models judged by their development data, from the stored results."""

from __future__ import annotations

import pandas as pd

from benchmark_pages import markdown, stored

TITLES = {
    "tce": "True calibration error",
    "observed_expected": "O/E",
    "calibration_slope": "Calibration slope",
}


def optimism_page() -> str:
    """Coverage of what new patients meet, for each kind of model."""
    cells = stored("optimism").get("cells", {})
    if not cells:
        return ""
    lines = [
        "# Models judged by their development data",
        "Models are developed on simulated patients with known probabilities, and meet 100 000 "
        "new patients. *Coverage* is the share of 95 % intervals that contain the value in the new "
        "patients for the model that was fitted to all cases: of the posterior of "
        "`bayescal.optimism`, of the range of its bootstrap (100 resamples), and of the posterior "
        "of the development data themselves (apparent). With 100 data sets two standard errors of "
        "a coverage of .95 are .04. The slope of some forests is undefined in their development "
        "data; such an interval counts as a miss, and such a mean is left out. Made by "
        "`docs/benchmarks/optimism.py`.",
    ]
    for name, title in TITLES.items():
        rows = {}
        for kind, cell in cells.items():
            own = cell[name]
            means = own["estimates"]
            rows[kind] = {
                "data sets": cell["runs"],
                "new patients": own["true"],
                "estimate": means["new"],
                "bootstrap": means["bootstrap"],
                "apparent": means["apparent"],
                "coverage": own["posterior"],
                "coverage, bootstrap": own["bootstrap"],
                "coverage, apparent": own["apparent"],
            }
        table = pd.DataFrame.from_dict(rows, orient="index")
        table["data sets"] = table["data sets"].astype(int)
        lines += [f"## {title}", markdown(table.rename_axis("model"))]
    return "\n\n".join(lines) + "\n"
