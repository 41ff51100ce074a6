"""Draw what the pages show: `python make_figures.py`; the report's pictures need Chromium."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from bayescal import cli
from examples import run
from report_screens import DARK, SCREENS, chromium, picture

DOCS = Path(__file__).parents[1]
STATIC = DOCS / "_static"


def readme_figure() -> None:
    """The first screen of the report that `bayescal demo` writes."""
    if chromium() is None:
        print("The picture of the demo's report is left as it is: there is no chromium.")
        return
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        with contextlib.suppress(SystemExit):
            cli.main(["demo", "--html", str(report)])
        picture(report, STATIC / "report-demo.png", (1100, 700))


def report_screens() -> None:
    """The first screen of the report that the tutorial makes: desktop, phone, and in the dark."""
    if chromium() is None:
        print("The pictures of the report are left as they are: there is no chromium.")
        return
    page = DOCS / "tutorial.md"
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        for _ in run(page.read_text("utf-8"), str(page)):
            if Path("report.html").is_file():
                shutil.copy("report.html", report)
                break
        for name in ("desktop", "phone", "dark"):
            dark = (DARK,) if name == "dark" else ()
            picture(report, STATIC / f"report-{name}.png", SCREENS[name], *dark)


def main() -> None:
    STATIC.mkdir(exist_ok=True)
    readme_figure()
    report_screens()


if __name__ == "__main__":
    main()
