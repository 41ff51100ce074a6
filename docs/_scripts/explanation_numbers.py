"""The numbers that the explanation pages quote: `python explanation_numbers.py`, a minute."""

from __future__ import annotations

import numpy as np

import bayescal as bc
from bayescal import estimators

TESTS = (
    estimators.cox_test,
    estimators.spiegelhalter_test,
    estimators.hosmer_lemeshow_test,
    estimators.giviti_test,
    estimators.cumulative_difference_test,
)


def own_mean(runs: int = 60) -> None:
    """The gain of one's own posterior mean, in the posterior and in truth."""
    truth = bc.simulate.truth("clinical-middle-calibrated")
    result = []
    for run in range(runs):
        y_true, y_prob = truth.sample(200, random_state=run)
        post = bc.fit(y_true, y_prob, curve="beta", random_state=run, draws=1000)
        eta = post.curve(y_prob).to_numpy().reshape(-1, 200)
        gain = np.mean((eta - y_prob) ** 2 - (eta - eta.mean(axis=0)) ** 2, axis=1)
        _, others = truth.sample(20_000, random_state=10_000 + run)
        plugged = post.predict(others).mean(("chain", "draw")).to_numpy()
        result.append((gain.mean(), np.mean(gain > 0), -np.mean((others - plugged) ** 2)))
    print("own mean: least", np.min(result, axis=0)[0], "means", np.mean(result, axis=0).round(4))


def rejections(name: str, runs: int = 200) -> None:
    """Share of data sets in which each test rejects at 5 %."""
    truth = bc.simulate.truth(name)
    data = [truth.sample(200, random_state=run) for run in range(runs)]
    shares = {t.__name__: np.mean([t(*pair).pvalue < 0.05 for pair in data]) for t in TESTS}
    print(name, round(truth.tce(), 3), {k: round(float(v), 3) for k, v in shares.items()})


def main() -> None:
    own_mean()
    for shape in ("calibrated", "overconfident", "shifted", "asymmetric"):
        rejections(f"clinical-middle-{shape}")


if __name__ == "__main__":
    main()
