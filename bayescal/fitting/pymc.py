"""build_model(): the PyMC model of a fit, to look at or to extend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from bayescal.core.errors import InputError
from bayescal.data.keywords import as_data
from bayescal.data.read import Outcomes
from bayescal.data.sources.alignment import aligned
from bayescal.data.table import CalibrationData
from bayescal.data.weights import WeightType
from bayescal.model.curves import AVERAGE, FAMILY_OF_SEVERAL, Curve
from bayescal.model.heterogeneity import Heterogeneity
from bayescal.model.priors import Prior
from bayescal.model.problem import prepare
from bayescal.model.pymc.model import model_of
from bayescal.model.pymc.rows import rows_of
from bayescal.multilevel.known import check_few_labels
from bayescal.multilevel.nuts import multilevel_model
from bayescal.multilevel.problem import KnownSites, prepare_terms, scores_alone

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["build_model"]


def build_model(
    y_true: Outcomes | None,
    y_prob: ArrayLike | None = None,
    *,
    curve: str | Curve | None = None,
    prior: str | Prior | Mapping[str, Any] = "neutral",
    offset: Any = None,
    site: ArrayLike | None = None,
    heterogeneity_prior: Heterogeneity | Mapping[str, Any] | None = None,
    known: KnownSites = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType | None = None,
    edge: float | None = None,
    pos_label: Any = None,
    horizon: float | None = None,
) -> pm.Model:
    """Build the PyMC model that `bayescal.fit(engine="nuts")` samples.

    Working coordinates are free variables named as the family names them; curve_alpha, curve_beta
    and curve_c (or slope) are deterministic, and so are `log_odds` and `event_prob`, the curve by
    row. `hits` is observed, one element a row. Its log likelihood is that of the single cases,
    without binomial coefficients.

    Parameters
    ----------
    y_true : array-like of shape (n,) or CalibrationData, or None
        Outcomes, 0/1 or boolean, or a table. None with `known` alone.
    y_prob : array-like of shape (n,), optional
        Predicted probabilities in [0, 1].
    curve : str or Curve
        Family of the calibration curve. It must be named, since the average over families is no
        PyMC model; of several sites it is "beta" by default.
    prior : {"neutral", "clinical"}, Prior, or mapping
    offset : array-like or PyMC variable of shape (n,), or (rows,) with a table, optional
        Added to the log-odds of the curve, such as a covariate times its coefficient, or the
        effect of a site. A PyMC variable is one of the model whose context this is called in, and
        that model is the one that is extended.
    site : array-like of shape (n,), optional
        Site of each case: the model is then that of a hierarchical fit, whose sites have a shift
        and a slope of their own.
    heterogeneity_prior : Heterogeneity or mapping, optional
        Of how much sites differ, as in `bayescal.fit`.
    known : pandas.DataFrame or mapping, optional
        Sites known by their summaries, as in `bayescal.fit`: each is a potential.
    sample_weight : array-like of shape (n,), optional
    weight_type : {"counts", "sampling"}, optional
        As in `bayescal.fit`.
    edge : float in (0, 0.5), optional
        The least distance of a score from 0 and 1; nearer ones are moved there.
    pos_label : object, optional
        The label in `y_true` that counts as the event.
    horizon : float, optional
        Of times to an event, as in `bayescal.fit`: the model then has the variables `step` and
        `step_by_score`, by `interval`, and `hits` is no observed variable but a potential,
        `followed`.

    Returns
    -------
    pymc.Model
        With coordinate `row`, and data `score`, `trials` and, with an offset of numbers, `offset`
        by row. If cases were given it has the coordinate `obs` too, and data `row_of_obs`: the row
        of each case, in the order of `y_true`. Of several sites it has the coordinate `site`, data
        `site_of_row`, and no `obs`.

    Raises
    ------
    InputError
        If the input is not outcomes and probabilities of the same cases, the family is `pieces`,
        which has no PyMC form, the offset is not one finite number for each case (or row), or there
        are several sites and an offset.

    Notes
    -----
    Rows are in ascending order of the score. Cases with equal scores share a row; with an offset
    of numbers, those with equal scores and offsets do; with an offset that is a PyMC variable,
    every case has a row of its own, in the order given.

    Examples
    --------
    >>> import bayescal as bc
    >>> outcomes, scores = [0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]
    >>> model = bc.build_model(outcomes, scores, curve="beta")  # doctest: +SKIP
    >>> [variable.name for variable in model.free_RVs]  # doctest: +SKIP
    ['shift', 'log_slope', 'asymmetry']

    Effects of three hospitals, with patients of each in an index `hospital`:

    >>> import pymc as pm  # doctest: +SKIP
    >>> with pm.Model() as model:  # doctest: +SKIP
    ...     effect = pm.Normal("effect", 0, 0.5, shape=3)
    ...     bc.build_model(y_true, y_prob, curve="beta", offset=effect[hospital])
    """
    y_true, y_prob, sample_weight, site, offset = aligned(
        y_true=y_true, y_prob=y_prob, sample_weight=sample_weight, site=site, offset=offset
    )
    weights: dict[str, Any] = {"sample_weight": sample_weight, "weight_type": weight_type}
    if y_true is None:
        data = scores_alone(y_prob, known, {"site": site}, **weights)
    else:
        of_cases = weights | {"site": site, "pos_label": pos_label}
        of_cases |= {"takes_times": True, "horizon": horizon}
        data = as_data(y_true, y_prob, check_sites=check_few_labels, **of_cases).independent()
    for role in ("imputation", "period", *data.subgroups):
        if role in data.levels:
            raise InputError(
                f"the table has {role}, and the PyMC model is of one curve or of sites. Select or "
                "forget it first, as data.select and data.without do."
            )
    if data.groups or known is not None:
        if offset is not None:
            raise InputError(
                "offset was given beside sites. They are an offset of their own: drop one of the "
                "two, or build the effect of a site as a PyMC variable and pass it as offset."
            )
        sites = prepare_terms(
            data,
            curve=FAMILY_OF_SEVERAL if curve is None else curve,
            prior=prior,
            heterogeneity=heterogeneity_prior,
            known=known,
            edge=edge,
            random_state=0,
        )
        return multilevel_model(sites, merged=False)
    if curve is None or (isinstance(curve, str) and curve == AVERAGE.name):
        raise InputError(
            "curve is missing: the PyMC model is of one family of curves, and the average over "
            "families is a mixture that has none. Name a family, such as curve='beta'."
        )
    problem = prepare(data, curve=curve, prior=prior, edge=edge, random_state=0)
    given: Any = (y_true, y_prob, sample_weight)
    if isinstance(y_true, CalibrationData) or problem.of_times:
        given = None
    return model_of(problem, rows_of(problem, given, offset, pos_label), by_row=True)
