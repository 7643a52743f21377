from itertools import permutations

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import subspace_angles
from scipy.spatial import procrustes as scipy_procrustes
from sklearn.neighbors import NearestNeighbors

import unweave
from unweave.estimators.similarity import neighbour_weights, squared_distances, unbiased_hsic
from unweave.evaluation.similarity import MEASURES, SimilarityRow


def pair(seed, n=200, p=5, q=3, mixing=0.5):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) * rng.uniform(0.5, 3, size=p)
    return x, x @ rng.normal(size=(p, q)) * mixing + rng.normal(size=(n, q))


def kernel_hsic(x, y):
    """Song et al. (2012), equation 4, with the n x n kernels."""
    k, w = x @ x.T, y @ y.T
    np.fill_diagonal(k, 0)
    np.fill_diagonal(w, 0)
    n, one = len(x), np.ones(len(x))
    return np.trace(k @ w) + (one @ k @ one) * (one @ w @ one) / ((n - 1) * (n - 2)) - 2 / (n - 2) * one @ k @ w @ one


@pytest.mark.parametrize("seed", range(3))
def test_cka_is_the_ratio_of_unbiased_kernel_estimates(seed):
    x, y = pair(seed, n=40)
    expected = kernel_hsic(x, y) / np.sqrt(kernel_hsic(x, x) * kernel_hsic(y, y))
    assert unweave.similarity(x, y)["cka"].value == pytest.approx(expected, rel=1e-10)


# `u_distance_correlation_sqr(x, y, exponent=2)` of dcor 0.7 (numpy 2.4.6), by (n, p, q, phase): with squared distances,
# unbiased distance covariance is four times the unbiased HSIC of linear kernels. dcor is not installed: it needs numba.
DCOR = {(40, 5, 3, 0): 0.045147632987610445, (100, 3, 8, 1): 0.2967865047166239, (25, 2, 30, 2): 0.5267197213926917}


@pytest.mark.parametrize("shape", DCOR)
def test_cka_is_the_distance_correlation_of_dcor(shape):
    n, p, q, phase = shape
    table = np.sin(np.arange(1, n * (p + q) + 1.0) ** 2 * 0.7 + phase).reshape(n, p + q)
    found = unweave.similarity(table[:, :p], table[:, p:] + 0.5 * table[:, :1])
    assert found["cka"].value == pytest.approx(DCOR[shape], rel=1e-9)


def test_the_mean_over_all_orders_is_zero():
    x, y = (table - table.mean(0) for table in pair(0, n=6))
    squares = [np.square(table).sum(axis=1) for table in (x, y)]
    drawn = [unbiased_hsic(x.T @ y[[*o]], squares[0], squares[1][[*o]]) for o in permutations(range(6))]
    assert np.mean(drawn) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_canonical_correlations_are_cosines_of_angles_between_subspaces(seed):
    x, y = pair(seed)
    cosines = np.cos(subspace_angles(x - x.mean(0), y - y.mean(0)))
    assert unweave.similarity(x, y)["cca"].value == pytest.approx(np.mean(cosines**2), rel=1e-8)


def test_pwcca_lies_between_the_smallest_and_the_largest_canonical_correlation():
    x, y = pair(1)
    cosines = np.cos(subspace_angles(x - x.mean(0), y - y.mean(0)))
    assert cosines.min() < unweave.similarity(x, y)["pwcca"].value < cosines.max()


def test_procrustes_is_scipys_disparity():
    x, y = pair(2, p=4, q=4)
    assert 1 - unweave.similarity(x, y)["procrustes"].value ** 2 == pytest.approx(scipy_procrustes(x, y)[2], rel=1e-8)


@pytest.mark.parametrize("p", [3, 40])
def test_neighbours_are_scikit_learns(p):
    x, y = pair(3, n=120, p=p, q=p)
    one, other = (NearestNeighbors(n_neighbors=10).fit(z).kneighbors(return_distance=False) for z in (x, y))
    expected = [len(set(a) & set(b)) / 10 for a, b in zip(one, other, strict=True)]
    weights = [neighbour_weights(squared_distances(z), 10) for z in (x, y)]
    assert (weights[0] * weights[1]).sum(axis=1).tolist() == pytest.approx(expected)
    assert unweave.similarity(x, y)["neighbours"].value == pytest.approx(np.mean(expected))


TIED = {
    "binary": lambda rng: (rng.random((200, 1)) < 0.5).astype(float),
    "one-hot": lambda rng: np.eye(5)[rng.integers(5, size=200)],
    "sparse": lambda rng: np.maximum(rng.normal(size=(200, 5)) - 1.5, 0),
}


@pytest.mark.parametrize("kind", TIED)
def test_rows_at_equal_distances_are_no_agreement(kind):
    """Nearest rows were taken in the order of the rows where several were equally near, so that both sides agreed."""
    drawn = [[TIED[kind](rng) for _ in range(2)] for rng in map(np.random.default_rng, range(40))]
    found = [unweave.similarity(*tables, measures=("neighbours",))["neighbours"] for tables in drawn]
    assert np.mean([row.calibrated for row in found]) == pytest.approx(0, abs=0.02)
    assert sum(row.p_value <= 0.05 for row in found) <= stats.binom(40, 0.05).ppf(0.9995)
    table = drawn[0][0]
    order = np.random.default_rng(0).permutation(len(table))
    assert unweave.similarity(table, -table, measures=("neighbours",))["neighbours"].value == pytest.approx(1)
    pairs = [drawn[0], [each[order] for each in drawn[0]]]
    one, other = (unweave.similarity(*each, measures=("neighbours",))["neighbours"].value for each in pairs)
    assert one == pytest.approx(other)


def test_intervals_of_neighbours_cover_the_mean():
    mixing = np.random.default_rng(1).normal(size=(5, 3)) * 0.5
    rows = []
    for rng in map(np.random.default_rng, range(60)):
        x = rng.normal(size=(150, 5))
        rows.append(unweave.similarity(x, x @ mixing + rng.normal(size=(150, 3)), measures=("neighbours",)).rows[0])
    mean = np.mean([row.value for row in rows])
    assert sum(row.lower <= mean <= row.upper for row in rows) >= 53  # .95 of 60, and fewer with probability .02


def test_without_a_block_of_rows_a_measure_may_be_undefined():
    rng = np.random.default_rng(0)
    found = unweave.similarity(rng.normal(size=(200, 195)), rng.normal(size=(200, 5)), measures=("cca", "cka"))
    assert np.isnan(found["cca"].lower)
    assert f"cca: {found['cca'].note}" in " ".join(str(found).split())
    assert found["cka"].lower < found["cka"].value < found["cka"].upper
    x, y = np.zeros((2, 100, 2))
    x[:, 0], y[:, 0] = rng.normal(size=(2, 100))
    y[7, 1] = 0.1
    intervals = []
    for size in (0.1, 0.37):  # matched correlations have no scale, and the second code varies in one block alone
        x[7, 1] = size
        intervals.append(unweave.similarity(x, y, measures=("matched",))["matched"].lower)
    assert intervals[0] == pytest.approx(intervals[1])


def test_matched_is_the_mean_correlation_of_the_best_matching():
    x, y = pair(4, p=3, q=3)
    correlations = np.abs(np.corrcoef(x.T, y.T)[:3, 3:])
    expected = max(np.mean([correlations[i, j] for i, j in enumerate(order)]) for order in permutations(range(3)))
    assert unweave.similarity(x, y)["matched"].value == pytest.approx(expected)


def test_invariance_to_rotation_shift_and_scale():
    x, y = pair(5, p=4, q=4)
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    before, after = unweave.similarity(x, y), unweave.similarity(x @ rotation * 3 + 1, y)
    for measure in set(MEASURES) - {"matched", "pwcca"}:
        assert after[measure].value == pytest.approx(before[measure].value, rel=1e-8), measure
    skewed = np.append(-np.exp(x), np.zeros((1, 4)), axis=0)  # of one sign, and 0 in a row
    usual, *extreme = (unweave.similarity(scale * skewed, np.append(y, y[:1], axis=0)) for scale in (1, 1e250, 1e-250))
    for measure in MEASURES:
        assert [one[measure].value for one in extreme] == pytest.approx([usual[measure].value] * 2), measure


SLOW = [pytest.param(n, p, q, marks=pytest.mark.slow) for n in (100, 1000, 3000) for p, q in ((6, 4), (20, 25))]


@pytest.mark.parametrize(("n", "p", "q"), [(30, 6, 4), (300, 6, 4), *SLOW])
def test_independent_representations_score_zero(n, p, q):
    """The mean of calibrated values over draws is 0 within its error, and p-values are uniform."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng(100 + seed)
        found.append(unweave.similarity(rng.normal(size=(n, p)), rng.normal(size=(n, q))))
    for measure in MEASURES:
        values = np.array([one[measure].calibrated for one in found])
        assert abs(values.mean()) < 3.5 * values.std(ddof=1) / np.sqrt(len(values)) + 1e-3, measure
        p_values = np.array([one[measure].p_value for one in found])
        assert (p_values <= 0.05).sum() <= stats.binom(len(found), 0.05).ppf(0.9995), measure
        assert p_values.mean() == pytest.approx(0.5, abs=0.15), measure  # three standard errors of 40 draws
        assert p_values.std() > 0.2, measure  # .29 of a uniform variable: p-values are not too large either


def test_large_tables_are_measured_roughly(monkeypatch):
    """Floors and errors of large tables use single precision and squares, and their values do not."""
    for p, q in ((30, 20), (20, 30), (5, 5)):
        x, y = pair(5, 400, p, q)
        exact = unweave.similarity(1e9 * x, y)
        monkeypatch.setattr("unweave.evaluation.similarity.LARGE", 1.0)
        monkeypatch.setattr("unweave.evaluation.similarity.N_BLOCKS", 40)  # half of them
        rough = unweave.similarity(1e9 * x, y)
        monkeypatch.undo()
        for one, other in zip(exact.rows, rough.rows, strict=True):
            assert one.value == other.value
            assert [one.floor, one.lower, one.p_value] == pytest.approx(
                [other.floor, other.lower, other.p_value], rel=1e-5
            )


def test_intervals_cover():
    """The interval of CKA at n = 200 contains the value of 20,000 rows in most of 40 draws."""
    mixing = np.random.default_rng(0).normal(size=(5, 3)) * 0.5

    def draw(seed, n):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(n, 5))
        return x, x @ mixing + rng.normal(size=(n, 3))

    truth = unweave.similarity(*draw(999, 20_000), measures=("cka", "procrustes"))
    found = [unweave.similarity(*draw(seed, 200), measures=("cka", "procrustes")) for seed in range(40)]
    assert sum(one["cka"].lower <= truth["cka"].value <= one["cka"].upper for one in found) >= 33


def test_undefined_measures_say_why():
    x, y = pair(6, n=30, p=60, q=60)
    found = unweave.similarity(x, y)
    assert np.isnan(found["cca"].value)
    assert "rows" in found["cca"].note
    assert np.isfinite(found["procrustes"].value)
    constant = unweave.similarity(np.ones((30, 2)), y)
    assert all(np.isnan(row.value) and "constant" in row.note for row in constant.rows)
    assert "constant" in str(constant)


def test_several_representations_give_a_matrix():
    x, y = pair(7)
    found = unweave.similarity({"a": x, "b": y, "c": 2 * x})
    matrix = found.matrix("cka")
    assert matrix.shape == (3, 3)
    assert matrix[0, 2] == pytest.approx(1)
    assert np.allclose(matrix, matrix.T)
    assert "a, b" in str(found)
    with pytest.raises(unweave.InputError, match="matrix"):
        found["cka"]


def test_pairs_are_a_frame_and_a_picture():
    x, y = pair(0, n=60)
    found = unweave.similarity({"a": x, "b": y, "c": x[:, :2]}, measures=("cka", "cca"))
    frame = found.to_frame("polars")
    assert frame.shape == (6, len(SimilarityRow.__dataclass_fields__))
    assert frame["calibrated"].to_list() == [row.calibrated for row in found.rows]
    axes = found.plot("cca").axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "c"]
    numbers = {text.get_text() for text in axes.texts}  # the diagonal, which is 1 by definition, has none
    assert numbers == {f"{max(row.calibrated, 0.0):.2f}" for row in found.rows if row.measure == "cca"}
    with pytest.raises(unweave.OptionError, match="'rsa' was not measured: choose among cka, cca"):
        found.matrix("rsa")


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((np.ones((30, 2)), np.ones((29, 2))), {}, "rows"),
        ((np.ones((30, 2)),), {}, "only one"),
        (({"a": np.ones((30, 2))}, np.ones((30, 2))), {}, "twice"),
        (({1: np.ones((30, 2)), "1": np.ones((30, 2))},), {}, "Two representations are called '1'"),
        ((np.ones((30, 2)), np.ones((30, 2))), {"measures": ()}, "measures has no entry"),
        ((np.ones((5, 2)), np.ones((5, 2))), {}, "at least"),
        ((np.ones((30, 2)), np.ones((30, 2))), {"measures": ("rsa",)}, "each entry 'cka', 'cca'"),
    ],
)
def test_bad_input(arguments, options, words):
    with pytest.raises(unweave.UnweaveError, match=words):
        unweave.similarity(*arguments, **options)
