"""Several models compared on the same patients: of one population, or of several sites."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.arrays import Floats, Known, RandomState, as_seed
from bayescal.core.errors import InputError, as_level, as_levels, check_choice
from bayescal.core.page import Figure, Page, Section
from bayescal.core.table import Column, Row, Table, measured
from bayescal.core.text import (
    THE_SAME,
    card,
    cases_and_events,
    chance_of_better,
    count,
    shortened,
)
from bayescal.data.cases import as_outcomes, as_scores, as_weights, check_same_length, is_matrix
from bayescal.data.doors import CaseRoles, door, given_of
from bayescal.data.roles import as_roles, labels_of
from bayescal.data.table import CalibrationData
from bayescal.data.times import (
    FollowUp,
    Survival,
    as_horizon,
    check_codes,
    refuse_horizon,
)
from bayescal.data.weights import as_weight_type
from bayescal.fitting._fit import fit
from bayescal.model.priors import Prior
from bayescal.multilevel.posterior import MultilevelPosterior, as_multilevel
from bayescal.multilevel.replicates import (
    Patients,
    Resampled,
    SamePatients,
    given_free,
    replicates,
)
from bayescal.multilevel.words import LEAST_OF_NEXT
from bayescal.posterior.functionals import FUNCTIONALS, usual_functionals
from bayescal.posterior.intervals import among_few, equal_tailed
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

# Measures of performance: those of which less is better, and two of which more is.
LOSSES, C_STATISTIC, NET_BENEFIT = ("brier", "log_score"), "c_statistic", "net_benefit"
# One family, and no average: an average pulls the level of each model towards its own predictions,
# and intervals of differences in O/E and net benefit were too short. With one they cover .94 to .98
# (200 sets, where leaving tells nothing).
# Who is compared without sites, and the family of all their curves.
ALL, FAMILY = "All cases", "beta"
ON_CARD = ("tce", "brier", "c_statistic")
# Roles and words that models are compared with.
TAKEN = ("site", "cluster", "sample_weight", "weight_type", "horizon", "pos_label")
NOT_TAKEN = (
    "cannot be given to compare_models, which takes site, cluster, horizon, and counts of cases as "
    "sample_weight. Leave it out, or compare the models on the cases of each group by themselves."
)


class ModelDifferences:
    """How far models differ for one population: some sites, the average one, or the next.

    Made by `bayescal.compare_models` without sites, and by `ModelComparison`. Differences are those
    of a model less the first one. Draws of each model are those of its own fit, and of sites, but
    for distances, given that nothing is exactly calibrated; which draws belong together is told by
    replicates of the same patients, so that both models meet the same of them.

    Attributes
    ----------
    title : str
        Whose difference it is.
    views : dict of str to CalibrationPosterior
        The curve of each model.
    """

    def __init__(
        self,
        title: str,
        views: Mapping[str, CalibrationPosterior],
        replicates: Callable[[], Sequence[CalibrationPosterior]],
        alike: Mapping[str, str],
        differ: Mapping[str, float] | None = None,
        free: Sequence[CalibrationPosterior] | None = None,
    ) -> None:
        self.title, self.views = title, dict(views)
        self._free = list(views.values()) if free is None else free
        self._replicates, self._alike, self._differ = replicates, alike, dict(differ or {})
        self._paired: dict[tuple[Any, ...], dict[str, Floats]] = {}

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures: functionals that every curve defines, and of performance."""
        names = usual_functionals()
        each = [set(view.summary(names=names).index) for view in self.views.values()]
        defined = [name for name in names if all(name in one for one in each)]
        return (*defined, *LOSSES, C_STATISTIC)

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
        return {name: values.copy() for name, values in self._drawn(measure).items()}

    def net_benefit(self, thresholds: ArrayLike, ci_prob: float = 0.95) -> pd.DataFrame:
        """Net benefit of each model at thresholds, and its difference from the first one.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
            Risks from which a patient is treated, in (0, 1).
        ci_prob : float in (0, 1)

        Returns
        -------
        pandas.DataFrame
            Index: (threshold, model). Columns as those of `summary`; a model with the higher net
            benefit is better.
        """
        asked = {float(at): (NET_BENEFIT, at) for at in as_levels(thresholds, "thresholds")}
        return self._differences(asked, "threshold", as_level(ci_prob))

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
        level, names = as_level(ci_prob), self.measures if measures is None else measures
        asked = {check_choice(name, self.measures, "measure"): (name,) for name in names}
        table = self._differences(asked, "measure", level)
        table.attrs.update(ci_prob=level, reference=next(iter(self.views)))
        return table

    def _drawn(self, measure: str, *threshold: float) -> dict[str, Floats]:
        """Draws of each model in the order of the same patients."""
        key = measure, *threshold
        if key not in self._paired:
            is_distance = measure in FUNCTIONALS and FUNCTIONALS[measure].is_distance
            own = self.views.values() if is_distance else self._free
            each = [
                _in_order_of(*(_values(of, measure, *threshold) for of in (view, like)))
                for view, like in zip(own, self._kept_replicates, strict=True)
            ]
            drawn = dict(zip(self.views, each, strict=True))
            ranks = self._alike if measure == C_STATISTIC else {}
            self._paired[key] = drawn | {name: drawn[one] for name, one in ranks.items()}
        return self._paired[key]

    def _differences(
        self, asked: Mapping[Any, tuple[Any, ...]], called: str, level: float
    ) -> pd.DataFrame:
        """A row for each measure (at its threshold, if it has one) and model but the first."""
        import pandas as pd

        rows = {}
        for key, (measure, *threshold) in asked.items():
            drawn = self._drawn(measure, *threshold)
            reference, *others = drawn
            for name in others:
                rows[key, name] = self._row(name, measure, drawn[name], drawn[reference], level)
        index = pd.MultiIndex.from_tuples(list(rows), names=[called, "model"])
        return pd.DataFrame(list(rows.values()), index)

    def _row(
        self, name: str, measure: str, values: Floats, first: Floats, level: float
    ) -> dict[str, float]:
        change = shown = values - first
        if measure in FUNCTIONALS:
            ideal = FUNCTIONALS[measure].ideal
            is_better = np.abs(values - ideal) < np.abs(first - ideal)
        else:
            shown = self._among_few(name, change)
            is_better = shown < 0 if measure in LOSSES else shown > 0
        lower, upper = equal_tailed(shown, level)
        return {
            "reference": float(first.mean()),
            "estimate": float(values.mean()),
            "difference": float(change.mean()),
            "lower": lower,
            "upper": upper,
            "prob_better": float(np.mean(is_better)),
        }

    def _among_few(self, name: str, change: Floats) -> Floats:
        """A change in what patients gain, which few patients with other predictions made."""
        data = self.views[name].data
        number = self._differ.get(name, data.n)
        if not change.any() or not number:
            return change
        size = float(change.mean()) * data.n / number
        return among_few(change, size, data.n, self.views[name].problem.rng("discordant"))

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: replicates, in place of what makes them."""
        return self.__dict__ | {"_replicates": Known(self._kept_replicates)}

    @cached_property
    def _kept_replicates(self) -> Sequence[CalibrationPosterior]:
        return self._replicates()

    def page(self, thresholds: Sequence[float] = ()) -> Page:
        """How far the models differ, and how probable it is that one is better than the first.

        Parameters
        ----------
        thresholds : sequence of float
            Risks from which a case is treated, for a table of the net benefit.
        """
        summary = self.summary(measures=ON_CARD)
        first, errors = summary.attrs["reference"], summary.xs("tce").T.to_dict()
        answer = [_of_error(row, str(name), first) for name, row in errors.items()]
        curves = {shortened(name): view for name, view in self.views.items()}
        figure = Figure("reliability", curves, {"ci_probs": (0.95,)}, "Calibration curves")
        title = f"Each model less {shortened(first)}, with 95 % intervals"
        tables = [_table("differences", title, "Measure, model", summary)]
        if thresholds:
            title = "Net benefit less that of the first model, with 95 % intervals"
            benefit = self.net_benefit(thresholds)
            tables.append(_table("net_benefit", title, "Net benefit at, model", benefit))
        return Page(
            f"{' and '.join(curves)} compared",
            self.title,
            tuple(answer),
            (Section("Differences", (figure, *tables)),),
            (),
            {"differences": _recorded(tables[0])},
        )

    def __repr__(self) -> str:
        return f"ModelDifferences\n{self.page()}"


class ModelComparison:
    """Several models on the same patients of several sites. Made by `bayescal.compare_models`.

    Attributes
    ----------
    posts : dict of str to MultilevelPosterior
        The fit of each model, the first one being the reference.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, new = bc.simulate.sample("clinical-middle-calibrated", 600, random_state=1)
    >>> old = 1 / (1 + np.exp(-0.5 - 1.5 * np.log(new / (1 - new))))
    >>> site = np.repeat(["A", "B", "C"], 200)
    >>> models = {"old": old, "new": new}
    >>> cmp = bc.compare_models(y_true, models, site=site, draws=400, random_state=1)
    >>> list(cmp.table("tce").columns)
    ['reference', 'estimate', 'difference', 'lower', 'upper', 'prob_better']
    >>> bool(cmp.at(site="B").summary().loc[("tce", "new"), "prob_better"] > 0.5)
    True
    """

    def __init__(
        self,
        posts: Mapping[str, MultilevelPosterior],
        same: SamePatients,
        alike: Mapping[str, str],
    ) -> None:
        self.posts = dict(posts)
        self._same, self._alike = same, alike
        self._kept: dict[tuple[str, str | None], ModelDifferences] = {}

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but the populations, which are made again when asked for."""
        return self.__dict__ | {"_kept": {}}

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
        label = None if site is None else check_choice(str(site), self.labels, "site")
        of = {} if label is None else {"site": label}
        return self._of(("at", label), lambda post: post.at(**of), lambda: self._same.at(label))

    def average(self) -> ModelDifferences:
        """The difference for the average site, over the scores of all patients.

        Returns
        -------
        ModelDifferences
        """
        return self._of(("average", None), lambda post: post.average(), self._same.average)

    def new(self) -> ModelDifferences:
        """The difference for a site that has not been seen.

        Returns
        -------
        ModelDifferences
        """
        return self._of(("new", None), lambda post: post.new(), self._same.new)

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
        table = self._of_each([*self._populations(), *map(self.at, self.labels)], measure, ci_prob)
        if len(self.models) == 2:
            table = table.droplevel("model")
        table.attrs.update(ci_prob=as_level(ci_prob), reference=self.models[0], measure=measure)
        return table

    def _of_each(
        self, each: Sequence[ModelDifferences], measure: str, ci_prob: float = 0.95
    ) -> pd.DataFrame:
        import pandas as pd

        tables = [of.summary(ci_prob, [measure]).droplevel("measure") for of in each]
        return pd.concat(tables, keys=[of.title for of in each], names=["population", "model"])

    def _populations(self) -> list[ModelDifferences]:
        of_next = [self.new()] if len(self.labels) >= LEAST_OF_NEXT else []
        return [self.at(), self.average(), *of_next]

    def page(self, thresholds: Sequence[float] = ()) -> Page:
        """How far the models differ: for these patients, the average site, and the next one.

        Parameters
        ----------
        thresholds : sequence of float
            As of `ModelDifferences.page`.
        """
        data = next(iter(self.posts.values())).data
        of_these = self.at().page(thresholds)
        title = f"True calibration error less that of {shortened(self.models[0])}"
        errors = self._of_each(self._populations(), "tce")
        table = _table("populations", title, "Patients, model", errors)
        subject = (
            f"{len(self.models)} models, {count(len(self.labels), 'site')}, "
            f"{cases_and_events(data.n, data.events, data.n)}"
        )
        record = {**of_these.record, "populations": _recorded(table)}
        sections = (*of_these.sections, Section("For whom", (table,)))
        return replace(of_these, subject=subject, sections=sections, record=record)

    def __repr__(self) -> str:
        return f"{type(self).__name__}\n{self.page()}"

    def _repr_html_(self) -> str:
        return card(repr(self))

    def _of(
        self,
        key: tuple[str, str | None],
        view: Callable[[MultilevelPosterior], CalibrationPosterior],
        replicates: Callable[[], Sequence[CalibrationPosterior]],
    ) -> ModelDifferences:
        if key not in self._kept:
            views = {name: view(post) for name, post in self.posts.items()}
            free = list(map(view, self._same.posts))
            title = free[0]._title
            self._kept[key] = ModelDifferences(title, views, replicates, self._alike, free=free)
        return self._kept[key]


@door
def compare_models(
    y_true: Any,
    models: Mapping[str, ArrayLike] | None = None,
    *,
    prior: str | Prior | Mapping[str, Any] = "neutral",
    draws: int = 4000,
    random_state: RandomState = None,
    **roles: Unpack[CaseRoles],
) -> ModelComparison | ModelDifferences:
    """Compare models on the same patients, of one population or of several sites.

    How far do the models differ, and how probable is it that one is better? The answer has every
    measure of a fit, the Brier and log scores, the C-statistic, and net benefit at thresholds. Of
    several sites it is given for these patients, for the average site, and for the next one.

    Parameters
    ----------
    %(outcomes)s
    models : mapping of str to arrays
        The predicted probabilities of each model, one for each case, by its name. Others are
        compared with the first. Of a data frame `prob` names their columns.
    %(roles)s
    prior : {"neutral", "clinical"}, Prior, or mapping
    draws : int
        Of each fit.
    random_state : int or numpy.random.Generator, optional

    Returns
    -------
    ModelDifferences or ModelComparison
        The latter of several sites.

    Raises
    ------
    InputError
        If the arrays are not outcomes, probabilities and sites of the same cases, there are fewer
        than two models, or several imputations of the predictions.

    Notes
    -----
    Each model has a fit of its own, whose draws belong to no draws of another: with sites that of
    `bayescal.fit`, without sites the same with `curve="beta"`. An average over families would pull
    the level of each model towards its own predictions, of each by another amount. Which of them
    stand side by side is told by replicates: patients and sites are drawn again by the Bayesian
    bootstrap, the same for all models; the curves of each follow their weights by one step of
    Newton's method; and the draws of a measure are put in the order of its replicates (the Schaake
    shuffle). The posterior of each model is unchanged by this, and a model differs from itself by
    exactly 0. So do the C-statistics of models that put the cases in the same order; those of other
    models follow from the curve of each, so that orders that are nearly the same can differ a
    little more, or less, than they do in the outcomes.

    Of sites, distances from calibration are those of each fit, some of whose draws are exactly
    calibrated. Anything else is read given that nothing is exactly calibrated: in such draws a
    model's own predictions are the outcomes, which would be others for each model.

    What a case tells that left before the horizon is how likely it was, given the curve, to have no
    event until then. That leaving tells nothing more of the event is assumed of every model, given
    its own risk.

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
    ...     site=np.repeat(["A", "B", "C"], 200),
    ...     random_state=1,
    ... )
    >>> bool(cmp.average().summary().loc[("tce", "new"), "prob_better"] > 0.5)
    True
    """
    if isinstance(y_true, CalibrationData):
        _refuse_several(y_true, "y_true")
    named = given_of(y_true, models, roles, name="models")
    named.refuse(TAKEN, NOT_TAKEN)
    if named.words.get("horizon") is not None:
        as_horizon(named.words["horizon"])
    of_models = named.y_prob
    if named.columns is not None:
        columns = of_models if hasattr(of_models, "items") else {named.columns.prob: of_models}
        of_models = dict(columns.items())
    _check_models(of_models)
    horizon, pos_label = (named.words.get(name) for name in ("horizon", "pos_label"))
    given: dict[str, Any] = {
        f"models[{shortened(name)!r}]": score for name, score in of_models.items()
    }
    for name, score in {"y_true": named.y_true, **given}.items():
        _refuse_several(score, name)
    role_columns = dict(named.roles)
    weight = role_columns.pop("sample_weight", None)
    values, of_roles = as_roles(**role_columns).aligned(
        y_true=named.y_true, sample_weight=weight, **given
    )
    seen, is_known = _seen(values[0], horizon, pos_label)
    size = is_known.size
    counts = as_weights(values[1], size)
    if as_weight_type(named.words.get("weight_type"), counts) == "sampling":
        raise InputError(
            "sample_weight has sampling weights, and compare_models resamples cases: it takes "
            "counts. Leave it out, or fit each model with bc.fit."
        )
    counts = np.ones(size) if counts is None else counts
    scores = [as_scores(score, name) for name, score in zip(given, values[2:], strict=True)]
    for name, score in zip(given, scores, strict=True):
        check_same_length(size, "y_true", score.size, name)
    kept = (counts > 0) & is_known
    labels = {}
    for role, column in of_roles.columns.items():
        code, names = labels_of(column, size, role)
        labels[role] = np.array(names)[code][kept]
    counts = counts[kept]
    patients: Patients
    if isinstance(seen, Survival):
        seen = seen.of(kept)
        patients = FollowUp.of_cases(seen, as_horizon(horizon), np.ones(counts.size))
    else:
        patients = seen = seen[kept]
    cases = {name: score[kept] for name, score in zip(of_models, scores, strict=True)}
    unit = labels.get("cluster", np.arange(counts.size))

    seed = as_seed(random_state)
    how: dict[str, Any] = {"prior": prior, "draws": draws, "random_state": seed}
    if "site" not in labels:
        how["curve"] = FAMILY
    of_table: dict[str, Any] = {"weight_type": "counts", "horizon": horizon, **labels}
    posts: dict[str, Any] = {
        name: fit(CalibrationData(seen, score, counts, **of_table), **how)
        for name, score in cases.items()
    }
    again = Resampled(
        patients, [*cases.values()], counts, unit, next(iter(posts.values())).draws, seed
    )
    if "site" in labels:
        sites = {name: as_multilevel(post, "sites") for name, post in posts.items()}
        free = [given_free(post) for post in sites.values()]
        same = SamePatients(free, again, labels["site"])
        return ModelComparison(sites, same, _of_one_order(cases))
    alone = partial(replicates, [*posts.values()], again, ALL)
    first, *others = cases
    differ = {name: float(counts[cases[name] != cases[first]].sum()) for name in others}
    return ModelDifferences(ALL, posts, alone, _of_one_order(cases), differ)


def _of_one_order(cases: Mapping[str, Floats]) -> dict[str, str]:
    """Models that put all cases in the order of one before them, and have its C-statistic."""
    order = {name: np.unique(score, return_inverse=True)[1] for name, score in cases.items()}
    first = {
        name: next(one for one, other in order.items() if np.array_equal(other, own))
        for name, own in order.items()
    }
    return {name: one for name, one in first.items() if one != name}


def _seen(y_true: Any, horizon: Any, pos_label: Any) -> tuple[Any, NDArray[np.bool_]]:
    """Outcomes or times, checked, and of which cases they tell something."""
    if not isinstance(y_true, Survival):
        refuse_horizon(horizon)
        outcome = as_outcomes(y_true, pos_label=pos_label, missing=True)
        return outcome, np.asarray(~np.isnan(outcome))
    as_horizon(horizon)
    check_codes(y_true.unnamed_codes)
    if pos_label is not None:
        raise InputError("pos_label was given beside a Survival, whose events are 0/1. Drop it.")
    return y_true, np.ones(len(y_true), bool)


def _refuse_several(values: Any, name: str) -> None:
    """Refuse imputations, of which each is compared by itself."""
    if isinstance(values, CalibrationData):
        raise InputError(
            f"{name} is a CalibrationData, which has the scores of one model. Pass arrays: the "
            "outcomes, and the predictions of each model by its name."
        )
    if is_matrix(values):
        rows, columns = np.shape(values)
        what = "predictions" if name.startswith("models") else "outcomes"
        raise InputError(
            f"{name} has two dimensions, {rows} by {columns}: several imputations of the {what} "
            "are not compared at once, since models must be compared within each imputation. Call "
            "compare_models once for each imputation, with one value for each case."
        )


def _check_models(models: Any) -> None:
    """Refuse what are not two models or more, each by its name."""
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


def _values(view: CalibrationPosterior, measure: str, *threshold: float) -> Floats:
    """Draws of a functional, or of a measure of performance."""
    if measure in FUNCTIONALS:
        return view.values_of(measure)
    return np.asarray(view.performance(threshold)[measure]).ravel()


def _in_order_of(values: Floats, like: Floats) -> Floats:
    """The values in the order of others: the smallest where those are smallest."""
    placed = np.empty_like(values)
    placed[np.argsort(like, kind="stable")] = np.sort(values)
    return placed


def _better(row: Mapping[Any, Any]) -> str:
    """The probability of being better; of what is the same in every draw, that it is."""
    return chance_of_better(row["lower"], row["upper"], row["prob_better"])


def _table(name: str, title: str, head: str, differences: pd.DataFrame) -> Table:
    """Differences by (measure, threshold or population) and model, as a page shows them."""
    each = zip(differences.index.to_list(), differences.to_dict("records"), strict=True)
    rows = []
    for (key, model), numbers in each:
        of = key if isinstance(key, str) else f"{key:g}"
        values = {str(column): value for column, value in numbers.items()}
        rows.append(Row(f"{of}, {model}", f"{of}, {shortened(model)}", values))
    keys = ("difference", "lower", "upper")
    columns = (
        measured("difference", "Difference (95 % interval)", keys, signed=True),
        Column("prob_better", "P(better)", lambda row: _better(row.values)),
    )
    return Table(name, title, head, columns, rows, stacks=True)


def _recorded(table: Table) -> dict[str, Any]:
    return {row.name: dict(row.values) for row in table.rows}


def _of_error(row: Mapping[Any, Any], other: str, first: str) -> str:
    """How far the error of a model is from that of the first, in points."""
    change, low, high = (100 * float(row[key]) for key in ("difference", "lower", "upper"))
    names, better = (shortened(other, 20), shortened(first, 20)), _better(row)
    told = f"better with probability {better}" if better != THE_SAME else better
    if low < 0 < high or not change:
        in_words = f"{change:+.1f} points ({low:+.1f} to {high:+.1f})"
        return f"Error of {names[0]} against {names[1]}: {in_words}; {told}."
    way, (low, high) = "less" if change < 0 else "more", sorted((abs(low), abs(high)))
    return (
        f"{names[0]} is off by {abs(change):.1f} points {way} than {names[1]} ({low:.1f} to "
        f"{high:.1f}); {told}."
    )
