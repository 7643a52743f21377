"""Blocks of codes as units: arrays n x blocks x dim, lists and mappings of tables, and `code_groups`."""

import functools

import numpy as np
import pytest
from scipy.stats import ortho_group, spearmanr
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_predict

import unweave
from unweave import Evidence, InputError, MetricUndefined, OptionError
from unweave.metrics import (
    CATALOGUE,
    dci_completeness,
    dci_disentanglement,
    dci_informativeness,
    mcc,
    mig,
    r2,
    sap,
)

PAIRED = [name for name, metric in CATALOGUE.items() if metric.card.needs == ("factors", "codes")]
TAKEN = [name for name in PAIRED if CATALOGUE[name].card.takes_code_groups]
# metrics of all codes together, for which blocks do not matter
OF_ALL_CODES = {"r2", "weak_mcc", "procrustes_distance", "orthogonality_error", "explicitness", "infomec_explicitness"}
OF_ALL_CODES |= {"dci_explicitness"}
UNITS = [name for name in TAKEN if name not in OF_ALL_CODES]
# how far a rotation inside blocks, with another scale and origin, moves a score at 400 rows
MOVES = dict.fromkeys(("mcc", "r2", "weak_mcc", "sap", "dci_size", "identification"), 1e-6)
MOVES |= {"dci_explicitness": 0.05, "sufficiency": 0.03, "explicitness": 0.01, "explicitness_ratio": 0.01}
MOVES |= {"oracle_impurity": 0.02, "niche_impurity": 0.03, "interconcept_leakage": 0.02}


def citris(seed=0, n=1500, widths=(2, 3, 5)):
    """Independent factors, and for each a block in which it is mixed with noise of its own."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, len(widths)))
    inside = [np.column_stack([z, rng.normal(size=(n, w - 1))]) for z, w in zip(factors.T, widths, strict=True)]
    return factors, [block @ rng.normal(size=(block.shape[1],) * 2) for block in inside]


@functools.cache
def in_blocks_of_one():
    """Evidence of three codes, of the same as an array, a list and a mapping of blocks, and in groups of one."""
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(120, 2))
    codes = factors @ rng.normal(size=(2, 3)) + rng.normal(size=(120, 3))
    blocks = (
        codes[:, :, None],
        [codes[:, [i]] for i in range(3)],
        {"a": codes[:, :1], "b": codes[:, 1], "c": codes[:, 2]},
    )
    others = {"nuisances": rng.normal(size=120), "target": rng.integers(0, 2, 120)}
    grouped = Evidence(factors, codes, code_groups={"last": [2], "first": [0]}, **others)
    return Evidence(factors, codes, **others), [Evidence(factors, one, **others) for one in blocks], grouped


@pytest.mark.parametrize("name", [*PAIRED, "nuisances_invariance", "concept_task_leakage"])
def test_a_block_of_one_code_is_the_code(name):
    codes, blocks, groups = in_blocks_of_one()
    alone, grouped = CATALOGUE[name](codes), CATALOGUE[name](groups)
    assert [CATALOGUE[name](one).raw for one in blocks] == [alone.raw] * 3
    assert grouped.raw == alone.raw
    assert list(grouped.per_code.values()) == list(alone.per_code.values())


@functools.cache
def in_other_bases():
    """Evidence of blocks, of the same with columns exchanged, and mixed inside; shared, because it memoises results."""
    factors, blocks = citris(2, 400)
    rng = np.random.default_rng(0)
    shuffled = [block[:, rng.permutation(block.shape[1])] for block in blocks]
    mixed = [10 * block @ ortho_group.rvs(block.shape[1], random_state=rng) + 3 for block in blocks]
    return [Evidence(factors, codes) for codes in (blocks, shuffled, mixed, np.hstack(blocks))]


@functools.cache
def with_and_without_blocks():
    factors, blocks = citris(0)
    return Evidence(factors, blocks), Evidence(factors, np.hstack(blocks))


@pytest.mark.parametrize("name", TAKEN)
def test_blocks_of_causal_variables_get_full_marks_in_any_basis_and_their_columns_do_not(name):
    metric = CATALOGUE[name]
    blocks, shuffled, mixed, columns = in_other_bases()
    plain = metric(blocks).raw
    assert metric(shuffled).raw == pytest.approx(plain, abs=1e-6 if MOVES.get(name) == 1e-6 else 2e-3)
    assert metric(mixed).raw == pytest.approx(plain, abs=MOVES.get(name, 4e-3))
    if name in OF_ALL_CODES:
        assert metric(columns).raw == plain
        return
    best, alone = (metric(each).value for each in with_and_without_blocks())
    if metric.card.lower_is_better:  # leakage: columns of a block have the factor of the block alone, too
        assert best < 0.03
    else:
        assert best > 0.95
        assert alone < best - (5e-4 if name == "factors_invariance" else 0.01)


# probes of DCI predict from all blocks together, and do not need the second place of a factor
PLACED = [name for name in UNITS if not name.startswith("dci_") and not CATALOGUE[name].card.lower_is_better]


@pytest.mark.parametrize("name", PLACED)
@pytest.mark.parametrize("leaking", [0, 2])
def test_planted_leakage_is_found_in_its_block(name, leaking):
    factors, blocks = citris(leaking, 500)
    other = (leaking + 1) % 3
    blocks[leaking] = blocks[leaking] + factors[:, [other]] * np.linspace(1, 2, blocks[leaking].shape[1])
    score = CATALOGUE[name](factors, blocks)
    for matrix in (part for key, part in score.parts.items() if np.shape(part) == (3, 3) and key != "chosen_matrix"):
        found = np.where(np.eye(3, dtype=bool), -np.inf, matrix)
        assert np.unravel_index(found.argmax(), (3, 3)) == (leaking, other)
    if score.per_code:
        assert min(score.per_code, key=score.per_code.get) == f"block {leaking}"


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


def test_trees_of_blocks_see_their_readouts():
    """Sums of the importances of single codes had .43 at 300 rows: trees of mixed codes use others by chance."""
    for seed in range(3):
        factors, blocks = citris(seed, 300)
        evidence = Evidence(factors, blocks)
        for metric in (dci_disentanglement, dci_completeness, dci_informativeness):
            assert metric(evidence).value > 0.95
        noise = np.random.default_rng(seed).normal(size=(300, 3, 3))
        assert dci_informativeness(factors, noise).raw < 0.05


def test_the_ladder_of_blocks():
    factors, blocks = citris(0, 600)
    found = unweave.ladder(factors, blocks, quick=True)
    assert [(row.rung, row.code, row.codes) for row in found.rows] == [
        ("one code", f"block {k}", (f"block {k}",)) for k in range(3)
    ]
    assert found.value > 0.97
    assert found.own_codes == pytest.approx(CATALOGUE["identification"](factors, blocks).raw)
    for j, name in enumerate(found.directions):  # weights are those of the codes as given
        assert np.corrcoef(np.hstack(blocks) @ found.directions[name][:, 0], factors[:, j])[0, 1] > 0.999
    turned = [block @ np.random.default_rng(k).normal(size=(block.shape[1],) * 2) for k, block in enumerate(blocks)]
    again = unweave.ladder(factors, turned, quick=True)
    assert [row.direction for row in again.rows] == pytest.approx([row.direction for row in found.rows], abs=1e-4)
    assert again.value == pytest.approx(found.value, abs=0.01)
    blocks[1] = blocks[1] + factors[:, [0]] * [1.0, 2.0, -1.0]
    leaking = unweave.ladder(factors, blocks, quick=True)
    assert leaking["factor 1"].mixed_with == ("factor 0",)
    assert leaking["factor 1"].one_code < 0.6
    assert leaking["factor 0"].rung == leaking["factor 2"].rung == "one code"
    everything = np.hstack(blocks) @ np.random.default_rng(1).normal(size=(10, 10))
    mixed = unweave.ladder(
        factors, everything, code_groups={"a": range(2), "b": range(2, 5), "c": range(5, 10)}, quick=True
    )
    assert all(row.rung == "own direction" for row in mixed.rows)
    assert mixed.own_codes < 0.3


@pytest.mark.parametrize("shared", [0.0, 0.8])
def test_the_ladder_of_noisy_blocks_has_the_closed_form(shared):
    """A block of z + s e, mixed with two codes of noise: 1 / (1 + s^2), however dependent the factors are."""
    rng = np.random.default_rng(0)
    factors = np.sqrt(shared) * rng.normal(size=(1500, 1)) + np.sqrt(1 - shared) * rng.normal(size=(1500, 3))
    noisy = factors + 0.5 * rng.normal(size=factors.shape)
    blocks = [np.column_stack([y, rng.normal(size=(1500, 2))]) @ rng.normal(size=(3, 3)) for y in noisy.T]
    for row in unweave.ladder(factors, blocks, quick=True).rows:
        assert (row.rung, row.mixed_with) == ("one code", ())
        assert [row.one_code, row.direction] == pytest.approx([0.8, 0.8], abs=0.05)
        assert row.leakage < 0.03
    noise = unweave.ladder(factors, rng.normal(size=(1500, 3, 4)), quick=True)
    assert {row.rung for row in noise.rows} == {"absent"}


def test_verdicts_of_small_blocks_model_the_noise_that_codes_of_a_block_share():
    """A model without it scored .76 where r2 is 1, so that r2 got no verdict."""
    factors, blocks = citris(0, 300)
    evidence = Evidence(factors, blocks)
    for metric in (r2, mcc, sap):
        assert unweave.trust.modelled_score(metric, evidence) == pytest.approx(metric(evidence).raw, abs=0.03)


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
    for metric in (r2, sap, mig):
        assert metric(factors, codes).value == pytest.approx(0, abs=0.05)


def test_other_metrics_refuse_blocks_and_say_what_to_use():
    factors, blocks = citris(0, 200)
    assert len(TAKEN) == 28
    for name in set(PAIRED) - set(TAKEN):
        reason = CATALOGUE[name].card.no_blocks_because
        assert reason != type(CATALOGUE[name].card).no_blocks_because, f"{name} needs a reason of its own"
        with pytest.raises(
            MetricUndefined, match=f"{name} takes no block of codes such as 'block 0', because {reason}"
        ):
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


def colours(n=800):
    """A colour of three channels, a pose of two numbers and a size; and a block for each, mixed inside."""
    rng = np.random.default_rng(0)
    factors = {"colour": rng.normal(size=(n, 3)), "pose": rng.normal(size=(n, 2)), "size": rng.normal(size=(n, 1))}
    blocks = {name: block @ rng.normal(size=(block.shape[1],) * 2) for name, block in factors.items()}
    return factors, blocks, {"colour": [0, 1, 2], "pose": [3, 4]}


def test_blocks_of_factors_are_recovered_up_to_an_affine_map():
    factors, blocks, groups = colours()
    table = np.hstack(list(factors.values()))
    turned = np.hstack(
        [block @ np.random.default_rng(1).normal(size=(block.shape[1],) * 2) for block in factors.values()]
    )
    for metric in (mcc, r2, functools.partial(mcc, cross_fit=True)):
        for truth in (table, 7 * turned + 1):
            found = metric(truth, blocks, factor_groups=groups)
            assert found.per_factor == pytest.approx({"colour": 1.0, "pose": 1.0, "factor 5": 1.0})
        noise = {**blocks, "colour": blocks["colour"] + np.random.default_rng(2).normal(size=(800, 3))}
        same = [metric(truth, noise, factor_groups=groups).raw for truth in (table, 7 * turned + 1)]
        assert same[0] == pytest.approx(same[1], abs=1e-3)  # the penalty of r2 is chosen for each column
        assert metric(table, blocks, factor_groups={"a": [0], "b": [5]}).raw == metric(table, blocks).raw
    # two of three independent channels: two canonical correlations of 1 and none, whatever the basis
    fewer = {**blocks, "colour": factors["colour"][:, :2]}
    assert mcc(table, fewer, factor_groups=groups).per_factor["colour"] == pytest.approx(2 / 3, abs=1e-6)
    assert r2(table, fewer, factor_groups=groups).per_factor["colour"] == pytest.approx(2 / 3, abs=0.01)


def test_metrics_of_single_factors_refuse_blocks_of_factors():
    factors, blocks, groups = colours(100)
    table = np.hstack(list(factors.values()))
    for name in set(PAIRED) - {"mcc", "r2", "weak_mcc", "identification"}:
        with pytest.raises(MetricUndefined, match=f"{name} takes no block of factors such as 'colour'"):
            CATALOGUE[name](table, np.hstack(list(blocks.values())), factor_groups=groups)
    with pytest.raises(InputError, match="factor_groups names 'hue', which is not a factor"):
        mcc(table, blocks, factor_groups={"colour": ["hue"]})
    evidence = Evidence(table, blocks, factor_groups=groups)
    assert evidence.fingerprint != Evidence(table, blocks).fingerprint
    assert list(evidence.rows(np.arange(50)).factor_units) == ["colour", "pose", "factor 5"]


def test_the_ladder_of_blocks_of_factors():
    factors, blocks, groups = colours()
    table, rng = np.hstack(list(factors.values())), np.random.default_rng(1)
    found = unweave.ladder(table, blocks, factor_groups=groups)
    assert [(row.factor, row.rung, row.codes) for row in found.rows] == [
        ("colour", "one code", ("colour",)), ("pose", "one code", ("pose",)), ("factor 5", "one code", ("size",))
    ]  # fmt: skip
    assert found["pose"].members == ("factor 3", "factor 4")
    assert found.value > 0.99
    readouts = np.hstack(list(blocks.values())) @ found.directions["colour"]
    assert np.diag(np.corrcoef(readouts.T, table[:, :3].T)[:3, 3:]) == pytest.approx(1, abs=1e-3)
    score = CATALOGUE["identification"](table, blocks, factor_groups=groups)
    assert list(score.per_factor) == ["colour", "pose", "factor 5"]
    assert score.raw == pytest.approx(found.own_codes)
    # as numbers, no channel has a code of its own, because every code of its block has others as well
    assert unweave.ladder(table, np.hstack(list(blocks.values())), quick=True).own_codes < 0.5
    as_columns = unweave.ladder(table, np.hstack(list(blocks.values())), factor_groups=groups, quick=True)
    assert [(row.rung, len(row.codes)) for row in as_columns.rows] == [
        ("own codes", 3),
        ("own codes", 2),
        ("one code", 1),
    ]
    noise = unweave.ladder(table, rng.normal(size=(800, 6)), factor_groups=groups, quick=True)
    assert {row.rung for row in noise.rows} == {"absent"}


def test_bases_of_blocks_do_not_matter_to_the_ladder():
    factors, blocks, groups = colours(500)
    noisy = {name: block + 0.5 * np.random.default_rng(1).normal(size=block.shape) for name, block in blocks.items()}

    def turned(tables, seed):
        rng = np.random.default_rng(seed)
        return {name: 3 * table @ rng.normal(size=(table.shape[1],) * 2) + 1 for name, table in tables.items()}

    numbers = []
    for seed in range(3):
        truth = np.hstack(list(turned(factors, seed).values()))
        found = unweave.ladder(truth, turned(noisy, seed + 5), factor_groups=groups, quick=True)
        numbers.append([[row.one_code, row.direction, row.leakage] for row in found.rows] + [[found.value]])
    np.testing.assert_allclose(np.concatenate(numbers[0]), np.concatenate(numbers[1]), atol=1e-3)
    np.testing.assert_allclose(np.concatenate(numbers[0]), np.concatenate(numbers[2]), atol=1e-3)


def test_the_ladder_of_blocks_of_factors_has_closed_forms():
    factors, blocks, groups = colours(1500)
    table, rng = np.hstack(list(factors.values())), np.random.default_rng(1)
    noisy = {name: block + 0.5 * rng.normal(size=block.shape) for name, block in factors.items()}
    for row in unweave.ladder(table, noisy, factor_groups=groups, quick=True).rows:
        assert [row.one_code, row.direction] == pytest.approx([0.8, 0.8], abs=0.03)
    # a colour of which two of three independent channels are encoded
    fewer = unweave.ladder(table, {**blocks, "colour": factors["colour"][:, :2]}, factor_groups=groups, quick=True)
    assert fewer["colour"].direction == pytest.approx(2 / 3, abs=0.01)
    # a pose whose two codes hold one dimension of the colour each with half of their variance
    mixed = {**blocks, "pose": factors["pose"] + factors["colour"][:, :2]}
    leaking = unweave.ladder(table, mixed, factor_groups=groups, quick=True)
    assert leaking["pose"].mixed_with == ("colour",)
    assert leaking["pose"].one_code == pytest.approx(0.25, abs=0.02)
    assert leaking["pose"].direction == pytest.approx(1, abs=0.01)
    without = {"colour": factors["colour"][:, :1] * [1.0, -1.0], "pose": mixed["pose"], "size": factors["size"]}
    readout = unweave.ladder(table, without, factor_groups=groups, quick=True)
    assert readout["pose"].leaks_into == "colour"
    # one block of one factor is the factor
    single = unweave.ladder(table[:, 3:], blocks, factor_groups={"factor 2": [2]}, quick=True)
    assert single.rows == unweave.ladder(table[:, 3:], blocks, quick=True).rows


def test_a_factor_that_a_block_determines_is_implied():
    factors, blocks, groups = colours(1000)
    table = np.column_stack([np.hstack(list(factors.values())), factors["colour"] @ [0.5, 0.3, 0.2]])
    found = unweave.ladder(table, blocks, factor_groups=groups, quick=True)
    assert (found["factor 6"].rung, found["factor 6"].implied_by) == ("implied", ("colour",))
    assert found["colour"].rung == found["pose"].rung == "one code"
    hue = np.random.default_rng(2).uniform(0, 2 * np.pi, 1000)
    circle = np.column_stack([np.cos(hue), np.sin(hue), table[:, 5]])
    of_circle = unweave.ladder(circle, circle, factor_groups={"circle": [0, 1]}, quick=True)
    assert [(row.factor, row.rung) for row in of_circle.rows] == [("circle", "own codes"), ("factor 2", "one code")]


@pytest.mark.parametrize(
    "blocks", [{}, {"factor_groups": {"a": [0, 1], "b": [2, 3]}}, {"code_groups": {"a": [0, 1], "b": [2, 3]}}]
)
def test_random_mixings_of_blocks_score_0_on_average(blocks):
    """With blocks of codes they scored .18, because what a block reads of a factor was taken to be its share again."""
    scores = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        factors = rng.normal(size=(300, 4))
        mixing = ortho_group.rvs(4, random_state=rng)
        scores.append(CATALOGUE["identification"](factors, factors @ mixing, **blocks).raw)
    assert np.mean(scores) == pytest.approx(0, abs=3 * np.std(scores) / np.sqrt(20))


def test_recovery_is_the_fit_of_scikit_learn_and_finds_the_leak():
    factors, blocks = citris(4, 500)
    blocks[1] = blocks[1] + 0.3 * factors[:, [2]]
    found = unweave.recovery(factors, blocks)
    assert found.matched == {f"factor {k}": f"block {k}" for k in range(3)}
    others = found.r2 - 2 * np.eye(3)
    assert np.unravel_index(others.argmax(), (3, 3)) == (1, 2)
    assert (
        found.off_diagonal()[0] == pytest.approx(others.max()) == pytest.approx(3 * found.off_diagonal()[1], abs=0.05)
    )
    folds = KFold(5, shuffle=True, random_state=0)
    for i, block in enumerate(blocks):
        for j, z in enumerate(factors.T):
            predicted = cross_val_predict(LinearRegression(), block, z, cv=folds)
            assert found.r2[i, j] == pytest.approx(
                1 - np.square(z - predicted).sum() / np.square(z - z.mean()).sum(), abs=0.03
            )
            if found.r2[i, j] > 0.1:
                assert found.spearman[i, j] == pytest.approx(spearmanr(predicted, z)[0], abs=0.03)
    assert "diagonal (*)" in str(found)
    assert found.to_frame().shape == (9, 5)
    assert found.to_dict()["schema"] == "unweave.recovery/1"
    noise = unweave.recovery(factors, np.random.default_rng(0).normal(size=(500, 3, 2)))
    assert np.abs(noise.spearman).max() < 0.2
    assert noise.off_diagonal()[0] < 0.05


def test_recovery_of_blocks_of_factors_classes_and_missing_places():
    factors, blocks, _ = colours()
    table = {f"f{k}": column for k, column in enumerate(np.hstack(list(factors.values())).T)}
    table["kind"] = np.where(table["f5"] > 0, "a", "b")
    found = unweave.recovery(table, blocks, factor_groups={"colour": ["f0", "f1", "f2"], "pose": ["f3", "f4"]})
    assert found.factors == ("colour", "pose", "f5", "kind")
    assert found.matched == {"colour": "colour", "pose": "pose", "f5": "size"}
    assert np.isnan(found.spearman[:, 3]).all()
    assert found.diagonal() == pytest.approx(3 / 4, abs=1e-3)  # the class has no code left
    assert found.diagonal("spearman") == pytest.approx(1)
    assert unweave.recovery(table["f0"], table["f0"]).off_diagonal() == pytest.approx((np.nan, np.nan), nan_ok=True)
    with pytest.raises(InputError, match="use 'r2' or 'spearman'"):
        found.plot("mcc")


def test_the_answer_and_the_page_are_about_blocks(tmp_path):
    factors, blocks = citris(1, 200, (2, 2))
    found = unweave.evaluate(factors, dict(zip("ab", blocks, strict=True)), metrics=["identification", "mcc"])
    text = " ".join(str(found).split())
    assert "own block a" in text
    assert "up to maps of their own codes" in text
    assert "elementwise" not in text
    assert len(found.plot("matrix").axes[0].get_yticks()) == 2
    again = unweave.Evaluation.from_json(found.to_json())
    assert next(iter(again.data.representations.values())).unit_names == ("a", "b")
    found.to_html(tmp_path / "page.html")
    assert '"row_names": ["a", "b"]' in (tmp_path / "page.html").read_text()


def test_the_answer_and_the_page_are_about_blocks_of_factors(tmp_path):
    factors, blocks, groups = colours(200)
    table = np.hstack(list(factors.values()))
    options = {"factor_groups": groups, "metrics": ["identification", "mcc"], "quick": True, "progress": False}
    found = unweave.evaluate(table, blocks, **options)
    assert "All 3 factors have codes of their own." in str(found)
    assert [tick.get_text() for tick in found.plot("matrix").axes[0].get_xticklabels()] == [
        "colour",
        "pose",
        "factor 5",
    ]
    assert str(unweave.Evaluation.from_json(found.to_json())) == str(found)
    found.to_html(tmp_path / "page.html")
    assert '"column_names": ["colour", "pose", "factor 5"]' in (tmp_path / "page.html").read_text()
    unweave.evaluate(table[:, :5], blocks, **options).to_html(tmp_path / "page.html")  # no factor has a small plot
