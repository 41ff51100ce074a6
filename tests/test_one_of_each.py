"""Small tools that several rooms need stand once, in the lowest room that can hold them."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "bayescal"

TOOLS = {
    "as_count": "core/errors",
    "table_of": "data/doors",
    "as_order": "core/errors",
    "as_probability_matrix": "data/matrices",
    "as_scores": "data/cases",
    "as_seed": "core/arrays",
    "binomial_mle": "core/optimise",
    "blocks": "core/arrays",
    "clipped": "core/optimise",
    "effective_size": "data/weights",
    "fit_logistic": "core/optimise",
    "is_matrix": "data/cases",
    "kish": "data/weights",
    "least_treated": "core/decision",
    "levels_of": "data/rows",
    "log_odds_of": "core/optimise",
    "logarithms": "core/optimise",
    "maximise": "core/optimise",
    "power_mean": "core/arrays",
    "quantile": "data/weights",
    "random_generator": "core/arrays",
    "smooth_rows": "core/sampling",
    "softplus": "core/optimise",
}
"""Functions of a module's top level, and the one module that may define each."""


@cache
def trees():
    """Every module, by its path in the package."""
    return {
        path.relative_to(PACKAGE).with_suffix("").as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def where(pattern):
    """The functions in which something of this form stands, as `module:function`."""
    return {
        f"{module}:{name}"
        for module, tree in trees().items()
        for name, node in scoped(tree)
        if pattern(node)
    }


def scoped(tree, name=""):
    """Every node below this one, with the name of the innermost function around it."""
    for child in ast.iter_child_nodes(tree):
        inner = child.name if isinstance(child, (ast.FunctionDef, ast.ClassDef)) else name
        yield inner, child
        yield from scoped(child, inner)


def calls(node, function):
    return isinstance(node, ast.Call) and ast.unparse(node.func) == function


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_is_defined_once(name):
    homes = {
        module
        for module, tree in trees().items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.lstrip("_") == name
    }
    assert homes == {TOOLS[name]}


def test_whole_numbers_are_refused_in_one_function():
    def refuses(node):
        return isinstance(node, ast.Constant) and "must be a whole number" in str(node.value)

    assert where(refuses) == {"core/errors:as_count"}


def test_a_user_s_random_state_is_read_in_one_function():
    def reads(node):
        if not calls(node, "np.random.default_rng"):
            return False
        assert isinstance(node, ast.Call)
        return not node.args or "random_state" in ast.unparse(node.args[0])

    assert where(reads) == {"core/arrays:random_generator"}


def test_equal_scores_are_collapsed_by_the_table():
    """`np.unique` with the inverse is for labels, and for rows of a matrix."""

    def collapses(node):
        if not calls(node, "np.unique"):
            return False
        assert isinstance(node, ast.Call)
        options = {word.arg for word in node.keywords}
        of_labels = ast.unparse(node.args[0]) in {"labels", "groups"}
        return "return_inverse" in options and "axis" not in options and not of_labels

    not_scores = {
        "fitting/_models:_of_one_order",  # ranks of cases
        "model/curves:mean_errors",  # points of a curve read off a trace
        "data/rows:numbered",  # keys: pairs of a cluster and a row, and the like
        "data/rows:summed",  # scores of all cells of a table
        "data/clusters:of_cases",  # pairs of a cluster and a row
        "data/clusters:check_strata",  # keys of clusters
        "data/clusters:strata_of",  # keys of strata
        "data/clusters:clusters_of",  # keys of clusters
        "data/clusters:read_clusters",  # numbers of strata
        "multilevel/clusters:__init__",  # pairs of a cluster and a group
        "data/roles:_distinct_of",  # labels
        "estimators/kernel:_cells",  # cells of a grid
        "estimators/smooth:_gathered",  # cells of a grid
        "estimators/distance:_monotone_misfit",  # heights of a path
    }
    assert where(collapses) <= not_scores


def test_kish_s_formula_is_written_once():
    """A squared total over a sum of squares."""

    def is_kish(node):
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)):
            return False
        power, below = node.left, ast.unparse(node.right)
        return (
            isinstance(power, ast.BinOp)
            and isinstance(power.op, ast.Pow)
            and ast.unparse(power.right) == "2"
            and ("squares" in below or any(below == f"{w} @ {w}" for w in names_in(node.right)))
        )

    assert where(is_kish) == {"data/weights:kish"}


def names_in(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def test_the_price_of_a_threshold_is_written_once():
    """The odds t / (1 - t) of a threshold."""

    def is_price(node):
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)):
            return False
        return any(
            name.startswith("threshold") and ast.unparse(node.right) == f"1 - {name}"
            for name in names_in(node.right)
        )

    assert where(is_price) == {"core/decision:net_benefit"}


def test_no_score_is_compared_with_a_threshold_but_by_the_lowest_that_reaches_it():
    """Otherwise the last bit decides who is treated."""

    def compares(node):
        if not (isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.GtE, ast.Lt))):
            return False
        right = ast.unparse(node.comparators[0])
        return "score" in ast.unparse(node.left) and right in {"t", "threshold", "thresholds"}

    assert where(compares) == set()


def test_log_odds_are_clipped_by_one_function():
    """No logarithm is taken of what was clipped by hand."""

    def clips(node):
        if not isinstance(node, ast.Call):
            return False
        logarithm = ast.unparse(node.func) in {"logit", "np.log", "np.log1p"}
        return logarithm and any(calls(part, "np.clip") for part in ast.walk(node))

    with_ends_of_their_own = {
        "estimators/bpm:basis_of",  # the edge of Dong et al.'s released code
        "plots/_numbers:_grid",  # where the points of a figure are dense
    }
    assert where(clips) <= with_ends_of_their_own


def test_importance_weights_are_smoothed_by_one_function():
    assert where(lambda node: isinstance(node, ast.Attribute) and node.attr == "psislw") == set()


def test_a_constant_s_name_has_one_value():
    values = defaultdict(set)
    for tree in trees().values():
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if name.isupper():
                    values[name].add(ast.unparse(node.value))
    assert {"EDGE", "BAD_K"} <= values.keys()
    assert not {name: actual for name, actual in values.items() if len(actual) > 1}


def test_the_root_of_an_order_is_taken_in_one_function():
    """Elsewhere powers of a large order underflow."""

    def is_root(node):
        return (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Pow)
            and ast.unparse(node.right) in {"1 / p", "1 / order"}
        )

    of_order_one_or_two = "estimators/binned:_corrected"
    assert where(is_root) == {"core/arrays:power_mean", of_order_one_or_two}
