"""Pictures of the report on many data, to look at: `python report_screens.py FOLDER [NAME ...]`.

For each data set the page, and pictures of it on a desktop, on a phone, in the dark, in full and
printed. They need Chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import bayescal as bc

SCREENS = {"desktop": (1400, 900), "phone": (390, 844), "dark": (1400, 900), "full": (1400, 5200)}
SOURCE = {"File": "predictions.csv", "Outcome": "died", "Score": "risk"}
HOSTILE = ["<script>alert(1)</script>", "$\\frac{", "x" * 300, "Zürich & Söhne"]
DARK = "--blink-settings=preferredColorScheme=0"


def chromium() -> str | None:
    """The browser's command, if there is one."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


def picture(page: Path, target: Path, size: tuple[int, int], *options: str) -> None:
    """Draw a page as a screen of this size shows it; a target that ends in .pdf is printed."""
    browser = chromium()
    if browser is None:
        raise SystemExit("There is no chromium, which draws the pictures.")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    if target.suffix == ".pdf":
        command += ["--no-pdf-header-footer", f"--print-to-pdf={target}"]
    else:
        command += [f"--window-size={size[0]},{size[1]}", f"--screenshot={target}"]
    subprocess.run([*command, *options, page.as_uri()], check=True, capture_output=True)


def cases() -> Iterator[tuple[str, tuple[Any, Any], dict[str, Any]]]:
    """Names, outcomes and scores, and further options of `bayescal.assess`."""
    sample = bc.simulate.sample
    over = sample("clinical-middle-overconfident", 3000, random_state=5)
    few, some = (tuple(part[:n] for part in over) for n in (600, 900))
    yield "clinical", sample("clinical-middle-overconfident", 894, random_state=3), {}
    yield "thresholds", few, {"thresholds": (0.2, 0.4)}
    yield "tiny", sample("clinical-middle-calibrated", 20, random_state=1), {}
    yield "calibrated", sample("clinical-middle-calibrated", 4000, random_state=1), {}
    yield "rare", sample("clinical-low-shifted", 3000, random_state=1), {}
    thirty = [f"Hospital {1 + i % 30}" for i in range(3000)]
    yield "site", over, {"site": thirty}
    yield "hostile", some, {"site": [HOSTILE[i % 4] for i in range(900)]}
    yield "reversed", (few[0], 1 - few[1]), {}
    yield "labels", (few[0], np.round(few[1])), {}
    yield "many", sample("clinical-middle-calibrated", 50_000, random_state=1), {}


def main(folder: str, *names: str) -> None:
    target = Path(folder).resolve()
    target.mkdir(parents=True, exist_ok=True)
    for name, (y_true, y_prob), options in cases():
        if names and name not in names:
            continue
        page = target / f"{name}.html"
        bc.assess(y_true, y_prob, random_state=1, **options).to_html(page, source=SOURCE)
        for screen, size in SCREENS.items():
            dark = (DARK,) if screen == "dark" else ()
            picture(page, target / f"{name}-{screen}.png", size, *dark)
        picture(page, target / f"{name}.pdf", (1400, 900))
        print(name, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
