"""The verdict on draws, from their diagnostics."""

import pytest

from bayescal.posterior.words import verdict_of

IMPORTANCE = {"pareto_k": 0.2, "ess": 3000.0, "log_evidence": -10.0}
NUTS = {"r_hat": 1.001, "ess_bulk": 900.0, "divergences": 0.0}


@pytest.mark.parametrize(
    ("numbers", "verdict"),
    [
        (IMPORTANCE, "ok"),
        (NUTS, "ok"),
        (IMPORTANCE | {"pareto_k": -float("inf")}, "ok"),
        (IMPORTANCE | {"pareto_k": 0.71}, "Pareto k-hat is above 0.7: more"),
        (NUTS | {"r_hat": 1.02}, "r-hat is above 1.01"),
        (NUTS | {"divergences": 2.0}, "divergences"),
    ],
)
def test_each_fault_has_its_words(numbers, verdict):
    assert verdict_of(numbers, "more").startswith(verdict)


@pytest.mark.parametrize("name", [*IMPORTANCE, *NUTS])
def test_what_is_not_known_is_not_ok(name):
    numbers = IMPORTANCE if name in IMPORTANCE else NUTS
    assert verdict_of(numbers | {name: float("nan")}).startswith(f"{name} cannot be computed")
