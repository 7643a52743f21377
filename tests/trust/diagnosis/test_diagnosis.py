"""What the diagnosis finds in factors and codes, and what is worth saying of it."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from unweave import Evidence, evaluate
from unweave.estimators.correlation import curvature
from unweave.findings import Finding
from unweave.report.answer import answer_of
from unweave.responses.constraints import FunctionalConstraint
from unweave.responses.factor_bases import factor_view
from unweave.synthetic.worlds import Causal, Circuit, Correlated, Independent, OneFactorConstraint, TwoFactorConstraint
from unweave.trust import Diagnosis, diagnose
from unweave.trust.data_health import (
    PairDependence,
    PairKind,
    _kind,
    _leaders,
    _Measured,
    _measured_dependence,
    _models,
    _squared_distances,
    copies,
    kurtosis,
)
from unweave.trust.diagnosis import ClassBalance, DependenceClass

NORMAL = np.random.default_rng(0).normal(size=(500, 6))


def of_world(world, n_rows=1000, codes=None):
    return diagnose(Evidence(world.sample(n_rows, rng=1), codes, factor_names=world.factor_names))


def test_independent_factors():
    found = of_world(Independent(5))
    assert (found.dependence_class, found.effective_dimension) == (DependenceClass.INDEPENDENT, 5)
    assert found.dependent_pairs == ()
    assert found.constraints == ()
    assert found.max_correlation < 0.12  # 3.7 standard errors
    assert found.max_free_correlation == found.max_correlation


@pytest.mark.parametrize("rho", [0.3, 0.97, 0.99])
def test_correlation_is_measured_and_is_no_constraint(rho):
    found = of_world(Correlated(4, rho))
    assert (found.dependence_class, found.effective_dimension) == (DependenceClass.CORRELATED, 4)
    assert len(found.dependent_pairs) == 6
    assert all(abs(pair.correlation - rho) < 0.09 for pair in found.dependent_pairs)
    assert abs(found.max_dependence - rho) < 0.09


def test_dependence_that_no_correlation_shows():
    found = of_world(Causal(2, weight=0.8, link="square"))
    assert (found.dependence_class, found.effective_dimension) == (DependenceClass.NONLINEAR, 2)
    (pair,) = found.dependent_pairs
    assert pair.kind is PairKind.NONLINEAR
    assert abs(pair.correlation) < 0.15
    assert abs(pair.strength - 0.8) < 0.1  # z2 = .8 f(z1) + .6 e, so the best function of z1 correlates .8


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("n_rows", [200, 2000])
def test_a_factor_that_does_not_apply_to_many_rows_determines_whether_it_applies(share, n_rows):
    """Rows without an object are equal in both factors, and are not repetitions of one row."""
    rng = np.random.default_rng(3)
    present = (rng.uniform(size=n_rows) < share).astype(float)
    found = diagnose(Evidence({"present": present, "size": present * rng.normal(2.0, 0.5, size=n_rows)}))
    assert (found.redundant_factors, found.effective_dimension) == (("present",), 1)


@pytest.mark.parametrize(("n_subjects", "rows_each"), [(20, 10), (40, 5), (100, 20), (200, 10)])
@pytest.mark.parametrize("told", [False, True])
def test_subjects_do_not_make_factors_functions_of_each_other(n_subjects, rows_each, told):
    """Every subject has values of its own, so that any factor tells the subject and thereby all other factors."""
    subject = np.repeat(np.arange(n_subjects), rows_each)
    factors = np.random.default_rng(4).normal(size=(n_subjects, 3))[subject]
    found = diagnose(Evidence(factors, row_groups=subject if told else None))
    assert found.constraints == ()
    assert found.rows_looked_at == n_subjects


@pytest.mark.parametrize(("function", "invertible"), [("cube", True), ("tanh", True), ("square", False)])
def test_function_of_one_factor(function, invertible):
    found = of_world(OneFactorConstraint(4, (function,)))
    assert (found.dependence_class, found.effective_dimension) == (DependenceClass.SINGLE_FACTOR, 3)
    (constraint,) = found.constraints
    assert (constraint.determined, constraint.by, constraint.invertible) == ("z2", ("z1",), invertible)
    assert found.max_free_correlation < 0.12


@pytest.mark.parametrize("function", ["product", "sum_of_squares", "tanh_product"])
def test_function_of_two_factors(function):
    found = of_world(TwoFactorConstraint(5, (function,)))
    assert (found.dependence_class, found.effective_dimension) == (DependenceClass.MULTI_FACTOR, 4)
    assert [(each.determined, each.by) for each in found.constraints] == [("z3", ("z1", "z2"))]


@pytest.mark.parametrize("n_rows", [50, 100])
@pytest.mark.parametrize("function", ["product", "sum", "sum_of_squares"])
def test_few_rows_tell_sums_and_products(function, n_rows):
    found = of_world(TwoFactorConstraint(5, (function,)), n_rows=n_rows)
    (constraint,) = found.constraints
    assert {constraint.determined, *constraint.by} == {"z1", "z2", "z3"}


def test_few_rows_do_not_tell_a_product_with_noise():
    x, y, noise = NORMAL[:100, :3].T
    assert diagnose(Evidence(np.column_stack([x, y, x * y + 0.1 * noise]))).constraints == ()


def test_sum_of_three_names_all_four():
    x, y, z, w = NORMAL[:, :4].T
    found = diagnose(Evidence(np.column_stack([x, y, z, w, x + y + z])))
    (constraint,) = found.constraints
    assert {constraint.determined, *constraint.by} == {"factor 0", "factor 1", "factor 2", "factor 4"}


def test_noise_of_five_percent_is_no_constraint():
    x, y, noise = NORMAL[:, :3].T
    found = diagnose(Evidence(np.column_stack([x, y, x + y + np.sqrt(0.1) * noise])))
    assert found.constraints == ()
    assert found.effective_dimension == 3


def test_circuit_has_two_degrees_of_freedom():
    found = of_world(Circuit())
    assert found.effective_dimension == 2
    assert found.dependence_class is DependenceClass.MULTI_FACTOR
    assert found.redundant_factors == ("R", "V")


def test_discrete_constraints():
    x, y = NORMAL[:, :2].T > 0
    words = np.array(["red", "green", "blue"])
    colour = words[np.random.default_rng(1).integers(3, size=500)]
    code = np.where(colour == "red", 7.0, np.where(colour == "green", 2.0, 9.0))
    found = diagnose(Evidence({"x": x * 1.0, "y": y * 1.0, "either": (x ^ y) * 1.0, "colour": colour, "paint": code}))
    assert found.effective_dimension == 3
    assert found.dependence_class is DependenceClass.MULTI_FACTOR
    assert {("paint", ("colour",)), ("either", ("x", "y"))} == {
        (each.determined, each.by) for each in found.constraints
    }
    assert found.class_balance["colour"].n_classes == 3
    assert found.class_balance["x"].evenness > 0.99


def binary_factors(n_rows, n_factors, seed):
    rng = np.random.default_rng([9, n_rows, n_factors, seed])
    return {f"f{j}": rng.integers(0, 2, n_rows) for j in range(n_factors)}


def test_independent_balanced_labels_are_free():
    # a held-out majority vote of balanced labels is always wrong, which must not count as information
    sets = [binary_factors(n, d, seed) for n in (60, 200) for d in (3, 5) for seed in range(4)]
    assert not any(diagnose(Evidence(factors)).constraints for factors in sets)


@pytest.mark.parametrize("seed", range(5))
def test_exclusive_or_of_few_rows(seed):
    factors = binary_factors(200, 4, seed)
    found = diagnose(Evidence({**factors, "either": factors["f0"] ^ factors["f1"]}))
    assert found.effective_dimension == 4
    (constraint,) = found.constraints
    assert {constraint.determined, *constraint.by} == {"f0", "f1", "either"}


def test_sign_is_a_collapsed_function():
    x, y = NORMAL[:, :2].T
    (constraint,) = diagnose(Evidence({"x": x, "y": y, "sign": np.sign(x)})).constraints
    assert (constraint.determined, constraint.by, constraint.invertible) == ("sign", ("x",), False)


def test_labels_with_noise_are_free():
    x = NORMAL[:, 0]
    flipped = np.where(np.random.default_rng(2).random(500) < 0.05, -1, 1) * np.sign(x)
    found = diagnose(Evidence({"x": x, "label": flipped}))
    assert (found.effective_dimension, found.dependence_class) == (2, DependenceClass.CORRELATED)


def test_associated_categories():
    rng = np.random.default_rng(3)
    shape = rng.integers(3, size=600)
    colour = np.where(rng.random(600) < 0.5, shape, rng.integers(3, size=600))
    found = diagnose(Evidence({"shape": shape, "colour": colour}, kinds="categorical"))
    assert (found.dependence_class, found.effective_dimension) == (DependenceClass.CORRELATED, 2)
    assert found.dependent_pairs[0].kind is PairKind.ASSOCIATED
    assert np.isnan(found.max_correlation)
    assert abs(found.max_dependence - 0.5) < 0.1
    assert any("associated" in sentence for sentence in found.sentences())


def test_circular_factor_is_one_factor():
    angle = np.random.default_rng(4).uniform(0, 2 * np.pi, 500)
    free = {"angle": angle, "size": NORMAL[:, 0]}
    kinds = {"angle": "circular"}
    assert diagnose(Evidence(free, kinds=kinds)).effective_dimension == 2
    found = diagnose(Evidence({**free, "height": np.sin(angle)}, kinds=kinds))
    assert [(each.determined, each.by) for each in found.constraints] == [("height", ("angle",))]


def test_codes():
    x, y, noise, other = NORMAL[:, :4].T
    codes = {"x": x, "cube": -(x**3), "dead": np.ones(500), "noise": noise, "tails": np.exp(2 * y), "half": y + other}
    found = diagnose(Evidence({"a": x, "b": y}, codes))
    assert found.dead_codes == ("dead",)
    assert found.duplicated_codes == (("x", "cube"),)
    assert found.n_distinct_codes == 4
    assert found.duplicated_share == pytest.approx(1 / 5)
    assert set(found.heavy_tailed_codes) == {"cube", "tails"}
    shares = found.nuisance_per_code
    assert max(shares["x"], shares["cube"], shares["tails"]) < 0.01
    assert shares["noise"] > 0.95
    assert abs(shares["half"] - 0.5) < 0.1
    assert found.nuisance_share == pytest.approx(np.mean(list(shares.values())))
    assert (found.codes_per_row, found.codes_per_factor, found.rows_per_code) == (5 / 500, 2.5, 100)


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.8, 0.15, 0.05)])
def test_little_noise_on_codes_of_classes_is_little(shares):
    rng = np.random.default_rng(11)
    label = rng.choice(len(shares), 2000, p=shares)
    size, noise = rng.normal(size=(2, 2000))
    # each share is estimated from at most 400 rows, with an error of .05, so the mean of eight is tested
    halves = {f"half {k}": label + label.std() * rng.normal(size=2000) for k in range(8)}
    alone = {"noise": noise, "tails": np.exp(3 * noise), "rare": np.arange(2000) == 7}
    codes = {"clear": label + 0.1 * noise, "size": np.exp(2 * size), **halves, **alone}
    found = diagnose(Evidence({"label": label, "size": size}, codes)).nuisance_per_code
    assert found["clear"] == pytest.approx(0.01 / (0.01 + label.var()), abs=0.015)
    assert np.mean([found[name] for name in halves]) == pytest.approx(0.5, abs=0.1)
    assert min(found["noise"], found["tails"]) > 0.95
    assert found["size"] < 0.01
    assert "rare" not in found  # constant on the rows that are used


def test_constant_factors_do_not_count():
    found = diagnose(Evidence({"x": NORMAL[:, 0], "fixed": np.ones(500), "y": NORMAL[:, 1]}))
    assert found.constant_factors == ("fixed",)
    assert found.effective_dimension == 2
    assert "fixed never varies." in found.sentences()


def test_one_factor_alone():
    found = diagnose(Evidence(NORMAL[:, :1], NORMAL[:, :2]))
    assert (found.dependence_class, found.effective_dimension) == (DependenceClass.INDEPENDENT, 1)
    assert np.isnan(found.max_correlation)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 10, 49])
def test_too_few_rows_are_said(n_rows):
    found = diagnose(Evidence(NORMAL[:n_rows, :3], NORMAL[:n_rows]))
    assert found.dependence_class is DependenceClass.UNKNOWN
    assert np.isnan(found.effective_dimension)
    assert np.isnan(found.nuisance_share)
    assert any("too few" in str(note) for note in found.notes)
    json.dumps(found.to_dict(), allow_nan=False)


def test_codes_alone_and_factors_alone():
    assert diagnose(Evidence(codes=NORMAL)).n_distinct_codes == 6
    alone = diagnose(Evidence(NORMAL))
    assert np.isnan(alone.codes_per_row)
    assert np.isnan(alone.nuisance_share)


def test_rows_of_a_group_are_not_separate():
    # ten frames of each of 200 subjects: without groups, age and height of a subject seem to determine each other
    age, height = np.repeat(NORMAL[:200, :2], 10, axis=0).T
    pose = np.random.default_rng(5).normal(size=2000)
    factors = {"age": age, "height": height, "pose": pose}
    found = diagnose(Evidence(factors, row_groups=np.repeat(np.arange(200), 10)))
    assert (found.rows_looked_at, found.effective_dimension) == (200, 3)
    assert any("row_groups" in str(note) for note in diagnose(Evidence(factors)).notes)


def test_many_rows_are_sampled_and_it_is_said():
    found = diagnose(Evidence(np.random.default_rng(6).normal(size=(20_000, 2))))
    assert found.rows_looked_at == 4000
    assert Finding("rows_examined", n_rows=4000, of=20000) in found.notes


def test_very_many_factors_have_no_known_dimension():
    factors = np.random.default_rng(8).normal(size=(60, 70))
    found = diagnose(Evidence(factors))
    assert np.isnan(found.effective_dimension)
    assert any("70 factors vary" in str(note) for note in found.notes)


def test_monotone_maps_and_order_change_nothing():
    factors, codes = TwoFactorConstraint(5).sample(600, rng=2), NORMAL[:, :3][np.arange(600) % 500]
    before = diagnose(Evidence(factors, codes))
    bent = np.column_stack([factors[:, 0] ** 3, np.exp(factors[:, 1]), -factors[:, 2], *factors[:, 3:].T])
    assert strip(diagnose(Evidence(bent, np.arctan(codes)))) == strip(before)
    order = [3, 1, 4, 2, 0]
    names = [f"factor {j}" for j in order]
    moved = diagnose(Evidence(factors[:, order], codes, factor_names=names))
    assert moved.effective_dimension == before.effective_dimension
    assert moved.dependence_class is before.dependence_class
    assert moved.max_correlation == pytest.approx(before.max_correlation)
    assert {frozenset(pair.factors) for pair in moved.dependent_pairs} == {
        frozenset(pair.factors) for pair in before.dependent_pairs
    }
    assert [each.determined for each in moved.constraints] == [each.determined for each in before.constraints]


def strip(found):
    """All that must not change under monotone maps, to seven digits, because of rounding."""
    return {
        "class": found.dependence_class,
        "dimension": found.effective_dimension,
        "pairs": [(pair.factors, round(pair.strength, 7), pair.kind) for pair in found.dependent_pairs],
        "constraints": [(each.determined, each.by, round(each.open_share, 7)) for each in found.constraints],
        "largest": round(found.max_correlation, 7),
        "copies": found.duplicated_codes,
        "nuisance": {name: round(share, 7) for name, share in found.nuisance_per_code.items()},
    }


def test_same_seed_same_diagnosis():
    evidence = Evidence(NORMAL[:, :3], NORMAL)
    assert diagnose(evidence).to_dict() == diagnose(evidence).to_dict()


def test_sentences_say_sizes_and_sections():
    codes = np.column_stack([NORMAL[:60, :2], NORMAL[:60, :2] ** 3, NORMAL[:60]])
    said = " ".join(diagnose(Evidence(NORMAL[:60, :2], codes)).sentences())
    assert "60 rows, 2 factors, 10 codes." in said
    assert "(003, 3.4)" in said
    assert "(003, 3.3)" in said


def test_one_is_singular_and_ratios_are_not_cut():
    few = diagnose(Evidence(NORMAL[:1, :1], NORMAL[:1, :1])).sentences()
    assert "1 row, 1 factor, 1 code." in few
    assert any("There is 1 code per row: an unrelated code correlates" in sentence for sentence in few)
    assert any(sentence.startswith("1 separate row is too few") for sentence in few)
    repeated = NORMAL[[*range(100), 0], :2]
    assert Finding("repeated_rows", n_rows=1) in diagnose(Evidence(repeated)).notes
    assert any("m/d is 1.25:" in sentence for sentence in diagnose(Evidence(NORMAL[:, :4], NORMAL[:, :5])).sentences())
    many = np.random.default_rng(12).normal(size=(60, 1200))
    assert any("m/d is 1,200:" in sentence for sentence in diagnose(Evidence(NORMAL[:60, :1], many)).sentences())
    copied = diagnose(Evidence({"x": NORMAL[:, 0], "cube": NORMAL[:, 0] ** 3}))
    assert any(sentence.startswith("1 of 2 factors varies freely") for sentence in copied.sentences())


def test_constrained_factors_are_not_called_independent():
    factors = binary_factors(200, 2, 0)
    found = diagnose(Evidence({**factors, "either": factors["f0"] ^ factors["f1"]}))
    assert found.constraints
    assert found.dependent_pairs == ()
    assert not any("independent" in sentence for sentence in found.sentences())
    assert any("look independent" in sentence for sentence in diagnose(Evidence(factors)).sentences())


def test_rows_are_looked_at_all_over_the_file():
    """Factors are dependent in the last two thirds of 12,000 rows only, so the first 4,000 rows would not show it."""
    factors = np.random.default_rng(0).normal(size=(12_000, 2))
    factors[4000:, 1] = factors[4000:, 0] + 0.5 * factors[4000:, 1]
    found = diagnose(Evidence(factors))
    assert found.rows_looked_at < 12_000
    assert found.dependence_class is not DependenceClass.INDEPENDENT
    assert found.max_correlation > 0.4


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_the_smaller_of_two_p_values_is_doubled(seed):
    """Any dependence and linear dependence are tested; for a linear one, the second p-value is smaller, and doubled."""
    x, noise = np.random.default_rng(seed).normal(size=(2, 100))
    (pair,) = diagnose(Evidence(np.column_stack([x, 0.6 * x + noise]))).dependent_pairs
    statistic = pair.correlation * np.sqrt(98 / (1 - pair.correlation**2))
    assert pair.p_value == pytest.approx(2 * 2 * stats.t.sf(abs(statistic), 98), rel=1e-6)


@pytest.mark.parametrize(("noise", "is_copy"), [(0.01, True), (0.1, False), (0.3, False)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_copies_have_nearly_the_same_ranks_in_either_direction(noise, is_copy, sign):
    """With a tenth of noise the correlation is .995: the codes are similar, but not copies."""
    x, e = np.random.default_rng(0).normal(size=(2, 1000))
    found = diagnose(Evidence(NORMAL[:, :1].repeat(2, axis=0), np.column_stack([x, sign * x + noise * e])))
    assert bool(found.duplicated_codes) is is_copy


def test_the_kurtosis_of_a_heavy_tail_is_told():
    """Two levels, one of them with share p: (1 - 3 p q) / p q, which is 9.2 for p = .09 and 10.3 for p = .082."""
    for share, is_heavy in ((0.09, False), (0.082, True)):
        codes = np.random.default_rng(0).permutation(np.arange(1000) < 1000 * share).astype(float)
        found = diagnose(Evidence(np.random.default_rng(1).normal(size=1000), codes))
        assert bool(found.heavy_tailed_codes) is is_heavy
        if is_heavy:
            assert found.heavy_tailed_codes["code 0"] == pytest.approx(1 / (share * (1 - share)) - 3)


@pytest.mark.parametrize("n_factors", [1, 2, 5])
def test_kernels_have_a_diagonal_of_one(n_factors):
    rng = np.random.default_rng(0)
    linear, *others = (kernel for kernel, _ in _models([rng.normal(size=(60, 1)) for _ in range(n_factors)]))
    assert linear.diagonal().mean() == pytest.approx(1, abs=0.5)
    for kernel in others:
        np.testing.assert_allclose(kernel.diagonal(), 1, atol=1e-6)
        assert np.linalg.eigvalsh(kernel).min() > -1e-6


def test_copies_follow_the_first_code_and_constants_follow_none():
    x, y = np.random.default_rng(1).normal(size=(2, 50))
    assert _leaders(np.column_stack([x, np.ones(50), y, -x, np.zeros(50), y**3])).tolist() == [0, 1, 2, 0, 4, 2]


def test_groups_of_two_codes_are_copies_and_two_codes_may_be():
    x, y = np.random.default_rng(1).normal(size=(2, 50))
    assert copies(np.column_stack([x, x + 1e-4 * y])) == ((0, 1),)
    assert copies(np.column_stack([x, y])) == ()
    assert copies(np.column_stack([x, y, y**3, x + 1e-4 * y, -y])) == ((0, 3), (1, 2, 4))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e200])
def test_kurtosis_does_not_depend_on_the_scale(scale):
    codes = scale * np.array([[3.0, -1.0, 5.0], [-1.0, -1.0, 5.0], [-1.0, -9.0, 5.0], [-1.0, -1.0, 5.0]])
    assert kurtosis(codes) == pytest.approx([7 / 3, 7 / 3, np.nan], nan_ok=True)
    assert kurtosis(np.zeros((4, 1))) == pytest.approx([np.nan], nan_ok=True)


def test_distances_are_those_between_rows():
    places = np.array([[0.0, 0.0], [3.0, 4.0], [1.0, 0.0]])
    assert _squared_distances(places) == pytest.approx(np.array([[0, 25, 1], [25, 0, 20], [1, 20, 0]]))


def test_p_values_of_two_curvatures_are_at_most_one():
    """Twice the smaller p-value of two exceeds 1 for a quarter of independent pairs."""
    factors = np.random.default_rng(0).normal(size=(60, 7))
    views = [factor_view(Evidence(factors), j) for j in range(7)]
    found = np.array(
        [_measured_dependence(left, right).p_values for k, left in enumerate(views) for right in views[:k]]
    )
    assert found.shape == (21, 3)
    assert ((found >= 0) & (found <= 1)).all()
    assert 1 <= (found[:, 2] == 1).sum() <= 12


@pytest.mark.parametrize(
    ("numbers", "p_values", "kind"),
    [
        # correlation, strength, added share; p-values of any, of linear and of curved dependence
        ((0.5, 0.5, 0.0), (0.01, 0.01, 1.0), "linear"),
        ((0.5, 0.5, 0.0), (0.011, 0.01, 1.0), "independent"),
        ((0.049, 0.049, 0.0), (0.0, 0.0, 1.0), "independent"),
        ((-0.05, 0.0, 0.0), (0.0, 0.0, 1.0), "linear"),
        ((0.0, 0.05, 0.0), (0.0, 0.0, 1.0), "linear"),
        ((np.nan, 0.05, np.nan), (0.0, np.nan, np.nan), "associated"),
        ((np.nan, 0.04, np.nan), (0.0, np.nan, np.nan), "independent"),
        ((0.5, 0.5, 0.03), (0.0, 0.0, 0.01), "nonlinear"),
        ((0.5, 0.5, 0.029), (0.0, 0.0, 0.01), "linear"),
        ((0.5, 0.5, 0.03), (0.0, 0.0, 0.011), "linear"),
        ((0.5, 0.5, 0.0), (0.0, 0.011, 1.0), "nonlinear"),
    ],
)
def test_the_kind_of_a_dependence_follows_from_its_size_and_its_p_values(numbers, p_values, kind):
    assert _kind(_Measured(*numbers, p_values), *p_values) == kind


@pytest.mark.parametrize(("n_left", "n_right"), [(3, 40), (40, 3), (3, 3)])
def test_the_factor_with_fewer_values_predicts_the_other(n_left, n_right):
    """The first factor bends the second: only functions of it explain more than a line does."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, n_left, 200).astype(float)
    y = np.clip(np.abs(x - x.mean()) * n_right / n_left + rng.integers(0, 2, 200), 0, n_right - 1).round()
    left, right = (factor_view(Evidence(np.column_stack([x, y]), kinds="ordinal"), j) for j in range(2))
    found = _measured_dependence(left, right)
    there, back = curvature(left.scores, left.basis, right.scores), curvature(right.scores, right.basis, left.scores)
    used = [
        each
        for each, applies in ((there, left.n_values <= right.n_values), (back, right.n_values <= left.n_values))
        if applies
    ]
    assert found.added == pytest.approx(max(share for share, _ in used))
    assert found.p_values[2] == pytest.approx(min(1.0, len(used) * min(p for _, p in used)))


RNG = np.random.default_rng(0)
Z = RNG.normal(size=(600, 3))


def said(codes, factors=Z):
    return {finding.kind: finding for finding in diagnose(Evidence(factors, codes)).findings}


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
    return {finding.kind: finding for finding in Diagnosis(**known | fields).findings}


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


def test_codes_of_noise_with_small_scales_are_a_large_share_of_codes_and_a_small_one_of_variance():
    """Two codes with variance 1 and eight of noise with variance .0025: .8 of the codes, .01 of the variance."""
    rng = np.random.default_rng(12)
    z = rng.normal(size=(400, 2))
    codes = np.column_stack([z, 0.05 * rng.normal(size=(400, 8))])
    found = evaluate(z, codes, metrics=["r2"], budget=10, progress=False)
    diagnosis = found.data.diagnosis["codes"]
    assert diagnosis.nuisance_share > 0.7
    assert diagnosis.nuisance_of_variance == pytest.approx(0.02 / 2.02, abs=0.01)
    line = answer_of(found).questions[-1]
    assert (line.question, line.answer) == ("other content", "yes")  # scales of codes are arbitrary
    share = f"{100 * diagnosis.nuisance_of_variance:.0f} % of all variance"
    assert line.part == f"mean over codes; {share}"
    for text in (str(found), found.to_markdown(), found.to_html(), found._repr_html_()):
        assert share in " ".join(text.split())
