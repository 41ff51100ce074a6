"""The fingerprint of a table: one short text for equal cases, whatever file they came from."""

from __future__ import annotations

import hashlib

import numpy as np

from bayescal.data.data import CalibrationData
from bayescal.data.follow_up import FOLLOWED_COLUMNS

KEPT_BITS = 20
"""Of a number that depends on sums of weights, whose last bits differ with the order of cases."""


def fingerprint(data: CalibrationData) -> str:
    """SHA-256 of a table, in hexadecimal: equal for equal cases in any order.

    Returns
    -------
    str
        Of the scores, then the cases, then the events at each, as little-endian doubles (rounded
        to 20 bits where weights are not whole), and of the group of each row, in UTF-8 with a zero
        byte after each. Of times to an event, also of
        the horizon, and for each row and follow-up of when cases came and went, by which kind of
        exit, and their number.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.data.fingerprint import fingerprint
    >>> fingerprint(bc.CalibrationData([0, 1], [0.2, 0.7]))[:12]
    '34343b665f90'
    """
    digest = hashlib.sha256()
    columns = np.stack([data.score, data.trials, data.hits])
    if (data.trials % 1).any():
        fraction, power = np.frexp(columns)
        columns = np.ldexp(np.rint(np.ldexp(fraction, KEPT_BITS)), power)
    digest.update(columns.astype("<f8").tobytes())
    if data.group is not None:
        for name in data.group.tolist():
            digest.update(name.encode("utf-8", "surrogatepass") + b"\0")
    if (followed := data.follow_up) is not None:
        digest.update(np.float64(followed.horizon).astype("<f8").tobytes())
        for name in FOLLOWED_COLUMNS:
            digest.update(getattr(followed, name).astype("<i8").tobytes())
        digest.update(followed.weight.astype("<f8").tobytes())
    return digest.hexdigest()
