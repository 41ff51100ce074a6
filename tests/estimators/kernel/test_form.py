"""The quadratic form of a narrow kernel, in many blocks."""

import numpy as np
import pytest

from bayescal.estimators.kernel import form_of


@pytest.mark.parametrize("width", [1e-9, 1e-6, 1e-4, 0.002, 0.01])
def test_a_narrow_kernel_in_many_parts(width, monkeypatch):
    """Scores near each other at every scale, so that parts hand on what they carry."""
    monkeypatch.setattr("bayescal.estimators.kernel.KERNEL_BLOCK", 16)
    rng = np.random.default_rng(1)
    scores = np.sort(np.concatenate([rng.random(90), 0.3 + width * rng.random(30), [0.0, 1.0]]))
    masses = rng.normal(size=(3, scores.size))
    kernel = np.exp(-np.abs(np.subtract.outer(scores, scores)) / width)
    expected = np.einsum("ri,ij,rj->r", masses, kernel, masses)
    np.testing.assert_allclose(form_of(scores, "laplace", width)(masses), expected, rtol=1e-12)
    if width >= 1e-3:
        kernel = np.exp(-0.5 * (np.subtract.outer(scores, scores) / width) ** 2)
        expected = np.einsum("ri,ij,rj->r", masses, kernel, masses)
        np.testing.assert_allclose(form_of(scores, "gaussian", width)(masses), expected, rtol=1e-12)
