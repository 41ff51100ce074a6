"""The figure of the paper: `python docs/paper/figure.py`. 169 patients, of data in scikit-learn."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import bayescal as bc

COLUMNS = ["mean texture", "mean smoothness", "mean symmetry", "texture error", "worst smoothness"]


def main() -> None:
    """Fit the posterior and draw the curve beside the calibration error."""
    features, benign = load_breast_cancer(return_X_y=True, as_frame=True)
    train_x, test_x, train_y, test_y = train_test_split(
        features[COLUMNS], 1 - benign, train_size=400, random_state=4, stratify=1 - benign
    )
    scores = GaussianNB().fit(train_x, train_y).predict_proba(test_x)[:, 1].round(4)
    post = bc.fit(test_y, scores, random_state=1)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    bc.plots.reliability(post, ax=left)
    bc.plots.functional(post, ax=right)
    left.set_title("A. The calibration curve", loc="left")
    right.set_title("B. The true calibration error", loc="left")
    figure.savefig(Path(__file__).with_name("figure.png"), dpi=150)


if __name__ == "__main__":
    main()
