"""Simulation-based calibration: under its own prior, a fit ranks truths uniformly.

Truths are drawn from the prior and outcomes from each truth; the rank of a truth among the draws
of the fit is then uniform (Talts et al. 2018, arXiv:1804.06788), whatever the prior is. Of the
average, prior and draws are both those given that calibration is not exact.
"""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import kstest

import bayescal as bc

DRAWS = 500
LEAST_PVALUE = 1e-3
"""Of six quantities and four fits, uniform ranks look less likely than that once in forty seeds."""


def quantities(curve, s):
    """What is ranked: curves of shape (draws, scores), in increasing order of the scores."""
    return {
        "observed_expected": curve.mean(axis=1) / s.mean(),
        "tce": np.abs(curve - s).mean(axis=1),
        "spread": curve @ (s - s.mean()),
        **{f"curve at {s[at]:.2f}": curve[:, at] for at in (15, 75, 135)},
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("curve", "truths"), [("logistic", 300), ("beta", 300), ("spline", 300), (None, 200)]
)
def test_ranks_of_truths_are_uniform(curve, truths):
    rng = np.random.default_rng(58)
    s = np.sort(expit(rng.normal(-1, 1.2, 150)))
    kind = {"curve": curve, "random_state": 58}
    prior = bc.fit(np.arange(s.size) % 2, s, draws=truths, **kind)._prior[0].curve(s)
    ranks = {}
    for number, true in enumerate(prior):
        y = (rng.random(s.size) < true).astype(int)
        post = bc.fit(y, s, curve=curve, draws=DRAWS, random_state=number)
        drawn = post.curve(s).to_numpy().reshape(-1, s.size)
        for name, values in quantities(np.vstack([true, drawn]), s).items():
            below = np.sum(values[1:] < values[0]) + rng.random() * np.mean(values[1:] == values[0])
            ranks.setdefault(name, []).append(below / DRAWS)
    pvalues = {name: float(kstest(each, "uniform").pvalue) for name, each in ranks.items()}
    assert min(pvalues.values()) > LEAST_PVALUE, pvalues
