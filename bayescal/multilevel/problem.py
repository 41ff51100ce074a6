"""MultilevelProblem: tables of several groups, and the terms that their curves are summed from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add, attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, check_choice
from bayescal.core.text import count, shortened
from bayescal.data.cases import as_scores
from bayescal.data.doors import CaseRoles, table_of
from bayescal.data.roles import Periods, in_order, read_periods
from bayescal.data.table import CalibrationData, check_factors
from bayescal.inference.density import CURVE_NODES, Adjustment, CurveDensity, Nodes
from bayescal.model.draws import one_table
from bayescal.model.prior import VARYING, Heterogeneity
from bayescal.model.priors import PRESETS, Normal, Prior, as_prior
from bayescal.model.problem import Problem, prepare
from bayescal.multilevel.clusters import SharedSteps, given_steps, steps_in_common
from bayescal.multilevel.known import (
    MOST_KNOWN_ROWS,
    KnownSite,
    Summary,
    as_known,
    check_few_sites,
    scores_of_known,
)
from bayescal.multilevel.likelihood import (
    SITE_NODES,
    SiteLikelihood,
    SummaryLikelihood,
    of_tables,
    rows_of_sites,
)
from bayescal.multilevel.mixture import mixture_of, shares_of
from bayescal.multilevel.term import LEAST_ROBUST, Term, Vary, VaryBy, as_vary

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["MultilevelProblem"]

# The neutral prior of an average of several curves, which is wider than that of one curve.
NEUTRAL = Prior(Normal(0.0, 1.0), Normal(0.0, 0.5), Normal(0.0, 1.0), name="neutral")

# Sites known by their summaries, as they come in.
KnownSites: TypeAlias = "pd.DataFrame | Mapping[str, Any] | tuple[KnownSite, ...] | None"
SITE_CURVES = ("intercept", "temperature", "logistic", "beta")
# With a half, the odd cell of twelve has 1.4 times the interval score; with neither, TCE near
# calibration is too large.
# Scales of effects, as a share of those in use, that have half of the prior probability.
NARROW_SCALES = 0.25
# Most rows of one site that carry its curve.
MOST_SITE_ROWS = 64
# Most rows of each of more groups than these, by which its curve is evaluated.
ROWS_OF_MANY = {200: 32, 10: 64}


@dataclass(frozen=True)
class MultilevelProblem:
    """Groups with one family of curves, whose coordinates are an average and effects of terms.

    `data` has scores alone if all groups are sites known by their summaries. `pooled` has all
    patients as one table, and the prior of the average, or of the first period. With one axis the
    name of a group is its level, with several all of its levels, as JSON. A problem with another
    prior of the average is weighed `against` the one that it is made of, whose likelihoods it has.
    """

    data: CalibrationData
    pooled: Problem
    axes: dict[str, tuple[str, ...]]
    terms: tuple[Term, ...]
    known: tuple[KnownSite, ...] = ()
    against: MultilevelProblem | None = None

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Names of the groups, in order."""
        return tuple(in_order([*self.data.groups, *map(attrgetter("label"), self.known)]))

    @cached_property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """The level of each group in every axis."""
        if len(self.axes) == 1:
            return tuple(zip(self.labels, strict=True))
        return tuple(map(tuple, map(json.loads, self.labels)))

    @property
    def dim(self) -> str:
        """What a group is, as trees and models name their dimension: site, period or cell."""
        names = list(self.axes)
        return names[0] if names in (["site"], ["period"]) else "cell"

    @property
    def kind(self) -> str:
        """What a fit of these terms is of: sites, periods, subgroups, or periods beside others."""
        if self.terms[0].correlated:
            return "sites"
        if self.walk is None:
            return "subgroups"
        return "periods" if self.is_walk else "terms"

    @property
    def is_walk(self) -> bool:
        """Whether the groups are ordered periods, and nothing else."""
        return len(self.terms) == 1 and self.walk is not None

    @cached_property
    def walk(self) -> Term | None:
        """The term of ordered periods, if there is one."""
        return next((term for term in self.terms if term.kind == "walk"), None)

    @cached_property
    def robust_term(self) -> Term | None:
        """The term of which a level may be unlike the others, if there is one."""
        return next((term for term in self.terms if term.robust), None)

    @property
    def has_outcomes(self) -> bool:
        """Whether there are groups with patients."""
        return bool(self.data.groups)

    @property
    def heterogeneity(self) -> Heterogeneity:
        """The prior of the scales of the first term that is no interaction, if there is one."""
        return min(self.terms, key=lambda term: len(term.axes) > 1).prior

    @cached_property
    def prior_of_unlike(self) -> Prior:
        """The prior by whose scales levels unlike the others are spread."""
        return (self if self.against is None else self.against).pooled.prior

    @cached_property
    def varying(self) -> tuple[str, ...]:
        """Coordinates that effects move; any other is common to all groups."""
        return tuple(filter(VARYING.__contains__, self.pooled.curve.coordinates))

    def log_at_two_scales(self, scales: Floats) -> Floats:
        """Log prior density (n,) of scales (terms, n, r) by two laws, over that of the one in use.

        Half of its weight is on narrow scales of all effects together.
        """
        log_ratio = np.zeros(scales.shape[1])
        for term, own in zip(self.terms, scales, strict=True):
            narrow = term.prior.scaled(NARROW_SCALES)
            log_ratio += narrow.logpdf(own, self.varying) - term.prior.logpdf(own, self.varying)
        return np.asarray(np.logaddexp(0, log_ratio) - np.log(2))

    @cached_property
    def columns(self) -> list[int]:
        """Columns of the coordinates that effects move."""
        return list(map(self.pooled.curve.coordinates.index, self.varying))

    @cached_property
    def groups(self) -> dict[str, Problem]:
        """The problem of each group, by label, with the constants of all groups.

        And a stream of random numbers of its own. That of a site known by its summaries has the
        scores it is taken to have, and no outcomes.
        """
        groups, known = {}, {}
        for site in self.known:
            known[site.label] = scores_of_known(self.pooled, site)
        size = len(self.labels)
        most = next((rows for least, rows in ROWS_OF_MANY.items() if size > least), None)
        for label in self.labels:
            data = known[label] if label in known else self.data.select(label)
            seed = int(self.pooled.rng(f"site {label}").integers(2**63))
            data = data.with_several_clusters()
            groups[label] = replace(self.pooled, data=data, seed=seed, most_rows=most)
        return groups

    @cached_property
    def tables(self) -> dict[str, Problem]:
        """The problem of each group with patients."""
        return {label: self.groups[label] for label in self.data.groups}

    @cached_property
    def summaries(self) -> dict[str, Summary]:
        """The likelihood of each site known by its summaries."""
        return {
            site.label: Summary(site, replace(self.groups[site.label], most_rows=MOST_KNOWN_ROWS))
            for site in self.known
        }

    @cached_property
    def likelihoods(self) -> list[SiteLikelihood]:
        """What the data of every group say at its coordinates, of groups of one size together."""
        if self.against is not None:
            return self.against.likelihoods
        tables = list(map(self.labels.index, self.tables))
        each = []
        if tables:
            each = of_tables(self.pooled, self.columns, self.densities(tables, SITE_NODES))
        for label, summary in self.summaries.items():
            each.append(SummaryLikelihood(summary, self.columns, self.labels.index(label)))
        return each

    @property
    def shared_steps(self) -> SharedSteps:
        """When events come, in all groups: computed once, as it depends on the tables alone."""
        return steps_in_common(self.pooled, self.labels, self.tables)

    def densities(
        self, groups: Sequence[int], nodes: Nodes = CURVE_NODES
    ) -> dict[int, CurveDensity]:
        """The density of the curve of some groups; of times, given the likeliest steps of Q."""
        made, single = {}, [self.groups[self.labels[k]].of_single_cases() for k in groups]
        # Only the likelihoods of all groups, of known outcomes, need so many tables at once.
        batch = nodes is SITE_NODES and not self.pooled.of_times
        rows = rows_of_sites(single) if batch else [None] * len(single)
        for k, group, own in zip(groups, single, rows, strict=True):
            if self.pooled.of_times:
                density = given_steps(group, k, self.shared_steps)
            else:
                density = CurveDensity(group, nodes, own)
            made[k] = density.adjusted_by(self.adjustments.get(k))
        return made

    @cached_property
    def adjustments(self) -> dict[int, Adjustment]:
        """How clusters flatten the likelihood of each group with patients, by its index.

        None where cases are independent.
        """
        clusters = self.data.clusters
        if clusters is None or clusters.are_single:
            return {}
        from bayescal.multilevel.clusters import adjustments_of  # loads sparse matrices

        each = {self.labels.index(label): group for label, group in self.tables.items()}
        shared = None
        if self.pooled.of_times:
            shared = self.shared_steps
        return adjustments_of(self.data, each, self.prior_of_unlike, shared)

    def groups_with(self, levels: Mapping[str, str]) -> list[int]:
        """Indices of the groups that have all of these levels; of all, if there are none."""
        chosen = np.ones(len(self.cells), dtype=bool)
        for axis, level in levels.items():
            chosen &= self._level_of_group[list(self.axes).index(axis)] == level
        return np.flatnonzero(chosen).tolist()

    @cached_property
    def _level_of_group(self) -> NDArray[np.object_]:
        """The level of every group, by axis."""
        return np.array(self.cells, dtype=object).T

    def together(self, name: str, levels: Mapping[str, str], groups: Sequence[int]) -> Problem:
        """The problem of the groups with some levels, whose curve is the mixture of theirs.

        `name` says which they are: their stream of random numbers is their own.
        """
        if len(groups) == 1:
            return self.groups[self.labels[groups[0]]]
        parts = [self.groups[self.labels[k]] for k in groups]
        if self.has_outcomes:
            data = (self.data.select(**levels) if levels else self.data).pooled()
        else:
            data = reduce(add, [part.data for part in parts])
        seed = int(self.pooled.rng(f"subgroup {name}").integers(2**63))
        joined = replace(self.pooled, data=data.with_several_clusters(), seed=seed)
        weighted = [part.table._replace(trials=part.data.trials) for part in parts]
        shares = shares_of(joined.table, weighted)
        return replace(joined, curve=mixture_of(self.pooled.curve, shares))

    def to_attributes(self) -> dict[str, str]:
        """All but the tables as JSON strings."""
        attributes = self.pooled.to_attributes()
        attributes["axes"] = json.dumps(self.axes)
        attributes["terms"] = json.dumps([term.to_dict() for term in self.terms])
        if self.known:
            attributes["known"] = json.dumps([site.to_dict() for site in self.known])
        return attributes

    @classmethod
    def from_attributes(
        cls, attributes: Mapping[Any, Any], data: CalibrationData
    ) -> MultilevelProblem:
        """Read back what `to_attributes` wrote, for the tables it was written of."""
        known = json.loads(attributes.get("known", "[]"))
        axes = json.loads(attributes["axes"]).items()
        return cls(
            data,
            Problem.from_attributes(attributes, data.pooled()),
            {name: tuple(levels) for name, levels in axes},
            tuple(Term.from_dict(each) for each in json.loads(attributes["terms"])),
            tuple(KnownSite.from_dict(site) for site in known),
        )


def problem_of_all(each: Sequence[MultilevelProblem]) -> MultilevelProblem:
    """The problem that has the tables of all imputations, with the settings of the first."""
    if len(each) == 1:
        return each[0]
    data = CalibrationData.from_imputations([one.data for one in each])
    return replace(each[0], data=data, pooled=one_table([one.pooled for one in each]))


def prepare_terms(
    data: CalibrationData,
    vary: VaryBy = "site",
    *,
    prior: str | Prior | Mapping[str, Any],
    known: KnownSites = None,
    **options: Any,
) -> MultilevelProblem:
    """Make the problem that a fit of several related curves starts from.

    Roles that `vary` does not name are forgotten. The shift of the average acts at the mean
    log-odds of all scores.
    """
    named = as_vary(vary)
    for each in named:
        each.check_beside(named, known=known is not None)
    data = _by_roles(data, named)
    summaries = as_known(known, data.groups)
    if len(data.levels) < 2:
        check_few_sites(len(data.groups), "the table holds {} groups")
        together = len(data.groups) + len(summaries)
        check_few_sites(together, "site and known hold {} sites together")
    if summaries and not data.groups and data.events:
        raise InputError(
            f"known has {count(len(summaries), 'site')}, and the patients have none. Say which "
            "site each of them is from with site=; one label will do."
        )
    if not data.groups and not summaries:
        raise InputError(
            "the table has no site, period or subgroup for vary= to name. Say which site each case "
            "is from with site=, or make the table with bc.CalibrationData(..., site=...)."
        )
    chosen = as_prior(prior)
    centred = replace(NEUTRAL if chosen == PRESETS["neutral"] else chosen, centre="mean")
    pooled = prepare(data.pooled(), prior=centred, **options)
    if pooled.curve.name not in SITE_CURVES:
        raise InputError(
            f"curve={pooled.curve.name!r} cannot be fitted to several sites at once; use one of "
            f"{', '.join(map(repr, SITE_CURVES))}."
        )
    alone = len(named) == 1
    bare = MultilevelProblem(data, pooled, data.levels, (), summaries)
    made = replace(bare, axes={named[0].name: bare.labels}) if summaries else bare
    made = replace(made, axes={**made.axes, **_in_time(data, named)})
    named = with_robust_cells(named, made.cells, list(made.axes))
    return replace(made, terms=tuple(_term(each, made, alone) for each in named))


def with_robust_cells(
    vary: tuple[Vary, ...], cells: Sequence[Sequence[str]], axes: list[str]
) -> tuple[Vary, ...]:
    """The terms, of which that of the combinations is robust if there are enough of them.

    Combinations of most factors, if there are several such terms and none was chosen.
    """
    joint = [each for each in vary if len(each.names) > 1 and each.robust is None]
    if not joint or len(vary) == 1 or any(each.robust for each in vary):
        return vary
    most = max(joint, key=lambda each: len(each.names))
    at = [axes.index(check_choice(name, axes, "vary")) for name in most.names]
    levels = {tuple(cell[k] for k in at) for cell in cells}
    if len(levels) < LEAST_ROBUST:
        return vary
    return tuple(replace(each, robust=True) if each is most else each for each in vary)


def _term(vary: Vary, problem: MultilevelProblem, alone: bool) -> Term:
    """A term of the problem's groups."""
    names = list(problem.axes)
    at = [names.index(check_choice(name, names, "vary")) for name in vary.names]
    if len(at) == 1:
        levels: Sequence[str] = problem.axes[vary.names[0]]
        of_group = [cell[at[0]] for cell in problem.cells]
    elif len(at) == len(names):
        levels = of_group = list(problem.labels)
    else:
        of_group = [json.dumps([cell[k] for k in at]) for cell in problem.cells]
        levels = sorted(set(of_group))
    index = {level: k for k, level in enumerate(levels)}
    is_robust = vary.is_robust(alone)
    elapsed: tuple[float, ...] = ()
    if vary.kind == "walk":
        elapsed = tuple(_periods_of(problem.data, vary).checked().elapsed.tolist())
    return Term(
        vary.name,
        vary.kind,
        tuple(levels),
        tuple(index[level] for level in of_group),
        vary.scales(alone),
        elapsed,
        correlated=alone and vary.kind == "exchangeable" and len(at) == 1,
        of=vary.names,
        robust=is_robust,
    )


def _by_roles(data: CalibrationData, vary: Sequence[Vary]) -> CalibrationData:
    """The table with groups by what curves vary by, and by nothing else."""
    known = [name for name in data.levels if name != "imputation"]
    if not known:
        return data
    names = {check_choice(name, known, "vary") for each in vary for name in each.names}
    for each in vary:
        if each.names == ("period",) and each.kind != "walk":
            raise InputError(
                f"vary has {each!r}, but periods have an order: name them as bc.walk('period')."
            )
    data = data.without([name for name in known if name not in names])
    if len(names) > 1:
        check_factors(data)
    return data


def _periods_of(data: CalibrationData, walk: Vary) -> Periods:
    """The order of the levels of a walk: that of the periods, or that which a factor's names say.

    A factor without an order, such as sites, is refused.
    """
    (name,) = walk.names
    if name == "period" and data.periods is not None:
        return data.periods
    return read_periods(list(data.levels[name]), shortened(name))[2]


def _in_time(data: CalibrationData, vary: Sequence[Vary]) -> dict[str, tuple[str, ...]]:
    """The levels of walks in order of time, by name."""
    walks = [each for each in vary if each.kind == "walk"]
    return {each.name: _periods_of(data, each).labels for each in walks}


def scores_alone(y_prob: Any, known: KnownSites, roles: CaseRoles) -> CalibrationData:
    """Scores without outcomes, at which sites that are known by their summaries are looked at."""
    if known is None:
        raise InputError(
            "y_true is None. Pass the outcomes; only sites known by their summaries, known=, are "
            "fitted without."
        )
    if y_prob is None:
        raise InputError(
            "y_prob is None, and so is y_true: summaries do not say at which scores a curve is "
            "looked at. Pass scores of patients like theirs, bc.fit(None, scores, known=known)."
        )
    for name, values in roles.items():
        if values is not None and name not in ("sample_weight", "weight_type"):
            raise InputError(
                f"{name} was given without outcomes. Cases of which there are scores alone have "
                f"nothing to fit: leave {name} out, or pass y_true."
            )
    scores = as_scores(y_prob)
    return table_of(np.zeros(scores.size), scores, roles)
