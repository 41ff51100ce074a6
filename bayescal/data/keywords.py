"""Cases and keywords, as a door takes them, turned into a table with roles: in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from bayescal._base.errors import InputError
from bayescal.data.build.chunks import contents_at, contents_of
from bayescal.data.data import CalibrationData
from bayescal.data.imputations import as_imputations
from bayescal.data.judged import Judged, as_judged
from bayescal.data.roles import Crossed, as_roles
from bayescal.data.survival import Survival, refuse_horizon
from bayescal.data.weights import WeightType

__all__ = ["as_data"]

ROLE_OF = {"groups": "site", "periods": "period", "strata": "stratum", "imputations": "imputation"}
"""The roles of the keywords of the doors, where they have other names."""


def as_data(
    y_true: ArrayLike | CalibrationData | Survival,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType | None = None,
    pos_label: Any = None,
    groups: ArrayLike | Crossed | None = None,
    periods: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    imputations: ArrayLike | None = None,
    judged: Judged | None = None,
    takes_judged: bool = False,
    check_sites: Callable[[Any], None] | None = None,
    takes_times: bool = False,
    horizon: float | None = None,
) -> CalibrationData:
    """The table behind `(y_true, y_prob)`, or `y_true` itself when it is one that is complete.

    Every door turns its keywords into roles here. `imputations` is a matrix in place of `y_prob`;
    `takes_judged` says whether the door takes outcomes that a judge recorded; `check_sites` is
    called with the labels of sites, before any case is read. A door that fits times to an event
    passes `takes_times`, and the horizon that it was given.
    """
    given = {
        "y_prob": y_prob, "sample_weight": sample_weight, "weight_type": weight_type,
        "groups": groups, "periods": periods, "cluster": cluster, "strata": strata,
        "imputations": imputations, "judged": judged,
    }  # fmt: skip
    if isinstance(y_true, CalibrationData):
        for name, value in given.items():
            if value is not None:
                raise InputError(
                    f"{name} was given beside a CalibrationData, which holds its own. Pass arrays, "
                    f"or the table alone, made with {ROLE_OF.get(name, name)}=."
                )
        refuse_horizon(horizon)
        return y_true.complete(takes_judged=takes_judged, takes_times=takes_times)
    roles = as_roles(
        groups=groups, period=periods, cluster=cluster, stratum=strata,
        called={"period": "periods", "stratum": "strata"},
    )  # fmt: skip
    if check_sites is not None and "site" in roles.columns:
        check_sites(roles.columns["site"])
    options: dict[str, Any] = {"weight_type": weight_type, "pos_label": pos_label}
    if isinstance(y_true, Survival) and takes_times:
        if imputations is not None:
            raise InputError(
                "imputations was given beside a Survival, and several imputations are not yet "
                "combined of times to an event. Fit each imputation by itself."
            )
        given_cases = (y_true, y_prob, sample_weight, roles)
        contents = contents_at(*given_cases, horizon=horizon, **options)
        return CalibrationData._new(contents).recorded_by(as_judged(judged))
    refuse_horizon(horizon)
    if imputations is None:
        (y_true, y_prob, weight), roles = roles.aligned(
            y_true=y_true, y_prob=y_prob, sample_weight=sample_weight
        )
        contents = contents_of(y_true, y_prob, weight, roles, **options)
        return CalibrationData._new(contents).recorded_by(as_judged(judged))
    if y_prob is not None:
        raise InputError(
            "imputations was given beside y_prob. Pass one of them: y_prob for one score a case, "
            "imputations for several."
        )
    (y_true, weight, matrix), roles = roles.aligned(
        y_true=y_true, sample_weight=sample_weight, imputations=imputations, across={"imputations"}
    )
    scores = as_imputations(matrix, y_true)
    tables = [contents_of(y_true, row, weight, roles, **options) for row in scores]
    each = [CalibrationData._new(table) for table in tables]
    return CalibrationData.from_imputations(each).recorded_by(as_judged(judged))
