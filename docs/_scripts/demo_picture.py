"""Draw the first screen of the demo's report, for the README and the first page; needs Chromium.

The build does it, so that picture and package agree.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from bayescal import cli

PICTURE = Path(__file__).parents[1] / "_static" / "report-demo.png"
SIZE = "1100,710"  # ends with a row of the table


def headless(address: str, *options: str) -> str | None:
    """What Chromium prints of a page that it shows without a window; None where it is missing."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if browser is None:
        return None
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", *options, address]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def draw() -> None:
    """The first screen of the report that `bayescal demo` writes."""
    quiet = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        with contextlib.suppress(SystemExit), quiet[0], quiet[1]:
            cli.main(["demo", "--html", str(report)])
        shown = ("--hide-scrollbars", f"--window-size={SIZE}", f"--screenshot={PICTURE}")
        headless(report.as_uri(), *shown)


if __name__ == "__main__":
    draw()
