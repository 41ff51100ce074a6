"""The one file that knows library versions, and how to say that a library is missing.

Python 3.11 has PyMC 5 (which returns ArviZ's InferenceData) and ArviZ's libraries at 0.8; from
Python 3.12 on it is PyMC 6 (which returns an xarray.DataTree) and ArviZ's libraries at 1.x.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from bayescal._base.errors import InputError

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

__all__ = ["library_versions", "needed", "sample_nuts"]


@functools.cache
def library_versions(*names: str) -> dict[str, str]:
    """Installed versions of these distributions."""
    return {name: version(name) for name in names}


def sample_nuts(
    model: pm.Model,
    *,
    draws: int,
    chains: int,
    seed: int,
    tune: int,
    target_accept: float,
    cores: int | None,
    progress: bool,
) -> tuple[xr.Dataset, xr.Dataset, str]:
    """Sample a PyMC model, with nutpie when it is installed.

    Returns
    -------
    posterior, sample_stats : xarray.Dataset
    sampler : str
        "nutpie" or "pymc".
    """
    import pymc as pm

    sampler = "nutpie" if importlib.util.find_spec("nutpie") else "pymc"
    result: Any = pm.sample(
        draws=draws,
        tune=tune,
        chains=chains,
        random_seed=seed,
        progressbar=progress,
        nuts_sampler=sampler,
        target_accept=target_accept,
        cores=cores,
        model=model,
        compute_convergence_checks=False,
    )
    return _as_dataset(result.posterior), _as_dataset(result.sample_stats), sampler


def _as_dataset(group: Any) -> xr.Dataset:
    dataset: xr.Dataset = group.to_dataset() if hasattr(group, "to_dataset") else group
    return dataset


@contextmanager
def needed(purpose: str, package: str, otherwise: str = "") -> Iterator[None]:
    """Import a library in this block, or say how to install it.

    Parameters
    ----------
    purpose : str
        What needs it, as the beginning of a sentence: "reading Parquet".
    package : str
        What pip is to install, such as "bayescal[parquet]".
    otherwise : str
        What to do without it, as a sentence.

    Raises
    ------
    InputError
        If the library is missing.
    """
    try:
        yield
    except ImportError as error:
        library = (error.name or package).partition(".")[0]
        raise InputError(
            f'{purpose} needs {library}: python -m pip install "{package}". {otherwise}'.rstrip()
        ) from None
