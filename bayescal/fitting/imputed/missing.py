"""What missing data cost: the variance between imputations beside that within them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayescal._base.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["missing_information"]


def missing_information(values: Mapping[str, Floats], index: str) -> pd.DataFrame:
    """The fraction of missing information of several quantities.

    With W the mean variance of the draws within an imputation, B the variance of the m means
    between them (divisor m - 1), and T = W + (1 + 1 / m) B, it is (1 + 1 / m) B / T.

    Parameters
    ----------
    values : mapping of str to ndarray of shape (m, draws)
        Draws by imputation.
    index : str
        What the rows are.

    Returns
    -------
    pandas.DataFrame
        Columns: mean, sd_within, sd_between, sd (the square roots of W, B and T) and
        missing_information.

    References
    ----------
    Rubin (1987), Multiple Imputation for Nonresponse in Surveys, section 3.3. van Buuren (2018),
    Flexible Imputation of Missing Data, section 2.3: lambda.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.fitting.imputed.missing import missing_information
    >>> draws = np.array([[0.0, 2.0], [1.0, 3.0]])
    >>> missing_information({"x": draws}, "functional").loc["x", "missing_information"]
    np.float64(0.42857142857142855)
    """
    import pandas as pd

    rows = {}
    for name, draws in values.items():
        within = float(draws.var(axis=1).mean())
        between = float(draws.mean(axis=1).var(ddof=1))
        extra = (1 + 1 / len(draws)) * between
        total = within + extra
        rows[name] = {
            "mean": float(draws.mean()),
            "sd_within": np.sqrt(within),
            "sd_between": np.sqrt(between),
            "sd": np.sqrt(total),
            "missing_information": extra / total if total > 0 else 0.0,
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = index
    return table
