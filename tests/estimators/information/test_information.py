"""Information by bins, neighbours and probes against closed forms, scikit-learn, and each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import digamma
from scipy.stats import nhypergeom
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.metrics import mutual_info_score

from unweave.estimators import Histogram, NearestNeighbour, UsableInformation
from unweave.estimators import logistic as tuned_logistic
from unweave.estimators.counts import binned, edges_in_gaps, edges_passed, entropy_of_counts, levels
from unweave.estimators.nearest_neighbour import _distances_in_class, label_information, pair_information
from unweave.metrics import mig

TRAIN, TEST = np.arange(1600), np.arange(1600, 2000)


def noisy_classes(n_rows=2000, n_labels=4, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_labels, n_rows)
    return labels[:, None] * [1.0, 0.0, -0.5] + rng.normal(size=(n_rows, 3)), labels


def test_share_approaches_the_closed_form_of_two_gaussians():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 20_000)
    column = (2 * labels - 1 + rng.normal(size=20_000))[:, None]
    # p(label | column) is logistic, so usable information equals mutual information, computed by quadrature
    x = np.linspace(-8, 8, 20_001)
    density = np.exp(-((x - 1) ** 2) / 2) / np.sqrt(2 * np.pi)
    exact = np.log(2) - (density * np.log1p(np.exp(-2 * x))).sum() * (x[1] - x[0])
    found = UsableInformation().joint_information(column, labels, np.arange(16_000), np.arange(16_000, 20_000))
    assert found == pytest.approx(exact, abs=0.02)
    assert label_information(column, labels, k=5) == pytest.approx(exact, abs=0.02)


@pytest.mark.parametrize("classifier", ["logistic", "boosted_trees"])
def test_noise_is_of_no_use_and_labels_themselves_of_all(classifier):
    rng = np.random.default_rng(0)
    columns, labels = rng.normal(size=(2000, 3)), rng.integers(0, 3, 2000)
    estimator = UsableInformation(classifier)
    assert -0.1 < estimator.share(columns, labels, TRAIN, TEST) < 0.01
    assert estimator.joint_information(columns, labels, TRAIN, TEST) <= 0.01
    assert estimator.share(labels[:, None].astype(float), labels, TRAIN, TEST) > 0.97


def test_only_trees_see_what_codes_tell_together():
    columns = np.random.default_rng(0).normal(size=(2000, 2))
    labels = (columns.prod(axis=1) > 0).astype(int)
    assert UsableInformation().share(columns, labels, TRAIN, TEST) < 0.05
    assert UsableInformation("boosted_trees").share(columns, labels, TRAIN, TEST) > 0.7
    assert label_information(columns, labels, k=3) > 0.8 * np.log(2)
    with pytest.raises(ValueError, match="not known"):
        UsableInformation("forest").share(columns, labels, TRAIN, TEST)  # type: ignore[arg-type]


def test_wide_columns_go_through_ten_directions(monkeypatch):
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(2000, 200))
    labels = np.digitize(columns @ rng.normal(size=200), np.linspace(-20, 20, 8))
    shapes = []
    solver = tuned_logistic.by_newton
    monkeypatch.setattr(tuned_logistic, "by_newton", lambda loss, at: (shapes.append(at.shape), solver(loss, at))[1])
    assert UsableInformation().share(columns, labels, TRAIN, TEST) > 0.7
    assert set(shapes) == {(9, 11)}


def test_more_labels_than_newton_steps_can_bear():
    """200 labels times 11 weights are too many for Newton steps, so they are fitted by gradients."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 200, 2000)
    columns = 3 * rng.normal(size=(200, 10))[labels] + 0.1 * rng.normal(size=(2000, 10))
    assert UsableInformation().share(columns, labels, np.arange(1600), np.arange(1600, 2000)) > 0.99


def test_more_columns_tell_no_less_and_never_more_than_the_entropy():
    columns, labels = noisy_classes()
    told = [label_information(columns[:, :width], labels, k=3) for width in (1, 3)]
    assert told[0] < told[1] < entropy_of_counts(np.bincount(labels))
    rare = np.r_[np.zeros(1980, dtype=int), np.ones(20, dtype=int)]
    perfect = np.column_stack([rare, rare]) + 1e-3 * columns[:, :2]
    assert label_information(perfect, rare, k=3) <= entropy_of_counts(np.bincount(rare)) + 1e-12
    assert label_information(np.full((2000, 2), 7.0), rare, k=3) == 0
    assert label_information(columns, np.arange(2000), k=3) == 0


def test_ranks_do_not_care_for_monotone_maps():
    columns, labels = noisy_classes(500)
    labels = labels.astype(np.uint16)
    estimator = NearestNeighbour(k=5, ranked=True)
    assert (
        estimator.code_information(columns, [labels]) == estimator.code_information(np.exp(columns), [labels])
    ).all()
    rows = np.arange(500), np.arange(0)
    joint = [estimator.joint_information(item, labels, *rows) for item in (columns, np.exp(columns))]
    assert joint[0] == joint[1]


def path_of(monkeypatch, losses, n_rows=50, n_columns=1):
    """Penalties and shapes of the fits of a path whose validation losses are these; all labels are 0."""
    fits, left = [], list(losses)
    doubt = (n_rows + 0.5) / (n_rows + 1) / n_rows

    def minimised(design, labels, weights, penalty):
        fits.append((penalty, design.shape, float(weights[0, 0])))
        chance = np.exp(-left.pop(0)) - doubt if left else 0.5
        found = np.zeros((2, len(design)))
        found[:, 0] = np.log([chance, 1 - chance])
        return found

    monkeypatch.setattr(tuned_logistic, "_minimising_weights", minimised)
    columns = np.random.default_rng(0).normal(size=(n_rows, n_columns))
    tuned_logistic.tuned_probabilities(columns, np.zeros(n_rows, dtype=int), columns[:3], 2, seed=0)
    return fits


@pytest.mark.parametrize(
    ("losses", "tried", "best"),
    [
        ([0.2, 0.2199, 0.2201], [1.0, 0.1, 0.01], 0),  # 1.05 x 0.2 + 0.01 = 0.22
        ([0.5, 0.2, 0.21, 0.15, 0.15, 0.15, 0.15, 0.15], [1.0, 0.1, 0.01, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12], 3),
        ([0.2, 0.9], [1.0, 0.1], 0),
    ],
)
def test_the_path_of_penalties_ends_when_the_validation_loss_clearly_increases(monkeypatch, losses, tried, best):
    *path, last = path_of(monkeypatch, losses)
    assert [penalty for penalty, _, _ in path] == tried
    assert {shape for _, shape, _ in path} == {(2, 40)}  # a fifth of the rows is held out
    assert last[:2] == (tried[best], (2, 50))
    assert path[0][2] == pytest.approx(np.log(50.5 / 51))
    assert np.exp(last[2]) == pytest.approx(np.exp(-losses[best]) - 50.5 / 51 / 50)


@pytest.mark.parametrize(("n_columns", "width"), [(199, 200), (200, 6)])
def test_with_more_than_400_weights_the_columns_are_replaced_by_directions(monkeypatch, n_columns, width):
    """A constant, the direction of the label's number, that of the only label that occurs, and three columns."""
    assert {shape[0] for _, shape, _ in path_of(monkeypatch, [0.2, 0.9], n_columns=n_columns)} == {width}


@pytest.mark.parametrize(("width", "way"), [(750, "newton"), (751, "gradients")])
def test_more_than_1500_weights_are_fitted_by_gradients(monkeypatch, width, way):
    monkeypatch.setattr(tuned_logistic, "by_newton", lambda loss, weights: ("newton", loss.penalties))
    monkeypatch.setattr(
        tuned_logistic, "by_gradients", lambda loss, weights, *rest: ("gradients", loss.penalties, *rest)
    )
    found = tuned_logistic._minimising_weights(np.ones((width, 3)), np.zeros(3, dtype=int), np.zeros((2, width)), 0.5)
    assert (found[0], found[2:]) == (way, () if way == "newton" else (1e-5, 200))
    assert found[1].tolist() == [0.5e-3] + [0.5] * (width - 1)


def test_predictions_are_mixed_with_the_frequencies_of_the_training_rows(monkeypatch):
    """Six of eight training rows and one of two test rows have the label 0, and the classifier is always sure of 0."""
    monkeypatch.setattr(UsableInformation, "_probabilities", lambda *given: np.tile([1.0, 0.0], (2, 1)))
    labels = np.array([0, 0, 0, 0, 0, 0, 1, 1, 0, 1])
    estimator, rows = UsableInformation(), (np.arange(8), np.arange(8, 10))
    frequencies = np.array([6.5, 2.5]) / 9
    without = -np.log(frequencies).mean()
    mixed = np.array([8 / 9 + frequencies[0] / 9, frequencies[1] / 9])
    exact = 1 + np.log(mixed).mean() / without
    assert estimator.share(np.zeros((10, 1)), labels, *rows) == pytest.approx(exact)
    assert estimator.joint_information(np.zeros((10, 1)), labels, *rows) == max(exact, 0.0) == 0.0
    monkeypatch.setattr(UsableInformation, "_probabilities", lambda *given: np.eye(2))
    sure = 1 + np.log(8 / 9 + frequencies / 9).mean() / without
    told = estimator.joint_information(np.zeros((10, 1)), labels, *rows)
    assert told == pytest.approx(sure * entropy_of_counts(np.array([7, 3])))


columns = arrays(np.float64, st.integers(1, 300), elements=st.integers(-20, 20).map(float))


@settings(max_examples=30)
@given(columns, st.integers(2, 30))
def test_equal_mass_labels_follow_the_order_of_values(column, bins):
    labels = binned(column, bins, "equal_mass")
    order = np.argsort(column, kind="stable")
    assert (np.diff(labels[order].astype(int)) >= 0).all()
    assert all(len(set(labels[column == value])) == 1 for value in np.unique(column))


@settings(max_examples=30)
@given(columns)
def test_few_distinct_values_are_kept_apart(column):
    assert len(set(binned(column, 41, "equal_mass"))) == len(set(column))


@pytest.mark.parametrize("counts", [(40, 30, 30), (10, 60, 30), (30, 30, 40), (98, 1, 1)])
def test_as_many_values_as_bins_are_kept_apart(counts):
    column = np.repeat([1.0, 2.0, 3.0], counts)
    assert np.bincount(binned(column, 3, "equal_mass")).tolist() == list(counts)


@pytest.mark.parametrize(("n_rows", "bins"), [(1000, 20), (999, 7), (100_000, 100)])
def test_equal_mass_is_equal_without_ties(n_rows, bins):
    counts = np.bincount(binned(np.random.default_rng(0).normal(size=n_rows), bins, "equal_mass"))
    assert counts.size == bins
    assert counts.max() - counts.min() <= 1


def test_a_value_that_fills_several_bins_gets_one_of_its_own():
    column = np.r_[np.zeros(900), np.linspace(1, 2, 50), np.linspace(-2, -1, 50)]
    labels = binned(column, 10, "equal_mass")
    assert len(set(labels[column == 0])) == 1
    assert not set(labels[column == 0]) & set(labels[column != 0])


def test_equal_width_is_numpys_histogram():
    column = np.random.default_rng(1).normal(size=5000)
    counts = np.bincount(binned(column, 20, "equal_width"), minlength=20)
    assert (counts == np.histogram(column, 20)[0]).all()


def test_levels_are_ranks_of_distinct_values():
    assert levels(np.array([3.5, -1.0, 3.5, 7.0])).tolist() == [1, 0, 1, 2]


def test_unknown_binning_is_refused():
    with pytest.raises(ValueError, match="equal_mass"):
        binned(np.arange(5.0), 2, "quantile")


@pytest.mark.parametrize("counts", [(97, 1, 1, 1), (1, 97, 1, 1), (1, 1, 1, 97)])
def test_more_values_than_bins_share_bins(counts):
    """The most frequent of four values fills three bins, so that it has a bin of its own and the others share."""
    labels = binned(np.repeat([1.0, 2.0, 3.0, 4.0], counts), 3, "equal_mass")
    sizes = np.bincount(labels)
    assert 97 in sizes
    assert (sizes > 0).sum() <= 3


def test_numbers_of_single_precision_are_compared_with_the_edges_as_they_are():
    """The second edge lies between two numbers of single precision, and would be rounded down to the first one."""
    tenth = np.float32(0.1)
    edges = np.array([-0.5, float(tenth) + 1e-12, 0.5])
    column = np.array([-0.5, tenth, np.nextafter(tenth, np.float32(1)), 0.5], dtype=np.float32)
    assert edges_passed(column, edges).tolist() == [1, 1, 2, 3]
    assert edges_passed(column, edges[1:2]).tolist() == [0, 0, 1, 1]
    assert edges_passed(column, edges[[0, 2]]).tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize("n_edges", [64, 65, 300])
def test_many_edges_are_passed_like_few(n_edges):
    column, edges = np.random.default_rng(2).normal(size=20_000), np.linspace(-2, 2, n_edges)
    assert edges_passed(column, edges).tolist() == np.searchsorted(edges, column, side="right").tolist()


@pytest.mark.parametrize(
    ("column", "edges"),
    [([3.0, 3.0, 3.0], []), ([1.0], []), ([1.0, 2.0], [1.5]), ([0.0, 1.0, 5.0, 6.0, 6.5, 9.0, 9.1], [3.0, 7.75])],
)
def test_edges_lie_in_the_widest_gap_of_each_part_of_the_values(column, edges):
    assert edges_in_gaps(np.array(column), 3).tolist() == edges


def test_finer_tails_have_an_eighth_of_the_mass_of_other_bins():
    """62 edges of 63 windows: 56 of equal mass, of which the first and the last are halved three times."""
    column = np.random.default_rng(0).normal(size=100_000)
    inside = np.diff(np.sort(np.r_[0, np.searchsorted(np.sort(column), edges_in_gaps(column, 63, True)), column.size]))
    assert inside.size == 63
    assert inside[[0, -1]].max() < 2 * 100_000 / 56 / 4
    assert np.median(inside) == pytest.approx(100_000 / 56, rel=0.2)


def labels_of(*shape, high, seed=0):
    return np.random.default_rng(seed).integers(0, high, shape).astype(np.uint16)


@pytest.mark.parametrize("n_rows", [50, 5000, 200_000], ids=["side by side", "blocks", "pairs"])
def test_counting_agrees_with_scikit_learn_at_every_size(n_rows):
    """The three ways of counting (many codes at once, one code in blocks of rows, two codes jointly) agree."""
    codes = [labels_of(n_rows, high=k, seed=k) for k in (2, 7, 20, 3, 11)]
    factors = [labels_of(n_rows, high=4, seed=99), (codes[1] // 2).astype(np.uint16)]
    found = Histogram().label_information(codes, factors)
    expected = [[mutual_info_score(code, factor) for factor in factors] for code in codes]
    assert found == pytest.approx(np.array(expected), abs=1e-9)


def test_wide_label_alphabets_do_not_overflow():
    code, factor = labels_of(3000, high=2000), labels_of(3000, high=1500, seed=1)
    found = Histogram().label_information([code], [factor])[0, 0]
    assert found == pytest.approx(mutual_info_score(code, factor), abs=1e-9)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_fine_histogram_tends_to_the_gaussian_closed_form(rho):
    """I = -1/2 log(1 - rho^2); binning loses little of it, and the bias is corrected."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=400_000)
    y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=x.size)
    estimator = Histogram(bins=40, bias_correction="miller_madow")
    found = estimator.code_information(y[:, None], [estimator.factor_labels(x, discrete=False)])[0, 0]
    assert found == pytest.approx(-0.5 * np.log(1 - rho**2), abs=0.02)


def test_miller_madow_centres_the_null():
    rng = np.random.default_rng(1)
    draws = []
    for _ in range(100):
        code, factor = rng.normal(size=(2, 500))
        estimator = Histogram(bins=8, bias_correction="miller_madow")
        draws.append(estimator.code_information(code[:, None], [estimator.factor_labels(factor, discrete=False)])[0, 0])
    assert abs(np.mean(draws)) < 3 * np.std(draws) / 10
    assert np.mean(draws) < 0.2 * 49 / 1000  # a fifth of the bias without correction


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("n_labels", [2, 5, 20])
def test_nearest_neighbours_agree_with_scikit_learn(k, n_labels):
    rng = np.random.default_rng(2)
    labels = rng.integers(0, n_labels, 1500)
    codes = np.column_stack([labels + rng.normal(size=1500), rng.normal(size=1500)])
    found = NearestNeighbour(k=k).code_information(codes, [labels.astype(np.uint16)])[:, 0]
    expected = mutual_info_classif(codes, labels, n_neighbors=k, random_state=0)  # at least 0, with added noise
    assert np.maximum(found, 0) == pytest.approx(expected, abs=2e-3)


def test_nearest_neighbours_of_a_mixture_closed_form():
    """Two equally likely Gaussians at +-mu; the expected information is computed by numerical integration."""
    mu, n = 1.5, 40_000
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, n)
    x = np.linspace(-12, 12, 200_001)
    density = 0.5 * (np.exp(-((x - mu) ** 2) / 2) + np.exp(-((x + mu) ** 2) / 2)) / np.sqrt(2 * np.pi)
    entropy = -np.trapezoid(density * np.log(np.maximum(density, 1e-300)), x)
    expected = entropy - 0.5 * np.log(2 * np.pi * np.e)
    code = mu * (2 * labels - 1) + rng.normal(size=n)
    found = NearestNeighbour().code_information(code[:, None], [labels.astype(np.uint16)])[0, 0]
    assert found == pytest.approx(expected, abs=0.01)


def test_never_above_the_entropy():
    """The information is at most the entropy, also with rare classes (20 of 20,000), discrete codes and constants."""
    rng = np.random.default_rng(4)
    labels = np.r_[np.ones(20, dtype=np.uint16), np.zeros(19_980, dtype=np.uint16)]
    codes = np.column_stack([labels, labels + 0.01 * rng.normal(size=20_000), np.full(20_000, 5.0)])
    entropy = float(entropy_of_counts(np.bincount(labels)))
    for estimator in (Histogram(), NearestNeighbour()):
        found = estimator.code_information(codes, [labels])[:, 0]
        assert (found <= entropy + 1e-12).all()
        assert found[2] == 0.0
    assert NearestNeighbour().code_information(codes, [labels])[0, 0] == pytest.approx(entropy, rel=0.1)


def test_discrete_codes_get_the_plug_in_value_from_nearest_neighbours():
    labels = labels_of(20_000, high=4)
    code = np.where(np.random.default_rng(5).random(20_000) < 0.7, labels, labels_of(20_000, high=4, seed=6))
    found = NearestNeighbour().code_information(code[:, None].astype(float), [labels])[0, 0]
    assert found == pytest.approx(mutual_info_score(code, labels), abs=0.01)


def test_a_class_of_one_has_no_neighbour_and_is_left_out():
    labels = np.zeros(100, dtype=np.uint16)
    labels[0] = 1
    found = NearestNeighbour().code_information(np.random.default_rng(6).normal(size=(100, 1)), [labels])[0, 0]
    assert np.isfinite(found)
    assert digamma(1) < 0  # counting the class of one would add this term


def test_unknown_bias_correction_is_refused():
    with pytest.raises(ValueError, match="miller_madow"):
        Histogram(bias_correction="jackknife").label_information([labels_of(10, high=2)], [labels_of(10, high=2)])


def test_cells_and_labels_of_one_row_count_as_occupied():
    """Five cells of three and three labels: the correction is (5 - 3 - 3 + 1) / 12; without the last row, 1 / 10."""
    code, factor = (np.array(labels, dtype=np.uint16) for labels in ([0, 0, 0, 1, 1, 2], [0, 0, 1, 0, 1, 2]))
    estimator = Histogram(bias_correction="miller_madow")
    for n_rows, expected in ((6, 0.0), (5, 0.1)):
        plain = mutual_info_score(code[:n_rows], factor[:n_rows])
        found = estimator.label_information([code[:n_rows]], [factor[:n_rows]])[0, 0]
        assert found == pytest.approx(plain - expected)
    once = np.array([0, 0, 0, 1], dtype=np.uint16)
    entropy = float(entropy_of_counts(np.array([3, 1])))
    assert Histogram().label_information([once], [once])[0, 0] == pytest.approx(entropy)


@pytest.mark.parametrize("units", [[1.0, 1000.0], [1e-6, 1.0]])
def test_the_units_of_columns_do_not_matter(units):
    """Without scaling, the column with the largest unit would determine the neighbours."""
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(400, 2))
    labels = (columns[:, 0] > 0).astype(np.intp) + (columns[:, 1] > 0)
    expected = label_information(columns, labels, k=3)
    assert label_information(columns * units, labels, k=3) == pytest.approx(expected, abs=1e-9)
    assert expected > 0.5


def by_definition(columns, labels, k):
    """The estimate of Ross (2014) from all pairs; rows at equal distance in any order, copies as in Gao et al.

    The place of the k-th row of the class among all rows then has a negative hypergeometric distribution, which is
    summed term by term here. Classes of one do not count.
    """
    sizes = np.bincount(labels)
    used = sizes[labels] > 1
    scaled, kept = columns[used] / columns.std(axis=0), labels[used]
    distance = np.abs(scaled[:, None] - scaled[None]).max(axis=2)
    terms = []
    for row, label in enumerate(kept):
        same = np.sort(distance[row, kept == label])  # the row itself comes first
        n_near = min(k, same.size - 1)
        radius = same[n_near]
        if radius == 0:
            terms.append(digamma((same == 0).sum()) - digamma(same.size) - digamma((distance[row] == 0).sum()))
            continue
        closer, not_farther = ((distance[row] < radius * (1 + sign * 1e-12)).sum() for sign in (-1, 1))
        hits_closer, hits = ((same < radius * (1 + sign * 1e-12)).sum() for sign in (-1, 1))
        n_tied, n_hits, wanted = not_farther - closer, hits - hits_closer, n_near - hits_closer + 1
        misses = np.arange(n_tied - n_hits + 1)  # rows of other classes before the wanted hit
        weights = nhypergeom.pmf(misses, n_tied, n_tied - n_hits, wanted) if misses.size > 1 else np.ones(1)
        # nhypergeom counts successes before failures: here rows of other classes before hits
        terms.append(digamma(n_near) - digamma(same.size) - weights @ digamma(closer - 1 + wanted + misses))
    return min(digamma(used.sum()) + np.mean(terms), float(entropy_of_counts(sizes)))


@pytest.mark.parametrize("k", [1, 3, 7])
@pytest.mark.parametrize("decimals", [9, 1, 0], ids=["no ties", "ties", "many ties"])
def test_neighbours_are_those_of_all_pairs_of_rows(k, decimals):
    """Classes of 20, 9, 4, 2 and 1 rows, some of them smaller than the number of neighbours."""
    rng = np.random.default_rng(k)
    labels = np.repeat(np.arange(5), [20, 9, 4, 2, 1])
    columns = np.round(labels[:, None] * [0.5, 0.0] + rng.normal(size=(36, 2)), decimals)
    order = rng.permutation(36)
    columns, labels = columns[order], labels[order]
    close = 1e-9 if decimals == 9 else 5e-3  # the mean of digamma over the orders of tied rows is to second order
    assert label_information(columns, labels, k) == pytest.approx(by_definition(columns, labels, k), abs=close)
    alone = NearestNeighbour(k=k).code_information(columns, [labels.astype(np.uint16)])[:, 0]
    assert alone == pytest.approx([by_definition(columns[:, [i]], labels, k) for i in range(2)], abs=close)


@pytest.mark.parametrize("k", range(1, 7))
def test_distances_along_a_line_are_those_to_the_kth_row_of_the_class(k):
    sizes = np.array([1, 2, 5, 9, 1])
    starts = np.r_[0, np.cumsum(sizes)[:-1]]
    rng = np.random.default_rng(k)
    code = np.concatenate([np.sort(rng.normal(size=size)) for size in sizes])
    found = _distances_in_class(code, starts, sizes, k)
    for start, size in zip(starts, sizes, strict=True):
        members = code[start : start + size]
        apart = np.sort(np.abs(members[:, None] - members), axis=1)
        assert found[start : start + size] == pytest.approx(apart[:, min(k, size - 1)])


@pytest.mark.parametrize("counts", [(2, 2, 2, 1), (2, 1), (3, 1, 1)])
def test_classes_of_two_rows_have_one_neighbour_each(counts):
    labels = np.repeat(np.arange(len(counts)), counts)
    columns = np.random.default_rng(4).normal(size=(labels.size, 2))
    exact = by_definition(columns, labels, 3)
    assert label_information(columns, labels, 3) == pytest.approx(exact)
    assert label_information(columns[:, :1], labels, 3) == pytest.approx(by_definition(columns[:, :1], labels, 3))


LATTICES = {
    "no ties": lambda rng, n: rng.normal(size=n),
    "few levels": lambda rng, n: rng.integers(0, 6, n),
    "many levels": lambda rng, n: rng.integers(0, 100, n),
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n)),
    "half on a lattice": lambda rng, n: np.where(rng.random(n) < 0.5, 0, rng.integers(0, 200, n)),
    "rounded": lambda rng, n: np.round(rng.normal(size=n), 1),
}


@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("k", [3, 10])
@pytest.mark.parametrize("n_classes", [2, 7])
@pytest.mark.parametrize("name", LATTICES)
def test_independent_columns_share_no_information_on_any_lattice(name, n_classes, k, ranked):
    """The mean over 40 samples is 0 within four standard errors; ties once cost up to half a nat."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng([seed, n_classes])
        code = LATTICES[name](rng, 300).astype(float)[:, None]
        labels = rng.integers(0, n_classes, 300).astype(np.uint16)
        found.append(NearestNeighbour(k, ranked=ranked).code_information(code, [labels])[0, 0])
    assert abs(np.mean(found)) < 4 * np.std(found) / np.sqrt(40) + 0.004


@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("k", [3, 5, 7])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_two_uniform_classes_have_their_closed_form(share, k, ranked):
    """The case of scikit-learn's own test of a discrete and a continuous column: U(-1, 1) and U(0, 2)."""
    rng = np.random.RandomState(0)
    label = rng.uniform(size=1000) > share
    code = rng.uniform(-1, 1, size=1000) + label
    exact = -0.5 * ((1 - share) * np.log(0.5 * (1 - share)) + share * np.log(0.5 * share) + np.log(0.5)) - np.log(2)
    found = NearestNeighbour(k, ranked=ranked).code_information(code[:, None], [label.astype(np.uint16)])[0, 0]
    assert found == pytest.approx(exact, abs=0.05)
    if not ranked:
        assert found == pytest.approx(
            mutual_info_classif(code[:, None] / code.std(), label, n_neighbors=k, random_state=0)[0], abs=1e-6
        )


@pytest.mark.parametrize("n_levels", [2, 5, 40])
@pytest.mark.parametrize("ranked", [False, True])
def test_a_perfect_discrete_code_has_all_the_entropy(n_levels, ranked):
    for seed in range(10):
        every = np.tile(np.arange(n_levels), 2)  # a level of one row has no neighbour
        labels = np.r_[every, np.random.default_rng(seed).integers(0, n_levels, 100 - every.size)].astype(np.uint16)
        found = NearestNeighbour(10, ranked=ranked).code_information(labels[:, None].astype(float) ** 2, [labels])
        assert found[0, 0] == pytest.approx(float(entropy_of_counts(np.bincount(labels))))


def test_ranks_ignore_monotone_maps_and_signs():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 3, 400).astype(np.uint16)
    for code in (labels + rng.normal(size=400), np.round(labels + rng.normal(size=400), 1)):
        mapped = np.column_stack([code, np.exp(3 * code), -code, np.arctan(code)])
        found = NearestNeighbour(10, ranked=True).code_information(mapped, [labels])[:, 0]
        assert found == pytest.approx(found[0], abs=1e-9)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_information_of_unbinned_factors_is_the_closed_form_of_a_gaussian(rho):
    """I = -log(1 - rho^2) / 2. The standard deviation over 2,000 rows is about .02, and 8 draws are averaged."""
    found = []
    for seed in range(8):
        x, y = np.random.default_rng(seed).normal(size=(2, 2000))
        found.append(pair_information(x, rho * x + np.sqrt(1 - rho**2) * y, k=3))
    assert np.mean(found) == pytest.approx(-np.log(1 - rho**2) / 2, abs=4 * 0.02 / np.sqrt(8))


@pytest.mark.parametrize("k", [1, 3, 10])
def test_unbinned_information_is_that_of_scikit_learn(k):
    x, y = np.random.default_rng(k).normal(size=(2, 700))
    x, y = np.exp(x), np.sin(3 * x) + 0.3 * y
    theirs = mutual_info_regression(x[:, None], y, n_neighbors=k, random_state=0)[0]
    assert pair_information(x, y, k) == pytest.approx(theirs, abs=1e-6)  # it adds noise of 1e-10 of the spread


def test_mig_without_bins_of_the_factor_is_nearer_the_closed_form():
    """The information of x + noise about x, and that of a code that is noise, over the entropy of 20 bins."""
    x, noise, other = np.random.default_rng(0).normal(size=(3, 5000))
    codes = np.column_stack([x + 0.5 * noise, other])
    exact = np.log(1 + 1 / 0.25) / 2 / np.log(20)
    found = {bins: mig(x, codes, estimator=NearestNeighbour(bin_factors=bins)).raw for bins in (True, False)}
    assert abs(found[False] - exact) < abs(found[True] - exact)
    assert found[False] == pytest.approx(exact, abs=0.02)


def test_copies_are_counted_and_constants_carry_no_information():
    levels = np.repeat(np.arange(4.0), 250)
    assert pair_information(levels, 2 * levels, 3) == pytest.approx(np.log(4), abs=0.01)
    assert pair_information(np.ones(50), np.arange(50.0), 3) == 0.0
    both = NearestNeighbour(bin_factors=False), NearestNeighbour()
    codes = levels[:, None] + np.random.default_rng(1).normal(size=(1000, 2))
    discrete, as_before = (mig(levels, codes, kinds="categorical", estimator=each).raw for each in both)
    assert discrete == as_before
