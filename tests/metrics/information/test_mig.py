"""MIG, its relatives and modularity: closed forms, other libraries' numbers, claims of 004."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unweave import Evidence
from unweave.estimators import Histogram, Lasso, NearestNeighbour
from unweave.estimators.counts import binned
from unweave.findings import Finding
from unweave.metrics import (
    CATALOGUE,
    dci_completeness,
    dci_disentanglement,
    dcimig,
    infomec_explicitness,
    infomec_modularity,
    mig,
    mig_sup,
    minimality,
    modularity,
    sap,
    sufficiency,
)
from unweave.synthetic.toys import DependentClasses


def test_closed_form_of_a_noisy_label():
    """A code that is one of K labels, and wrong with probability e: I = log K - H(e) - e log(K - 1)."""
    rng = np.random.default_rng(0)
    k, e, n = 5, 0.3, 200_000
    label = rng.integers(0, k, n)
    wrong = (label + rng.integers(1, k, n)) % k
    code = np.where(rng.random(n) < e, wrong, label)
    information = np.log(k) + (1 - e) * np.log(1 - e) + e * np.log(e / (k - 1))
    score = mig(label, np.column_stack([code, rng.integers(0, k, n)]))
    assert score.raw == pytest.approx(information / np.log(k), abs=0.005)


def test_perfect_code_tends_to_one():
    """Claim 6: the bias of the plug-in estimate makes it less than 1 at small n; with 20,000 rows it is above .99."""
    values = []
    for n in (500, 5000, 50_000):
        z = np.random.default_rng(1).normal(size=(n, 5))
        values.append(mig(z, z[:, ::-1]).raw)
    assert values[0] < values[1] < values[2]
    assert values[2] > 0.995


def test_bias_correction_removes_most_of_the_shortfall():
    """At 500 rows the best of four independent codes has an estimate of .4 nats; bias correction removes most of it."""
    z = np.random.default_rng(2).normal(size=(500, 5))
    plain, corrected = mig(z, z), mig(z, z, estimator=Histogram(bias_correction="miller_madow"))
    assert plain.raw < 0.9
    assert 1 - corrected.raw < 0.5 * (1 - plain.raw)


@pytest.mark.parametrize("estimator", [Histogram(), NearestNeighbour()])
def test_one_heavy_tailed_code_changes_nothing(estimator):
    z = np.random.default_rng(3).normal(size=(2000, 5))
    wild = np.column_stack([np.sinh(2 * z[:, 0] ** 3), z[:, 1:]])
    assert mig(z, wild, estimator=estimator).raw == pytest.approx(mig(z, z, estimator=estimator).raw, abs=0.02)


def test_equal_width_bins_are_destroyed_by_it():
    """This is the reason why bins of equal mass are the default."""
    z = np.random.default_rng(3).normal(size=(2000, 5))
    wild = np.column_stack([np.sinh(2 * z[:, 0] ** 3), z[:, 1:]])
    estimator = Histogram(binning="equal_width")
    assert mig(z, z, estimator=estimator).per_factor["factor 0"] > 0.9
    assert mig(z, wild, estimator=estimator).per_factor["factor 0"] < 0.1


def test_exactly_invariant_under_increasing_maps():
    rng = np.random.default_rng(4)
    z = rng.normal(size=(3000, 3))
    codes = z @ rng.normal(size=(3, 4))
    assert mig(np.exp(z), np.cbrt(codes)).raw == mig(z, codes).raw


def test_nearest_neighbours_agree_with_bins_on_a_clean_code():
    z = np.random.default_rng(6).normal(size=(5000, 3))
    noisy = z + 0.1 * np.random.default_rng(7).normal(size=z.shape)
    assert mig(z, noisy, estimator=NearestNeighbour()).raw == pytest.approx(mig(z, noisy).raw, abs=0.05)


def test_one_code_is_told_from_none_and_says_so():
    z = np.random.default_rng(8).normal(size=(1000, 2))
    score = mig(z, z[:, 0])
    assert score.per_factor["factor 0"] == pytest.approx(1.0)
    assert Finding("one_code") in score.caveats


def test_a_factor_that_is_mostly_one_value_keeps_its_entropy():
    """With 95 % zeros, bins of equal mass must still separate the other values."""
    rng = np.random.default_rng(9)
    factor = np.where(rng.random(4000) < 0.95, 0.0, rng.exponential(size=4000))
    score = mig(factor, np.column_stack([factor, rng.normal(size=4000)]), kinds="continuous")
    assert score.raw > 0.9


@pytest.mark.parametrize("constant", [0.0, 3.0, -1e9])
def test_a_constant_code_has_no_share_of_its_entropy(constant):
    """Its entropy is 0, and 0 / 0 must not reach the score."""
    z = np.random.default_rng(0).normal(size=(500, 2))
    for metric in (mig, mig_sup):
        alone = metric(z, z, normalise="code_entropy").raw
        assert metric(z, np.column_stack([z, np.full(500, constant)]), normalise="code_entropy").raw == alone


ALL = (mig_sup, dcimig, modularity)


def grid(*levels, repeats=6):
    """Every combination of levels equally often, so that the plug-in estimate of information is exact."""
    return np.repeat(
        np.stack(np.meshgrid(*map(np.arange, levels), indexing="ij"), -1).reshape(-1, len(levels)), repeats, axis=0
    ).astype(float)


def test_closed_forms_for_one_code_that_tells_two_factors():
    factors = grid(2, 4)
    codes = np.column_stack([factors[:, 0] + 2 * factors[:, 1], factors[:, 1]])  # one code mixes both factors
    h1, h2 = np.log(2), np.log(4)
    assert mig_sup(factors, codes).per_code == pytest.approx({"code 0": 0.0, "code 1": 1.0})
    assert mig_sup(factors, codes, normalise="code_entropy").raw == pytest.approx(((h2 - h1) / np.log(8) + 1) / 2)
    assert dcimig(factors, codes).raw == pytest.approx(h2 / (h1 + h2))
    assert modularity(factors, codes).raw == pytest.approx((1 - (h1 / h2) ** 2 + 1) / 2)


@pytest.mark.parametrize("metric", ALL)
def test_an_exact_design_gets_full_marks_under_any_monotone_map(metric):
    factors = grid(3, 4, 2)
    codes = np.exp(factors[:, ::-1]) * [1, 5, 0.1]
    assert metric(factors, codes).raw == pytest.approx(1.0)


@pytest.mark.parametrize("metric", ALL)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), n_codes=st.integers(1, 5), n_factors=st.integers(2, 4))
def test_bounds_and_invariance_to_order_and_monotone_maps(metric, seed, n_codes, n_factors):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(200, n_factors))
    codes = factors @ rng.normal(size=(n_factors, n_codes)) + rng.normal(size=(200, n_codes))
    raw = metric(factors, codes).raw
    assert 0 <= raw <= 1 + 1e-12
    rows, order = rng.permutation(200), rng.permutation(n_codes)
    assert metric(factors[rows], (codes**3)[rows][:, order]).raw == pytest.approx(raw, abs=1e-9)


def test_with_one_code_and_one_factor_the_gaps_agree():
    factors = np.random.default_rng(0).normal(size=(500, 1))
    codes = factors + np.random.default_rng(1).normal(size=(500, 1))
    assert mig_sup(factors, codes).raw == pytest.approx(mig(factors, codes).raw)
    assert dcimig(factors, codes).raw == pytest.approx(mig(factors, codes).raw)
    assert Finding("one_factor") in mig_sup(factors, codes).caveats


def test_copies_and_unused_codes_cost_dcimig_nothing():
    factors = grid(3, 4, 2)
    codes = np.column_stack([factors, factors, np.tile([0.0, 1.0], len(factors) // 2)])
    assert dcimig(factors, codes).raw == pytest.approx(1.0)
    assert mig(factors, codes).raw == pytest.approx(0.0, abs=1e-12)
    assert mig_sup(factors, codes).raw == pytest.approx(6 / 7)


def test_a_nan_is_refused_and_a_code_entropy_needs_bins():
    factors = np.random.default_rng(0).normal(size=(100, 2))
    codes = factors.copy()
    codes[3, 0] = np.nan
    with pytest.raises(ValueError, match="missing"):
        modularity(factors, codes)
    from unweave.estimators import NearestNeighbour

    with pytest.raises(ValueError, match="Histogram"):
        mig_sup(factors, factors, estimator=NearestNeighbour(), normalise="code_entropy")
    with pytest.raises(ValueError, match="not known"):
        mig_sup(factors, factors, normalise="entropy")


def test_all_kinds_of_factors():
    rng = np.random.default_rng(0)
    angle, level, name = rng.uniform(0, 360, 2000), rng.integers(0, 4, 2000), rng.choice(["a", "b", "c"], 2000)
    factors = {"angle": angle, "level": level, "name": name, "size": rng.normal(size=2000)}
    codes = np.column_stack([angle, -level, [ord(c) for c in name], np.exp(factors["size"])])
    for metric in ALL:
        score = metric(factors, codes, kinds={"angle": "circular:360"}, estimator=Histogram(10))
        assert score.raw > 0.9, metric.card.name


GOLDEN = Path(__file__).parents[2] / "reference" / "golden"
VALUES = json.loads((GOLDEN / "information.json").read_text())["values"]
PUBLISHED_NEIGHBOURS = NearestNeighbour(10, factor_binning="equal_width")


def arrays(case):
    stored = np.load(GOLDEN / f"{case}.npz")
    return stored["factors"].astype(float), stored["codes"]


def value_of(case, metric, peer):
    return next(row["value"] for row in VALUES if (row["case"], row["metric"], row["peer"]) == (case, metric, peer))


def rows(*peers, metrics):
    chosen = [row for row in VALUES if row["peer"] in peers and row["metric"] in metrics]
    assert chosen
    return pytest.mark.parametrize("row", chosen, ids=lambda row: f"{row['case']}-{row['metric']}-{row['peer']}")


@rows("ubisoft", "clarken92", metrics=("mig_sup", "dcimig", "modularity"))
def test_gaps_and_modularity_agree_with_peers_in_their_bins(row):
    factors, codes = arrays(row["case"])
    bins = 10 if row["peer"] == "ubisoft" else 20
    options = {"normalise": "code_entropy"} if row["metric"] == "mig_sup" else {}
    kinds = "ordinal" if row["case"] in ("c09s", "c10a", "c10c") else "continuous"
    score = CATALOGUE[row["metric"]](factors, codes, kinds=kinds, estimator=Histogram(bins, "equal_width"), **options)
    assert score.raw == pytest.approx(row["value"], abs=1e-6)


@rows("dependent_disentanglement", metrics=("minimality", "sufficiency"))
def test_minimality_and_sufficiency_agree_with_the_code_of_004(row):
    factors, codes = arrays(row["case"])
    if "20 equal-width" in row["convention"]:
        factors = np.column_stack([binned(column, 20, "equal_width") for column in factors.T]).astype(float)
    score = CATALOGUE[row["metric"]](factors, codes, kinds="ordinal", estimator=Histogram(15, "equal_width"))
    assert score.raw == pytest.approx(row["value"], abs=1e-6)


@rows("identifiability-guard", "latent_quantization", metrics=("infomec_modularity", "infomec_compactness"))
def test_infomec_agrees_with_its_publishers_in_their_convention(row):
    if row["case"] == "c09s" and row["peer"] == "identifiability-guard":
        pytest.skip("it bins factors that have levels")
    factors, codes = arrays(row["case"])
    kinds = "ordinal" if row["case"] in ("c09s", "c10a", "c10c") else "continuous"
    score = CATALOGUE[row["metric"]](factors, codes, kinds=kinds, estimator=PUBLISHED_NEIGHBOURS, activity="range")
    ratio_of_noise = row["case"] == "c08"  # they add random noise to the codes, which changes this ratio
    assert score.raw == pytest.approx(row["value"], abs=0.03 if ratio_of_noise else 0.01)


@pytest.mark.parametrize("case", ["c09s", "c02"])
def test_modularity_over_the_wrong_axis_is_not_ours(case):
    factors, codes = arrays(case)
    wrong = value_of(case, "modularity", "dependent_disentanglement")
    kinds = "ordinal" if case == "c09s" else "continuous"
    right = modularity(factors, codes, kinds=kinds, estimator=Histogram(10, "equal_width")).raw
    assert abs(right - wrong) > 0.002
    assert (wrong - right > 0.15) == (case == "c09s")


def test_a_lossless_mixing_is_explicit_where_a_strong_penalty_says_a_quarter():
    factors, codes = arrays("c02")
    assert value_of("c02", "infomec_explicitness", "identifiability-guard") < 0.26
    assert infomec_explicitness(factors, codes).raw > 0.85  # .88 to .95 over seeds


def test_noise_is_not_explicit_where_the_fitted_rows_say_so():
    factors, codes = arrays("c08")
    assert value_of("c08", "infomec_explicitness", "latent_quantization") > 0.4
    assert float(infomec_explicitness(factors, codes)) < 0.02


def test_the_range_rule_collapses_and_the_default_does_not():
    factors, codes = arrays("c01")
    wide = np.column_stack([np.sinh(2 * codes[:, 0] ** 3 + 0.1), codes[:, 1:]])
    assert infomec_modularity(factors, wide, estimator=PUBLISHED_NEIGHBOURS, activity="range").per_code["code 1"] != 1
    counted = infomec_modularity(factors, wide, activity="range").per_code
    assert np.isnan([counted[name] for name in ("code 1", "code 2", "code 3", "code 4")]).all()
    assert infomec_modularity(factors, wide).raw == pytest.approx(infomec_modularity(factors, codes).raw, abs=1e-9)


N_ROWS = 5000
# 004's code chooses the penalty on validation rows, which is not repeated here. Of five fixed penalties, .001 and .002
# come close to its numbers (D .982 and .992 at delta = 1, .855 and .859 at .6, over four seeds). With .02, D is 1 at
# delta = 1.
FINE_LASSO = {"probe": Lasso(0.001), "normalise": "none", "weights": "uniform"}


def toy(alpha=1.0, delta=1.0, kinds="ordinal", n_rows=N_ROWS):
    factors, codes, _ = DependentClasses(alpha=alpha, delta=delta).sample(n_rows, rng=0)
    return Evidence(factors, codes, kinds=kinds)


def both(evidence, **options):
    return [metric(evidence, **options).raw for metric in (dci_disentanglement, dci_completeness)]


def test_gaps_stop_just_short_of_one_on_clean_independent_classes():
    """CLAIMS 125. The gap to 1 is due to sampling error, and for SAP to the nonlinearity of the cosine."""
    evidence = toy()
    assert mig(evidence).raw == pytest.approx(0.998, abs=0.001)
    published = mig(evidence, estimator=Histogram(10, "equal_width"), normalise="code_entropy")
    assert published.raw == pytest.approx(0.998, abs=0.001)
    assert sap(evidence).raw == pytest.approx(0.975, abs=0.002)


def test_the_rest_of_sap_is_the_bend():
    factors, codes, _ = DependentClasses().sample(N_ROWS, rng=0)
    straight = sap(factors, np.arccos(np.clip(codes, -1, 1)), kinds="ordinal").raw
    assert straight == pytest.approx(1, abs=0.001)


@pytest.mark.parametrize("options", [{}, {"probe": Lasso(0.02)}], ids=["trees", "stronger lasso"])
def test_d_and_c_do_reach_one_with_other_probes(options):
    """With these probes 004's claim is false: D and C are 1 at alpha = 1 and delta = 1."""
    assert both(toy(), **options) == pytest.approx([1, 1], abs=1e-4)


@pytest.mark.parametrize("alpha", [0.4, 0.7, 1.0])
def test_the_gaps_and_modularity_are_zero_where_factors_are_one(alpha):
    """CLAIMS 126: every code is equally informative about all factors, so all gaps are 0."""
    evidence = toy(alpha, delta=0.25)
    assert [metric(evidence).raw for metric in (mig, sap, modularity)] == pytest.approx([0, 0, 0], abs=1e-9)
    assert sap(toy(alpha, delta=0.25, kinds="categorical")).raw == pytest.approx(0, abs=1e-9)
    assert [minimality(evidence).raw, sufficiency(evidence).raw] == pytest.approx([1, 1])


def test_d_with_the_lasso_depends_on_delta():
    """CLAIMS 127: D and C are not largely invariant, as 004 claims; between .6 and 1/d D is not even monotone."""
    found = {delta: both(toy(delta=delta), **FINE_LASSO) for delta in (1.0, 0.6, 0.4, 0.25)}
    assert [found[delta][0] for delta in (1.0, 0.6, 0.25)] == pytest.approx([0.989, 0.864, 0], abs=0.015)
    assert found[0.4][0] == pytest.approx(0.91, abs=0.015)
    assert [found[delta][1] for delta in (1.0, 0.6)] == pytest.approx([0.989, 0.864], abs=0.015)
    # the lasso selects one of several identical codes, arbitrarily: C is then 1 although D is 0
    assert found[0.25][1] == pytest.approx(1)


def test_trees_do_not_depend_on_delta_until_factors_are_one():
    """CLAIMS 127 with our default probe: 004 is right except at delta = 1/d."""
    for delta in (1.0, 0.6, 0.4):
        assert both(toy(delta=delta, n_rows=2000)) == pytest.approx([1, 1], abs=1e-3)
    assert both(toy(delta=0.25, n_rows=2000)) == pytest.approx([0, 0], abs=1e-9)


def test_with_trees_dependence_hides_entanglement():
    """At alpha = .7 and with trees, D and C rise as factors become more dependent, while MIG and SAP fall."""
    d = [dci_disentanglement(toy(0.7, delta, n_rows=2500)).raw for delta in (1.0, 0.7, 0.4)]
    assert d == pytest.approx([0.855, 0.879, 1.0], abs=0.03)
    for metric in (mig, sap):
        values = [metric(toy(0.7, delta)).raw for delta in (1.0, 0.7, 0.4)]
        assert (np.diff(values) < -0.05).all()
