"""The ladder against closed forms: rungs of constructed codes, recoveries, leakage, and refusals."""

import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.sparse import csc_array
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_predict

import unweave
from unweave import Ladder, ladder
from unweave.identifiability.dependence import family_p_values
from unweave.identifiability.rungs import own_codes_beyond_luck
from unweave.report.answer import answer_of


def normal(seed, n=1000, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


def rungs(found):
    return [row.rung for row in found.rows]


def test_codes_of_their_own_rotations_and_noise_are_told_apart():
    z = normal(3)
    turn = np.linalg.qr(normal(4, 3, 3))[0]
    own, turned, noise = (ladder(z, codes, quick=True) for codes in (np.sinh(z), z @ turn, normal(5)))
    assert rungs(own) == ["one code"] * 3
    assert rungs(turned) == ["own direction"] * 3
    assert rungs(noise) == ["absent"] * 3
    assert own.own_codes == pytest.approx(1, abs=0.01)
    assert turned.direction == pytest.approx(1, abs=0.01)
    assert noise.value == 0


def test_json_frame_and_figure_have_the_same_rows():
    z = normal(8, n=300, d=2)
    found = unweave.ladder(z, z, quick=True)
    again = Ladder.from_json(found.to_json())
    assert again.to_json() == found.to_json()
    assert again.rows == found.rows
    assert found.to_frame()["rung"].to_list() == rungs(found)
    assert len(found.plot().axes[0].get_yticklabels()) >= 8


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ladder(normal(0, 12, 20), normal(1, 12, 3)), "20 factors needs at least 21 rows"),
        (lambda: ladder(normal(0), normal(1), baseline=normal(2, 7)), "baseline has 7 rows"),
        (lambda: ladder(normal(0), normal(1), baseline=normal(2, d=4)), "twin of the same width"),
        (
            lambda: ladder(normal(0), normal(1), baseline=np.full((1000, 3), np.nan)),
            "In the baseline: All values of all codes are nan",
        ),
        (lambda: unweave.compare(normal(0), {"1": normal(1), "2": normal(2, 7)}), "In '2': The rows do not pair up"),
        (lambda: ladder(normal(0), normal(1), code_groups={"a": [0, 1], "b": [1]}), "'code 1' is in two code groups"),
    ],
)
def test_bad_input_gets_one_sentence(call, message):
    with pytest.raises(unweave.InputError, match=message):
        call()


def superposed(seed, rho, n=1000):
    """Five factors in four codes with noise .1: recoveries and leakage of the best directions in closed form."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 5)) @ np.linalg.cholesky(np.full((5, 5), rho) + (1 - rho) * np.eye(5)).T
    loadings = rng.normal(size=(4, 5)) / np.sqrt(5)
    codes = z @ loadings.T + np.sqrt(0.1) * rng.normal(size=(n, 4))
    inner = loadings.T @ np.linalg.solve(loadings @ loadings.T + 0.1 * np.eye(4), loadings)
    leakage = np.square(inner) / np.diag(inner)[:, None]
    np.fill_diagonal(leakage, 0)
    return z, codes, np.diag(inner), leakage


@pytest.mark.parametrize("rho", [0.0, 0.6, 0.9])
def test_directions_and_leakage_of_superposed_factors_have_their_closed_form(rho):
    errors, inside, leaks = [], [], []
    for seed in range(3):
        z, codes, truth, leakage = superposed([31, seed], rho)
        found = ladder(z, codes, quick=True)
        errors += [row.direction - value for row, value in zip(found.rows, truth, strict=True)]
        for name, values in (("direction", truth), ("leakage", leakage.sum(axis=1))):
            ends = [row.intervals[name] for row in found.rows]
            inside += [low <= value <= high for (low, high), value in zip(ends, values, strict=True)]
        off = ~np.eye(5, dtype=bool)
        leaks.append(np.abs(found.leakage_matrix[off] - leakage[off]).mean())
    assert np.mean(leaks) < 0.03
    assert np.abs(errors).mean() < (0.05 if rho > 0.8 else 0.03)  # separate effects are noisier for dependent factors
    assert np.mean(inside) > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.6, 0.9])
def test_intervals_cover_the_closed_form(rho):
    inside = {"direction": [], "leakage": []}
    for seed in range(500):
        z, codes, truth, leakage = superposed([32, seed], rho)
        for j, row in enumerate(ladder(z, codes, quick=True).rows):
            for name, value in (("direction", truth[j]), ("leakage", leakage[j].sum())):
                inside[name].append(row.intervals[name][0] <= value <= row.intervals[name][1])
    assert all(0.92 <= np.mean(each) <= 0.99 for each in inside.values())


def test_a_direction_is_the_ridge_regression_of_scikit_learn_if_factors_are_independent():
    rng = np.random.default_rng(33)
    z = rng.normal(size=(800, 2))
    codes = z @ rng.normal(size=(2, 6)) + 0.5 * rng.normal(size=(800, 6))
    found = ladder(z, codes, quick=True)
    for j, row in enumerate(found.rows):
        other = cross_val_predict(RidgeCV(10.0 ** np.arange(-3, 4)), codes, z[:, j], cv=5)
        assert row.direction == pytest.approx(r2_score(z[:, j], other), abs=0.01)
        readout = codes @ found.directions[row.factor][:, 0]
        assert np.corrcoef(readout, other)[0, 1] > 0.995


def test_leakage_is_the_response_to_a_direct_intervention():
    rng = np.random.default_rng(34)
    z = rng.normal(size=(2000, 2)) @ np.linalg.cholesky([[1, 0.5], [0.5, 1]]).T
    noise = 0.5 * rng.normal(size=(2000, 1))
    encode = lambda factors: np.tanh(factors @ [[0.6], [0.3]]) + noise  # noqa: E731 - the world
    row = ladder(z, encode(z), quick=True).rows[0]
    drawn = np.column_stack([rng.permutation(z[:, 0]), rng.permutation(z[:, 1])])
    codes = encode(drawn)[:, 0]
    terms = [np.polynomial.Polynomial.fit(drawn[:, k], codes, 5)(drawn[:, k]).var() for k in range(2)]
    assert row.leakage == pytest.approx(terms[1] / codes.var(), abs=0.05)
    assert row.direction == pytest.approx(np.corrcoef(codes, drawn[:, 0])[0, 1] ** 2, abs=0.05)


def test_functions_of_factors_that_no_line_reads():
    rng = np.random.default_rng(35)
    z, coins = rng.normal(size=(600, 3)), rng.integers(0, 2, size=(600, 2)).astype(float)
    xor = (coins[:, 0] != coins[:, 1]).astype(float)
    assert rungs(ladder(coins, xor[:, None])) == ["joint", "joint"]
    with_partner = ladder(coins, np.column_stack([xor, coins[:, 1]]) + 0.05 * rng.normal(size=(600, 2)))
    assert rungs(with_partner) == ["readable", "one code"]
    assert rungs(ladder(z, np.column_stack([z[:, 0] * z[:, 1], z[:, 2]]))) == ["joint", "joint", "one code"]
    speed = ladder({"speed": np.abs(z[:, 0]), "other": z[:, 1]}, z[:, :2], quick=True)["speed"]
    assert (speed.rung, speed.shape, speed.direction < 0.05) == ("one code", "folded", True)
    assert rungs(ladder(z[:, :2], np.column_stack([z[:, 0] ** 2, z[:, 1]]), quick=True)) == ["folded", "one code"]
    given = coins[:, 0] * z[:, 0]
    found = ladder(np.column_stack([coins[:, 0], given]), np.column_stack([coins[:, 0], given]), quick=True)
    assert rungs(found) == ["implied", "one code"]  # the coin is 0 where the other is
    assert [row.readable > 0.99 for row in found.rows] == [True, True]


def test_repeated_subjects_are_not_read_from_random_vectors():
    rng = np.random.default_rng(36)
    subject, pose = rng.integers(0, 25, 600), rng.normal(size=600)
    codes = np.column_stack([rng.normal(size=(25, 6))[subject], pose]) + 0.1 * rng.normal(size=(600, 7))
    found = ladder({"age": rng.normal(size=25)[subject], "pose": pose}, codes, quick=True)
    assert (rungs(found), found.units) == (["absent", "one code"], "repeats")


def test_unrelated_factors_and_a_rotation_change_no_direction():
    rng = np.random.default_rng(37)
    z, noise = rng.normal(size=(800, 8)), rng.normal(size=(800, 5))
    codes = z[:, :2] @ [[1, 0.3], [-0.3, 1]] + 0.4 * rng.normal(size=(800, 2))
    alone = ladder(z[:, :2], codes, quick=True)
    beside = ladder(z, np.hstack([codes, z[:, 2:], noise]), quick=True)
    turned = ladder(z[:, :2], codes @ [[0.6, 0.8], [-0.8, 0.6]], quick=True)
    for one, other, third in zip(alone.rows, beside.rows[:2], turned.rows, strict=True):
        assert one.rung == other.rung
        for name in ("one_code", "own_codes", "direction", "readable"):
            assert getattr(other, name) == pytest.approx(getattr(one, name), abs=0.03)
        assert third.direction == pytest.approx(one.direction, abs=0.01)


@pytest.mark.parametrize("kind", ["sparse", "posterior", "wide"])
def test_sparse_posterior_and_wide_codes(kind):
    rng = np.random.default_rng(38)
    z = rng.normal(size=(300, 2))
    wide = np.maximum(z @ rng.normal(size=(2, 400)) + 0.2 * rng.normal(size=(300, 400)) - 1, 0)
    codes = {"sparse": csc_array(wide), "posterior": unweave.Posterior(z, np.full(z.shape, 0.1)), "wide": wide}[kind]
    found = ladder(z, codes, quick=True)
    assert min(row.direction for row in found.rows) > 0.9
    if kind == "sparse":
        assert found.direction == pytest.approx(ladder(z, wide, quick=True).direction, abs=1e-9)


def test_a_baseline_gives_the_gain():
    rng = np.random.default_rng(39)
    z = rng.normal(size=(500, 2))
    found = ladder(z, z, baseline=np.column_stack([z[:, 0], rng.normal(size=500)]), quick=True)
    assert [row.gain for row in found.rows] == pytest.approx([0, 1], abs=0.02)
    assert found.rows[1].gain_interval[0] > 0.9


@pytest.mark.parametrize("d", [2, 3, 4, 6, 9])
def test_own_codes_of_a_rotation_have_their_closed_form_and_are_0_on_average(d):
    """A code of a rotation has the share u of a factor, from which it recovers u; so own codes recover u^2."""
    rng = np.random.default_rng([41, d])
    z = rng.normal(size=(1000, d))
    turns = np.linalg.qr(rng.normal(size=(5000, d, d)))[0]
    shares = (turns**4).max(axis=2).mean(axis=1)
    for k in range(3):
        found = ladder(z, z @ turns[k], quick=True)
        assert np.mean([row.own_codes for row in found.rows]) == pytest.approx(shares[k], abs=0.02)
        assert found.luck == pytest.approx(shares.mean(), abs=0.02)
        scores = np.array([own_codes_beyond_luck(share, 1.0, found.luck, found.chance) for share in shares[:1000]])
        assert found.own_codes == pytest.approx(scores[k], abs=0.05)
        assert abs(scores.mean()) < 0.05  # .27 for two and .08 for three factors without ``chance``
        assert scores.min() >= -1


@pytest.mark.slow
def test_rotations_have_the_size_of_the_axes_test():
    below = 0
    for seed in range(200):
        rng = np.random.default_rng([40, seed])
        z = rng.normal(size=(400, 4))
        below += ladder(z, z @ np.linalg.qr(rng.normal(size=(4, 4)))[0], quick=True).axes_p_value <= 0.05
    assert below <= 18  # 10 expected; 18 has probability .01


@pytest.mark.parametrize("order", ["random", "sorted by a", "sorted by b"])
def test_a_joint_function_is_found_in_any_order_of_rows(order):
    for seed in range(4):
        rng = np.random.default_rng([60, seed])
        a, b = rng.integers(0, 2, size=(2, 400))
        rows = {"random": np.arange(400), "sorted by a": np.lexsort([b, a]), "sorted by b": np.lexsort([a, b])}[order]
        codes = (a != b) + 0.01 * rng.normal(size=400)
        found = ladder(np.column_stack([a, b])[rows], codes[rows])
        assert all(row.rung in ("joint", "readable") for row in found.rows)
        assert all(row.dependence_p_value <= 0.02 for row in found.rows if row.rung == "joint")


@pytest.mark.parametrize("kind", ["2 classes", "10 classes", "exclusive or", "exponential"])
def test_what_cannot_be_read_is_as_seldom_significant_as_the_level_says(kind):
    """Neither folds by class, which repeat chance, nor the choice between values and ranks make p-values too small."""
    p_values = []
    for seed in range(30):
        rng = np.random.default_rng([1, seed])
        factors, codes = rng.integers(0, 10 if kind == "10 classes" else 2, size=(200, 2)), rng.normal(size=(200, 3))
        if kind == "exclusive or":
            codes = (factors[:, :1] != factors[:, 1:]) + 0.1 * codes[:, :1]
        factors = rng.exponential(size=(200, 2)) if kind == "exponential" else factors.astype(str)
        p_values += [row.p_value for row in ladder(factors, codes, quick=True).rows]
    assert np.sum(np.array(p_values) <= 0.05) <= 9  # 3 expected of 60; 10 or more have probability .001
    assert np.sum(np.array(p_values) <= 0.5) <= 42  # 30 expected


@pytest.mark.parametrize("d", [3, 5, 8])
def test_one_code_of_its_own_is_not_a_random_mixture_whatever_the_others_are(d):
    rng = np.random.default_rng(d)
    z = rng.normal(size=(400, d))
    mixed = z[:, 1:] @ np.linalg.qr(rng.normal(size=(d - 1, d - 1)))[0]
    codes = np.column_stack([z[:, 0] ** 3, mixed]) + 0.2 * rng.normal(size=(400, d))
    assert ladder(z, codes, quick=True).axes_p_value <= 0.05


@pytest.mark.parametrize("seed", [5800, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (5801, 5802))])
def test_joint_functions_are_never_absent_and_noise_level_is_no_code(seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(1000, 3))
    worlds = [
        (z[:, :2], z[:, 0] * np.sign(z[:, 1])),
        (z, z.prod(axis=1)),
        (z, np.where(z[:, 1] > 1, z[:, 0], z[:, 2])),
        (z[:, :1], np.exp(z[:, 0]) * rng.normal(size=1000)),
    ]
    found = [rungs(ladder(factors, code[:, None])) for factors, code in worlds]
    assert all("absent" not in each for each in found)
    assert found[0] == ["folded", "joint"]


def test_a_conditional_factor_is_identified_by_itself():
    rng = np.random.default_rng(5810)
    coin = rng.integers(0, 2, 1000).astype(float)
    z = np.column_stack([coin, coin * rng.normal(size=1000)])
    assert float(unweave.metrics.identification(z, z)) == pytest.approx(1, abs=0.01)


def test_intervals_of_small_leakage_cover_it():
    inside = []
    for seed in range(30):
        rng = np.random.default_rng([5820, seed])
        z = rng.normal(size=(400, 2))
        loadings = np.array([[1, 0.05], [0, 1]])
        codes = z @ loadings.T + np.sqrt(0.1) * rng.normal(size=(400, 2))
        inner = loadings.T @ np.linalg.solve(loadings @ loadings.T + 0.1 * np.eye(2), loadings)
        low, high = ladder(z, codes, quick=True).rows[0].intervals["leakage"]
        inside.append(low <= inner[0, 1] ** 2 / inner[0, 0] <= high)
    assert np.mean(inside) >= 0.85


@pytest.mark.parametrize("product", [np.prod, lambda z, axis: np.sign(z).prod(axis=axis)])
def test_leakage_of_three_factors_together_has_its_closed_form(product):
    """One code z0 + a f(z1, z2, z3) + s e, with f of variance 1: leakage a^2 / (1 + a^2 + s^2), noise s^2 / (...)."""
    a, s, found = 0.7, 0.5, []
    for seed in range(4):
        rng = np.random.default_rng([78, seed])
        z = rng.uniform(-np.sqrt(3), np.sqrt(3), size=(800, 4))
        code = z[:, 0] + a * product(z[:, 1:], axis=1) + s * rng.normal(size=800)
        row = ladder(z, code[:, None]).rows[0]
        low, high = row.intervals["leakage"]
        assert low <= row.leakage <= high
        found.append((row.leakage, row.noise))
    leakage, noise = np.mean(found, axis=0)  # 0 and .43 from models of pairs
    assert leakage == pytest.approx(a**2 / (1 + a**2 + s**2), abs=0.06)
    assert noise == pytest.approx(s**2 / (1 + a**2 + s**2), abs=0.06)


@pytest.mark.parametrize("kind", ["linear", "dependent factors", "unequal noise", "heavy noise", "classes"])
def test_noise_is_not_taken_for_a_response_to_several_factors(kind):
    higher = 0
    for seed in range(3):
        rng = np.random.default_rng([77, seed])
        z = rng.normal(size=(400, 4))
        z[:, 1] += 2 * z[:, 0] * (kind == "dependent factors")
        z[:, 0] = rng.integers(0, 3, 400) if kind == "classes" else z[:, 0]
        noise = rng.standard_t(3, size=z.shape) if kind == "heavy noise" else rng.normal(size=z.shape)
        noise *= np.exp(z / 2) if kind == "unequal noise" else 1
        codes = z @ rng.normal(size=(4, 4)) + 0.7 * noise
        pairs, every = (ladder(z, codes, quick=quick).rows for quick in (True, False))
        higher += sum(row.leakage > other.leakage + 1e-9 for row, other in zip(every, pairs, strict=True))
    assert higher <= 1  # of 12


def test_a_factor_with_more_classes_than_the_sampled_rows_have_is_no_error():
    """400 classes, of which kernels on 500 rows see some, and products of factors on 400 rows cannot tell apart."""
    rng = np.random.default_rng(80)
    classes, number = rng.permuted(np.arange(8000) % 400), rng.normal(size=8000)
    codes = np.column_stack([rng.normal(size=400)[classes], number])
    found = ladder({"class": classes.astype(str), "number": number}, codes, quick=True)
    assert (found["number"].rung, found.units) == ("one code", "rows")  # no class occurs in several units


@pytest.mark.parametrize("n_codes", [5, 40])
def test_in_codes_that_are_noise_a_call_finds_nothing_at_one_level(n_codes):
    wrong = 0
    for seed in range(12):
        rng = np.random.default_rng([79, n_codes, seed])
        wrong += set(rungs(ladder(rng.normal(size=(100, 6)), rng.normal(size=(100, n_codes))))) != {"absent"}
    assert wrong <= 3  # .05 of 12 expected; 4 have probability .002, and 22 % of calls were wrong factor by factor


def test_heavy_tails_are_read_by_ranks_which_no_monotone_map_of_the_codes_changes():
    """t with 2 degrees of freedom: a few rows decide every variance of values."""
    shift = [1, 2, 0]
    plain, rungs_of_all = [], []
    for seed in range(3):
        z = np.random.default_rng(seed).standard_t(2, size=(600, 3))
        mixed = z + 0.5 * z[:, shift]
        found = [ladder(z, codes, quick=True) for codes in (mixed, np.cbrt(mixed), mixed**3)]
        scores = [unweave.metrics.identification(z, codes).raw for codes in (mixed, np.cbrt(mixed), mixed**3)]
        assert np.ptp(scores) < 0.01
        assert np.ptp([each.direction for each in found]) < 0.01
        rungs_of_all += rungs(found[0])
        plain.append(scores[0])
    assert np.ptp(plain) < 0.25
    assert set(rungs_of_all) == {"own direction"}


def test_directions_of_heavy_tails_apply_to_the_codes_as_given():
    """Weights of a code's values, and not of its ranks: they do not change when all codes are multiplied."""
    z = np.random.default_rng(0).standard_t(2, size=(600, 2))
    turned = z @ [[0.8, 0.6], [-0.6, 0.8]]
    once, larger = (ladder(z, scale * turned, quick=True).directions for scale in (1.0, 10.0))
    for name, weights in once.items():
        np.testing.assert_allclose(larger[name], weights / 10, rtol=1e-6)
        along = np.abs(np.corrcoef(turned @ weights.ravel(), z[:, list(once).index(name)])[0, 1])
        assert along > 0.9


def test_a_dropped_factor_is_absent_though_another_one_depends_on_it():
    """The code is the correlated factor exactly, so what the model does not fit correlates with the dropped one."""
    rungs = []
    for seed in range(6):
        rng = np.random.default_rng([3120, seed])
        z = rng.normal(size=(300, 2))
        z[:, 1] = 0.7 * z[:, 0] + np.sqrt(0.51) * z[:, 1]
        rungs.append(ladder(z, z[:, 1:]).rows[0].rung)
    assert rungs.count("absent") >= 5  # all six were "joint" with free permutations


def test_labels_that_another_factor_lacks_at_random_change_no_rung():
    for seed in range(3):
        rng = np.random.default_rng([3141, seed])
        z = rng.normal(size=(800, 3))
        codes = np.column_stack([z[:, 0], z[:, 1] + z[:, 2], z[:, 1] - z[:, 2]]) + 0.3 * rng.normal(size=(800, 3))
        few = z.copy()
        few[rng.random(800) < 0.5, 2] = np.nan
        whole, part = (ladder(each, codes, quick=True, missing="drop") for each in (z, few))
        assert rungs(part) == rungs(whole)
        assert [str(each) for each in part.caveats] == [f"{np.isnan(few).sum()} rows with missing values were dropped."]
        for row, other in zip(whole.rows, part.rows, strict=True):
            assert other.intervals["direction"][0] - 0.03 <= row.direction <= other.intervals["direction"][1] + 0.03


def test_a_weak_factor_is_read_and_does_not_count():
    rng = np.random.default_rng(3121)
    z = rng.normal(size=(3000, 2))
    found = ladder(z, 0.1 * z + rng.normal(size=z.shape))
    assert {row.rung for row in found.rows} <= {"one code", "own codes", "own direction", "readable"}
    assert all(0 < row.readable <= 0.02 for row in found.rows)
    assert found.value == 0


def test_a_factor_that_is_found_does_not_hide_another():
    """One permutation of the first factor happens to be like the factor itself; the second is far above its own."""
    rng = np.random.default_rng(0)
    null = 0.01 * rng.normal(size=(2, 49))
    null[0, 7] = 0.9
    assert family_p_values(np.array([0.95, 0.05]), null).tolist() == [0.02, 0.02]


def test_tests_of_noise_share_one_error_rate():
    """Statistics of noise are exchangeable with those of its permutations: any of five is significant at the level."""
    draws = np.random.default_rng(1).exponential(size=(2_000, 5, 50))
    rejected = np.mean([family_p_values(each[:, 0], each[:, 1:]).min() <= 0.02 for each in draws])
    assert rejected == pytest.approx(0.02, abs=0.01)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(("n_types", "n_named"), [(5, 5), (5, 4), (20, 20)])
def test_an_unrelated_factor_changes_no_rung_of_exclusive_types(n_types, n_named):
    for seed in range(3 if n_types < 20 else 1):
        rng = np.random.default_rng(seed)
        kind, noise = rng.integers(0, n_types, 1500), rng.normal(size=(1500, n_types + 4))
        codes = np.hstack([3 * np.eye(n_types)[kind] + 0.3 * noise[:, :n_types], 0.05 * noise[:, n_types:]])
        types = {f"is_{i}": np.where(kind == i, "yes", "no") for i in range(n_named)}
        alone = ladder(types, codes, quick=True)
        assert rungs(alone).count("one code") == min(n_named, n_types - 1)
        for n_levels in (2, 3, 5):
            unrelated = rng.integers(0, n_levels, 1500).astype(str)
            beside = ladder({**types, "unrelated": unrelated}, codes, quick=True)
            assert (rungs(beside), beside["unrelated"].rung) == ([*rungs(alone), "absent"], "absent")
            for one, other in zip(alone.rows, beside.rows, strict=False):
                assert (one.p_value <= 0.02) == (other.p_value <= 0.02)
                assert other.one_code == pytest.approx(one.one_code, abs=0.02)


@pytest.mark.parametrize("n_levels", [2, 3, 5])
def test_subjects_stay_units_beside_an_unrelated_factor(n_levels):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        subject, other = rng.integers(0, 40, 900), rng.integers(0, n_levels, 900)
        of_subject = {name: rng.normal(size=40).round(1)[subject] for name in ("age", "dose")}
        codes = np.column_stack([rng.normal(size=(40, 6))[subject], other]) + 0.1 * rng.normal(size=(900, 7))
        found = ladder({**of_subject, "other": other.astype(str)}, codes, quick=True)
        assert (rungs(found), found.units) == (["absent", "absent", "one code"], "repeats")
        assert ladder(of_subject, codes, quick=True).units == "repeats"


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_class_in_one_row_has_finite_numbers():
    rng = np.random.default_rng(39)
    codes = rng.normal(size=(300, 3))
    found = ladder({"rare": np.where(np.arange(300) == 7, "yes", "no"), "size": codes[:, 0]}, codes, quick=True)
    assert rungs(found) == ["absent", "one code"]
    assert np.isfinite([found["rare"].direction, *found["rare"].intervals["direction"], found.value]).all()


def test_a_factor_found_alone_has_the_own_codes_that_it_has_without_absent_ones():
    rng = np.random.default_rng(40)
    kind, batch = rng.integers(0, 5, 1500), rng.integers(0, 3, 1500).astype(str)
    codes = rng.normal(size=(5, 6))[kind] + 0.5 * rng.normal(size=(1500, 6))
    types = np.array(list("abcde"))[kind]
    alone = ladder({"type": types}, codes, quick=True)
    beside = ladder({"type": types, "batch": batch}, codes, quick=True)
    assert (beside.luck, beside.chance, beside.axes_p_value) == (alone.luck, alone.chance, 1.0)
    assert 2 * beside.own_codes == pytest.approx(alone.own_codes, abs=0.02)
    mixed = unweave.compare({"type": types, "batch": batch}, {"A": codes, "B": codes[:, ::-1]}, quick=True)
    assert "Only type is found" in answer_of(mixed, "A").axes


def test_the_axes_have_p_values_that_more_rotations_resolve():
    z = normal(41, 500, 4)
    own, turned = (ladder(z, z @ each, quick=True) for each in (np.eye(4), hadamard(4) / 2))
    assert own.axes_p_value < 0.001
    assert turned.axes_p_value > 0.05
