"""Small data sets of known truth, and what the package says of each.

Sets of a theme go through its kinds, and after each round of kinds to its next size. Their seeds
are fixed, so that two versions of the package answer the same questions. Kinds, sizes and truths
were written down before any of them was run; nothing is chosen on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit
from scipy.stats import norm

import bayescal as bc

DRAWS = 1000
LAW = norm.ppf((np.arange(2000) + 0.5) / 2000)
"""Nodes of a standard normal law; the scores of a population are a function of it."""
LEVELS = (100, 600, 1000, 1400, 1900)
"""The nodes at which the curve is asked for: the 5th to the 95th percentile of the scores."""
LIMITS = (0.01, 0.02, 0.05)
ONE_CURVE = ("observed_expected", "calibration_slope", "tce")


class Said(NamedTuple):
    """What is said of one set.

    Attributes
    ----------
    intervals : dict of str to (lower, upper, true)
        95 % intervals and true values; arrays where a quantity has several.
    stated : dict of str to (probability, happened)
    """

    intervals: dict[str, tuple[Any, Any, Any]]
    stated: dict[str, tuple[Any, Any]]


class Theme(NamedTuple):
    """Kinds and sizes of the sets of a theme, and what is asked of a set.

    `ask` takes a kind, a size, a generator for the data, and the seed of the fit.
    """

    kinds: Sequence[str]
    sizes: Sequence[int]
    ask: Callable[[str, int, np.random.Generator, int], Said]
    sets: int = 200

    def cell(self, number):
        """Kind and size of a set."""
        rest, kind = divmod(number, len(self.kinds))
        return self.kinds[kind], self.sizes[rest % len(self.sizes)]

    def answers(self, number, seed=0):
        """What is said of a set; another `seed` is for the fit alone."""
        rng = np.random.default_rng([number, 57])
        return self.ask(*self.cell(number), rng, 1000 * seed + number)


# True values


class Population(NamedTuple):
    """Log-odds of the scores as a function of standard normal z, and of events given those."""

    scores: Callable[[Any], Any]
    curve: Callable[[Any], Any]

    def draw(self, n, rng):
        """Outcomes and log-odds of the scores of n patients."""
        x = self.scores(rng.standard_normal(n))
        return (rng.random(n) < expit(self.curve(x))).astype(int), x

    def at_nodes(self):
        """Scores and true probabilities over the law of the scores."""
        x = self.scores(LAW)
        return expit(x), expit(self.curve(x))


def slope(s, g):
    """The slope of the logistic regression of outcomes on log-odds of scores, n infinite."""
    x = logit(s)

    def loss(line):
        fitted = line[0] + line[1] * x
        off = expit(fitted) - g
        value = -np.mean(g * log_expit(fitted) + (1 - g) * log_expit(-fitted))
        return value, np.array([off.mean(), off @ x / x.size])

    return float(minimize(loss, [0.0, 1.0], jac=True, tol=1e-9).x[1])


def truths(s, g):
    """True values over scores of equal weight."""
    _, level = np.unique(s, return_inverse=True)
    events, others = np.bincount(level, g), np.bincount(level, 1 - g)
    return {
        "observed_expected": g.mean() / s.mean(),
        "calibration_slope": slope(s, g),
        "tce": np.abs(g - s).mean(),
        "e90": np.quantile(np.abs(g - s), 0.9),
        "brier": np.mean(g * (1 - s) ** 2 + (1 - g) * s**2),
        "c_statistic": events @ (others.cumsum() - others / 2) / events.sum() / others.sum(),
    }


# What is asked of a posterior


def from_table(table, true):
    """The intervals in those rows of a summary whose truth is known."""
    return {
        name: (table.loc[name, "lower"], table.loc[name, "upper"], true[name])
        for name in table.index
        if name in true
    }


def of_one_curve(post, population):
    """What a posterior says of its population."""
    s, g = population.at_nodes()
    true = truths(s, g)
    at = list(LEVELS)
    ends = np.quantile(post.curve(s[at]).to_numpy().reshape(-1, len(at)), [0.025, 0.975], axis=0)
    intervals = from_table(post.summary(names=(*ONE_CURVE, "e90")), true)
    below = [post.prob_below(limit) for limit in LIMITS]
    return Said(
        intervals | {"curve": (*ends, g[at])},
        {"tce below": (np.array(below), true["tce"] < np.array(LIMITS))},
    )


# One curve, and what a map gains


def population(kind, rng):
    """A way in which predictions go wrong, of random size."""
    mean, sd = rng.uniform(-2, 0.3), rng.uniform(0.7, 1.4)
    size = rng.choice([-1, 1]) * rng.uniform(0.1, 0.6)
    missed, added = rng.uniform(0, 0.1, 2)
    if kind == "rare events":
        mean -= 2.5
    if kind == "label noise":
        sd *= 2
    step = 0.5 if kind == "few scores" else 1e-6
    curve = {
        "calibrated": lambda x: x,
        "shift": lambda x: x + size,
        "slope": lambda x: mean + np.exp(size) * (x - mean),
        "bend": lambda x: x + size / 2 * (((x - mean) / sd) ** 2 - 1),
        "wave": lambda x: x + size * np.sin(2.5 * x),
        "step": lambda x: x + 1.5 * size * (x > mean),
        "label noise": lambda x: logit(added + (1 - added - missed) * expit(x)),
        "rare events": lambda x: x + size,
        "reversed": lambda x: mean - 0.6 * (x - mean),
        "few scores": lambda x: x + size / 2 + size * (x > mean),
    }[kind]
    return Population(lambda z: step * np.round((mean + sd * z) / step), curve)


ONE_CURVE_KINDS = (
    "calibrated",
    "shift",
    "slope",
    "bend",
    "wave",
    "step",
    "label noise",
    "rare events",
    "reversed",
    "few scores",
)


def one_curve(kind, n, rng, seed):
    of = population(kind, rng)
    y, x = of.draw(n, rng)
    post = bc.fit(y, expit(x), draws=DRAWS, random_state=seed)
    answers = of_one_curve(post, of)
    performance = from_table(post.performance_summary(), truths(*of.at_nodes()))
    calibrated = (post.prob_calibrated, kind == "calibrated")
    return Said(answers.intervals | performance, answers.stated | {"calibrated": calibrated})


MAPS = {"mended": 1.0, "half mended": 0.5, "spoilt": -0.5, "overshot": 1.8}
"""How far a map goes from the score to the true curve, in log-odds."""


def gain(kind, n, rng, seed):
    wrong, _, mapped = kind.partition(", ")
    of = population(wrong, rng)
    y, x = of.draw(n, rng)

    def after(x):
        return expit(x + MAPS[mapped] * (of.curve(x) - x))

    s, g = of.at_nodes()
    new = after(of.scores(LAW))
    true = {
        "brier": np.mean((g - s) ** 2 - (g - new) ** 2),
        "log_score": np.mean(g * np.log(new / s) + (1 - g) * np.log((1 - new) / (1 - s))),
        "tce": np.mean(np.abs(g - s) - np.abs(g - new)),
    }
    gained = bc.recalibration_gain(y, expit(x), after(x), draws=DRAWS, random_state=seed)
    return Said(
        from_table(gained.summary(), true), {"improved": (gained.prob_improved, true["brier"] > 0)}
    )


# Weights, clusters, imputation


def sampled(kind, n, rng, seed):
    """A sample in which events, or high scores, are taken three times as often as others."""
    taken_by, _, wrong = kind.partition(", ")
    of = population(wrong, rng)
    y, x = of.draw(4 * n, rng)
    often = y == 1 if taken_by == "by outcome" else x > np.median(x)
    weight = np.where(often, 1.0, 3.0)
    taken = np.flatnonzero(rng.random(x.size) < 1 / weight)[:n]
    weights = {"sample_weight": weight[taken], "weight_type": "sampling"}
    post = bc.fit(y[taken], expit(x[taken]), **weights, draws=DRAWS, random_state=seed)
    return of_one_curve(post, of)


NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(31)


def clustered(kind, clusters, rng, seed):
    """Six patients a cluster, whose log-odds share an effect that their scores do not know."""
    sd = 0.9

    def average(x):
        return logit(expit(np.asarray(x)[:, None] + sd * NODES) @ WEIGHTS / WEIGHTS.sum())

    inner = population(kind, rng)
    cluster = np.repeat(np.arange(clusters), 6)
    x = inner.scores(rng.standard_normal(cluster.size))
    effect = sd * rng.standard_normal(clusters)[cluster]
    y = (rng.random(x.size) < expit(inner.curve(x) + effect)).astype(int)
    post = bc.fit(y, expit(x), cluster=cluster, draws=DRAWS, random_state=seed)
    return of_one_curve(post, Population(inner.scores, lambda x: average(inner.curve(x))))


def imputed(kind, n, rng, seed):
    """Scores of two predictors, one missing in a third of the patients and imputed three times."""
    true, model = np.array([-0.6, 0.5, 1.0]), np.array([-0.3, 0.5, 1.5])
    z = rng.standard_normal((n, 2))
    y = (rng.random(n) < expit(true[0] + z @ true[1:])).astype(int)
    chance = 1 / 3 if kind == "at random" else expit(-1.8 + z[:, 0] + 1.6 * y)
    missing = rng.random(n) < chance
    design = np.column_stack([np.ones(n), z[:, 0], y, y * z[:, 0]])
    known = design[~missing]
    root = np.linalg.inv(known.T @ known)
    fitted = root @ known.T @ z[~missing, 1]
    rest = z[~missing, 1] - known @ fitted
    scores = []
    for _ in range(3):
        variance = rest @ rest / rng.chisquare(rest.size - 4)
        drawn = rng.multivariate_normal(fitted, variance * root)
        filled = design @ drawn + np.sqrt(variance) * rng.standard_normal(n)
        second = np.where(missing, filled, z[:, 1])
        scores.append(expit(model[0] + model[1] * z[:, 0] + model[2] * second))
    spread = np.sqrt(model[1:] @ model[1:])
    toward = true[1:] @ model[1:] / spread
    rest_sd = np.sqrt(true[1:] @ true[1:] - toward**2)

    def curve(x):
        centre = true[0] + toward * (x - model[0]) / spread
        return logit(expit(centre[:, None] + rest_sd * NODES) @ WEIGHTS / WEIGHTS.sum())

    post = bc.fit(y, imputation=np.array(scores), draws=DRAWS, random_state=seed)
    return of_one_curve(post, Population(lambda z: model[0] + spread * z, curve))


# Times to an event


def followed(kind, n, rng, seed):
    """Patients of whom many leave before the horizon, whatever their score or by it."""
    curve, _, leaving = kind.partition(", ")
    size = rng.uniform(-0.5, 0.5)
    of = Population(
        lambda z: -1 + 1.1 * z,
        {
            "line": lambda x: -0.4 + size + 0.7 * x,
            "wave": lambda x: x + size * np.sin(2 * x),
            "calibrated": lambda x: x,
        }[curve],
    )
    z = rng.standard_normal(n)
    x = of.scores(z)
    hazard = -np.log1p(-expit(of.curve(x)))
    event = (rng.exponential(1, n) / hazard) ** (np.exp(0.5 * z) if leaving == "by score" else 0.8)
    rate = 0.6 * np.exp(0.9 * z) if leaving == "by score" else 0.7
    left = np.minimum(rng.exponential(1, n) / rate, 2)
    times = bc.Survival(np.minimum(event, left), event <= left)
    return of_one_curve(bc.fit(times, expit(x), horizon=1, draws=DRAWS, random_state=seed), of)


# Sites and periods


def of_each(table, labels, true):
    """Intervals of several curves in a summary with a row for each and functional."""
    return {
        f"each {name}": (
            *(
                table[end].unstack()[name].loc[list(labels)].to_numpy()
                for end in ("lower", "upper")
            ),
            values,
        )
        for name, values in true.items()
    }


def named(prefix, intervals):
    return {f"{prefix} {name}": values for name, values in intervals.items()}


def sites(kind, count, rng, seed):
    """Sites of 15 to 90 patients, whose shifts and slopes are spread about the average site's."""
    off, _, spread = kind.partition(", spread ")
    mean, sd = -1.2, 1.1
    centre = {"calibrated": (0.0, 0.0), "off": (0.3, -0.25)}[off]
    at = centre + float(spread) * rng.standard_normal((count + 20, 2)) * [1, 0.5]

    def curves(at, x):
        return expit(mean + at[:, 0] + np.exp(at[:, 1]) * (x - mean))

    site = np.repeat(np.arange(count), rng.integers(15, 91, count))
    x = rng.normal(mean, sd, site.size)
    true = curves(at[site], x)
    y = (rng.random(x.size) < true).astype(int)
    labels = [f"{k:02}" for k in range(count)]
    post = bc.fit(y, expit(x), site=np.array(labels)[site], draws=DRAWS, random_state=seed)

    def per_site(values):
        return np.bincount(site, values) / np.bincount(site)

    tce = per_site(np.abs(true - expit(x)))
    each = {
        "observed_expected": per_site(true) / per_site(expit(x)),
        "calibration_slope": np.exp(at[:count, 1]),
        "tce": tce,
    }
    table = post.summary(names=tuple(each), population="sample")
    z = mean + sd * LAW[::20]
    over = [
        {
            "observed_expected": curves(a[None], z).mean() / expit(z).mean(),
            "calibration_slope": np.exp(a[1]),
        }
        for a in (np.array(centre), *at[count:])
    ]
    names = ("observed_expected", "calibration_slope")
    average = post.average().summary(names=names)
    next_site = post.new().summary(names=names)
    new = {
        name: (*next_site.loc[name, ["lower", "upper"]], np.array([one[name] for one in over[1:]]))
        for name in names
    }
    above = np.array(
        [1 - post.at(site=label).prob_below(0.05, population="sample") for label in labels]
    )
    return Said(
        of_each(table, labels, each)
        | named("average", from_table(average, over[0]))
        | named("next", new),
        {"each off by 5 points": (above, tce > 0.05)},
    )


def periods(kind, count, rng, seed):
    """Periods of 50 patients, with no change, a sudden one or a gradual one."""
    form, _, size = kind.partition(", ")
    change = int(rng.integers(2, count - 1))
    path = {
        "constant": np.ones(count),
        "sudden": (np.arange(count) >= change).astype(float),
        "gradual": np.linspace(0, 1, count),
    }[form]
    period = np.repeat(np.arange(count), 50)
    x = rng.normal(-1, 1.2, period.size)
    true = expit(x + float(size) * path[period])
    y = (rng.random(x.size) < true).astype(int)
    post = bc.fit(y, expit(x), period=period, draws=DRAWS, random_state=seed)

    def per_period(values):
        return np.bincount(period, values) / np.bincount(period)

    each = {"observed_expected": per_period(true) / per_period(expit(x))}
    table = post.summary(names=("observed_expected",), population="sample")
    now = post.now().summary(names=("observed_expected", "tce"), population="sample")
    last = {
        "observed_expected": each["observed_expected"][-1],
        "tce": per_period(np.abs(true - expit(x)))[-1],
    }
    return Said(
        of_each(table, [str(k) for k in range(count)], each) | named("now", from_table(now, last)),
        {"changed": (1 - post.explanations["constant"], form != "constant")},
    )


WRONG = ("shift", "slope", "bend", "step", "few scores")
THEMES = {
    "one curve": Theme(ONE_CURVE_KINDS, (50, 150, 400, 1000), one_curve),
    "gain": Theme([f"{wrong}, {by}" for wrong in WRONG for by in MAPS], (100, 400), gain),
    "weights": Theme(
        [f"{by}, {wrong}" for by in ("by outcome", "by score") for wrong in WRONG],
        (150, 400),
        sampled,
    ),
    "clusters": Theme(("calibrated", *WRONG), (30, 80), clustered),
    "imputation": Theme(("at random", "by outcome"), (150, 400), imputed, 100),
    "times": Theme(
        [
            f"{curve}, {by}"
            for curve in ("line", "wave", "calibrated")
            for by in ("chance", "by score")
        ],
        (120, 300),
        followed,
    ),
    "sites": Theme(
        [f"{off}, spread {by}" for off in ("calibrated", "off") for by in (0, 0.2, 0.4)],
        (5, 12),
        sites,
        120,  # each takes as long as ten of one curve, and asks for up to 12 sites
    ),
    "periods": Theme(
        ("constant, 0", "constant, .4", "sudden, .8", "gradual, -.8"), (5, 8), periods
    ),
}
