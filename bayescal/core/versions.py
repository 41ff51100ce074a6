"""What depends on libraries: their versions, those that are missing, and their threads."""

from __future__ import annotations

import functools
import importlib.util
import logging
import math
import time
import warnings
from collections.abc import Iterator
from contextlib import ContextDecorator, contextmanager
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from bayescal.core.errors import InputError, OutOfTimeError

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr


@functools.cache
def library_versions(*names: str) -> dict[str, str]:
    """Installed versions of these distributions."""
    from importlib.metadata import version

    return {name: version(name) for name in names}


def sample_nuts(
    model: pm.Model, *, seconds: float | None, **options: Any
) -> tuple[xr.Dataset, xr.Dataset, str]:
    """Sample a PyMC model, with nutpie when it is installed; the libraries themselves are quiet.

    Parameters
    ----------
    seconds : float or None
        After which it ends with an error.
    **options
        `draws`, `chains`, `tune`, `target_accept`, `cores`, `seed` and `progress`.

    Returns
    -------
    sampler : str
        "nutpie" or "pymc".
    """
    sampler = "nutpie" if has_nutpie() else "pymc"
    sample = _sample_nutpie if sampler == "nutpie" else _sample_pymc
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PyTensor could not link to a BLAS", UserWarning)
        # Of the model as compiled, which the user did not write; no class: Numba may be absent.
        warnings.filterwarnings("ignore", r"(?s).*np\.dot\(\) is faster on contiguous arrays")
        result = sample(model, seconds=seconds, **options)
    posterior, stats = (
        group.to_dataset() if hasattr(group, "to_dataset") else group
        for group in (result.posterior, result.sample_stats)
    )
    return posterior, stats, sampler


def has_nutpie() -> bool:
    """Whether nutpie is installed."""
    return importlib.util.find_spec("nutpie") is not None


def _sample_nutpie(
    model: pm.Model, *, seed: int, progress: bool, seconds: float | None, **options: Any
) -> Any:
    import nutpie

    running = nutpie.sample(
        nutpie.compile_pymc_model(model),
        seed=seed,
        progress_bar=progress,
        blocking=False,
        save_warmup=False,
        **options,
    )
    try:
        return running.wait(timeout=seconds)
    except TimeoutError:
        running.cancel()
        raise _out_of_time(seconds) from None
    except BaseException:  # such as Ctrl-C, which would leave its threads at work
        running.cancel()
        raise


def _sample_pymc(
    model: pm.Model, *, seed: int, progress: bool, seconds: float | None, **options: Any
) -> Any:
    import pymc as pm

    end = math.inf if seconds is None else time.monotonic() + seconds

    def watch(**_: Any) -> None:
        if time.monotonic() > end:
            raise _out_of_time(seconds)

    log = logging.getLogger("pymc")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        return pm.sample(
            model=model,
            random_seed=seed,
            progressbar=progress,
            callback=watch,
            compute_convergence_checks=False,
            **options,
        )
    finally:
        log.setLevel(level)


def _out_of_time(seconds: float | None) -> OutOfTimeError:
    return OutOfTimeError(
        f"NUTS had not ended after {seconds:g} s. Give it more with sampler={{'seconds': ...}}, "
        "ask for fewer draws, or use engine='importance'."
    )


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
    """
    try:
        yield
    except ImportError as error:
        library = (error.name or package).partition(".")[0]
        raise InputError(
            f'{purpose} needs {library}: python -m pip install "{package}". {otherwise}'.rstrip()
        ) from None


class OneBlasThread(ContextDecorator):
    """While inside, linear algebra runs in one thread; afterwards in as many as before.

    Callers may be inside one another or in threads of their own: the last one that leaves brings
    the former setting back.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._limit = self._libraries.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limit.restore_original_limits()

    @cached_property
    def _libraries(self) -> Any:
        """Those that NumPy and SciPy have loaded, as every engine did when it was imported."""
        from threadpoolctl import ThreadpoolController

        return ThreadpoolController()


# On two cores an assessment takes .16 s of the processor in one thread and .42 s in two, and .16
# and .21 s of the clock; a recommendation .41 and 1.06 s, and .41 and .54 s.
one_blas_thread = OneBlasThread()
