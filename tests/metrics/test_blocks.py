"""Blocks of codes as units: arrays n x blocks x dim, lists and mappings of tables, and `code_groups`."""

import numpy as np
import pytest
from scipy.stats import ortho_group
from sklearn.linear_model import LinearRegression

from unweave import Evidence, InputError, MetricUndefined, OptionError
from unweave.metrics import (
    CATALOGUE,
    dci_completeness,
    dci_disentanglement,
    dci_size,
    dcimig,
    mcc,
    mig,
    mig_sup,
    minimality,
    modularity,
    r2,
    sap,
    sufficiency,
    weak_mcc,
)

PAIRED = [name for name, metric in CATALOGUE.items() if metric.card.needs == ("factors", "codes")]
SLOW = {"identification", "factors_invariance", "representations_invariance"}
BASIS_FREE = [mcc, r2, sap, mig, mig_sup, dcimig, modularity, weak_mcc]


def citris(seed=0, n=1500, widths=(2, 3, 5)):
    """Independent factors, and for each a block in which it is mixed with noise of its own."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, len(widths)))
    inside = [np.column_stack([z, rng.normal(size=(n, w - 1))]) for z, w in zip(factors.T, widths, strict=True)]
    return factors, [block @ rng.normal(size=(block.shape[1],) * 2) for block in inside]


@pytest.mark.parametrize("name", [name for name in PAIRED if name not in SLOW])
def test_a_block_of_one_code_is_the_code(name):
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(120, 2))
    codes = factors @ rng.normal(size=(2, 3)) + rng.normal(size=(120, 3))
    alone = CATALOGUE[name](factors, codes)
    for one in (
        codes[:, :, None],
        [codes[:, [i]] for i in range(3)],
        {"a": codes[:, :1], "b": codes[:, 1], "c": codes[:, 2]},
    ):
        assert CATALOGUE[name](factors, one).raw == alone.raw
    grouped = CATALOGUE[name](factors, codes, code_groups={"last": [2], "first": [0]})
    assert grouped.raw == alone.raw
    assert list(grouped.per_code.values()) == list(alone.per_code.values())


@pytest.mark.parametrize("metric", BASIS_FREE, ids=lambda metric: metric.card.name)
def test_the_basis_of_a_block_changes_nothing(metric):
    factors, blocks = citris(2, 400)
    rng = np.random.default_rng(0)
    plain = metric(factors, blocks).raw
    shuffled = [block[:, rng.permutation(block.shape[1])] for block in blocks]
    mixed = [10 * block @ ortho_group.rvs(block.shape[1], random_state=rng) + 3 for block in blocks]
    # readouts of unrelated factors are nearly constant, and a few rows change their bins by rounding
    allowed = 2e-3 if metric in (mig, mig_sup, dcimig, modularity) else 1e-6
    assert metric(factors, shuffled).raw == pytest.approx(plain, abs=allowed)
    assert metric(factors, mixed).raw == pytest.approx(plain, abs=allowed)


def test_blocks_of_causal_variables_get_full_marks_and_their_columns_do_not():
    for seed in range(3):
        factors, blocks = citris(seed)
        columns = np.hstack(blocks)
        for metric in (mcc, sap, mig, mig_sup, dcimig, modularity, sufficiency, minimality):
            best = metric(factors, blocks).value
            assert best > 0.93, metric.card.name
            assert metric(factors, columns).value < best - 0.05, metric.card.name
        assert r2(factors, blocks).value == r2(factors, columns).value > 0.99
        assert dci_size(factors, blocks).value == 1
        assert dci_completeness(factors, blocks).value > dci_completeness(factors, columns).value + 0.1


@pytest.mark.parametrize("leaking", [0, 1, 2])
def test_planted_leakage_is_found_in_its_block(leaking):
    factors, blocks = citris(leaking)
    other = (leaking + 1) % 3
    blocks[leaking] = blocks[leaking] + factors[:, [other]] * np.linspace(1, 2, blocks[leaking].shape[1])
    correlations = mcc(factors, blocks).parts["correlation_matrix"] - np.eye(3)
    information = mig(factors, blocks).parts["mutual_information_matrix"] - 3 * np.eye(3)
    for matrix in (correlations, information):
        assert np.unravel_index(matrix.argmax(), matrix.shape) == (leaking, other)
    assert min(mig_sup(factors, blocks).per_code, key=mig_sup(factors, blocks).per_code.get) == f"block {leaking}"


def test_noise_inside_a_block_has_the_closed_form():
    """A block of z + s e and other noise, mixed: canonical correlation 1 / sqrt(1 + s^2), whatever the mixing."""
    rng = np.random.default_rng(0)
    factors, s = rng.normal(size=(50_000, 2)), 0.8
    noisy = factors + s * rng.normal(size=factors.shape)
    blocks = [np.column_stack([column, rng.normal(size=(50_000, 2))]) @ rng.normal(size=(3, 3)) for column in noisy.T]
    share = 1 / (1 + s**2)
    assert mcc(factors, blocks).value == pytest.approx(np.sqrt(share), abs=0.01)
    assert mcc(factors, blocks, cross_fit=True).value == pytest.approx(np.sqrt(share), abs=0.01)
    assert sap(factors, blocks).value == pytest.approx(share, abs=0.01)
    assert mig(factors, blocks).value == pytest.approx(mig(factors, noisy).value, abs=0.005)


def test_canonical_correlation_is_the_fit_of_scikit_learn():
    for seed in range(20):
        factors, blocks = citris(seed, 200)
        factors = factors + np.random.default_rng(seed).normal(size=factors.shape)
        matrix = mcc(factors, blocks).parts["correlation_matrix"]
        expected = [[LinearRegression().fit(b, z).score(b, z) for z in factors.T] for b in blocks]
        np.testing.assert_allclose(matrix, np.sqrt(expected), atol=1e-8)
        np.testing.assert_allclose(sap(factors, blocks).parts["predictability_matrix"], expected, atol=1e-8)


def test_importances_of_a_block_are_added_up():
    factors, blocks = citris(3, 300)
    single = dci_disentanglement(factors, np.hstack(blocks)).parts["importance_matrix"]
    summed = dci_disentanglement(factors, blocks)
    np.testing.assert_allclose(summed.parts["importance_matrix"], np.add.reduceat(single, [0, 2, 5]), atol=1e-12)
    assert list(summed.per_code) == ["block 0", "block 1", "block 2"]


def test_classes_and_angles_are_read_from_blocks():
    rng = np.random.default_rng(0)
    label, angle = rng.integers(4, size=1200), rng.uniform(0, 2 * np.pi, 1200)
    factors = {"shape": label.astype(str), "turn": angle}
    onehot = (label[:, None] == np.arange(4)) + 0.05 * rng.normal(size=(1200, 4))
    circle = np.column_stack([np.cos(angle), np.sin(angle), rng.normal(size=1200)])
    blocks = {"what": onehot @ rng.normal(size=(4, 4)), "where": circle @ rng.normal(size=(3, 3))}
    for metric in (mcc, sap, mig):
        score = metric(factors, blocks, kinds={"turn": "circular"})
        assert min(score.per_factor.values()) > 0.85, metric.card.name


def test_random_blocks_score_nothing():
    rng = np.random.default_rng(0)
    factors, codes = rng.normal(size=(1000, 3)), rng.normal(size=(1000, 4, 5))
    assert mcc(factors, codes, cross_fit=True).raw == pytest.approx(0, abs=0.1)
    for metric in (r2, sap, mig, mig_sup, dcimig):
        assert metric(factors, codes).value == pytest.approx(0, abs=0.05)


def test_other_metrics_refuse_blocks_and_say_what_to_use():
    factors, blocks = citris(0, 200)
    taken = {name for name in PAIRED if CATALOGUE[name].card.takes_code_groups}
    assert {"mcc", "r2", "sap", "mig", "dci_disentanglement", "minimality", "weak_mcc"} <= taken
    for name in set(PAIRED) - taken:
        with pytest.raises(MetricUndefined, match=f"{name} scores every code separately, and 'block 0' is a block"):
            CATALOGUE[name](factors, blocks)
    with pytest.raises(MetricUndefined, match="entropy of a block is not estimated"):
        mig(factors, blocks, normalise="code_entropy")


@pytest.mark.parametrize(
    ("codes", "options", "says"),
    [
        (np.zeros((5, 2, 2)), {"code_groups": {"a": [0]}}, "The codes are blocks already"),
        (np.zeros((5, 2, 2)), {"code_names": ["a"]}, "1 names for 2 blocks"),
        ([np.zeros((5, 2)), np.zeros((4, 2))], {}, r"shapes \(5, 2\), \(4, 2\): give each one row per sample"),
        ({"a": np.zeros((5, 2)), "b": np.zeros((5, 2, 2))}, {}, "give each one row per sample"),
        (np.zeros((5, 2, 2, 2)), {}, "flattening or pooling"),
        (np.zeros((5, 0, 2)), {}, "The codes have no blocks"),
        ([np.zeros((5, 2)), None], {}, "give each one row per sample"),
    ],
)
def test_bad_blocks_are_one_sentence(codes, options, says):
    with pytest.raises((InputError, OptionError), match=says):
        Evidence(np.arange(5.0), codes, **options)


def test_names_and_order_of_blocks():
    codes = np.arange(30.0).reshape(5, 3, 2)
    evidence = Evidence(np.arange(5.0), codes, code_names=["hand", "cup", "table"])
    assert evidence.code_groups["cup"] == ("cup [0]", "cup [1]")
    np.testing.assert_array_equal(evidence.codes[:, 2:4], codes[:, 1])
    assert Evidence(np.arange(5.0), [codes[:, 0], codes[:, 1]]).code_groups.keys() == {"block 0", "block 1"}
