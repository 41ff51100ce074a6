"""Selective prediction: which cases to answer, and how often the answers are then right.

Cases are answered from the highest score down. The event is that the answer is right, so that the
curve is the accuracy at each score, and all of this is read off draws of it in one pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.validate import as_floats, as_level
from bayescal.model.problem import Problem
from bayescal.posterior.evaluation import CurvesOfTable
from bayescal.posterior.intervals import equal_tailed
from bayescal.posterior.performance import PerformanceMeasures

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Promise", "Selective", "SelectiveMeasures"]

USUAL_COVERAGES = (0.5, 0.8, 0.9, 1.0)


class Promise(NamedTuple):
    """A threshold above which answers are right often enough.

    Attributes
    ----------
    threshold : float
        Answer the cases with at least this score.
    prob : float
        Probability that the accuracy of these answers is at least the one asked for.
    coverage : float
        Share of the cases that are answered, the posterior mean.
    accuracy : float
        Accuracy of these answers, the posterior mean.
    """

    threshold: float
    prob: float
    coverage: float
    accuracy: float


class Ranked(NamedTuple):
    """Draws over the rows of one table, from the highest score down.

    Attributes
    ----------
    threshold : ndarray of shape (rows,)
        A score that the cases of this row and of those before reach, and no others do.
    answered : ndarray of shape (draws, rows)
        Share of all cases in this row and those before.
    right : ndarray of shape (draws, rows)
        Share of all cases that are in these rows and right.
    """

    threshold: Floats
    answered: Floats
    right: Floats

    def right_at(self, coverage: float) -> Floats:
        """Share of all cases that are answered and right; in a row cases are answered at random."""
        draw = np.arange(len(self.answered))
        row = (self.answered < coverage).sum(axis=1).clip(max=self.answered.shape[1] - 1)
        before = np.maximum(row - 1, 0)
        start = np.where(row > 0, self.answered[draw, before], 0)
        known = np.where(row > 0, self.right[draw, before], 0)
        width, rise = self.answered[draw, row] - start, self.right[draw, row] - known
        part = np.clip((coverage - start) / np.where(width > 0, width, 1), 0, 1)
        return np.asarray(known + part * rise)

    @property
    def aurc(self) -> Floats:
        """The integral of the risk over coverages from 0 to 1.

        Over a row, from coverage c to d, the risk is (k + r x) / x at coverage x, with r the share
        of wrong answers in the row; its integral is k log(d / c) + r (d - c).
        """
        wrong = self.answered - self.right
        start, known = (np.pad(each, ((0, 0), (1, 0)))[:, :-1] for each in (self.answered, wrong))
        width = self.answered - start
        rate = np.divide(wrong - known, width, out=np.zeros_like(width), where=width > 0)
        ratio = np.divide(self.answered, start, out=np.ones_like(start), where=start > 0)
        return np.asarray(((known - rate * start) * np.log(ratio) + rate * width).sum(axis=1))


@dataclass(frozen=True, repr=False)
class Selective:
    """Accuracy of the answers if cases with low scores are not answered. Made by `post.selective`.

    Attributes
    ----------
    parts : tuple of Ranked
        Draws of each table, of which there is one unless scores were imputed.
    """

    parts: tuple[Ranked, ...]

    def accuracy_at(self, coverage: float) -> Floats:
        """Draws of the accuracy if the given share of the cases, those surest, is answered.

        Parameters
        ----------
        coverage : float in (0, 1]

        Returns
        -------
        ndarray of shape (draws,)
            Of cases with equal scores some are answered at random.

        Raises
        ------
        InputError
            If the coverage is not in (0, 1].
        """
        share = float(_as_coverages([coverage])[0])
        return np.concatenate([part.right_at(share) for part in self.parts]) / share

    @property
    def aurc(self) -> Floats:
        """Draws of the area under the risk-coverage curve, of shape (draws,).

        The mean risk, one minus accuracy, over all coverages from 0 to 1.
        """
        return np.concatenate([part.aurc for part in self.parts])

    def risk_coverage(self, coverages: Any = None, ci_prob: float = 0.95) -> pd.DataFrame:
        """The risk-coverage curve: the share of wrong answers by the share of cases answered.

        Parameters
        ----------
        coverages : array-like of shape (k,), optional
            In (0, 1]; by default 0.01, 0.02, ..., 1.
        ci_prob : float in (0, 1)

        Returns
        -------
        pandas.DataFrame
            Index: coverage. Columns: risk (mean), lower and upper.

        Raises
        ------
        InputError
            If a coverage is not in (0, 1].
        """
        import pandas as pd

        level = as_level(ci_prob)
        at = np.arange(1, 101) / 100 if coverages is None else _as_coverages(coverages)
        rows = [_row(1 - self.accuracy_at(share), level) for share in at]
        return pd.DataFrame(rows, pd.Index(at, name="coverage"), ["risk", "lower", "upper"])

    def summary(self, coverages: Any = USUAL_COVERAGES, ci_prob: float = 0.95) -> pd.DataFrame:
        """AURC, and the accuracy at some coverages.

        Parameters
        ----------
        coverages : array-like of shape (k,)
            In (0, 1].
        ci_prob : float in (0, 1)

        Returns
        -------
        pandas.DataFrame
            Index: "aurc" and, for each coverage, one such as "accuracy@0.8". Columns: mean, lower
            and upper.

        Raises
        ------
        InputError
            If a coverage is not in (0, 1].
        """
        import pandas as pd

        level = as_level(ci_prob)
        rows = {"aurc": _row(self.aurc, level)}
        for share in _as_coverages(coverages):
            rows[f"accuracy@{share:g}"] = _row(self.accuracy_at(share), level)
        table = pd.DataFrame.from_dict(rows, orient="index", columns=["mean", "lower", "upper"])
        table.index.name = "measure"
        return table

    def threshold(self, accuracy: float, prob: float = 0.95) -> Promise | None:
        """The lowest threshold above which answers are right at least as often as asked.

        Parameters
        ----------
        accuracy : float in (0, 1)
            Least share of right answers.
        prob : float in (0, 1)
            Least probability that the accuracy is at least that.

        Returns
        -------
        Promise or None
            None if no threshold has this probability.

        Raises
        ------
        InputError
            If a number is not inside (0, 1).

        Notes
        -----
        The probability holds on average over the curves that the prior expects. Of six simulated
        settings with 200 data sets each, a promise of 0.9 was kept in 99 % of those made where the
        scores were calibrated, and in 78 to 87 % where the model was over-confident, with a true
        accuracy of at least 0.86. Past 128 distinct scores neighbouring ones are merged, and
        a threshold is the lowest score of such a row.
        """
        least, level = as_level(accuracy, "accuracy"), as_level(prob, "prob")
        best: Promise | None = None
        for at in np.unique(np.concatenate([part.threshold for part in self.parts]))[::-1]:
            answered, right = self._above(at)
            share = np.divide(right, answered, out=np.zeros_like(right), where=answered > 0)
            probability = float((share >= least).mean())
            if probability >= level:
                best = Promise(float(at), probability, float(answered.mean()), float(share.mean()))
        return best

    def _above(self, threshold: float) -> tuple[Floats, Floats]:
        """Shares of all cases that reach a threshold, and of those that are right besides."""
        answered, right = [], []
        for part in self.parts:
            rows = int((part.threshold >= threshold).sum())
            none = np.zeros(len(part.answered))
            answered.append(part.answered[:, rows - 1] if rows else none)
            right.append(part.right[:, rows - 1] if rows else none)
        return np.concatenate(answered), np.concatenate(right)

    def __repr__(self) -> str:
        mean, lower, upper = _row(self.aurc, 0.95)
        return f"Selective(AURC {mean:.3f}, {lower:.3f} to {upper:.3f})"


class SelectiveMeasures(PerformanceMeasures):
    """What answers are worth if some cases are not answered."""

    def selective(self, population: Any = "bootstrap") -> Selective:
        """Selective prediction: accuracy by the share of cases answered, those surest first.

        The score is how sure a model is of its answer, and the event that the answer is right, as
        in ``bc.fit(labels, matrix)``.

        Parameters
        ----------
        population : {"bootstrap", "sample"} or scores
            Patients like these, exactly these, or others with these scores; see `on`.

        Returns
        -------
        Selective

        Raises
        ------
        InputError
            If the population is unknown.

        References
        ----------
        El-Yaniv & Wiener (2010), On the foundations of noise-free selective classification, JMLR
        11. Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural
        classifiers, ICLR: AURC.

        Examples
        --------
        >>> import bayescal as bc
        >>> right, sure = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> answers = bc.fit(right, sure, random_state=1).selective()
        >>> bool(answers.accuracy_at(0.5).mean() > answers.accuracy_at(1).mean())
        True
        """
        of, kind = self._over(population)
        if kind == "beta":
            raise InputError(
                "population='beta' has other scores in each draw, and thresholds are of given "
                "ones. Pass 'bootstrap', 'sample' or scores."
            )
        return Selective(tuple(_ranked(part, kind) for part in of._posterior.parts))


def _ranked(curves: CurvesOfTable, kind: str) -> Ranked:
    """The draws of one table, in one pass."""
    size, rows = len(curves.u), curves.problem.score.size
    answered, right = np.empty((size, rows)), np.empty((size, rows))
    for part, draws in curves.draws(kind):
        weight = np.broadcast_to(draws.population.weight, draws.curve.shape)
        answered[part] = np.cumsum(weight[:, ::-1], axis=1)
        right[part] = np.cumsum((weight * draws.curve)[:, ::-1], axis=1)
    return Ranked(_lowest(curves.problem)[::-1], answered / answered[:, -1:], right)


def _lowest(problem: Problem) -> Floats:
    """The lowest score of each row; between the cells of a grid, the middle of their scores."""
    score = problem.data.score
    first = np.unique(problem.merged(np.arange(score.size)), return_index=True)[1]
    lowest = score[first]
    if problem.data.is_compressed:
        inner = first[1:]
        lowest = np.append(lowest[:1] * 0, (score[inner] + score[inner - 1]) / 2)
    return np.asarray(lowest)


def _as_coverages(values: Any) -> Floats:
    at = as_floats(values, "coverages")
    wrong = ~((at > 0) & (at <= 1))
    if wrong.any():
        raise InputError(
            f"coverages[{int(wrong.argmax())}] = {at[wrong][0]:g} is not in (0, 1]: a coverage is "
            "the share of the cases that are answered."
        )
    return at


def _row(drawn: Floats, level: float) -> tuple[float, float, float]:
    lower, upper = equal_tailed(drawn, level)
    return float(drawn.mean()), float(lower), float(upper)
