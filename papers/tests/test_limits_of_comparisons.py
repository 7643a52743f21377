"""Comparisons with the papers change their verdict exactly at their limits."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from unweave_papers.paper000 import flows as sample_sizes
from unweave_papers.paper000 import image_flows as core_flows
from unweave_papers.paper000 import images as vae_spectra
from unweave_papers.paper000 import pictures as torus_pictures
from unweave_papers.paper000.image_flows import MeasuredFlow
from unweave_papers.paper001 import experiments as of_001
from unweave_papers.paper002 import encoders as all_images
from unweave_papers.paper002 import experiments as of_002

LOG_WIDTH = math.log(8 / 100)  # of a bin of the grid


def verdicts(checks):
    return [check.verdict for check in checks if check.is_claim]


@pytest.mark.parametrize(
    ("compare", "within", "beyond"),
    [
        ("estimates", {"JEMMIG": [0.0, 0.099 - LOG_WIDTH], "RMIG": [0.1, 0.1249]}, None),
        ("estimates", {"JEMMIG": [1.0, 0.901 - LOG_WIDTH], "RMIG": [0.1249, 0.1]}, None),
        ("estimates", None, {"JEMMIG": [0.0, 0.101 - LOG_WIDTH], "RMIG": [0.1, 0.1251]}),
        ("estimates", None, {"JEMMIG": [1.0, 0.899 - LOG_WIDTH], "RMIG": [0.1251, 0.1]}),
        (
            "gaps",
            {"RMIG": 0.5, "MIG (Chen)": 0.5249, "MIG (Locatello)": 0.0},
            {"RMIG": 0.5, "MIG (Chen)": 0.5251, "MIG (Locatello)": 0.0},
        ),
        (
            "gaps",
            {"RMIG": 0.5, "MIG (Chen)": 0.4751, "MIG (Locatello)": 0.0},
            {"RMIG": 0.5, "MIG (Chen)": 0.4749, "MIG (Locatello)": 0.0},
        ),
        ("draws", {"a": [0.1, 0.1499, 0.12]}, {"a": [0.1501, 0.1, 0.12]}),
        (
            "correlations",
            {"means": [[1, -0.551], [0, 1]], "draws": [[1, 0.5], [0, 1]]},
            {"means": [[1, -0.549], [0, 1]], "draws": [[1, 0.5], [0, 1]]},
        ),
        ("informativeness", [0.5, 0.0499 / math.log(100)], [0.5, 0.0501 / math.log(100)]),
        (
            "matrices",
            {"q(z | x)": [[0.9, 0.9], [0.049, 0.02]], "means": [[0.9, 0.9], [0.0595, 0.0]]},
            {"q(z | x)": [[0.9, 0.9], [0.049, 0.02]], "means": [[0.9, 0.9], [0.0585, 0.0]]},
        ),
        (
            "rmig",
            {"x": 0.3, "y": 0.31, "shape": 0.29, "orientation": 0.1, "scale": 0.9},
            {"x": 0.31, "y": 0.29, "shape": 0.29, "orientation": 0.1, "scale": 0.0},
        ),
    ],
)
def test_comparisons_of_001_change_at_their_limits(compare, within, beyond):
    for row, verdict in ((within, "holds"), (beyond, "does not hold")):
        found = verdicts(getattr(of_001, f"compare_{compare}")({"a model": row}, None)) if row else [verdict]
        assert set(found) == {verdict}


def test_noisy_codes_have_less_than_a_twentieth_of_a_nat():
    row = {"q(z | x)": [[0.9, 0.9], [0.05, 0.02]], "means": [[0.9, 0.9], [0.5, 0.0]]}
    [check] = of_001.compare_matrices({"a": row}, None)
    assert (check.here, check.is_claim) == ("it has no noisy code", False)


@pytest.mark.parametrize(("n_above", "holds"), [(4, False), (5, True), (6, False)])
def test_five_codes_have_more_than_a_twentieth_of_a_nat(n_above, holds):
    values = [0.0501 / math.log(100)] * n_above + [0.0499 / math.log(100)] * 3
    [check] = of_001.compare_informative_codes({"FactorVAE": values}, None)
    assert (check.holds, check.here) == (holds, f"{n_above} of {n_above + 3}")
    [other] = of_001.compare_informative_codes({"VAE": values}, None)
    assert other.holds is None


def test_the_order_of_models_is_settled_where_it_changes_no_more():
    """RMIG may change by less than .02 from 200 bins on, and JEMMIG has to rise from 50 bins on."""
    first = {"RMIG": [0.1, 0.5, 0.5, 0.5, 0.5, 0.519], "JEMMIG": [9.0, 8.0, 1.0, 2.0, 3.0, 4.0]}
    second = {"RMIG": [0.2, 0.4, 0.4, 0.4, 0.4, 0.4], "JEMMIG": [9.0, 9.0, 2.0, 3.0, 4.0, 5.0]}
    checks = [check for check in of_001.compare_bins({"a": first, "b": second}, None) if check.is_claim]
    assert [check.verdict for check in checks] == ["does not hold", "holds", "holds", "holds"]
    assert checks[0].here == "the same from 20 bins on"
    first = first | {"RMIG": [0.5] * 5 + [0.521], "JEMMIG": [1.0, 2.0, 1.0, 2.5, 2.5, 4.0]}
    checks = [check for check in of_001.compare_bins({"a": first, "b": second}, None) if check.is_claim]
    assert [check.verdict for check in checks] == ["holds", "holds", "does not hold", "does not hold"]


@pytest.mark.parametrize(
    ("moved", "fall", "last", "expected"),
    [
        (0.99, 0.099, 0.99, ["holds"] * 6),
        (1.01, 0.101, 1.01, ["does not hold"] * 6),
        (0.99, -0.19 * of_002.FLAT, 0.99, ["holds"] * 6),
        (0.99, -0.21 * of_002.FLAT, 0.99, ["holds"] * 4 + ["does not hold", "holds"]),
    ],
)
def test_scores_under_attack_are_flat_fall_slightly_or_strongly(moved, fall, last, expected):
    flat = [0.5, 0.5 - moved * of_002.FLAT, 0.5]
    scores = {
        "BetaVAE": flat,
        "FactorVAE": flat,
        "MIG": [0.5, 0.0, 0.5 - fall],
        "UniBound": [0.5, 0.9, last * of_002.STRONGLY * 0.5],
        "error of UniBound": [0.0, 0.1, 0.0],
    }
    copies = {name: scores[name] for name in ("BetaVAE", "FactorVAE")}
    attacked = {"scores": scores, "identity": copies, "new alone": {}, "sampled": {}}
    found = verdicts(of_002.compare_attacks({"a": attacked}, None))
    assert found == expected


@pytest.mark.parametrize(("first", "error", "defined"), [(1.01, 0.0, True), (0.99, 0.0, False), (4.0, 1.0, False)])
def test_unibound_can_fall_only_from_above_its_error(first, error, defined):
    """It has to exceed half of almost nothing, and the 95 % interval over draws."""
    start = first * of_002.NEAR_ZERO / 2
    flat = [0.5, 0.5]
    scores = {"BetaVAE": flat, "FactorVAE": flat, "MIG": flat, "UniBound": [start, 0.0]}
    scores["error of UniBound"] = [0.0, error * 1.01 * start / of_002.TWO_SIDED]
    copies = dict.fromkeys(("BetaVAE", "FactorVAE"), flat)
    attacked = {"scores": scores, "identity": copies, "new alone": {}, "sampled": {}}
    *_, check = of_002.compare_attacks({"a": attacked}, None)
    assert check.verdict == ("holds" if defined else "undecided")
    assert ("already about 0" in check.here) is not defined


def test_unibound_of_more_images_is_affordable_in_proportion():
    before = {100: SimpleNamespace(seconds=10.0), 200: SimpleNamespace(seconds=30.0)}
    usual = all_images.ALL_IMAGES_BUDGET
    assert all_images._fits(10**9, {})
    assert all_images._fits((usual - 40) / 30 * 200, before)
    assert not all_images._fits((usual - 40) / 30 * 200 + 1, before)
    score = all_images.ScoreWithCost(0.5, 0.1, 1.0, 1.0)
    assert all_images._with_interval(score) == "0.5000 ± 0.1960"
    assert all_images._with_interval(all_images.ScoreWithCost(0.5, 0.0, 1.0, 1.0)) == "0.5000"


@pytest.mark.parametrize(("ratio", "holds"), [(0.5, True), (1.0, None), (2.0, False)])
def test_deviations_have_to_fall_with_more_samples(ratio, holds):
    """The ratio of deviations is decided if its interval is on one side of 1."""
    rng = np.random.default_rng(0)
    runs = {n: rng.normal(size=(sample_sizes.N_RUNS, 4)) * (ratio if n == 40 else 1) for n in sample_sizes.SIZES}
    checks = [check for check in sample_sizes.compare_spread({"manifold entropy": runs}, None) if check.is_claim]
    assert (checks[0].holds, float(checks[0].value)) == (holds, pytest.approx(ratio, rel=0.2))
    low, high = checks[0].value.low, checks[0].value.high
    assert low < float(checks[0].value) < high < 1.5 * low


@pytest.mark.parametrize(
    ("letter", "swapped", "size", "holds"),
    [
        ("a", 11, 1.0, True),  # of 20 latents, 9 are on the diagonal
        ("a", 10, 1.0, False),
        ("b", 0, 0.91, True),
        ("b", 0, 0.9, False),
        ("b", 2, 1.0, False),
    ],
)
def test_latents_of_the_torus_match_on_the_diagonal(letter, swapped, size, holds):
    """Flows by likelihood alone have fewer than half on the diagonal, and the others all, with .9 on average."""
    order = np.argsort(-torus_pictures.Torus().true_entropies)
    rows = np.r_[np.roll(np.arange(swapped), 1), np.arange(swapped, 20)]
    matrix = np.zeros((20, 20))
    matrix[np.ix_(range(20), order)] = size * np.eye(20)[rows]
    found = torus_pictures.TorusPictures(matrix, np.zeros((1, 10, 2)), {})
    check = torus_pictures.compare_pearson(letter, found, list(range(20)))
    assert check.holds is holds
    assert check.here.startswith(f"{20 - swapped} of 20")


@pytest.mark.parametrize(("ratio", "holds"), [(1.149, True), (1.151, False), (0.851, True), (0.849, False)])
def test_generated_samples_of_the_torus_vary_as_the_truth(ratio, holds):
    deviations = torus_pictures.Torus().deviations
    signs = np.array([[1.0], [-1.0]])
    radii, angles = 5 + signs * deviations[10:], signs * deviations[:10]
    angles[:, 3] *= ratio
    generated = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=2)
    # a deviation of two opposite samples is their distance from the middle
    checks = list(torus_pictures.compare_generated(torus_pictures.TorusPictures(np.eye(20), generated, {}), None))
    assert all(check.holds for check in checks) is holds
    assert ratio in [pytest.approx(check.value) for check in checks]


@pytest.mark.parametrize(
    ("beta", "verdict"), [(10.0, "holds"), (9.9, "does not hold"), (50.0, "holds"), (51.0, "does not hold")]
)
def test_latents_collapse_at_a_beta_from_10_to_50(beta, verdict):
    active, gone = (
        SimpleNamespace(entropies=np.array([top]), n_above=lambda limit, top=top: int(top > limit))
        for top in (0.0, -9.0)
    )
    found = vae_spectra.VAESpectra({1.0: active, beta: gone}, {})
    assert [check.verdict for check in vae_spectra._over_beta(found)][-1] == verdict


@pytest.mark.parametrize(("last", "verdict"), [(0.951, "holds"), (0.95, "does not hold"), (1.5, "holds")])
def test_the_total_correlation_may_fall_by_a_twentieth(last, verdict):
    def one(total):
        return SimpleNamespace(
            entropies=np.zeros(2), cumulative=np.array([1.0, 3.0]), total_correlation=total, n_above=lambda limit: 1
        )

    found = vae_spectra.VAESpectra({1.0: one(1.0), 2.0: one(0.1), 4.0: one(last)}, {})
    *_, check = vae_spectra.compare_totals(found, None)
    assert check.verdict == verdict
    assert vae_spectra._totals(one(1.0)) == "1.500, 0.500"


def test_the_drop_after_the_core_is_between_sorted_entropies():
    none = np.empty(0)
    flow = MeasuredFlow("", 0.0, np.array([1.0, 7.0, 4.0, 2.0]), none, 1.0, none, none, none, none)
    groups = {core: [flow] for core in (1, 2, 3)}
    shown = {check.claim: check.here for check in core_flows.compare_core(groups, None)}
    drops = [shown[f"core of {core}: drop of the sorted entropies after the core, nats"] for core in (1, 2, 3)]
    assert drops == ["3.00", "2.00", "1.00"]
    assert [shown[f"core of {core}: core latents among the first {core}"] for core in (1, 2, 3)] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("between", "within", "inside", "verdict"),
    [
        (0.25, 0.5, 0.5, "holds"),
        (0.5, 0.5, 0.75, "does not hold"),
        (0.5, 0.75, 0.5, "holds"),
    ],
)
def test_core_and_rest_share_less_than_other_pairs(between, within, inside, verdict):
    information = np.full((6, 6), between)
    information[:2, :2], information[2:, 2:] = inside, within
    none = np.empty(0)
    flow = MeasuredFlow("", 0.0, -np.arange(6.0), information, 1.0, none, none, none, none)
    words, check, _ = core_flows.compare_information({2: [flow]}, None)
    assert (check.verdict, check.value) == (verdict, pytest.approx(between - within))
    assert words.here.split(",")[0] == f"{between:.4f} between"
