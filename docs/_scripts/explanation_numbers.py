"""The numbers that the explanation pages quote: `python explanation_numbers.py`, a minute."""

from __future__ import annotations

import numpy as np

import bayescal as bc
from bayescal import estimators
from explanation_figures import alerts

POPULATIONS = ("sample", "bootstrap", "beta")
TESTS = (
    estimators.cox_test,
    estimators.spiegelhalter_test,
    estimators.hosmer_lemeshow_test,
    estimators.giviti_test,
    estimators.cumulative_difference_test,
)


def width(values: object) -> float:
    lower, upper = np.quantile(np.asarray(values), [0.025, 0.975])
    return float(upper - lower)


def population_widths(name: str, runs: int = 20) -> None:
    """Widths of intervals as multiples of that for the observed scores."""
    result = {kind: np.empty((runs, 4)) for kind in POPULATIONS}
    for run in range(runs):
        y_true, y_prob = bc.simulate.sample(name, 200, random_state=run)
        post = bc.fit(y_true, y_prob, curve="beta", random_state=run, draws=2000)
        threshold = min(float(np.quantile(y_prob, 0.8)), 0.9)
        for kind, rows in result.items():
            rows[run, :3] = [
                width(post.functional(f, population=kind))
                for f in ("tce", "e90", "observed_expected")
            ]
            rows[run, 3] = width(post.net_benefit([threshold], population=kind)["model"])
    for kind in POPULATIONS[1:]:
        ratio = result[kind].mean(axis=0) / result["sample"].mean(axis=0)
        print(
            name,
            kind,
            dict(zip(("tce", "e90", "observed_expected", "nb"), ratio.round(2), strict=True)),
        )


def population_coverage(runs: int = 300) -> None:
    """How often each interval holds the true error where scores have two clusters."""
    truth = 0.05 * 0.5 * 14 / 20
    result: dict[str, list[tuple[bool, float]]] = {kind: [] for kind in POPULATIONS}
    for run in range(runs):
        post = bc.fit(*alerts(200, 1000 + run), curve="beta", random_state=run, draws=2000)
        for kind, rows in result.items():
            lower, upper = np.quantile(post.tce(population=kind), [0.025, 0.975])
            rows.append((bool(lower <= truth <= upper), upper - lower))
    for kind, rows in result.items():
        print("two clusters", kind, "coverage, width", np.mean(rows, axis=0).round(3))


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
    for shape in ("middle-overconfident", "low-overconfident", "middle-asymmetric"):
        population_widths(f"clinical-{shape}")
    population_widths("D1")
    population_coverage()
    own_mean()
    for shape in ("calibrated", "overconfident", "shifted", "asymmetric"):
        rejections(f"clinical-middle-{shape}")


if __name__ == "__main__":
    main()
