"""Settings: everything that was fixed when a curve was fitted, as a record that can be stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logit

from bayescal._base.arrays import Floats, as_seed
from bayescal.data.data import CalibrationData, Edges
from bayescal.model.curves import Curve, Frame, stored_curve, stored_frame
from bayescal.model.pieces import PIECES_PRIOR, PartitionPrior, prior_pieces
from bayescal.model.priors import Prior

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """What a fit was told, and what it read off the scores. Never depends on outcomes.

    Attributes
    ----------
    curve : Curve
    prior : Prior
    frame : Frame
        The family's constants: the centre.
    edges : Edges
        How scores of 0 and 1 were read.
    seed : int
        Every random number of the fit and of its functionals follows from it.
    """

    curve: Curve
    prior: Prior
    frame: Frame
    edges: Edges
    seed: int

    @classmethod
    def at_fit(
        cls,
        data: CalibrationData,
        curve: Curve,
        prior: Prior,
        *,
        edge: float | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> Settings:
        """Fix the settings for a table."""
        edges = data.edges(edge)
        log_odds = logit(edges.inside(data.score))
        centre = prior.centre_for(log_odds, data.trials)
        cases = data.trials * data.weight_scale
        frame = curve.shape_frame(edges.inside(data.score), cases, centre)
        return cls(curve.at(frame), prior, frame, edges, as_seed(random_state))

    def of_family(self, curve: Curve) -> Settings:
        """The same fit of another family; the constants of one family serve the simpler ones."""
        return replace(self, curve=curve.at(self.frame))

    def with_prior(self, prior: Prior, data: CalibrationData) -> Settings:
        """The same fit under another prior, with its own centre."""
        score = self.edges.inside(data.score)
        centre = prior.centre_for(logit(score), data.trials)
        frame = self.curve.shape_frame(score, data.trials * data.weight_scale, centre)
        return replace(self, curve=self.curve.at(frame), prior=prior, frame=frame)

    def with_edges(self, edges: Edges, data: CalibrationData) -> Settings:
        """The same fit with scores of 0 and 1 read otherwise."""
        return replace(self, edges=edges).with_prior(self.prior, data)

    def sample_prior(
        self,
        data: CalibrationData,
        rng: np.random.Generator,
        size: int,
        partition: PartitionPrior = PIECES_PRIOR,
    ) -> Floats:
        """Prior draws of the curve's coordinates, of shape (size, d)."""
        if self.curve.in_cells:
            score, cases = self.edges.inside(data.score), data.trials * data.weight_scale
            return prior_pieces(self.frame, score, cases, rng, size, partition)
        drawn = self.prior.sample(self.curve.coordinates, rng, size)
        return np.reshape(list(drawn.values()), (self.curve.size, size)).T

    def rng(self, purpose: str) -> np.random.Generator:
        """A generator of its own for each purpose, the same whenever it is asked for."""
        return np.random.default_rng([self.seed, *purpose.encode()])

    def to_attributes(self) -> dict[str, str]:
        """JSON strings, since NetCDF attributes take no None, bool or dict."""
        described = {
            "curve": self.curve.name,
            "prior": self.prior.to_dict(),
            "frame": asdict(self.frame),
            "edges": self.edges._asdict(),
            "seed": self.seed,
        }
        return {name: json.dumps(value) for name, value in described.items()}

    @classmethod
    def from_attributes(cls, attributes: Mapping[Any, Any]) -> Settings:
        """Read back what `to_attributes` wrote."""
        read = {
            name: json.loads(attributes[name])
            for name in ("curve", "prior", "frame", "edges", "seed")
        }
        frame = stored_frame(read["frame"])
        return cls(
            stored_curve(read["curve"]).at(frame),
            Prior.from_dict(read["prior"]),
            frame,
            Edges(**read["edges"]),
            read["seed"],
        )
