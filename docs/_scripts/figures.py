"""Pictures of the page on figures: its own code is run, and what it saves is kept."""

from __future__ import annotations

import shutil
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from examples import run

DOCS = Path(__file__).parents[1]
PAGE = DOCS / "figures.md"
PICTURES = DOCS / "results" / "figures"


def draw() -> None:
    """Run the page, unless its pictures are newer than it."""
    drawn = sorted(PICTURES.glob("*.png"))
    if drawn and drawn[0].stat().st_mtime > PAGE.stat().st_mtime:
        return
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir(parents=True)
    for _ in run(PAGE.read_text("utf-8"), str(PAGE)):
        for picture in Path().glob("*.png"):
            shutil.move(picture, PICTURES / picture.name)
        plt.close("all")


if __name__ == "__main__":
    draw()
