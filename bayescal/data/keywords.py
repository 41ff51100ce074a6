"""Cases and keywords, as a door takes them, turned into a table with roles: in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.errors import InputError
from bayescal.data.build.chunks import contents_at, contents_of
from bayescal.data.columns import listed, may_be_groups, may_be_sites
from bayescal.data.data import CalibrationData
from bayescal.data.imputations import as_imputations, as_imputed_outcomes
from bayescal.data.multiclass import MODES, ClassMode, contents_of_classes
from bayescal.data.predicted import risk_at
from bayescal.data.roles import Crossed, as_roles
from bayescal.data.survival import Survival, refuse_horizon
from bayescal.data.validate import check_choice, is_matrix
from bayescal.data.weights import WeightType

__all__ = ["as_data"]


def as_data(
    y_true: ArrayLike | CalibrationData | Survival,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType | None = None,
    pos_label: Any = None,
    site: ArrayLike | None = None,
    period: ArrayLike | None = None,
    subgroup: Crossed | None = None,
    cluster: ArrayLike | None = None,
    stratum: ArrayLike | None = None,
    imputation: ArrayLike | None = None,
    check_sites: Callable[[Any], None] | None = None,
    takes_times: bool = False,
    horizon: float | None = None,
    takes_classes: bool = False,
    mode: ClassMode | None = None,
) -> CalibrationData:
    """The table behind `(y_true, y_prob)`, or `y_true` itself when it is one that is complete.

    `imputation` is the number of each row of a long table, or in place of `y_prob` a matrix of the
    scores of each imputation. `check_sites` is called with the labels of sites, before any case is
    read. Of a matrix of outcomes each row is an imputation.
    A door that fits times to an event passes `takes_times`, and the horizon that it was given; one
    that takes a matrix of class probabilities as `y_prob` passes `takes_classes`, and the mode.
    """
    given = {
        "y_prob": y_prob, "sample_weight": sample_weight, "weight_type": weight_type,
        "site": site, "period": period, "subgroup": subgroup, "cluster": cluster,
        "stratum": stratum, "imputation": imputation,
        "mode": mode, "pos_label": pos_label,
    }  # fmt: skip
    if isinstance(y_true, CalibrationData):
        for name, value in given.items():
            if value is not None:
                raise InputError(
                    f"{name} was given beside a CalibrationData, which holds its own. Pass arrays, "
                    f"or the table alone, made with {name}=."
                )
        refuse_horizon(horizon)
        return y_true.complete(takes_times=takes_times)
    if y_prob is None and imputation is None and _is_frame(y_true):
        raise _of_frame(y_true)
    several = imputation if y_prob is None or is_matrix(imputation) else None
    if several is not None and y_prob is not None and not is_matrix(y_true):
        raise InputError(
            "imputation was given beside y_prob, and is a matrix of scores. Pass one of them: "
            "y_prob for one score a case, imputation for several."
        )
    roles = as_roles(
        site=site, period=period, subgroup=subgroup, cluster=cluster, stratum=stratum,
        imputation=None if several is not None else imputation,
    )  # fmt: skip
    if check_sites is not None and "site" in roles.columns:
        check_sites(roles.columns["site"])
    options: dict[str, Any] = {"weight_type": weight_type, "pos_label": pos_label}
    followed = y_true if isinstance(y_true, Survival) and takes_times else None
    if followed is not None and several is None:
        given_cases = (followed, risk_at(y_prob, horizon), sample_weight, roles)
        contents = contents_at(*given_cases, horizon=horizon, **options)
        return CalibrationData._new(contents)
    if followed is None:
        refuse_horizon(horizon)
    if followed is None and is_matrix(y_true) and not is_matrix(y_prob):
        if imputation is not None:
            raise InputError(
                "imputation was given beside several imputations of the outcomes. Pass "
                "a long table that has both: CalibrationData(y_true, y_prob, imputation=number)."
            )
        (y_true, y_prob, weight), roles = roles.aligned(
            y_true=y_true, y_prob=y_prob, sample_weight=sample_weight, across={"y_true"}
        )
        each = [
            CalibrationData._new(contents_of(row, y_prob, weight, roles, **options))
            for row in as_imputed_outcomes(y_true, y_prob)
        ]
        return CalibrationData.from_imputations(each)
    if takes_classes and several is None and is_matrix(y_prob):
        if pos_label is not None:
            raise InputError(
                "pos_label was given beside a matrix of class probabilities, where the event is "
                "that a class is right. Leave it out; or pass the column of that class alone."
            )
        if mode is None and np.asarray(y_prob).shape[1] == 2:
            raise InputError(
                "y_prob holds two columns, one for each of two classes. Pass the probability of "
                "the event alone, such as y_prob[:, 1]; or say mode='top-label', of whether the "
                "predicted class is right, or mode='class-wise'."
            )
        of_classes = (y_true, y_prob, mode or "top-label", None, sample_weight, roles)
        contents = contents_of_classes(*of_classes, weight_type=weight_type, name="y_prob")
        return CalibrationData._new(contents)
    if mode is not None:
        check_choice(mode, MODES, "mode")
        raise InputError(
            f"mode={mode!r} was given without a matrix of class probabilities. Pass one as y_prob, "
            "one column a class, or leave mode out."
        )
    if several is None and is_matrix(y_prob):
        raise InputError(
            f"y_prob holds {np.asarray(y_prob).shape[1]} columns, and one score a case is taken "
            "here. Of two classes pass that of the event, y_prob[:, 1]; of more, "
            "CalibrationData.from_multiclass(y_true, y_prob), of whether the predicted class is "
            "right."
        )
    if several is None:
        (y_true, y_prob, weight), roles = roles.aligned(
            y_true=y_true, y_prob=y_prob, sample_weight=sample_weight
        )
        contents = contents_of(y_true, y_prob, weight, roles, **options)
        return CalibrationData._new(contents)
    (y_true, weight, matrix), roles = roles.aligned(
        y_true=y_true, sample_weight=sample_weight, imputation=several, across={"imputation"}
    )
    if followed is not None:
        of_times = options | {"horizon": horizon}
        rows = as_imputations(matrix, followed.time)
        tables = [contents_at(followed, row, weight, roles, **of_times) for row in rows]
    else:
        rows = as_imputations(matrix, y_true)
        tables = [contents_of(y_true, row, weight, roles, **options) for row in rows]
    each = [CalibrationData._new(table) for table in tables]
    return CalibrationData.from_imputations(each)


def _is_frame(values: Any) -> bool:
    """Whether this is a table of columns, rather than one column."""
    return getattr(values, "columns", None) is not None and len(np.shape(values)) == 2


def _of_frame(frame: Any) -> InputError:
    """What to do with a data frame in place of outcomes and scores."""
    names = [str(name) for name in frame.columns]
    told = (
        "y_true is a data frame, and y_prob is missing. Name its columns: "
        "CalibrationData.from_frame(frame, outcome=..., prob=...)"
    )
    groups = may_be_groups(names, ())
    if groups:
        role = "site" if may_be_sites(groups[0]) else "period"
        told += f", and {role}={groups[0]!r} if calibration may differ by it"
    return InputError(f"{told}. There are {listed(names)}.")
