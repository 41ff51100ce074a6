"""How what is said of sets of known truth is scored, and compared with another version.

An interval's score is its width, and 40 times what it misses the truth by: the proper score of a
95 % interval (Gneiting & Raftery 2007, section 6.2). A probability has its Brier score. Scores are
averaged over the sets of one kind and size, which have one scale; a change is the geometric mean
over these cells of new by old, in which half the score in one and twice that in another cancel.
Probabilities have one scale everywhere, and cells in which nearly nothing is uncertain: theirs is
the mean over all sets, new by old.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np

import bayescal as bc
from truth_sets import THEMES

STORED = Path(__file__).with_name("stored.json")
WORSE = 0.03
"""A score that is worse by more is a failure.

A change that draws other random numbers moves scores by chance. Fits with other seeds moved those
of one curve by up to .5 % (standard errors .2 to .8 %), those of other themes by standard errors of
.2 to .9 %, and O/E of weights, clusters and the last period by 1.2, 1.6 and 1.3 %. Standard errors
of a comparison stand beside it: a change of 3 % that is less than two of them may be chance.
"""
COVERED = {theme: (0.90, 0.995) for theme in THEMES} | {"gain": (0.85, 0.995)}
"""Least and largest share of 95 % intervals that hold the truth.

200 intervals hold it in .91 to .985 of sets but for chance of 1 %, and the kinds are such that a
shrinking posterior is sometimes wrong. Gains are less sure: they are read from smooth curves, and
miss large bends and steps.
"""


class Scores(NamedTuple):
    """Scores of the sets of one theme, in order.

    Attributes
    ----------
    intervals, stated : dict of str to list of float
        Mean score of a quantity's intervals, or probabilities, in each set.
    coverage : dict of str to float
        Share of intervals that hold the truth.
    """

    intervals: dict[str, list[float]]
    stated: dict[str, list[float]]
    coverage: dict[str, float]


class Change(NamedTuple):
    """A quantity of a theme in two versions.

    Attributes
    ----------
    relative : float
        Its score, new by old, less 1; above 0 is worse.
    error : float
        Standard error, from the differences between sets.
    covered : tuple of float, or None
        Share of intervals that hold the truth, old and new.
    """

    theme: str
    quantity: str
    relative: float
    error: float
    covered: tuple[float, float] | None

    @property
    def in_words(self):
        """A row for people."""
        change = f"{self.relative:+.2%} (standard error {self.error:.2%})"
        covered = "covered {:.3f}, now {:.3f}".format(*self.covered) if self.covered else ""
        return f"{self.theme:10}  {self.quantity:27}  score {change:33} {covered}".rstrip()


def scored(theme, sets=None, seed=0):
    """Fit the first sets of a theme, or all, and score what is said."""
    intervals, stated, inside = defaultdict(list), defaultdict(list), defaultdict(list)
    for number in range(sets or THEMES[theme].sets):
        answers = THEMES[theme].answers(number, seed)
        for name, (lower, upper, true) in answers.intervals.items():
            missed = np.maximum(lower - true, 0) + np.maximum(true - upper, 0)
            intervals[name].append(rounded(np.mean(upper - lower + 40 * missed)))
            inside[name].append(np.mean(missed == 0))
        for name, (probability, happened) in answers.stated.items():
            stated[name].append(rounded(np.mean((probability - np.asarray(happened)) ** 2)))
    coverage = {name: round(float(np.mean(each)), 3) for name, each in inside.items()}
    return Scores(dict(intervals), dict(stated), coverage)


def rounded(value):
    """Five digits, which is finer than any change that matters."""
    return float(f"{value:.5g}")


def changes(theme, old, new):
    """Of every quantity of a theme, set by set; over the sets that are scored anew."""
    cells, (sets, *_) = defaultdict(list), map(len, new.intervals.values())
    for number in range(sets):
        cells[THEMES[theme].cell(number)].append(number)
    of_intervals = [
        Change(
            theme,
            name,
            *compared(scores, new.intervals[name], cells.values()),
            (old.coverage[name], new.coverage[name]),
        )
        for name, scores in old.intervals.items()
    ]
    everything = [list(range(sets))]
    return of_intervals + [
        Change(theme, name, *compared(scores, new.stated[name], everything), None)
        for name, scores in old.stated.items()
    ]


def compared(old, new, groups):
    """Geometric mean over groups of mean scores, new by old, less 1; and its standard error."""
    logs, variances = [], []
    for group in groups:
        before, now = np.take(old, group), np.take(new, group)
        ratio = now.mean() / before.mean()
        off = (now - ratio * before) / now.mean()
        logs.append(np.log(ratio))
        variances.append(off @ off / off.size / (off.size - 1))
    return float(np.expm1(np.mean(logs))), float(np.sqrt(np.sum(variances)) / len(groups))


def stored():
    """The stored scores of every theme."""
    if not STORED.exists():
        return {}
    themes = json.loads(STORED.read_text("utf-8"))["themes"]
    return {name: Scores(**theme) for name, theme in themes.items()}


def store(scores):
    """Store the scores of every theme, one quantity a line."""
    record = {"version": bc.__version__, "themes": {k: v._asdict() for k, v in scores.items()}}
    text = json.dumps(record, indent=1)
    STORED.write_text(re.sub(r"\[[^]]*\]", lambda row: " ".join(row[0].split()), text) + "\n")
