"""`bayescal validate`: what it says of the ranks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayescal.cli._validate import describe_ranks


@pytest.fixture
def ranks() -> xr.Dataset:
    return xr.Dataset({"pareto_k": ("simulation", np.array([0.2, 0.3, 0.9]))})


@pytest.mark.parametrize("inside", [True, False])
def test_it_names_the_quantities_whose_ranks_stray(ranks, inside) -> None:
    verdict = pd.DataFrame({"inside": [inside, True]}, index=["shift", "tce"])
    text = describe_ranks(ranks, verdict)
    assert ("NOT rank evenly among the posterior draws, for shift:" in text) is not inside
    assert ("rank evenly among the posterior draws, for all 2 quantities" in text) is inside
    assert "In 1 of 3 fits importance sampling was unreliable" in text


def test_reliable_fits_need_no_remark(ranks) -> None:
    verdict = pd.DataFrame({"inside": [True]}, index=["tce"])
    assert "unreliable" not in describe_ranks(ranks.assign(pareto_k=ranks["pareto_k"] - 1), verdict)
