"""Draw the first screen of the demo's report, for the README and the first page; needs Chromium.

The build does it, so that picture and package agree.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from bayescal import cli
from report_screens import chromium, picture

PICTURE = Path(__file__).parents[1] / "_static" / "report-demo.png"


def draw() -> None:
    """The first screen of the report that `bayescal demo` writes, where there is Chromium."""
    if chromium() is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
            cli.main(["demo", "--html", str(report)])
        picture(report, PICTURE, (1100, 700))


if __name__ == "__main__":
    draw()
