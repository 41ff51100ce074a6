"""The picture of the page of `bayescal app`: `python app_screen.py`. It needs Chromium."""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path

import pandas as pd

import bayescal as bc
from bayescal.cli.page.server import Server

DOCS = Path(__file__).parents[1]
DONE = (
    "document.getElementById('python').value.includes('predictions.csv')"
    " && document.getElementById('stop').hidden && !document.querySelector('#result.old')"
)


def main() -> None:
    sys.path.append(str(DOCS.parent / "tests"))
    from browser import Browser

    server = Server()
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    died, risk = bc.simulate.sample("clinical-middle-overconfident", 894, random_state=3)
    table = pd.DataFrame({"died": died.astype(int), "risk": risk.round(4)})
    table["hospital"] = [("North", "South", "West")[row % 3] for row in range(len(table))]
    with tempfile.TemporaryDirectory() as folder:
        table.to_csv(Path(folder) / "predictions.csv", index=False)
        browser = Browser(Path(folder) / "profile")
        tab = browser.tab(server.address)
        browser.size(tab, 1200, 1500)
        limit = "const limit = document.getElementById('limit'); limit.value = 8;"
        browser.value(tab, f"{limit} limit.dispatchEvent(new Event('input', {{bubbles: true}}))")
        browser.choose_file(tab, Path(folder) / "predictions.csv")
        browser.wait(tab, DONE)
        time.sleep(2)  # until the report is drawn
        browser.picture(tab, DOCS / "_static" / "app.png")
        browser.end()
    server.shutdown()
    thread.join(10)


if __name__ == "__main__":
    main()
