"""Several models compared on the same patients of several sites."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats, RandomState, as_seed
from bayescal._base.card import card
from bayescal._base.errors import InputError
from bayescal._base.text import cases_and_events, chance, count, decimals, shortened, signed
from bayescal.data.build.labels import GroupNames
from bayescal.data.data import CalibrationData
from bayescal.data.roles import as_roles
from bayescal.data.validate import (
    as_level,
    as_outcomes,
    as_scores,
    as_weights,
    check_choice,
    check_same_length,
)
from bayescal.fitting._fit import fit
from bayescal.model.priors import Prior
from bayescal.multilevel.populations import LEAST_OF_NEXT
from bayescal.multilevel.same_patients import SamePatients
from bayescal.multilevel.sites import HierarchicalPosterior, as_hierarchical
from bayescal.multilevel.view import CurveView
from bayescal.posterior.functionals import FUNCTIONALS, usual_functionals
from bayescal.posterior.intervals import equal_tailed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ModelComparison", "ModelDifferences", "compare_models"]

LOSSES, GAINS = ("brier", "log_score"), ("c_statistic",)
"""Measures of performance of which less is better, and those of which more is."""
ON_CARD = ("tce", "brier", "c_statistic")


class ModelDifferences:
    """How far models differ for one population: some sites, the average one, or the next.

    Made by `ModelComparison`. Differences are those of a model less the first one. Draws of each
    model are those of its own fit; which draws belong together is told by replicates of the same
    patients, so that both models meet the same of them.

    Attributes
    ----------
    title : str
        Whose difference it is.
    views : dict of str to CurveView
        The curve of each model.
    """

    def __init__(
        self, views: Mapping[str, CurveView], replicates: Callable[[], Sequence[CurveView]]
    ) -> None:
        self.views = dict(views)
        self.title = next(iter(self.views.values())).title
        self._replicates = replicates
        self._paired: dict[str, dict[str, Floats]] = {}

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures: functionals that every curve defines, and of performance."""
        names = usual_functionals()
        each = [set(view.summary(names=names).index) for view in self.views.values()]
        defined = [name for name in names if all(name in one for one in each)]
        return (*defined, *LOSSES, *GAINS)

    def draws(self, measure: str) -> dict[str, Floats]:
        """Draws of a measure of each model; those at one place are of the same patients.

        Parameters
        ----------
        measure : str
            One of `measures`.

        Returns
        -------
        dict of str to ndarray of shape (draws,)
        """
        check_choice(measure, self.measures, "measure")
        if measure not in self._paired:
            own = [_values(view, measure) for view in self.views.values()]
            order = [_values(view, measure) for view in self._kept_replicates]
            drawn = [_in_order_of(*pair) for pair in zip(own, order, strict=True)]
            self._paired[measure] = dict(zip(self.views, drawn, strict=True))
        return {name: values.copy() for name, values in self._paired[measure].items()}

    @cached_property
    def _kept_replicates(self) -> Sequence[CurveView]:
        return self._replicates()

    def summary(self, ci_prob: float = 0.95, measures: Sequence[str] | None = None) -> pd.DataFrame:
        """Every measure of each model, and its difference from the first one.

        Parameters
        ----------
        ci_prob : float in (0, 1)
        measures : sequence of str, optional
            Some of `measures`; by default all.

        Returns
        -------
        pandas.DataFrame
            Index: (measure, model), the model being any but the first. Columns: the mean of the
            measure of the first model, `reference`, and of the model, `estimate`; `difference`, the
            second less the first, with its `lower` and `upper` end; and `prob_better`, the
            probability that the model is better: nearer to the value at perfect calibration, with a
            lower Brier or log score, or with a higher C-statistic.
        """
        import pandas as pd

        level, rows = as_level(ci_prob), {}
        reference, *others = self.views
        for measure in self.measures if measures is None else measures:
            drawn = self.draws(measure)
            first = drawn[reference]
            for name in others:
                lower, upper = equal_tailed(drawn[name] - first, level)
                rows[measure, name] = {
                    "reference": float(first.mean()),
                    "estimate": float(drawn[name].mean()),
                    "difference": float((drawn[name] - first).mean()),
                    "lower": lower,
                    "upper": upper,
                    "prob_better": float(
                        np.mean(_badness(measure, drawn[name]) < _badness(measure, first))
                    ),
                }
        index = pd.MultiIndex.from_tuples(list(rows), names=["measure", "model"])
        table = pd.DataFrame(list(rows.values()), index)
        table.attrs.update(ci_prob=level, reference=reference)
        return table

    def __repr__(self) -> str:
        table = self.summary(measures=ON_CARD)
        rows = zip(table.index.to_list(), table.to_dict("records"), strict=True)
        lines = [f"  {measure}, {model}: {_told(row)}" for (measure, model), row in rows]
        return "\n".join([f"ModelDifferences, {self.title}", *lines])


class ModelComparison:
    """Several models on the same patients of several sites. Made by `bayescal.compare_models`.

    Attributes
    ----------
    posts : dict of str to HierarchicalPosterior
        The fit of each model, the first one being the reference.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, new = bc.simulate.sample("clinical-middle-calibrated", 600, random_state=1)
    >>> old = 1 / (1 + np.exp(-0.5 - 1.5 * np.log(new / (1 - new))))
    >>> site = np.repeat(["A", "B", "C"], 200)
    >>> models = {"old": old, "new": new}
    >>> cmp = bc.compare_models(y_true, models, groups=site, draws=400, random_state=1)
    >>> list(cmp.table("tce").columns)
    ['reference', 'estimate', 'difference', 'lower', 'upper', 'prob_better']
    >>> bool(cmp.at(site="B").summary().loc[("tce", "new"), "prob_better"] > 0.5)
    True
    """

    def __init__(self, posts: Mapping[str, HierarchicalPosterior], same: SamePatients) -> None:
        self.posts = dict(posts)
        self._same = same
        self._kept: dict[str, ModelDifferences] = {}

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the sites."""
        return self._same.labels

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self.posts)

    def at(self, site: str | None = None) -> ModelDifferences:
        """The difference for the patients of one site, or for these patients of all sites.

        Parameters
        ----------
        site : str, optional
            One of `labels`.

        Returns
        -------
        ModelDifferences

        Raises
        ------
        InputError
            If there was no such site.
        """
        if site is None:
            return self._of("", lambda post: post.at(), lambda: self._same.at(None))
        label = check_choice(str(site), self.labels, "site")
        return self._of(
            f"site {label}", lambda post: post.site(label), lambda: self._same.at(label)
        )

    def average(self) -> ModelDifferences:
        """The difference for the average site, over the scores of all patients.

        Returns
        -------
        ModelDifferences
        """
        return self._of("average", lambda post: post.average(), self._same.average)

    def new(self) -> ModelDifferences:
        """The difference for a site that has not been seen.

        Returns
        -------
        ModelDifferences
        """
        return self._of("new", lambda post: post.new(), self._same.new)

    def table(self, measure: str = "tce", ci_prob: float = 0.95) -> pd.DataFrame:
        """One measure: for these patients, the average site, the next one, and each site.

        Parameters
        ----------
        measure : str
            One of the measures of `ModelDifferences`.
        ci_prob : float in (0, 1)

        Returns
        -------
        pandas.DataFrame
            Index: the population; of three models or more (population, model). Columns as
            `ModelDifferences.summary`. There is no next site of fewer than five.
        """
        import pandas as pd

        each = [*self._populations(), *map(self.at, self.labels)]
        tables = [of.summary(ci_prob, [measure]).droplevel("measure") for of in each]
        table = pd.concat(tables, keys=[of.title for of in each], names=["population", "model"])
        if len(self.models) == 2:
            table = table.droplevel("model")
        table.attrs = {**tables[0].attrs, "measure": measure}
        return table

    def _populations(self) -> list[ModelDifferences]:
        of_next = [self.new()] if len(self.labels) >= LEAST_OF_NEXT else []
        return [self.at(), self.average(), *of_next]

    def __repr__(self) -> str:
        data = next(iter(self.posts.values())).data
        lines = [
            f"{len(self.models)} models, {len(self.labels)} sites, "
            f"{cases_and_events(data.n, data.events, data.n)}",
            f"true calibration error less that of {shortened(self.models[0])}",
        ]
        for of in self._populations():
            rows = of.summary(measures=["tce"]).to_dict("records")
            for model, row in zip(self.models[1:], rows, strict=True):
                lines.append(f"{of.title}, {shortened(model)}: {_told(row)}")
        return "\n".join([type(self).__name__, *(f"  {line}" for line in lines)])

    def _repr_html_(self) -> str:
        return card(repr(self))

    def _of(
        self,
        key: str,
        view: Callable[[HierarchicalPosterior], CurveView],
        replicates: Callable[[], Sequence[CurveView]],
    ) -> ModelDifferences:
        if key not in self._kept:
            views = {name: view(post) for name, post in self.posts.items()}
            self._kept[key] = ModelDifferences(views, replicates)
        return self._kept[key]


def compare_models(
    y_true: Any,
    models: Mapping[str, ArrayLike],
    *,
    groups: ArrayLike,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    prior: str | Prior | Mapping[str, Any] = "neutral",
    draws: int = 4000,
    random_state: RandomState = None,
    pos_label: Any = None,
) -> ModelComparison:
    """Compare models on the same patients of several sites.

    How far do the models differ for these patients, for the average site, and for the next one? The
    answer has every measure of a fit of several sites, the Brier and log scores and the
    C-statistic.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Outcomes, 0/1 or boolean; other labels need `pos_label`.
    models : mapping of str to arrays
        The predicted probabilities of each model, one for each case, by its name. Others are
        compared with the first.
    groups : array-like of shape (n,)
        Site of each case.
    cluster : array-like of shape (n,), optional
        Cluster of each case, as in `bayescal.fit`.
    sample_weight : array-like of shape (n,), optional
        Counts of cases.
    prior : {"neutral", "clinical"}, Prior, or mapping
    draws : int
        Of each fit.
    random_state : int or numpy.random.Generator, optional
    pos_label : object, optional

    Returns
    -------
    ModelComparison

    Raises
    ------
    InputError
        If the arrays are not outcomes, probabilities and sites of the same cases, or there are
        fewer than two models.

    Notes
    -----
    Each model has a fit of its own, `bayescal.fit` with groups, whose draws belong to no draws of
    another. Which of them stand side by side is told by replicates: patients and sites are drawn
    again by the Bayesian bootstrap, the same for all models; the curves of each follow their
    weights by one step of Newton's method; and the draws of a measure are put in the order of its
    replicates (the Schaake shuffle). The posterior of each model is unchanged by this, and a model
    differs from itself by exactly 0.

    References
    ----------
    Clark et al. (2004), The Schaake shuffle: a method for reconstructing space-time variability in
    forecasted precipitation and temperature fields, Journal of Hydrometeorology 5. Newton & Raftery
    (1994), Approximate Bayesian inference with the weighted likelihood bootstrap, JRSS B 56.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, new = bc.simulate.sample("clinical-middle-calibrated", 600, random_state=1)
    >>> old = 1 / (1 + np.exp(-0.5 - 1.5 * np.log(new / (1 - new))))
    >>> cmp = bc.compare_models(
    ...     y_true,
    ...     {"old": old, "new": new},
    ...     groups=np.repeat(["A", "B", "C"], 200),
    ...     random_state=1,
    ... )
    >>> bool(cmp.average().summary().loc[("tce", "new"), "prob_better"] > 0.5)
    True
    """
    names = _names_of(models)
    given: dict[str, Any] = {
        f"models[{shortened(name)!r}]": score for name, score in models.items()
    }
    roles = as_roles(groups=groups, cluster=cluster)
    values, roles = roles.aligned(y_true=y_true, sample_weight=sample_weight, **given)
    outcome, weight = as_outcomes(values[0], pos_label=pos_label), values[1]
    counts = as_weights(weight, outcome.size)
    counts = np.ones(outcome.size) if counts is None else counts
    scores = [as_scores(score, name) for name, score in zip(given, values[2:], strict=True)]
    for name, score in zip(given, scores, strict=True):
        check_same_length(outcome.size, "y_true", score.size, name)
    if "site" not in roles.columns:
        raise InputError(
            "groups has several factors, and models are compared by site: pass the site of each "
            "case."
        )
    site, kept = _labels(roles.columns["site"], "groups", outcome.size), counts > 0
    unit: NDArray[Any] = np.arange(outcome.size)
    of_cases: dict[str, Any] = {"site": site[kept]}
    if cluster is not None:
        unit = _labels(roles.columns["cluster"], "cluster", outcome.size)
        of_cases["cluster"] = unit[kept]
    seed, posts = as_seed(random_state), {}
    for name, score in zip(names, scores, strict=True):
        table = CalibrationData(
            outcome[kept], score[kept], counts[kept], weight_type="counts", **of_cases
        )
        post = fit(table, prior=prior, draws=draws, random_state=seed)
        posts[name] = as_hierarchical(post)
    cases = [each[kept] for each in scores]
    same = SamePatients(
        *(list(posts.values()), outcome[kept], cases, counts[kept], site[kept], unit[kept], seed)
    )
    return ModelComparison(posts, same)


def _names_of(models: Any) -> list[str]:
    """Names of two models or more."""
    if not isinstance(models, Mapping) or not all(isinstance(name, str) for name in models):
        raise InputError(
            "models must be the predictions of each model by its name, such as {'old': old, "
            f"'new': new}}, got {shortened(repr(models))}."
        )
    if len(models) < 2:
        raise InputError(
            f"models has the predictions of {count(len(models), 'model')}, and a comparison needs "
            "two or more, such as {'old': old, 'new': new}."
        )
    return list(models)


def _labels(column: Any, name: str, size: int) -> NDArray[np.str_]:
    """Labels as text, one for each case."""
    names = GroupNames()
    codes = names.codes(column, size, name)
    return np.array(names.names)[codes]


def _values(view: CurveView, measure: str) -> Floats:
    """Draws of a functional, or of a measure of performance."""
    if measure in FUNCTIONALS:
        return view.values_of(measure)
    return np.asarray(view.performance()[measure]).ravel()


def _in_order_of(values: Floats, like: Floats) -> Floats:
    """The values in the order of others: the smallest where those are smallest."""
    placed = np.empty_like(values)
    placed[np.argsort(like, kind="stable")] = np.sort(values)
    return placed


def _badness(measure: str, values: Floats) -> Floats:
    """A measure as something of which less is better."""
    if measure in FUNCTIONALS:
        return np.abs(values - FUNCTIONALS[measure].ideal)
    return -values if measure in GAINS else values


def _told(row: Mapping[Any, Any]) -> str:
    """A difference with its interval, for a line of text."""
    places = decimals(row["lower"], row["upper"])
    middle, lower, upper = (signed(row[key], places) for key in ("difference", "lower", "upper"))
    return f"{middle} ({lower} to {upper})  P(better) {chance(row['prob_better'])}"
