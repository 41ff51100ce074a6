"""Draw the figure of the README: `python docs/make_figures.py`."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import bayescal as bc

HERE = Path(__file__).parent
COLUMNS = ["mean texture", "mean smoothness", "mean symmetry", "texture error", "worst smoothness"]


def main() -> None:
    features, benign = load_breast_cancer(return_X_y=True, as_frame=True)
    train_x, test_x, train_y, test_y = train_test_split(
        features[COLUMNS], 1 - benign, train_size=400, random_state=4, stratify=benign
    )
    scores = GaussianNB().fit(train_x, train_y).predict_proba(test_x)[:, 1]
    ax = bc.fit(test_y, scores, random_state=1).plot()
    (HERE / "_static").mkdir(exist_ok=True)
    ax.figure.savefig(HERE / "_static" / "reliability.png", dpi=110, bbox_inches="tight")


if __name__ == "__main__":
    main()
