"""Problem: a table as the model reads it, and what was fixed before a curve is fitted to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit

from bayescal.core.arrays import Floats, RandomState, as_seed
from bayescal.core.errors import InputError
from bayescal.core.optimise import clipped
from bayescal.core.text import shortened
from bayescal.data.clusters import Clusters
from bayescal.data.doors import CaseRoles, door, table_of
from bayescal.data.read import Outcomes
from bayescal.data.rows import Edges, Rows
from bayescal.data.table import CalibrationData
from bayescal.model.cells import first_of_merged, gauss_rule
from bayescal.model.curve import CurveAtScores
from bayescal.model.curves import AVERAGE, Curve, Frame, as_curve, stored_curve
from bayescal.model.law import BINOMIAL, Likelihood, TimeToEvent, likelihood_of
from bayescal.model.pieces import PIECES_PRIOR, PartitionPrior, prior_pieces
from bayescal.model.priors import Prior, as_prior
from bayescal.model.saturated import ANY_RISKS, MOST_SCORES, RiskPrior, are_few, prior_errors

# What a problem keeps that no family and no prior changes.
SHARED_BY_FAMILIES = (
    "table", "score", "stated", "log_odds", "trials", "hits", "_first", "_rules",
)  # fmt: skip


# Nodes and weights, by the cases that they stand for and how many there are.
GaussRules: TypeAlias = dict[tuple[str, int], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Problem:
    """A table to fit a curve to. Nothing in it but the hits depends on outcomes.

    Its rows, `score`, `trials` and `hits`, are those of the table, inside (0, 1); past `MOST_ROWS`
    of them, neighbouring rows are merged. What is stated of single cases or of the scores as they
    came in is read off `table`.
    """

    data: CalibrationData  # the table as it came in
    curve: Curve  # the family, with its coordinates at this frame
    prior: Prior
    frame: Frame  # the family's constants
    edges: Edges  # how scores of 0 and 1 are read
    seed: int  # every random number of the fit and of its functionals follows from it
    most_rows: int | None = None  # most rows to merge the table to; by default as `MOST_ROWS` says
    likelihood: Likelihood = BINOMIAL  # the law of the outcomes given the curve

    @property
    def of_times(self) -> bool:
        """Whether outcomes are times to an event, some of them censored."""
        return isinstance(self.likelihood, TimeToEvent)

    @property
    def clusters(self) -> Clusters | None:
        """Which cases depend on each other; None where they are independent."""
        return self.data.clusters

    @cached_property
    def unclustered(self) -> CalibrationData:
        """The table for what is estimated of single cases: no clusters."""
        return self.data.without("cluster") if "cluster" in self.data.roles else self.data

    def of_single_cases(self) -> Problem:
        """The same problem, with the clusters of its cases forgotten."""
        return self if self.clusters is None else replace(self, data=self.unclustered)

    @cached_property
    def table(self) -> Rows:
        """Every row of the data as the model reads it: scores inside (0, 1), effective cases."""
        data, scale = self.data, self.data.weight_scale
        return Rows(self.inside(data.score), data.trials * scale, data.hits * scale)

    @cached_property
    def score(self) -> Floats:
        """Scores inside (0, 1), ascending, of shape (rows,): the mean of the cases in each row."""
        return self.mean_of_rows(self.table.score)

    @cached_property
    def stated(self) -> Floats:
        """The scores as they came in, of shape (rows,): what every error is measured from.

        They differ from `score` where scores of 0 and 1 are moved.
        """
        return self.mean_of_rows(clipped(self.data.score))

    @property
    def has_few_scores(self) -> bool:
        """Whether each distinct score can have a risk of its own."""
        data = self.data
        return are_few(data.score.size, float(data.trials.sum()) * data.weight_scale)

    @cached_property
    def log_odds(self) -> Floats:
        """Log-odds of the scores, of shape (rows,)."""
        return np.asarray(logit(self.score))

    @cached_property
    def trials(self) -> Floats:
        """Cases of each row; sampling weights count as Kish's effective number of cases."""
        return self.sum_of_rows(self.table.trials)

    @cached_property
    def hits(self) -> Floats:
        """Events of each row, on the scale of `trials`."""
        return self.sum_of_rows(self.table.hits)

    @cached_property
    def _first(self) -> NDArray[np.intp]:
        """Where each row begins in the table."""
        return first_of_merged(self.table.score, self.table.trials, self.most_rows)

    def rows_of(self, scores: Floats) -> NDArray[np.intp]:
        """Row of each case of the table, by its score as it came in."""
        return self.merged(self.data.rows_of(scores))

    def merged(self, row: NDArray[np.intp]) -> NDArray[np.intp]:
        """Row of the problem that each of these rows of the table is merged in."""
        return np.asarray(np.searchsorted(self._first, row, side="right") - 1)

    @property
    def is_merged(self) -> bool:
        """Whether neighbouring rows of the table are merged."""
        return self._first.size < self.table.score.size

    def sum_of_rows(self, values: Floats) -> Floats:
        """Sums over the table's rows that each row merges, along the first axis."""
        if not self.is_merged:
            return values
        return np.add.reduceat(values, self._first)

    def mean_of_rows(self, values: Floats, cases: Floats | None = None) -> Floats:
        """Means over the cases of each row, of values by row of the table along the first axis.

        Over some of the cases, where `cases` has their number in each row of the table; a row
        without any has the value zero.
        """
        if not self.is_merged:
            return values
        counted = self.table.trials if cases is None else cases
        number = counted.reshape(-1, *[1] * (values.ndim - 1))
        total = self.sum_of_rows(number)
        return np.asarray(self.sum_of_rows(number * values) / np.where(total > 0, total, 1))

    def rule(self, of: Literal["trials", "hits", "misses"], count: int) -> tuple[Floats, Floats]:
        """Nodes and weights of the Gauss rule of these cases in log-odds; see `gauss_rule`.

        Computed once for all families and priors.
        """
        if (of, count) not in self._rules:
            table = self.table
            cases = table.trials - table.hits if of == "misses" else getattr(table, of)
            some = cases > 0
            self._rules[of, count] = gauss_rule(logit(table.score[some]), cases[some], count)
        return self._rules[of, count]

    @cached_property
    def _rules(self) -> GaussRules:
        return {}

    def of_cases(self, table: Rows, rules: GaussRules) -> Problem:
        """The same rows with some of their cases, and where the Gauss rules of these are kept."""
        return self._of_same_rows(table=table, _rules=rules)

    @property
    def n(self) -> float:
        """Cases that the likelihood counts."""
        return float(self.table.trials.sum())

    def inside(self, scores: Floats) -> Floats:
        """Any scores as the model reads them: strictly inside (0, 1).

        Where each of a few scores can have a risk of its own, 0 and 1 are read as they are, unless
        the user set the edges.
        """
        if self.frame.scores and not self.edges.given:
            return clipped(scores)
        return self._moved(scores)

    def _moved(self, scores: Floats) -> Floats:
        return self.edges.inside(scores)

    def probability(self, u: Floats, scores: Floats | None = None) -> Floats:
        """The curves with coordinates `u` of shape (draws, d), of shape (draws, rows).

        At the scores of the table, or at others, which are moved inside (0, 1) first.
        """
        return self.curves_at(scores).probability(u)

    def curves_at(self, scores: Floats | None = None) -> CurveAtScores:
        """The family at the scores of the table, or at others as they came in."""
        if scores is None:
            return self.curve.at_scores(self.score, self.frame, self.stated)
        return self.curve.at_scores(self.inside(scores), self.frame, clipped(scores))

    def of_family(self, curve: Curve) -> Problem:
        """The same table for another family; one family's constants serve the simpler ones."""
        prior = self.prior.with_others(curve.priors) if curve.priors else self.prior
        return self._of_same_rows(curve=curve.at(self.frame), prior=prior)

    def _of_same_rows(self, **changes: Any) -> Problem:
        """The same table, edges and scores, with what was read off them.

        Nothing that a problem keeps may depend on its family or prior.
        """
        for name in SHARED_BY_FAMILIES:
            getattr(self, name)
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **changes)
        return other

    def with_prior(self, prior: Prior) -> Problem:
        """The same table under another prior, with its own centre."""
        frame = replace(self.frame, centre=self._centre_for(prior))
        return self._of_same_rows(prior=prior, frame=frame).of_family(self.curve)

    def _centre_for(self, prior: Prior) -> float:
        return prior.centre_for(logit(self._moved(self.data.score)), self.table.trials)

    def _framed(self) -> Problem:
        """The same with the constants that the table and its edges give the family."""
        score, trials = self._moved(self.data.score), self.table.trials
        centre = self._centre_for(self.prior)
        if self._is_by_score:
            score = score if self.edges.given else clipped(self.data.score)
            frame = self.curve.shape_frame(score, trials, centre)
            frame = Frame(centre, cells=frame.cells, scores=tuple(self.stated.tolist()))
        else:
            frame = self.curve.shape_frame(score, trials, centre)
        return replace(self, frame=frame).of_family(self.curve)

    @property
    def _is_by_score(self) -> bool:
        """Whether each distinct score can have a risk of its own; there are then no knots."""
        averaged = self.curve.name == AVERAGE.name
        if not self.curve.per_score or (
            averaged and not (self.has_few_scores and self.likelihood.is_linear)
        ):
            return False
        if not self.likelihood.is_linear:
            raise InputError(
                "curve='saturated' sums over events that are simply known, and these outcomes have "
                f"the law {self.likelihood.name!r}. Fit curve='pieces', or leave curve= out."
            )
        if self.data.score.size > MOST_SCORES:
            raise InputError(
                f"curve='saturated' has a risk for each distinct score, of at most {MOST_SCORES}, "
                f"and there are {self.data.score.size}. Fit curve='spline' or 'pieces', or leave "
                "curve= out for the average."
            )
        return True

    def with_edges(self, edges: Edges) -> Problem:
        """The same table with scores of 0 and 1 read otherwise."""
        return replace(self, edges=edges)._framed()

    def sample_prior(
        self,
        rng: np.random.Generator,
        size: int,
        partition: PartitionPrior = PIECES_PRIOR,
        risks: RiskPrior = ANY_RISKS,
    ) -> Floats:
        """Prior draws of the curve's coordinates, of shape (size, d)."""
        if self.curve.in_cells:
            table = self.table
            return prior_pieces(self.frame, table.score, table.trials, rng, size, partition)
        if self.curve.per_score:
            return prior_errors(self.frame, rng, size, risks)
        drawn = self.prior.sample(self.curve.coordinates, rng, size)
        return np.reshape(list(drawn.values()), (self.curve.size, size)).T

    def rng(self, purpose: str) -> np.random.Generator:
        """A generator of its own for each purpose, the same whenever it is asked for."""
        return np.random.default_rng([self.seed, *purpose.encode()])

    def to_attributes(self) -> dict[str, str]:
        """All but the table as JSON strings, since NetCDF attributes take no None, bool or dict."""
        described = {
            "curve": self.curve.name,
            "prior": self.prior.to_dict(),
            "frame": asdict(self.frame),
            "edges": self.edges._asdict(),
            "seed": self.seed,
        }
        if isinstance(self.likelihood, TimeToEvent):
            described["likelihood"] = self.likelihood.to_dict()
        return {name: json.dumps(value) for name, value in described.items()}

    @classmethod
    def from_attributes(cls, attributes: Mapping[Any, Any], data: CalibrationData) -> Problem:
        """Read back what `to_attributes` wrote, for the table it was written of."""
        read = {
            name: json.loads(attributes[name])
            for name in ("curve", "prior", "frame", "edges", "seed")
        }
        frame = Frame.of_json(read["frame"])
        families = json.loads(attributes.get("families", "{}"))
        law: Likelihood = BINOMIAL
        if "likelihood" in attributes:
            law = TimeToEvent.from_dict(json.loads(attributes["likelihood"]))
        return cls(
            data,
            stored_curve(read["curve"], families).at(frame),
            Prior.from_dict(read["prior"]),
            frame,
            Edges(**read["edges"]),
            _stored_seed(read["seed"]),
            likelihood=law,
        )


def _stored_seed(seed: Any) -> int:
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise InputError(
            f"the tree's attribute seed is {shortened(repr(seed))}, and a fit writes a whole "
            "number of at least 0. Refit the data."
        )
    return seed


@door
def prepare(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    curve: str | Curve = "beta",
    prior: str | Prior | Mapping[str, Any] = "neutral",
    edge: float | None = None,
    random_state: RandomState = None,
    **roles: Unpack[CaseRoles],
) -> Problem:
    """Make the problem that every fit of a curve starts from; options as in `bayescal.fit`."""
    data = table_of(y_true, y_prob, roles, times=True).one_group(takes_times=True)
    seed, family, chosen = as_seed(random_state), as_curve(curve), as_prior(prior)
    law = likelihood_of(data)
    unfitted = Problem(*(data, family, chosen, Frame(0.5), data.edges(edge), seed), likelihood=law)
    return unfitted._framed()
