"""Sums of numbers that are known by their logarithms. Arrays only."""

from __future__ import annotations

import numpy as np

from bayescal._base.arrays import Floats

__all__ = ["log_sum"]


def log_sum(values: Floats, axis: int | tuple[int, ...]) -> Floats:
    """Log of the sum of exp along some axes; minus infinity where there is nothing.

    SciPy's `logsumexp` in a fraction of its time on small arrays: of real numbers alone.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal._base.log_sum import log_sum
    >>> log_sum(np.log([[1.0, 2.0], [0.5, 0.5]]), axis=1).round(4)
    array([1.0986, 0.    ])
    """
    top = values.max(axis=axis, keepdims=True)
    top[~np.isfinite(top)] = 0.0
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(values - top).sum(axis=axis)) + np.squeeze(top, axis))
