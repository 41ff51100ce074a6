"""Is what a recalibration is said to gain true, and is the recommended update a good one?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import t as student

import bayescal as bc
from populations import KINDS, drawn
from record import Row, judged, means, run, stated

ASKED = (
    "Do intervals of what a map gained hold the true gain, and what does the recommended update "
    "truly gain on new patients?"
)
SIZES = (100, 300, 1000)
THRESHOLDS = (0.2, 0.4)
RESAMPLES = 500
RISKS = bc.simulate.LogitNormalScores(-1.1, 1.2)
MEASURES = ("brier", "log_score", "tce", "net_benefit@0.2", "net_benefit@0.4")
NODES = 4000


class Scenario(NamedTuple):
    """A law of scores, the true curve, and the map that is judged."""

    law: Any
    curve: Callable[[Any], Any]
    map: Callable[[Any], Any]


def line(slope: float, shift: float = 0.0) -> Callable[[Any], Any]:
    return lambda s: expit(-1.1 + shift + slope * (logit(s) + 1.1))


def at_nodes(law: Any) -> np.ndarray:
    """Scores that each stand for as many patients."""
    level = (np.arange(NODES) + 0.5) / NODES
    return np.clip(law.quantiles(level, 1 - level)[0], 1e-9, 1 - 1e-9)


def benefit(events: Any, before: Any, after: Any, threshold: float) -> Any:
    """Net benefit of treating by `after` rather than by `before`, case by case."""
    worth = events - (1 - events) * threshold / (1 - threshold)
    return worth * ((after >= threshold).astype(float) - (before >= threshold))


def each_gain(y: Any, s: Any, after: Any) -> dict[str, Any]:
    """Gains case by case; of risks instead of outcomes they are the expected ones."""
    brier = y * ((1 - s) ** 2 - (1 - after) ** 2) + (1 - y) * (s**2 - after**2)
    log = y * np.log(after / s) + (1 - y) * np.log((1 - after) / (1 - s))
    return {"brier": brier, "log_score": log} | {
        f"net_benefit@{t:g}": benefit(y, s, after, t) for t in THRESHOLDS
    }


def true_gains(it: Scenario) -> dict[str, float]:
    s = at_nodes(it.law)
    risk, after = it.curve(s), it.map(s)
    gains = {name: float(np.mean(each)) for name, each in each_gain(risk, s, after).items()}
    return gains | {"tce": float(np.mean(abs(risk - s)) - np.mean(abs(risk - after)))}


def overshot() -> Callable[[Any], Any]:
    """A shift so far past the truth that the Brier score is where it was."""

    def left(shift: float) -> float:
        return true_gains(Scenario(RISKS, line(1, 0.35), line(1, shift)))["brier"]

    return line(1, brentq(left, 0.4, 1.5))


SCENARIOS = {
    "over-confident, mended": Scenario(RISKS, line(0.6), line(0.6)),
    "shifted, half mended": Scenario(RISKS, line(1, 0.6), line(1, 0.4)),
    "calibrated, spoilt": Scenario(RISKS, line(1), line(0.75, 0.15)),
    "calibrated, hardly changed": Scenario(RISKS, line(1), line(1, 0.05)),
    "shifted, overshot: no gain": Scenario(RISKS, line(1, 0.35), overshot()),
    "sine, line fitted": Scenario(
        bc.simulate.BetaScores(1.5, 1.5),
        lambda s: s + 0.1 * np.sin(4 * np.pi * s),
        lambda s: expit(0.85 * logit(s)),
    ),
}


def given_maps(seed: int, repeats: int) -> list[Row]:
    """Gains of a given map

    Of maps that were not fitted to these patients. Beside the two routes of `recalibration_gain`
    stand the paired t interval and a bootstrap of the pairs, which know no gain in TCE.
    """
    rows: list[Row] = []
    for number, it in enumerate(SCENARIOS.values()):
        true = true_gains(it)
        for n in SIZES:
            for index in range(repeats):
                rng = np.random.default_rng([seed, number, n, index])
                s = np.clip(it.law.draw(n, rng), 1e-9, 1 - 1e-9)
                y, after = (rng.random(n) < it.curve(s)).astype(int), it.map(s)
                for (method, name), ends in intervals(y, s, after, index).items():
                    rows.append(judged(ends, true[name], measure=name, n=n, method=method))
    return means(rows, "measure", "n", "method")


def intervals(y: Any, s: Any, after: Any, seed: int) -> dict[tuple[str, str], Any]:
    """Each method's interval of each measure."""
    made: dict[tuple[str, str], Any] = {}
    for route in ("curve", "paired"):
        gain = bc.recalibration_gain(
            y, s, after, thresholds=THRESHOLDS, route=route, draws=1000, random_state=seed
        )
        made |= {(f"bayescal, {route}", name): gain.interval(name) for name in MEASURES}
    weight = np.random.default_rng(seed).multinomial(y.size, np.full(y.size, 1 / y.size), RESAMPLES)
    for name, each in each_gain(y, s, after).items():
        half = student.ppf(0.975, y.size - 1) * each.std(ddof=1) / np.sqrt(y.size)
        made["paired t", name] = (each.mean() - half, each.mean() + half)
        made["paired bootstrap", name] = np.quantile(weight @ each / y.size, [0.025, 0.975])
    return made


class Advice(NamedTuple):
    """A recommendation, and the true gain of every update fitted to the same patients."""

    kind: str
    n: int
    table: Any
    choice: str
    true: dict[str, float]


@cache
def advised(seed: int, repeats: int) -> tuple[Advice, ...]:
    """Updates are fitted to the patients of a study and judged by the whole population."""
    made = []
    for n in SIZES:
        for kind in KINDS:
            for index in range(repeats):
                truth, rng = drawn(kind, n, index, seed)
                y, s = truth.sample(n, rng)
                if not 5 <= y.sum() <= n - 5:
                    continue
                advice = bc.recommend(y, s, draws=1000, random_state=index)
                score = at_nodes(truth.scores)
                risk, true = truth.curve(score), {}
                for name in advice.table.index:
                    after = score
                    if name != "identity":
                        post = bc.fit(y, s, curve=name, draws=1000, random_state=index)
                        after = post.curve(score).to_numpy().reshape(-1, NODES).mean(axis=0)
                    true[name] = float(np.mean((risk - score) ** 2 - (risk - after) ** 2))
                choice = advice.choice or "identity"
                made.append(Advice(truth.name, n, advice.table, choice, true))
        print(f"  {n} cases: {len(made)} recommendations so far", flush=True)
    return tuple(made)


def updates(seed: int, repeats: int) -> list[Row]:
    """Gains of updates that are fitted to the same patients

    The fall of the Brier score on new patients, with its 95 % interval, over all kinds of
    populations.
    """
    rows = [
        judged(it.table.loc[name, ["brier_lower", "brier_upper"]], true, update=name, n=it.n)
        for it in advised(seed, repeats)
        for name, true in it.true.items()
        if name != "identity"
    ]
    return means(rows, "update", "n")


def better(seed: int, repeats: int) -> list[Row]:
    """The probability that an update gains

    What `prob_better` said of every update but none, and whether it was so.
    """

    def pairs() -> Iterator[tuple[str, float, bool]]:
        for it in advised(seed, repeats):
            for name, true in it.true.items():
                if name != "identity":
                    yield name, float(it.table.loc[name, "prob_better"]), true > 0

    return stated(pairs())


def recommended(seed: int, repeats: int) -> list[Row]:
    """The recommended update

    True gain in the Brier score on new patients, per 1000: of what is recommended, of always
    fitting a line (logistic recalibration), and of the best update, which only the truth knows.
    Harm is the share of recommendations after which the score is worse than before.
    """
    rows = []
    for it in advised(seed, repeats):
        gain = it.true[it.choice]
        rows.append(
            {
                "kind": it.kind,
                "n": it.n,
                "an update": float(it.choice != "identity"),
                "recommended": 1000 * gain,
                "always a line": 1000 * it.true["logistic"],
                "best": 1000 * max(it.true.values()),
                "harm": float(gain < 0),
            }
        )
    return means(rows, "kind", "n")


PARTS = {given_maps: 25, updates: 12, better: 12, recommended: 12}


def main(arguments: Any = None) -> None:
    run("gain", ASKED, PARTS, 57_003, arguments)


if __name__ == "__main__":
    main()
