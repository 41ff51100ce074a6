"""Draw what the pages show: `python make_figures.py`; the report's pictures need Chromium."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import bayescal as bc
from examples import run
from report_screens import DARK, SCREENS, chromium, picture

DOCS = Path(__file__).parents[1]
STATIC = DOCS / "_static"
COLUMNS = ["mean texture", "mean smoothness", "mean symmetry", "texture error", "worst smoothness"]


def readme_figure() -> None:
    """The reliability diagram of the README, of the tutorial's patients."""
    features, benign = load_breast_cancer(return_X_y=True, as_frame=True)
    train_x, test_x, train_y, test_y = train_test_split(
        features[COLUMNS], 1 - benign, train_size=400, random_state=4, stratify=1 - benign
    )
    scores = GaussianNB().fit(train_x, train_y).predict_proba(test_x)[:, 1].round(4)
    ax = bc.plots.reliability(bc.compare(test_y, scores, random_state=1).posterior)
    ax.figure.savefig(STATIC / "reliability.png", dpi=110, bbox_inches="tight")


def publication_figure() -> None:
    """The first figure that the page on figures makes."""
    page = DOCS / "how-to" / "figures.md"
    for _ in run(page.read_text("utf-8"), str(page)):
        plt.gcf().savefig(STATIC / "figure-1.png", dpi=130)
        break


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
    publication_figure()
    report_screens()


if __name__ == "__main__":
    main()
