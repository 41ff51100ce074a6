"""Linear algebra in one thread while the engines run, and as before afterwards."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import bayescal as bc
import bayescal.inference.density as density
import bayescal.posterior.evaluation as evaluation
from bayescal.core.versions import one_blas_thread


def threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        if threads() != {2}:
            pytest.skip("this linear algebra has one thread only")
        yield


def test_the_setting_comes_back_from_calls_inside_calls_and_after_an_error():
    with one_blas_thread:
        with one_blas_thread:
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}
    with pytest.raises(ZeroDivisionError), one_blas_thread:
        raise ZeroDivisionError
    assert threads() == {2}


def test_the_setting_comes_back_when_calls_overlap():
    @one_blas_thread
    def work(size):
        return float(np.ones((size, size)).sum())

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, [50] * 200)) == [2500.0] * 200
    assert threads() == {2}


def test_a_fit_and_its_numbers_run_in_one_thread(monkeypatch):
    seen = {}

    def watched(module, name):
        inner = getattr(module, name)

        def call(*args, **options):
            seen[name] = threads()
            return inner(*args, **options)

        monkeypatch.setattr(module, name, call)

    watched(density, "importance_sample")
    watched(evaluation, "draw_population")
    y, s = bc.simulate.sample("calibrated", 60, random_state=1)
    bc.fit(y, s, curve="beta", draws=400, random_state=1).tce()
    assert seen == {"importance_sample": {1}, "draw_population": {1}}
    assert threads() == {2}
