"""What is said of several curves, and of cases that are not independent or not fully seen."""

from functools import cache

import numpy as np

import bayescal as bc
from golden.shared import DRAWS, assessed_rows, clinical

ROWS = ("tce", "observed_expected", "calibration_slope")


@cache
def fitted(role, parts):
    """A fit of the 200 patients in so many equal parts, which are of that role."""
    labels = np.arange(200) * parts // 200
    return bc.fit(*clinical(), **{role: labels}, draws=DRAWS, random_state=71)


def estimates(post):
    """Estimate and upper end of a few rows, over the scores as they are."""
    table = post.summary(names=ROWS, population="sample")
    return {name: table.loc[name, ["estimate", "upper"]].to_numpy() for name in ROWS}


def sites():
    post = fitted("site", 5)
    views = {"first": post.at(site="0"), "average": post.average(), "next": post.new()}
    return {name: estimates(view) for name, view in views.items()}


def periods():
    post = fitted("period", 5)
    return {"now": estimates(post.now()), "explanations": post.explanations.to_dict()}


def imputed():
    y_true, y_prob = clinical()
    scores = np.array([y_prob, y_prob**1.1, y_prob**0.9])
    return bc.fit(y_true, imputation=scores, curve="beta", draws=DRAWS, random_state=72)


def followed():
    rng, (_, y_prob) = np.random.default_rng(73), clinical()
    event = rng.exponential(size=200) / -np.log1p(-y_prob)
    left = rng.uniform(0, 3, 200)
    times = bc.Survival(np.minimum(event, left), event <= left)
    return bc.fit(times, y_prob, horizon=1, curve="beta", draws=DRAWS, random_state=74)


NUMBERS = {
    "assessment/groups": lambda: assessed_rows(
        "groups", "tce_estimate", "observed_expected_estimate", "prob_calibrated"
    ),
    "sites": sites,
    "periods": periods,
    "clusters": lambda: estimates(fitted("cluster", 50)),
    "imputations": lambda: estimates(imputed()),
    "times": lambda: estimates(followed()),
}
