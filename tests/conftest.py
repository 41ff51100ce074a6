"""What every test shares: the reference data, a quiet matplotlib, and Hypothesis profiles."""

import functools
import gc
import itertools
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import settings

# Inherited by subprocesses; neither matplotlib nor NumPy is loaded here.
os.environ["MPLBACKEND"] = "Agg"
if "PYTEST_XDIST_WORKER" in os.environ:  # there is a worker for each core
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("LOKY_MAX_CPU_COUNT", "1")  # what joblib takes for n_jobs=-1


@pytest.hookimpl(optionalhook=True)  # pytest-xdist need not be installed
def pytest_xdist_make_scheduler(config, log):
    """A worker that is done takes tests from another, since some take a hundred times as long."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


gc.disable()  # a quarter of collecting the tests was spent on looking for garbage among them


def pytest_collection_finish():
    """From here on, garbage is looked for among what tests make."""
    gc.freeze()
    gc.enable()


settings.register_profile("default", max_examples=50, deadline=None)
# Those of `.ci/run` never change, and the more of them find nothing new the second time.
settings.register_profile("ci", max_examples=20, deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol():
    """Where nobody gives a seed, it is 0, then 1, ...: every run has the same diagnostics."""
    import numpy as np

    unseeded, seeds = np.random.default_rng, itertools.count()

    def default_rng(seed=None):
        return unseeded(next(seeds) if seed is None else seed)

    with mock.patch.object(np.random, "default_rng", default_rng):
        return (yield)


NO_DATA = "no reference data"
DATA = Path(os.environ.get("BAYESCAL_DATA") or REPOSITORY.parent / "shared").absolute()
REQUIRED = os.environ.get("BAYESCAL_REQUIRE_DATA") == "1"


def pytest_terminal_summary(terminalreporter):
    """Say which scores are better than stored, and how many tests were skipped for want of data."""
    for report in terminalreporter.stats.get("passed", []):
        for name, words in report.user_properties:
            if name == "better":  # recorded in truths/test_truths.py
                terminalreporter.write_line(f"better than stored: {words}")
    skipped = terminalreporter.stats.get("skipped", [])
    wanting = sum(NO_DATA in str(report.longrepr) for report in skipped)
    if wanting:
        terminalreporter.write_line(
            f"{wanting} tests were skipped because they need data that are not part of bayescal: "
            "docs/reference-data.md says where each set comes from."
        )


@pytest.fixture(scope="session")
def reference_data():
    """The folder of reference data; None without it.

    It is no part of the package. BAYESCAL_DATA says where it is; otherwise it is looked for in
    `shared`, beside the clone.
    """
    return DATA if DATA.is_dir() else None


def with_answers(folder, name):
    """The folder, unless it lacks a file of answers, for which there are definitions."""
    if folder is None or REQUIRED or (folder / "oracles" / name).is_file():
        return folder
    return None


@contextmanager
def skipping_what_is_missing():
    """A file that the folder lacks is a reason to skip, as a missing folder is."""
    try:
        yield
    except FileNotFoundError as error:
        told = str(error.filename or error)  # NumPy gives no name apart
        if REQUIRED or f"{DATA}{os.sep}" not in told:
            raise
        pytest.skip(f"{NO_DATA} at {told}: docs/reference-data.md says where they come from")


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call():
    with skipping_what_is_missing():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup():
    with skipping_what_is_missing():
        return (yield)


@pytest.fixture(scope="session")
def known(reference_data):
    """Outcomes, scores and known answers of the set A, B or C: see `known_sets.py`."""
    from known_sets import known_set

    return functools.partial(known_set, with_answers(reference_data, "estimators.json"))


@pytest.fixture(scope="session")
def clinical(reference_data):
    """Outcomes, scores and R's answers of a set of forecasts: see `clinical_sets.py`."""
    from clinical_sets import clinical_set

    return functools.partial(clinical_set, with_answers(reference_data, "clinical.json"))


@pytest.fixture(scope="session")
def shared_data(reference_data):
    """Folder of reference data: `oracles/` (known answers) and `data/` (real data sets).

    With BAYESCAL_REQUIRE_DATA=1 its absence is a failure, not a skip.
    """
    if reference_data is None:
        message = f"{NO_DATA} at {DATA}: set BAYESCAL_DATA to the folder that holds them"
        if REQUIRED:
            pytest.fail(message)
        pytest.skip(message)
    return reference_data


@pytest.fixture(autouse=True)
def _close_figures():
    """Close what a test drew, so that one test's figures are no other test's warning."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
