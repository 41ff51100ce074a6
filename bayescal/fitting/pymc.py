"""build_model(): the PyMC model of a fit, to look at or to extend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

from numpy.typing import ArrayLike

from bayescal.core.errors import InputError
from bayescal.data.doors import CaseRoles, door, given_of
from bayescal.data.roles import as_roles
from bayescal.data.table import CalibrationData
from bayescal.model.curves import AVERAGE, FAMILY_OF_SEVERAL, Curve
from bayescal.model.priors import Prior
from bayescal.model.problem import prepare
from bayescal.model.pymc.model import model_of
from bayescal.model.pymc.rows import rows_of
from bayescal.multilevel.known import check_few_labels
from bayescal.multilevel.nuts import multilevel_model
from bayescal.multilevel.problem import KnownSites, prepare_terms, scores_alone
from bayescal.multilevel.term import VaryBy

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["build_model"]


@door
def build_model(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    curve: str | Curve | None = None,
    prior: str | Prior | Mapping[str, Any] = "neutral",
    offset: Any = None,
    vary: VaryBy | None = None,
    known: KnownSites = None,
    edge: float | None = None,
    **roles: Unpack[CaseRoles],
) -> pm.Model:
    """Build the PyMC model that `bayescal.fit(engine="nuts")` samples.

    Working coordinates are free variables named as the family names them; curve_alpha, curve_beta
    and curve_c (or slope) are deterministic, and so are `log_odds` and `event_prob`, the curve by
    row. `hits` is observed, one element a row. Its log likelihood is that of the single cases,
    without binomial coefficients.

    Parameters
    ----------
    %(cases)s
    curve : str or Curve
        Family of the calibration curve. It must be named, since the average over families is no
        PyMC model; of several sites it is "beta" by default.
    prior : {"neutral", "clinical"}, Prior, or mapping
    offset : array-like or PyMC variable of shape (n,), or (rows,) with a table, optional
        Added to the log-odds of the curve, such as a covariate times its coefficient, or the
        effect of a site. A PyMC variable is one of the model whose context this is called in, and
        that model is the one that is extended.
    vary : str or Vary, optional
        The site, `bc.by("site", prior=...)` of how much sites differ: with sites the model is that
        of a hierarchical fit, where each has a shift and a slope of its own.
    known : pandas.DataFrame or mapping, optional
        Sites known by their summaries, as in `bayescal.fit`: each is a potential.
    edge : float in (0, 0.5), optional
        The least distance of a score from 0 and 1; nearer ones are moved there.

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
    given = given_of(y_true, y_prob, roles)
    if y_true is None:
        data = scores_alone(y_prob, known, roles)
    else:
        data = given.table(times=True, check_sites=check_few_labels).independent()
        if not isinstance(y_true, CalibrationData):
            (*_, offset), _ = as_roles(**given.roles).aligned(
                y_true=given.y_true, y_prob=given.y_prob, offset=offset
            )
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
            "site" if vary is None else vary,
            curve=FAMILY_OF_SEVERAL if curve is None else curve,
            prior=prior,
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
    cases: Any = (given.y_true, given.y_prob, given.roles.get("sample_weight"))
    if isinstance(y_true, CalibrationData) or problem.of_times:
        cases = None
    label = given.words.get("pos_label")
    return model_of(problem, rows_of(problem, cases, offset, label), by_row=True)
