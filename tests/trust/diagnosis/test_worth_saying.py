"""The findings of a diagnosis: each problem is reported with names, and there are no findings without problems."""

import math

import numpy as np
import pytest

from unweave import Evidence
from unweave.responses.constraints import FunctionalConstraint
from unweave.trust import Diagnosis, diagnose
from unweave.trust.data_health import PairDependence, PairKind
from unweave.trust.diagnosis import ClassBalance, findings_of

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(600, 3))


def said(codes, factors=Z):
    return {finding.kind: finding for finding in findings_of(diagnose(Evidence(factors, codes)))}


def test_codes_of_noise_are_named():
    found = said(np.column_stack([Z, RNG.normal(size=600)]))["codes_unexplained"]
    assert found.codes == ("code 3",)
    assert found.quantities["share"] > 0.15


def test_of_good_codes_little_is_said():
    assert set(said(2 * Z)) <= {"data_sizes", "factors_independent"}


def test_dead_copied_and_heavy_tailed_codes_are_named():
    codes = np.column_stack([Z, -Z[:, 0], np.ones(600), np.sinh(3 * Z[:, 2])])
    found = said(codes)
    assert found["codes_never_vary"].codes == ("code 4",)
    assert "code 0" in found["codes_duplicated"].quantities["groups"]
    assert found["codes_heavy_tailed"].codes == ("code 5",)
    assert "codes_and_factors_differ" in found


def test_factors_that_never_vary_or_follow_from_others_are_named():
    found = said(Z, np.column_stack([Z[:, :2], Z[:, 0] ** 2, np.ones(600)]))
    assert found["factors_never_vary"].factors == ("factor 3",)
    assert "factor 2" in found["factor_function_of_one"].factors


def told(**fields):
    """What is said of a diagnosis with these fields, by kind."""
    known = {"n_rows": 100, "n_factors": 2, "n_codes": 2, "rows_looked_at": 100}
    return {finding.kind: finding for finding in findings_of(Diagnosis(**known | fields))}


def pair(kind, correlation, strength, *names):
    return PairDependence(names, correlation, strength, 0.0, 0.001, kind)


@pytest.mark.parametrize(
    ("sizes", "kinds"),
    [
        ((100, 2, 2), set()),
        ((100, 10, 10), set()),
        ((100, 11, 11), {"codes_crowd_rows"}),
        ((100, 2, 3), {"codes_and_factors_differ"}),
        ((100, 3, 2), {"codes_and_factors_differ"}),
        ((100, 0, 2), set()),
        ((100, 2, 0), set()),
    ],
)
def test_more_than_a_code_for_ten_rows_and_other_numbers_of_codes_are_said(sizes, kinds):
    n_rows, n_factors, n_codes = sizes
    found = told(n_rows=n_rows, n_factors=n_factors, n_codes=n_codes)
    assert set(found) == {"data_sizes"} | kinds
    assert dict(found["data_sizes"].quantities) == {"n_rows": n_rows, "n_factors": n_factors, "n_codes": n_codes}


@pytest.mark.parametrize(("n_free", "said"), [(1.0, False), (2.0, True)])
def test_two_factors_or_more_may_look_independent(n_free, said):
    found = told(effective_dimension=n_free, max_correlation=0.07)
    assert ("factors_independent" in found) is said
    if said:
        assert found["factors_independent"].quantities["correlation"] == 0.07


def test_the_strongest_pair_of_each_kind_is_named():
    pairs = (
        pair(PairKind.ASSOCIATED, np.nan, 0.9, "a", "b"),
        pair(PairKind.ASSOCIATED, np.nan, 0.5, "a", "c"),
        pair(PairKind.NONLINEAR, 0.1, 0.8, "b", "c"),
        pair(PairKind.NONLINEAR, 0.2, 0.7, "b", "d"),
        pair(PairKind.LINEAR, 0.3, 0.6, "c", "d"),
        pair(PairKind.LINEAR, -0.5, 0.5, "a", "d"),
    )
    found = told(dependent_pairs=pairs, effective_dimension=4.0)
    assert {
        kind: (finding.factors, dict(finding.quantities)) for kind, finding in found.items() if "pairs" in kind
    } == {
        "pairs_correlated": (("a", "d"), {"n_pairs": 2, "correlation": -0.5}),
        "pairs_associated": (("a", "b"), {"n_pairs": 2, "strength": 0.9}),
        "pairs_nonlinear": (("b", "c"), {"n_pairs": 2, "correlation": 0.1, "strength": 0.8}),
    }


def test_pairs_with_a_constraint_are_said_once():
    one = FunctionalConstraint("b", ("a",), 0.01, False)
    several = FunctionalConstraint("d", ("a", "c"), 0.02, False)
    pairs = tuple(pair(PairKind.NONLINEAR, 0.1, 0.8, *names) for names in (("a", "b"), ("a", "d")))
    found = told(dependent_pairs=pairs, constraints=(one, several), effective_dimension=2.0)
    assert found["pairs_nonlinear"].factors == ("a", "d")
    assert dict(found["factor_function_of_one"].quantities) == {"other": "a", "open_share": 0.01, "invertible": False}
    assert dict(found["factor_function_of_several"].quantities) == {"others": "a and c", "open_share": 0.02}
    assert dict(found["free_factors"].quantities) == {"n_free": 2, "n_varying": 4}
    assert "factors_independent" not in told(constraints=(one,), effective_dimension=2.0)


@pytest.mark.parametrize(("smallest", "named"), [(0.02, ()), (0.0199, ("x",)), (0.001, ("x",))])
def test_classes_of_fewer_than_two_in_a_hundred_rows_are_rare(smallest, named):
    balance = {"x": ClassBalance(2, smallest, 1 - smallest, 0.1), "y": ClassBalance(2, 0.01, 0.99, 0.1)}
    found = told(class_balance=balance)["classes_rare"]
    assert found.factors == (*named, "y")
    assert found.quantities["rarest"] == ("x" if smallest < 0.01 else "y")
    assert found.quantities["share"] == min(smallest, 0.01)
    assert "classes_rare" not in told(class_balance={"x": ClassBalance(2, 0.02, 0.98, 0.1)})


@pytest.mark.parametrize(("n_groups", "more"), [(4, ""), (5, ", 1 more"), (6, ", 2 more")])
def test_four_groups_of_copies_are_named(n_groups, more):
    groups = tuple((f"a{k}", f"b{k}", f"c{k}") for k in range(n_groups))
    found = told(n_codes=20, dead_codes=("x", "y"), duplicated_codes=groups)["codes_duplicated"]
    assert found.quantities["groups"] == "a0 = b0 = c0, a1 = b1 = c1, a2 = b2 = c2, a3 = b3 = c3" + more
    assert found.quantities["n_distinct"] == 18 - 2 * n_groups
    assert found.quantities["share"] == pytest.approx(2 * n_groups / 18)


def test_the_heaviest_tail_and_codes_of_noise_are_named():
    found = told(heavy_tailed_codes={"a": 11.0, "b": 50.0, "c": 12.0})["codes_heavy_tailed"]
    assert (found.quantities["worst"], found.quantities["kurtosis"]) == ("b", 50.0)
    assert "codes_unexplained" not in told(nuisance_per_code={"a": 0.1, "b": 0.1})
    found = told(nuisance_per_code={"a": 0.9, "b": 0.901, "c": 0.2})["codes_unexplained"]
    assert found.codes == ("b",)
    assert found.quantities["share"] == pytest.approx(2.001 / 3)


@pytest.mark.parametrize(
    ("sizes", "expected"), [((8, 2), (2 * math.log(2) / 8) ** 0.5), ((1, 4), 1.0), ((0, 2), np.nan), ((8, 0), np.nan)]
)
def test_the_correlation_of_chance_is_at_most_one(sizes, expected):
    found = Diagnosis(n_rows=sizes[0], n_factors=2, n_codes=sizes[1], rows_looked_at=0)
    assert found.chance_correlation == pytest.approx(expected, nan_ok=True)


def test_ratios_are_those_of_live_codes_and_of_all_codes_if_all_are_dead():
    found = Diagnosis(n_rows=30, n_factors=2, n_codes=4, rows_looked_at=30, dead_codes=("a",))
    assert (found.n_live_codes, found.codes_per_row, found.codes_per_factor, found.rows_per_code) == (3, 0.1, 1.5, 10.0)
    dead = Diagnosis(n_rows=30, n_factors=2, n_codes=2, rows_looked_at=30, dead_codes=("a", "b"))
    assert (dead.n_live_codes, dead.n_distinct_codes) == (2, 0)
    assert math.isnan(dead.duplicated_share)
    none = Diagnosis(n_rows=30, n_factors=0, n_codes=2, rows_looked_at=30)
    assert math.isnan(none.codes_per_factor)
    assert none.duplicated_share == 0.0


def test_free_pairs_are_without_redundant_factors_and_the_strongest_is_first():
    pairs = (
        pair(PairKind.LINEAR, 0.2, 0.3, "a", "c"),
        pair(PairKind.LINEAR, -0.6, 0.1, "a", "d"),
        pair(PairKind.LINEAR, 0.9, 0.9, "a", "b"),
    )
    constraint = FunctionalConstraint("b", ("a",), 0.01, True)
    found = Diagnosis(30, 4, 2, 30, dependent_pairs=pairs, constraints=(constraint,))
    assert [each.factors for each in found.free_pairs] == [("a", "d"), ("a", "c")]
    assert [each.association for each in found.free_pairs] == [0.6, 0.3]
