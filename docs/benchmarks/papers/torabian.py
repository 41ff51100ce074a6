"""Tables, figures and examples of Torabian & Urner, computed again.

    python docs/benchmarks/papers/torabian.py

or with the names of some parts, to do these again: `theory`, `table_1_on_data`, `table_3`,
`appendix_c`, `appendix_d`.

"Calibration through the Lens of Interpretability" (2024) has 36 data sets of the UCI repository;
here are the four classification sets that come with scikit-learn, and eight generated ones. See
`torabian_theory` (Table 1, appendices A and B), `torabian_methods` (Table 3), `torabian_bias`
(appendix C) and `torabian_trees` (appendix D).
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from torabian_bias import appendix_c
from torabian_methods import NAMES, table_3
from torabian_theory import theory
from torabian_trees import appendix_d, table_1_on_data

from bayescal._base.versions import library_versions

RESULTS = Path(__file__).resolve().parents[1] / "results" / "papers" / "torabian.json"

PRINTED: dict[str, dict[str, int | None]] = {
    "RMSE": {"PS": 21, "IR": 25, "PCT": 31, "DT": 24},
    "0/1 loss": {"PS": 22, "IR": 24, "PCT": 31, "DT": 24},
    "AUC": {"PS": 27, "IR": 28, "PCT": 32, "DT": 19},
    "ECE": {"PS": 7, "IR": 14, "PCT": 26, "DT": 21},
    "PDE": {"PS": None, "IR": None, "PCT": 19, "DT": 36},
    "AUC_V": {"PS": 5, "IR": 9, "PCT": 15, "DT": 7},
}
"""Table 3 of the paper: on how many of 36 data sets a method is the best, or one of the best."""
N_SETS = 36
RULE = "two decimals"
"""The rule of ties that the page's differences are for; the paper has none."""


def verdict(printed: int, ours: int, n_sets: int) -> str:
    """Whether two shares differ by more than two standard errors, of data sets taken at random."""
    pooled = (printed + ours) / (N_SETS + n_sets)
    error = (pooled * (1 - pooled) * (1 / N_SETS + 1 / n_sets)) ** 0.5
    away = printed / N_SETS - ours / n_sets
    if abs(away) <= 2 * error + 1e-12:
        return "no clear difference"
    return "the paper's is higher" if away > 0 else "the paper's is lower"


def timed(call: Any, *arguments: Any) -> dict[str, Any]:
    """Its result, and the seconds of a processor that it took."""
    start = time.process_time()
    result = call(*arguments)
    return result | {"seconds": round(time.process_time() - start, 1)}


def main() -> None:
    result: dict[str, Any] = json.loads(RESULTS.read_text("utf-8")) if sys.argv[1:] else {}
    result["versions"] = library_versions("bayescal", "scikit-learn", "numpy")
    jobs = {
        "theory": (theory, 2000),
        "table_1_on_data": (table_1_on_data, NAMES, 50),
        "table_3": (table_3, NAMES, 10),
        "appendix_c": (appendix_c,),
        "appendix_d": (appendix_d, NAMES, 5),
    }
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or jobs:
        call, *arguments = jobs[name]
        result[name] = timed(call, *arguments)
        print(f"{name}: {result[name]['seconds']} s of a processor", flush=True)
        RESULTS.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
