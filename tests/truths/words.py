"""How often each sentence of a verdict is said when it is true, and when it is not, by n.

`python tests/truths/words.py` computes the shares (about ten minutes of a processor) and stores
them in stored_words.json. Beside the rules stand others: a slope is off where its interval alone
excludes 1; an update is the simplest that is probably better (.7), or one that is probably better
than that (.6), as before; and the rule of updates with .8 in place of .7.
"""

import json
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.special import expit

from bayescal.core.text import excludes
from bayescal.gain.advice import simplest_that_keeps
from bayescal.gain.updates import gains_of
from bayescal.report import assess
from bayescal.report.verdict import level_of, seen, spread_of

STORED = Path(__file__).with_name("stored_words.json")
SETS, DRAWS = 60, 1000
MEAN, SD = -1.0, 1.0
SLOPES, SHIFTS, SIZES = (1.0, 0.85, 0.75, 0.6, 1.3, -1.0), (0.25, -0.25), (150, 400, 1000)
SITES, OF_SITE, SPREADS = 12, 100, (0.0, 0.4)
CELLS = [
    *((f"slope {slope:g}", n) for slope in SLOPES for n in SIZES),
    *((f"shift {shift:g}", n) for shift in SHIFTS for n in SIZES),
    *((f"sites {spread:g}", SITES * OF_SITE) for spread in SPREADS),
]


def curve(kind, x):
    """Log-odds of the event."""
    name, size = kind.split()
    if name == "slope":
        return MEAN + float(size) * (x - MEAN)
    return x + (float(size) if name == "shift" else 0.0)


def words_of(kind, n, seed):
    """What is said of one data set."""
    rng = np.random.default_rng([seed, n, *kind.encode()])
    x, roles = rng.normal(MEAN, SD, n), {}
    at = curve(kind, x)
    if kind.startswith("sites"):
        site = np.repeat(np.arange(SITES), OF_SITE)
        at = at + float(kind.split()[1]) * rng.standard_normal(SITES)[site]
        roles = {"site": site}
    y = (rng.random(n) < expit(at)).astype(int)
    f = assess(y, expit(x), draws=DRAWS, random_state=seed, **roles).facts
    s = seen(f)
    told = {
        f"spread {spread_of(s)}": True,
        f"level {level_of(s) or 'open'}": True,
        "runs the wrong way": s.runs_wrong_way is not None,
        "slope off by its interval alone": s.slope is not None
        and excludes(s.slope.lower, s.slope.upper, 1),
    }
    if s.parts is not None:
        told["a site is named"] = bool(s.parts.off)
        told["sites differ"] = s.parts.differ >= 0.9
    elif s.runs_wrong_way is None:
        told |= _of_update(f, kind)
    return told


def _of_update(f, kind):
    """Whether an update is recommended, by this rule and the former, and what it truly gains."""
    draws = gains_of(f.comparison)["brier"]
    better = [k for k in draws if k != "identity" and (draws[k] > 0).mean() >= 0.7]
    former = better[0] if better else "identity"
    for name in better[1:]:
        if (draws[name] > draws[former]).mean() >= 0.6:
            former = name
    x = np.random.default_rng(0).normal(MEAN, SD, 4000)
    s, g = expit(x), expit(curve(kind, x))
    told = {}
    surer = simplest_that_keeps(draws, f.recommendation.fewer, 0.8)
    surer = None if f.recommendation.too_few else surer
    for rule, choice in (("", f.recommendation.choice), ("former ", former), ("(.8) ", surer)):
        gain = 0.0
        if choice not in (None, "identity"):
            problem, u = f.comparison.of_family(choice)
            mean = problem.probability(u).mean(axis=0)
            after = np.interp(s, problem.score, mean)
            gain = float(1000 * np.mean((g - s) ** 2 - (g - after) ** 2))
        told[f"{rule}update"] = float(choice not in (None, "identity"))
        told[f"{rule}update that gains nothing"] = float(bool(told[f"{rule}update"]) and gain <= 0)
        told[f"{rule}gain per 1000"] = gain
    return told


def shares(cell, sets=SETS):
    """Share of the data sets of which each is said."""
    warnings.simplefilter("ignore")
    total = defaultdict(float)
    for seed in range(sets):
        for word, value in words_of(*cell, seed).items():
            total[word] += float(value)
    return {word: round(value / sets, 4) for word, value in sorted(total.items()) if value}


def main():
    stored = {}
    for kind, n in CELLS:
        stored[f"{kind}, n = {n}"] = told = shares((kind, n))
        print(f"{kind}, n = {n}", told, flush=True)
    STORED.write_text(json.dumps({"sets": SETS, "said": stored}, indent=1) + "\n")


if __name__ == "__main__":
    main()
