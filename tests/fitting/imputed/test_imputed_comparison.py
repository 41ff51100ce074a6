"""compare(imputations=): what is averaged over imputations, and what is refused."""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.inference.comparison import total_error


@pytest.fixture(scope="module")
def scores():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 150, random_state=5)
    return y, expit(logit(s) + np.random.default_rng(5).normal(0, 0.3, (3, 150)))


@pytest.fixture(scope="module")
def comparison(scores):
    y, imputations = scores
    return bc.compare(y, imputation=imputations, draws=400, random_state=1)


def test_probabilities_are_means_and_evidence_is_the_mean_evidence(comparison):
    each = comparison.imputations
    assert len(each) == 3
    assert sum(comparison.posterior_prob.values()) == pytest.approx(1)
    assert comparison.prob_calibrated == pytest.approx(np.mean([c.prob_calibrated for c in each]))
    assert comparison.posterior.prob_calibrated == pytest.approx(comparison.prob_calibrated)
    even = [c.prob_calibrated_at(0.5) for c in each]
    assert comparison.prob_calibrated_at(0.5) == pytest.approx(np.mean(even))
    for name, evidence in comparison.log_evidence.items():
        mean = np.mean([np.exp(c.log_evidence[name]) for c in each])
        assert evidence == pytest.approx(np.log(mean))
        assert comparison.table.loc[name, "log_evidence"] == pytest.approx(evidence)


def test_what_is_of_one_imputation_is_refused(comparison):
    with pytest.raises(InputError, match=r"loo is of one imputation.*each: imputations\[0\]"):
        comparison.loo  # noqa: B018
    with pytest.raises(InputError, match="name='beta'"):
        comparison.of_family("beta")
    assert "3 imputations" in repr(comparison)


def test_standard_errors_are_rubins():
    error = total_error([[1.0], [3.0]], [[1.0], [2.0]])
    assert error == pytest.approx([np.sqrt(2.5 + 1.5 * 2)])
