"""Codes as detectors of concepts, compared with scikit-learn and with planted structure."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score

from unweave import Evidence, InputError, OptionError
from unweave.evaluation.concepts import concept_report
from unweave.metrics.concepts import (
    CONCEPT_METRICS,
    _most_different,
    code_usage,
    dictionary_matching,
    k_sparse_probing,
    screened_codes,
    single_codes,
    split_concepts,
)
from unweave.metrics.screening import columns_of_dense
from unweave.trust import noise_floor

RNG = np.random.default_rng(0)
CONCEPTS = (RNG.random((300, 3)) < 0.25).astype(int)
CODES = np.where(RNG.random((300, 8)) < 0.3, RNG.normal(size=(300, 8)).round(1), 0.0)
CODES[:, 0] += CONCEPTS[:, 0] * RNG.random(300).round(1)
CODES[:, 5] = RNG.normal(size=300)


def test_best_codes_agree_with_scikit_learn():
    found = single_codes(CONCEPTS, sparse.csr_array(CODES))
    for j in range(3):
        labels = CONCEPTS[:, j]
        signed = np.hstack([CODES, -CODES]).T
        areas = [roc_auc_score(labels, code) for code in signed]
        precisions = [average_precision_score(labels, code) for code in signed]
        curves = [precision_recall_curve(labels, code) for code in signed]
        f1 = [np.max(2 * p[:-1] * r[:-1] / np.maximum(p[:-1] + r[:-1], 1e-12)) for p, r, _ in curves]
        assert found.auroc[j] == pytest.approx(max(areas), abs=1e-12)
        assert found.average_precision[j] == pytest.approx(max(precisions), abs=1e-12)
        assert found.f1[j] == pytest.approx(max(f1), abs=1e-12)
        assert found.auroc_code[j] == np.argmax(areas) % 8
        assert found.auroc_sign[j] == (1 if np.argmax(areas) < 8 else -1)
        assert found.average_precision_code[j] == np.argmax(precisions) % 8
        assert found.average_precision_sign[j] == (1 if np.argmax(precisions) < 8 else -1)
        assert f1[found.f1_code[j] + 8 * (found.f1_sign[j] < 0)] == pytest.approx(max(f1), abs=1e-12)


def test_sparse_equals_dense():
    dense, thin = single_codes(CONCEPTS, CODES), single_codes(CONCEPTS, sparse.coo_array(CODES))
    for name in ("auroc", "average_precision", "f1", "auroc_code"):
        np.testing.assert_array_equal(getattr(dense, name), getattr(thin, name))


def test_random_codes_get_the_chance_level():
    rng = np.random.default_rng(3)
    concepts = (rng.random((2000, 20)) < 0.3).astype(int)
    codes = sparse.csr_array(np.where(rng.random((2000, 200)) < 0.5, rng.random((2000, 200)), 0.0))
    found = single_codes(concepts, codes)
    assert (found.auroc < found.auroc_of_chance + 0.01).all()
    assert found.auroc.mean() > 0.52
    probes = k_sparse_probing(concepts, codes, k=(1, 5))
    assert abs(probes.auroc.mean() - 0.5) < 0.02


def test_usage():
    codes = CODES.copy()
    codes[:, 2] = 0.0
    found = code_usage(sparse.csr_array(codes))
    assert found.dead.tolist() == [2]
    assert found.always_on.tolist() == [5]
    assert found.active_per_row == pytest.approx((codes != 0).sum() / 300)
    np.testing.assert_allclose(found.density, (codes != 0).mean(axis=0))


def test_two_codes_probe_what_one_cannot():
    rng = np.random.default_rng(1)
    left, right = rng.random((2, 2000)) < 0.3
    concepts = {"either": (left | right).astype(int)}
    codes = sparse.csr_array(np.column_stack([left, right, rng.random((2000, 6)) < 0.3]).astype(float))
    found = k_sparse_probing(concepts, codes, k=(1, 2))
    assert found.auroc[1, 0] > 0.999 > 0.95 > found.auroc[0, 0]
    assert set(found.codes[0, :2]) == {0, 1}


def planted(n_rows, n_features, n_codes, dimension, seed=0):
    """Activations of known features, their dictionary, and a shuffled and rescaled dictionary with extra columns."""
    rng = np.random.default_rng(seed)
    active = rng.random((n_rows, n_features)) < 0.05
    dictionary = rng.normal(size=(dimension, n_features))
    order = rng.permutation(n_codes)
    other = np.concatenate([dictionary, rng.normal(size=(dimension, n_codes - n_features))], axis=1)[:, order]
    return active, dictionary, other * rng.uniform(0.5, 2.0, size=n_codes), np.argsort(order)[:n_features]


@pytest.mark.parametrize(
    ("n_features", "n_codes", "dimension"), [(40, 80, 64), pytest.param(512, 1024, 256, marks=pytest.mark.slow)]
)
def test_a_planted_dictionary_is_found(n_features, n_codes, dimension):
    _, dictionary, other, places = planted(10, n_features, n_codes, dimension)
    for matching in ("exact", "fast"):
        found = dictionary_matching(dictionary, other, matching=matching)
        assert found.mean_cosine == pytest.approx(1.0, abs=1e-9)
        np.testing.assert_array_equal(found.second, places)
    noise = dictionary_matching(dictionary, np.random.default_rng(9).normal(size=(dimension, n_codes)))
    assert noise.mean_cosine < noise.chance


def test_fast_matching_never_exceeds_the_exact_one():
    rng = np.random.default_rng(2)
    first, second = rng.normal(size=(2, 8, 30))
    exact, fast = (dictionary_matching(first, second, matching=how) for how in ("exact", "fast"))
    assert fast.mean_cosine <= exact.mean_cosine + 1e-12
    assert np.unique(fast.second).size == 30


@pytest.mark.parametrize("n_rows", [3000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_planted_splits_and_absorptions_are_counted(n_rows):
    """Concepts 0 to 4 have one code, 5 to 9 are split over three codes, and 10 to 14 are absorbed by another code."""
    rng = np.random.default_rng(4)
    active = rng.random((n_rows, 15)) < 0.1
    third = rng.integers(3, size=(n_rows, 15))
    codes = [active[:, :5]]
    codes += [active[:, 5:10] & (third[:, 5:10] == part) for part in range(3)]
    hole = rng.integers(6, size=(n_rows, 5)) == 0
    codes += [active[:, 10:] & ~hole, active[:, 10:] & hole, rng.random((n_rows, 10)) < 0.05]
    found = split_concepts(active.astype(int), sparse.csr_array(np.column_stack(codes).astype(float)))
    assert found.specific.tolist() == [1] * 5 + [3] * 5 + [2] * 5
    assert np.flatnonzero(found.split).tolist() == [5, 6, 7, 8, 9]
    assert np.flatnonzero(found.absorbed).tolist() == [10, 11, 12, 13, 14]
    assert (found.n_split, found.n_absorbed) == (5, 5)


def test_bad_input_says_what_to_do():
    with pytest.raises(InputError, match="'factor 0' has 300 values: a concept has two"):
        single_codes(np.random.default_rng(0).normal(size=300), CODES)
    with pytest.raises(InputError, match="'factor 0' has 1 value: a concept has two"):
        single_codes(np.ones(300), CODES)
    with pytest.raises(InputError, match="8 and 9 dimensions"):
        dictionary_matching(np.ones((8, 2)), np.ones((9, 2)))
    with pytest.raises(InputError, match="Column 1 of the second dictionary is zero"):
        dictionary_matching(np.eye(3), np.eye(3) * [1, 0, 1])
    with pytest.raises(InputError, match="Column 2 of the first dictionary is zero or not finite"):
        dictionary_matching(np.eye(3) * [1, 1, np.nan], np.eye(3))
    with pytest.raises(OptionError, match="matching='best' is not known"):
        dictionary_matching(np.eye(3), np.eye(3), matching="best")


@pytest.mark.parametrize("n_present", [10, 25, 50])
def test_the_f1_of_chance_is_that_of_a_code_that_is_always_on(n_present):
    present = np.arange(100) < n_present
    always = concept_report({"red": present.astype(int)}, np.ones((100, 1)), budget=0).rows()[0]
    assert always["f1_of_chance"] == pytest.approx(2 * n_present / (n_present + 100))
    assert always["f1"] == pytest.approx(always["f1_of_chance"])


def test_probes_use_as_many_codes_as_there_are():
    rng = np.random.default_rng(5)
    found = k_sparse_probing({"red": rng.integers(0, 2, 200)}, rng.normal(size=(200, 3)), k=(1, 2, 5))
    assert found.codes.shape == (1, 3)
    assert k_sparse_probing({"red": rng.integers(0, 2, 200)}, rng.normal(size=(200, 3)), k=(1, 2)).codes.shape == (1, 2)


@pytest.mark.parametrize("n_codes", [1, 2, 4, 40])
def test_the_area_of_chance_follows_from_the_spread_over_all_orders_of_the_samples(n_codes):
    """The ranks of 2 of 6 samples take 15 sets of values, and the largest of many areas is at most 1."""
    areas = [(sum(ranks) - 3) / 8 for ranks in combinations(range(1, 7), 2)]
    found = single_codes({"red": [1, 1, 0, 0, 0, 0]}, np.tile(np.arange(6.0)[:, None], n_codes))
    chance = min(0.5 + np.std(areas) * np.sqrt(2 * np.log(2 * n_codes)), 1.0)
    assert found.auroc_of_chance == pytest.approx([chance])
    assert (chance == 1.0) == (n_codes >= 4)
    assert found.prevalence == pytest.approx([1 / 3])


@pytest.mark.parametrize("n_present", [1, 5, 9])
def test_codes_are_sorted_by_the_standardised_difference_of_their_means(n_present):
    present = np.arange(10) < n_present
    codes = np.column_stack([np.random.default_rng(0).normal(1.0, size=(10, 20)), np.full(10, 2.0), np.zeros(10)])
    spread = codes.std(axis=0)
    size = np.abs(codes[present].mean(axis=0) - codes[~present].mean(axis=0)) / np.where(spread > 0, spread, np.inf)
    order = np.argsort(-size, kind="stable").tolist()
    for most in (22, 3):
        assert _most_different(present[:, None].astype(float), columns_of_dense(codes), most).tolist() == [order[:most]]


@pytest.mark.parametrize("k", [(), (0, 1), (-1,)])
def test_probes_of_no_codes_are_refused(k):
    with pytest.raises(OptionError, match="are not numbers of codes: use whole numbers from 1"):
        k_sparse_probing(CONCEPTS, CODES, k=k)


def test_a_code_is_dense_if_it_is_active_on_more_than_half_of_the_samples():
    found = code_usage(np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 0.0]]))
    assert found.density.tolist() == [0.5, 0.75, 0.25]
    assert found.dense.tolist() == [1]


@pytest.mark.parametrize("n_columns", [1, 2, 8])
def test_the_cosine_of_chance_is_that_of_random_directions(n_columns):
    columns = np.random.default_rng(0).normal(size=(50, n_columns))
    assert dictionary_matching(columns[:, :1], columns).chance == pytest.approx(
        np.sqrt(2 * np.log(max(n_columns, 2)) / 50)
    )
    assert dictionary_matching(np.ones((1, 1)), np.ones((1, n_columns))).chance == 1.0


@pytest.mark.parametrize("matching", ["exact", "fast"])
def test_opposite_directions_are_equal_if_signs_do_not_count(matching):
    turned = -np.eye(4)[:, [2, 0, 1]]
    found = dictionary_matching(np.eye(4), turned, matching=matching, signed=False)
    assert (found.mean_cosine, found.cosines.tolist()) == (1.0, [1.0] * 3)
    assert (found.first.tolist(), found.second.tolist()) == ([0, 1, 2], [1, 2, 0])
    assert dictionary_matching(np.eye(4), turned, matching=matching).mean_cosine == 0.0


@pytest.mark.parametrize("given", [np.ones(3), np.ones((3, 0))])
def test_a_dictionary_is_a_table(given):
    with pytest.raises(InputError, match=r"first dictionary has shape \(3,.*pass dimensions x columns"):
        dictionary_matching(given, np.eye(3))


def test_blocks_of_columns_are_matched_as_all_columns_are(monkeypatch):
    first, second = np.random.default_rng(2).normal(size=(2, 8, 30))
    whole = dictionary_matching(first, second, matching="fast")
    monkeypatch.setitem(dictionary_matching.__globals__, "COLUMNS_IN_BLOCK", 7)
    parts = dictionary_matching(first, second, matching="fast")
    np.testing.assert_array_equal(parts.second, whole.second)
    np.testing.assert_allclose(parts.cosines, whole.cosines)


@pytest.mark.parametrize(
    ("n_present", "codes", "specific", "main", "coverage", "together", "split", "absorbing"),
    [
        (30, [[*range(18), 50, 51]], 1, 0, 18, 18, False, 0),  # 18 of 20 active samples have the concept: 90 %
        (30, [[*range(17), 50, 51]], 0, -1, 0, 0, False, 0),
        (30, [range(5)], 1, 0, 5, 5, False, 0),
        (30, [range(4)], 0, -1, 0, 0, False, 0),  # too few active samples
        (90, [[*range(19), 95]], 0, -1, 0, 0, False, 0),  # half way from a share of 90 % to all, but by luck
        (90, [range(60)], 1, 0, 60, 60, False, 0),
        (90, [[*range(18), 95]], 0, -1, 0, 0, False, 0),
        (30, [range(5), range(6)], 2, 1, 6, 6, False, 0),
        (30, [range(19), range(19, 30)], 2, 0, 19, 30, True, 0),
        (30, [range(19), range(10)], 2, 0, 19, 19, False, 0),  # the second code covers nothing more
        (30, [range(20), range(20, 30)], 2, 0, 20, 30, False, 1),  # two thirds are covered
        (30, [range(20), [*range(20, 29), 0]], 2, 0, 20, 29, False, 1),  # 9 of 10 where the main code is inactive
        (30, [range(20), [*range(20, 28), 0, 1]], 2, 0, 20, 28, False, 0),
        (30, [range(20), range(20, 25), range(25, 30)], 3, 0, 20, 30, False, 2),
        (30, [range(20), [*range(20, 24), 0]], 2, 0, 20, 24, False, 0),  # four samples are too few
        (30, [range(30), range(20, 30)], 2, 0, 30, 30, False, 0),
    ],
)
def test_limits_of_specific_split_and_absorbing_codes(
    n_present, codes, specific, main, coverage, together, split, absorbing
):
    table = np.zeros((100, len(codes)))
    for i, rows in enumerate(codes):
        table[list(rows), i] = 1.0
    found = split_concepts({"red": (np.arange(100) < n_present).astype(int)}, table)
    assert (found.specific[0], found.main[0], found.absorbing[0]) == (specific, main, absorbing)
    assert (found.coverage[0], found.together[0]) == (coverage / n_present, together / n_present)
    assert (found.split[0], found.absorbed[0]) == (split, absorbing > 0)


def test_the_report_of_known_codes():
    """Of 40 samples 12 are red: code 0 is the concept, code 1 is dead, code 2 is always on, code 3 is half of it."""
    red = np.arange(40) < 12
    codes = np.column_stack([2.0 * red, np.zeros(40), np.ones(40), np.arange(40) < 6])
    report = concept_report({"red": red.astype(int)}, codes, budget=1)
    (whole,) = report.rows()
    row = {name: value for name, value in whole.items() if not name.endswith(("_floor", "_upper", "_interval"))}
    assert row.pop("auroc_of_chance") == pytest.approx(0.5 + np.sqrt(41 / (12 * 12 * 28) * 2 * np.log(8)))
    assert row.pop("f1_of_chance") == pytest.approx(0.6 / 1.3)
    best = dict.fromkeys(("f1", "auroc", "average_precision"), 1.0)
    probes = {f"probe_{k}": 1.0 for k in (1, 2, 5, 16)}
    splitting = {"specific_codes": 2, "coverage": 1.0, "split": False, "absorbing_codes": 0}
    assert (
        row
        == {"concept": "red", "prevalence": 0.3}
        | best
        | {f"{measure}_code": "code 0" for measure in best}
        | {f"{measure}_sign": 1 for measure in best}
        | {"f1_ties": 1}
        | probes
        | splitting
    )
    totals = report.totals()
    assert totals.pop("mean_density") == pytest.approx((0.3 + 0 + 1 + 0.15) / 4)
    assert totals.pop("active_per_row") == pytest.approx(1.45)
    counts = {"n_rows": 40, "n_codes": 4, "dead_codes": 1, "dense_codes": 1, "always_on_codes": 1}
    found = {"codes_that_depend": 2, "false_discovery_rate": 0.05, "split_concepts": 0, "absorbed_concepts": 0}
    assert totals == counts | found
    written = report.to_dict()
    assert written == {
        "schema": "unweave.concepts/2",
        **report.totals(),
        "concepts": [{name: None if value != value else value for name, value in whole.items()}],
        "codes": report.screening.rows(),
        "notes": report.notes(),
    }
    assert [code["code"] for code in written["codes"]] == ["code 0", "code 3"]


def test_what_is_undefined_is_none_in_the_written_report():
    """A concept of one sample is missing in the training rows or in the test rows of the probes."""
    codes = np.random.default_rng(0).normal(size=(20, 2))
    (row,) = concept_report({"rare": np.eye(20, dtype=int)[0]}, codes, budget=1).to_dict()["concepts"]
    assert [row[f"probe_{k}"] for k in (1, 2, 5, 16)] == [None] * 4
    assert row["prevalence"] == 0.05


def test_units_of_codes_do_not_change_the_probes():
    rng = np.random.default_rng(6)
    codes = rng.normal(size=(100, 3))
    concepts = {"red": (codes[:, :2].sum(axis=1) + rng.normal(size=100) > 0).astype(int)}
    units = np.array([2.0**-10, 1.0, 2.0**10])
    plain, scaled = (k_sparse_probing(concepts, given, k=(1, 2, 3)) for given in (codes, codes * units))
    np.testing.assert_allclose(scaled.auroc, plain.auroc, atol=1e-12)
    np.testing.assert_array_equal(scaled.codes, plain.codes)
    assert plain.auroc[1, 0] > plain.auroc[0, 0]


def test_a_code_that_fires_on_absence_is_as_good_as_one_that_fires_on_presence():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        red = rng.random(300) < rng.uniform(0.1, 0.9)
        codes = np.column_stack([rng.random((300, 3)), ~red * (1 + rng.random(300))])
        for table in (codes, sparse.csr_array(codes)):
            found = single_codes({"red": red.astype(int)}, table)
            assert (found.auroc[0], found.average_precision[0], found.f1[0]) == pytest.approx((1.0, 1.0, 1.0))
            assert (found.auroc_code[0], found.auroc_sign[0], found.f1_code[0], found.f1_sign[0]) == (3, -1, 3, -1)


def test_permuted_labels_are_not_split():
    """Two thousand rare codes: some of them are active on the concept alone by chance."""
    n_split = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        codes = np.where(rng.random((400, 2000)) < 0.015, 1.0, 0.0)
        concepts = {f"concept {j}": rng.permutation(np.repeat([0, 1], 200)) for j in range(7)}
        n_split += split_concepts(concepts, codes).n_split
    assert n_split <= 1


def test_probes_hold_out_whole_groups():
    """Labels and codes are constant within 20 groups, so that rows of known groups can be looked up."""
    areas = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        group = np.repeat(np.arange(20), 20)
        codes = rng.normal(size=(20, 40))[group] + 0.01 * rng.normal(size=(400, 40))
        evidence = Evidence({"red": group % 2}, codes, row_groups=group)
        areas.append(k_sparse_probing(evidence, k=(16,)).auroc[0, 0])
        assert k_sparse_probing({"red": group % 2}, codes, k=(16,)).auroc[0, 0] > 0.99
    assert 0.2 < np.nanmean(areas) < 0.8


def test_classes_are_one_concept_each():
    shape = np.random.default_rng(0).integers(0, 3, 300)
    codes = np.eye(3)[shape]
    found = single_codes({"shape": shape, "red": shape > 0}, codes)
    assert found.concepts == ("shape = 0", "shape = 1", "shape = 2", "red")
    assert found.f1.tolist() == [1.0] * 4
    assert found.f1_code.tolist() == [0, 1, 2, 0]
    assert found.f1_sign.tolist() == [1, 1, 1, -1]


def test_equal_codes_are_counted_and_ordered_by_the_other_measures():
    red = np.arange(100) < 30
    better = np.where(red, 2.0, np.arange(100) / 100)
    found = single_codes({"red": red.astype(int)}, np.column_stack([better, better, np.ones(100)]))
    assert found.f1_ties.tolist() == [2]
    no_better = single_codes({"red": red.astype(int)}, np.column_stack([np.ones(100), np.zeros(100)]))
    assert no_better.f1_ties.tolist() == [2]  # the F1 of predicting the concept for every sample


MEASURES = ("f1", "auroc", "average_precision", "probe_1", "probe_2", "probe_5", "probe_16")


def test_every_measure_has_a_floor_that_random_codes_reach_and_an_interval():
    """The floor of a measure is what independent codes score; good codes lie above its upper end, with an interval."""
    rng = np.random.default_rng(0)
    red = rng.random(300) < 0.3
    noise = np.where(rng.random((300, 20)) < 0.3, rng.random((300, 20)), 0.0)
    (random,) = concept_report({"red": red.astype(int)}, noise, budget=3).rows()
    good = np.column_stack([noise, red * rng.random(300) + 0.3 * rng.normal(size=300)])
    (known,) = concept_report({"red": red.astype(int)}, good, budget=3).rows()
    for measure in MEASURES:
        assert abs(random[measure] - random[f"{measure}_floor"]) < 0.12
        assert known[measure] > known[f"{measure}_upper"]
        low, high = known[f"{measure}_interval"]
        assert 0 <= low <= known[measure] <= high <= 1
        assert 0 < high - low < 0.5
    assert random["split_floor"] == random["absorbed_floor"] == 0.0


def test_groups_raise_the_floors_of_codes_that_tell_groups_apart():
    """Labels and codes are constant within 12 groups: the best of 40 codes is as good as the best of 40 random ones."""
    above = {True: 0, False: 0}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        group = rng.permutation(np.repeat(np.arange(12), 10))
        codes = rng.random((12, 40))[group] + 0.01 * rng.random((120, 40))
        concepts = {"red": (rng.permutation(12) < 5).astype(int)[group]}
        for grouped in (True, False):
            evidence = Evidence(concepts, codes, row_groups=group if grouped else np.arange(120))
            for name in ("concept_f1", "concept_auroc", "concept_average_precision"):
                floor = noise_floor(CONCEPT_METRICS[name], evidence, n_draws=19)
                above[grouped] += floor.p_value <= 0.05
    assert above[False] == 12
    assert above[True] <= 2


@pytest.mark.parametrize("thin", [False, True])
def test_groups_are_units_of_screening_and_of_specific_codes(thin):
    """A code that fires in a third of 15 groups is specific to a concept of groups by luck alone."""
    found = {True: [0, 0], False: [0, 0]}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        group = np.repeat(np.arange(15), 30)
        codes = (rng.random((15, 60)) < 0.15)[group] * rng.random((450, 60))
        concepts = {"red": (rng.permutation(15) < 7).astype(int)[group]}
        for grouped in (True, False):
            groups = group if grouped else None
            given = Evidence(concepts, sparse.csr_array(codes) if thin else codes, row_groups=groups)
            found[grouped][0] += int(split_concepts(given).specific[0])
            found[grouped][1] += screened_codes(
                concepts, sparse.csr_array(codes) if thin else codes, row_groups=groups
            ).codes.size
    assert found[False][0] > 50
    assert found[False][1] > 300
    assert found[True][0] <= 1
    assert found[True][1] <= 5


def test_groups_that_do_not_matter_change_no_p_value():
    """Rows of a group that are no more alike than others leave the screening as it is, but for noise."""
    rng = np.random.default_rng(0)
    red = rng.random(600) < 0.3
    codes = np.column_stack([red * rng.random(600), rng.random((600, 30))])
    plain, grouped = (
        screened_codes({"red": red.astype(int)}, codes, row_groups=groups) for groups in (None, np.arange(600) % 60)
    )
    assert plain.names[0] == grouped.names[0] == "code 0"
    assert np.log(grouped.p_value[0]) == pytest.approx(np.log(plain.p_value[0]), rel=0.1)


@pytest.mark.parametrize("name", CONCEPT_METRICS)
def test_every_measure_is_explained_and_honours_its_card(name):
    from unweave.card.explain import explanation
    from unweave.evaluation.choose import chosen_by_text

    metric = chosen_by_text(name)
    text = explanation(metric)
    assert text.startswith(f"{name}: ")
    for part in ("Range:", "Chance level:", "Formula:", "Example:", "Avoid when:"):
        assert part in text
    rng = np.random.default_rng(1)
    red, codes = (rng.random(200) < 0.3).astype(int), rng.random((200, 5))
    score = metric({"red": red, "shape": rng.integers(0, 3, 200)}, codes)
    assert list(score.per_factor) == ["red", "shape = 0", "shape = 1", "shape = 2"]
    many, order = rng.integers(0, 2, 2000), rng.permutation(2000)
    noisy = np.column_stack([many + rng.normal(size=2000), rng.random((2000, 3))])
    again = metric({"red": many[order]}, noisy[order]).raw
    assert again == pytest.approx(metric({"red": many}, noisy).raw, abs=metric.card.order_tolerance + 1e-9)
    best = 3.0 * np.column_stack([red, rng.random((200, 3)) < 0.02])
    assert metric({"red": red}, best).value == metric.card.best
    constant = metric({"red": red, "never": np.zeros(200)}, best)
    assert constant.value == metric.card.best
    assert any(caveat.kind == "constant_factors" for caveat in constant.caveats)


def test_rare_concepts_of_parts_have_no_interval_and_no_word_is_missing():
    rng = np.random.default_rng(2)
    concepts = {"red": (rng.random(200) < 0.3).astype(int), "rare": (np.arange(200) < 2).astype(int)}
    red, rare = concept_report(concepts, rng.random((200, 5)), budget=2).rows()
    assert red["f1_interval"] is not None
    assert rare["probe_1_interval"] is None or rare["probe_1"] == rare["probe_1"]
    with pytest.raises(InputError, match="'never' has 1 value"):
        concept_report(concepts | {"never": np.ones(200)}, rng.random((200, 5)))
