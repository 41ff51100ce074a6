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


# Samplers as PyMC names them, each by the package that it is in.
NUTS_SAMPLERS = ("pymc", "nutpie", "numpyro", "blackjax")


def sample_nuts(model: pm.Model, *, seed: int, sampler: Any) -> tuple[xr.Dataset, xr.Dataset]:
    """Sample a PyMC model; the libraries themselves are quiet."""
    name = sampler.nuts_sampler or ("nutpie" if has_nutpie() else "pymc")
    if importlib.util.find_spec(name) is None:
        raise InputError(
            f"sampler names nuts_sampler={name!r}, which is not installed: python -m pip install "
            f"{name}. PyMC's own sampler needs nothing more: nuts_sampler='pymc'."
        )
    options = {
        option: getattr(sampler, option)
        for option in ("draws", "chains", "tune", "target_accept", "cores")
    }
    if name != "nutpie":
        options["nuts_sampler"] = name
    sample = _sample_nutpie if name == "nutpie" else _sample_pymc
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PyTensor could not link to a BLAS", UserWarning)
        # Of the model as compiled, which the user did not write; no class: Numba may be absent.
        warnings.filterwarnings("ignore", r"(?s).*np\.dot\(\) is faster on contiguous arrays")
        result = sample(model, seed, sampler, options)
    posterior, stats = (group_of(result, name) for name in ("posterior", "sample_stats"))
    return posterior, stats


def group_of(trace: Any, name: str) -> xr.Dataset:
    """A group of a trace, which is an InferenceData or, of later versions, a DataTree."""
    group = trace[name]
    dataset: xr.Dataset = group.to_dataset() if hasattr(group, "to_dataset") else group
    return dataset


def has_nutpie() -> bool:
    """Whether nutpie is installed."""
    return importlib.util.find_spec("nutpie") is not None


def _sample_nutpie(model: pm.Model, seed: int, sampler: Any, options: dict[str, Any]) -> Any:
    import nutpie

    running = nutpie.sample(
        nutpie.compile_pymc_model(model),
        seed=seed,
        progress_bar=sampler.progressbar,
        blocking=False,
        save_warmup=False,
        **options,
    )
    try:
        return running.wait(timeout=sampler.seconds)
    except TimeoutError:
        running.cancel()
        raise _out_of_time(sampler.seconds) from None
    except BaseException:  # such as Ctrl-C, which would leave its threads at work
        running.cancel()
        raise


def _sample_pymc(model: pm.Model, seed: int, sampler: Any, options: dict[str, Any]) -> Any:
    import pymc as pm

    end = math.inf if sampler.seconds is None else time.monotonic() + sampler.seconds

    def watch(**_: Any) -> None:
        if time.monotonic() > end:
            raise _out_of_time(sampler.seconds)

    if options["nuts_sampler"] == "pymc":
        options["callback"] = watch
    if sampler.init is not None:
        options["init"] = sampler.init
    log = logging.getLogger("pymc")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        return pm.sample(
            model=model,
            random_seed=seed,
            progressbar=sampler.progressbar,
            compute_convergence_checks=False,
            **options,
        )
    finally:
        log.setLevel(level)


def _out_of_time(seconds: float) -> OutOfTimeError:
    return OutOfTimeError(
        f"NUTS had not ended after {seconds:g} s. Give it more with sampler={{'seconds': ...}}, "
        "ask for fewer draws, or use engine='importance'."
    )


@contextmanager
def needed(purpose: str, package: str, otherwise: str = "") -> Iterator[None]:
    """Import a library in this block, or say how to install it."""
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
