"""Cases and keywords, as a door takes them, turned into a table with roles: in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.errors import InputError
from bayescal.data.cases import is_matrix
from bayescal.data.classes import ClassMode
from bayescal.data.roles import Crossed, is_several
from bayescal.data.sources.columns import listed, may_be_groups, may_be_sites
from bayescal.data.table import CalibrationData
from bayescal.data.times import WHERE_TAKEN, Survival, refuse_horizon
from bayescal.data.weights import WeightType


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
    if check_sites is not None and site is not None and not is_several(site):
        check_sites(site)
    if isinstance(y_true, Survival) and not takes_times:
        raise InputError(WHERE_TAKEN)
    if not takes_classes and is_matrix(y_prob) and not isinstance(y_true, Survival):
        raise InputError(
            f"y_prob holds {np.asarray(y_prob).shape[1]} columns, and one score a case is taken "
            "here. Of two classes pass that of the event, y_prob[:, 1]; of more, "
            "CalibrationData.from_multiclass(y_true, y_prob), of whether the predicted class is "
            "right."
        )
    return CalibrationData(y_true, horizon=horizon, **given)


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
