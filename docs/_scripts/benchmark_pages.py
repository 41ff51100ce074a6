"""The index of benchmark pages, written whenever the documentation is built."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

PAGES = Path(__file__).resolve().parents[1] / "results"


def markdown(table: pd.DataFrame, digits: int = 3) -> str:
    """A table in Markdown, its index as the first columns."""
    flat = table.reset_index()
    shown = flat.map(lambda x: f"{x:.{digits}f}" if isinstance(x, float) else str(x))
    lines = [list(map(str, flat.columns)), ["---"] * flat.shape[1], *shown.to_numpy().tolist()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write_pages() -> None:
    """Write the index."""
    PAGES.mkdir(exist_ok=True)
    listed = "\n".join(["```{toctree}", ":maxdepth: 1", "", "/studies", "```"])
    (PAGES / "index.md").write_text(f"# Benchmarks\n\n{listed}\n", "utf-8")
