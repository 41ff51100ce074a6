"""Table of several horizons: a row for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.assessment.tables.columns import chances, measured
from bayescal.core.table import MEDIA, Column, Row, Table
from bayescal.core.text import capitalised, percent
from bayescal.posterior.functionals import FUNCTIONALS, main_functionals

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["horizons_table"]

PAGE = MEDIA[:1]


def horizons_table(by_horizon: pd.DataFrame, ci_prob: float) -> Table:
    """Each horizon.

    Parameters
    ----------
    by_horizon : pandas.DataFrame
        As `HorizonAssessment.by_horizon`.
    """
    rows = [Row(f"{at:g}", f"{at:g}", row.to_dict()) for at, row in by_horizon.iterrows()]
    differ = by_horizon["close"].nunique() > 1
    columns = [Column("observed", "Observed, predicted", _shares, media=PAGE)]
    columns += [measured(name, capitalised(FUNCTIONALS[name].short)) for name in main_functionals()]
    columns += [
        *[Column("close", "Limit", lambda row: f"{row['close']:.3g}", media=PAGE)] * differ,
        chances("prob_close", "P(TCE below limit)", short="P(close)", media=PAGE),
    ]
    return Table(
        "horizons",
        f"Each horizon: estimates and {percent(ci_prob)} intervals",
        "Horizon",
        columns,
        rows,
        short="By",
        stacks=True,
    )


def _shares(row: Row) -> str:
    """Risk by the horizon, and the mean predicted one."""
    return f"{100 * row['observed']:.3g} %, {100 * row['predicted']:.3g} %"
