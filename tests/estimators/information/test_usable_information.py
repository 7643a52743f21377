"""Usable and joint information against closed forms, scikit-learn, and each other."""

import numpy as np
import pytest

from unweave.estimators import NearestNeighbour, UsableInformation
from unweave.estimators import logistic as tuned_logistic
from unweave.estimators.counts import entropy_of_counts
from unweave.estimators.nearest_neighbour import label_information

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
