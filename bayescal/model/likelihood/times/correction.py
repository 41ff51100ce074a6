"""Cases that are known in part: nodes in their place, and the steps of Q integrated out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal.core.arrays import Floats
from bayescal.model.likelihood.gauss import gauss_of_groups
from bayescal.model.likelihood.times.entries import Partial, in_order
from bayescal.model.likelihood.times.shared import tilted, untilted
from bayescal.model.likelihood.times.steps import Shares, Steps
from bayescal.model.partition.cells import cell_of
from bayescal.model.partition.stretches import Late

__all__ = ["Correction", "NodesOfPanels", "late_of"]


NODES_OF_PANEL = 3
# To 0 and 1, of a curve that is expanded at.
NEAREST = 1e-12
LEAST_CURVATURE = 0.05
BESIDE_STEPS = 1e-3
# Of log density, by a Newton step and by the curvature.
MOST_GAIN_OF_TIMES = 3.0


@dataclass(frozen=True)
class NodesOfPanels:
    """How entries are split among nodes: in each panel of the scores, those of a Gauss rule.

    `shared` (entries, count): weight that each entry in that order gives to the nodes of its group.
    """

    order: NDArray[np.intp]  # (entries,)
    start: NDArray[np.intp]  # (groups,): where groups begin in that order
    shared: Floats
    some: NDArray[np.intp]  # (nodes,): which of all nodes have weight
    weight: Floats  # (nodes,)

    @classmethod
    def of(cls, steps: Steps, partial: Partial, g: Floats, panels: Floats) -> NodesOfPanels:
        """Nodes for entries, by their `tilted` ratios.

        `g` (entries,): a curve; `panels` (panels - 1,): log-odds between panels.
        """
        order, start = in_order(cell_of(partial.x, panels), partial.weight)
        weight, t = partial.weight[order], tilted(_ratio(steps.shares(partial)), g)[order]
        _, total, split = gauss_of_groups(t, np.abs(weight), start, NODES_OF_PANEL)
        some = np.flatnonzero(total)
        signed = (np.sign(weight[start])[:, None] * total).ravel()[some]
        return cls(order, start, weight[:, None] * split, some, signed)

    def sums(self, values: Floats) -> Floats:
        """Weighted sums over what nodes stand for, of values of shape (entries, columns)."""
        each = self.shared[:, :, None] * values[self.order][:, None]
        sums = np.add.reduceat(each, self.start)
        return np.asarray(sums.reshape(-1, values.shape[1])[self.some])


class Correction:
    """Nodes for the cases that are known in part, and the integral over the steps of Q.

    A case without an event by the time of which Q and V are known has the probability (1 - V) (1 -
    g R), with R = (Q - V) / (1 - V). Nodes have a log-odds `x`, a `weight`, a `ratio` R and a curve
    `g` each; without `nodes` they are the entries.
    What integrating over the steps adds is Laplace's approximation, after a Newton step from here
    for each curve, with the curvature of the curve `g` that it is expanded at; how the curvature
    moves with the curve and with the step (`turn`) is told by its trace. Within the posterior of a
    curve both are small; what is more than `MOST_GAIN_OF_TIMES` is of a curve that is far away, and
    is not believed.
    """

    def __init__(
        self,
        steps: Steps,
        partial: Partial,
        g: Floats,
        nodes: NodesOfPanels | None = None,
        turn: Floats | None = None,
    ) -> None:
        g = np.clip(g, NEAREST, 1 - NEAREST)
        self.steps, self.partial, self.nodes, self._of_entries = steps, partial, nodes, g
        shares, size = steps.shares(partial), steps.at.size
        value, gradient, bend = shares.late(g, partial.weight)
        self._inverse, self._log_det = _inverse(steps.information - bend)
        ratio, columns = _ratio(shares), self._columns(shares)
        self.x, at_nodes = self.mean_of_entries(np.stack([partial.x, logit(g)]))
        self.g = np.asarray(expit(at_nodes))
        if nodes is None:
            self.weight, self.ratio, told = partial.weight, ratio, partial.weight[:, None] * columns
        else:
            t = self.mean_of_entries(tilted(ratio, g)[None])[0]
            self.weight, told = nodes.weight, nodes.sums(columns)
            self.ratio = np.clip(untilted(t, self.g), ratio.min(), ratio.max())
        self._slope, self._trace = told[:, :size], told[:, size:]
        self._ends = np.cumsum([each.slope.shape[1] for each in shares.each])[:-1]
        self._pairs = _pairs(len(shares.each))
        here = self._rates(self.g[None])
        self.constant = value - float(self._log_of_nodes(self.g[None])[0])
        self._gradient = steps.slope + gradient + self._slope_of(here)[0]
        self._trace_here = float(self._trace_of(here)[0])
        self.turn = self._turned() if turn is None else turn

    def __call__(self, g: Floats) -> Floats:
        """What the integral adds, of curves by their values at the nodes, of shape (n, nodes).

        To the log likelihood at the likeliest steps.
        """
        rates = self._rates(g)
        slope = self._gradient - self._slope_of(rates)
        step = slope @ self._inverse
        log_det = (self._trace_of(rates) - self._trace_here) / 2 + step @ self.turn
        gain = np.vecdot(slope, step) / 2
        most = MOST_GAIN_OF_TIMES
        moved = np.minimum(gain, most) - np.clip(log_det, -most, most)
        return np.asarray(moved + (self.steps.constant - self._log_det))

    def given_steps(self, g: Floats) -> Floats:
        """Log likelihood of the cases given the steps, of curves as before."""
        return self._log_of_nodes(g) + self.constant

    def _log_of_nodes(self, g: Floats) -> Floats:
        return np.asarray(np.log(1 - g * self.ratio) @ self.weight)

    def mean_of_entries(self, values: Floats) -> Floats:
        """Means over the entries that nodes stand for, of values of shape (columns, entries).

        A curve that is linear in columns has nearly its mean log-odds at the means of these.
        """
        if self.nodes is None:
            return values
        return np.asarray(self.nodes.sums(values.T).T / self.nodes.weight)

    def likeliest(self, g: Floats) -> Correction:
        """The same nodes at the likeliest steps with a curve, by its values at the entries."""
        if not self.partial.size:
            return self
        steps = self.steps.likeliest(self.partial, g)
        return Correction(steps, self.partial, g, self.nodes, self.turn)

    @property
    def at_most(self) -> float:
        """More than it is of any curve."""
        return self.steps.constant - self._log_det + 2 * MOST_GAIN_OF_TIMES

    def _columns(self, shares: Shares) -> Floats:
        """Of each entry: slopes by a and c, then what `_trace_of` needs for each product of rates.

        Divided by 1 - V, which the rates leave out.
        """
        kept = (1 - shares.other)[:, None]
        slopes = [each.slope / kept for each in shares.each]
        ends = np.cumsum([0, *(each.shape[1] for each in slopes)])
        of = [slice(low, high) for low, high in pairwise(ends)]
        columns = list(slopes)
        for i, j in _pairs(len(slopes)):
            square = np.vecdot(slopes[i] @ self._inverse[of[i], of[j]], slopes[j])
            columns.append((square * (1 if i == j else 2))[:, None])
        columns += [
            each.bend_along(self._inverse[own, own])[:, None] / kept
            for each, own in zip(shares.each, of, strict=True)
        ]
        return np.hstack(columns)

    def _turned(self) -> Floats:
        """Slope of half the log determinant by a and c: the step moves the curvature, too."""
        steps, slope = self.steps, np.zeros(self.steps.at.size)
        for k in range(slope.size) if self.partial.size else ():
            for sign in (-1, 1):
                at = steps.at.copy()
                at[k] += sign * BESIDE_STEPS
                slope[k] += sign * self._trace_at(at) / (4 * BESIDE_STEPS)
        return slope

    def _trace_at(self, at: Floats) -> float:
        """Trace of the information at other steps, times the inverse of that here."""
        shares, g = self.steps.shares(self.partial, at), self._of_entries
        columns = self._columns(shares)[:, at.size :]
        rates = _rates(g, _ratio(shares), len(shares.each))
        products = np.column_stack([rates[i] * rates[j] for i, j in self._pairs] + rates)
        of_events = float((self._inverse * self.steps.of_events(at)[2]).sum())
        return of_events + float(self.partial.weight @ (products * columns).sum(axis=1))

    def _rates(self, g: Floats) -> list[Floats]:
        return _rates(g, self.ratio, self._ends.size + 1)

    def _slope_of(self, rates: Sequence[Floats]) -> Floats:
        """How fast the log probability of the cases falls by a and c."""
        own = np.split(self._slope, self._ends, axis=1)
        return np.hstack([rate @ slope for rate, slope in zip(rates, own, strict=True)])

    def _trace_of(self, rates: Sequence[Floats]) -> Floats:
        """Trace of the information of the cases, times the inverse of that of all."""
        total = np.zeros(len(rates[0]))
        products = [rates[i] * rates[j] for i, j in self._pairs]
        for each, column in zip([*products, *rates], self._trace.T, strict=True):
            total += each @ column
        return total


def _rates(g: Floats, ratio: Floats, causes: int) -> list[Floats]:
    """How much Q, and V, take off the log probability, times 1 - V."""
    without = 1 - g * ratio
    return [each / without for each in (g, 1 - g)[:causes]]


def _ratio(shares: Shares) -> Floats:
    """R of each entry."""
    return (shares.value - shares.other) / (1 - shares.other)


def _pairs(causes: int) -> list[tuple[int, int]]:
    return list(combinations_with_replacement(range(causes), 2))


def _inverse(information: Floats) -> tuple[Floats, float]:
    """Inverse of a matrix, and half the log of its determinant.

    Curvatures that are not positive, far from the mode, are raised to `LEAST_CURVATURE`.
    """
    values, vectors = np.linalg.eigh(information)
    values = np.maximum(values, LEAST_CURVATURE)
    return (vectors / values) @ vectors.T, float(np.log(values).sum()) / 2


def late_of(nodes: Correction, effect: float) -> Late | None:
    """The nodes of these cases by log-odds; None without any.

    `effect`: cases that count as one.
    """
    if not nodes.x.size:
        return None
    order = np.argsort(nodes.x, kind="stable")
    weight, constant = nodes.weight[order] / effect, nodes.constant / effect
    return Late(nodes.x[order], weight, nodes.ratio[order], nodes.g[order], constant)
