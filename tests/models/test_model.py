"""A trained model, its pictures and its name, compared with what a network that passes codes on gives by hand."""

import math

import numpy as np
import pytest
import torch
from scipy import special, stats

from unweave import InputError
from unweave.datasets import DataSet, Factor
from unweave.models import AAE, VAE, AnnealedVAE, BetaVAE, FactorVAE, Gaussian, JointVAE, TrainedModel, compared_runs
from unweave.models import model as model_module
from unweave.models.model import loss_curves, reconstructions, traversals
from unweave.models.objectives import Custom, setting_name
from unweave.models.training import ModelSpec
from unweave.randomness import random_stream

ROWS = np.random.default_rng(0).normal(size=(12, 7)).astype(np.float32)
SPREAD = math.exp(-0.5)


def trained(make, objective, n_codes, categories=(), history=()):
    """A model whose encoder returns the images as means and logits, and whose decoder returns its codes."""
    network = make.network(n_codes, categories, log_variance=-1.0)
    network.weights["decoder.0.weight"][0] = torch.eye(n_codes + sum(categories))
    return TrainedModel("mine", ModelSpec(objective, 0), network, Gaussian(), tuple(history))


@pytest.fixture
def joint(make, monkeypatch):
    """Two Gaussian codes and two categorical ones, in batches of five rows."""
    monkeypatch.setattr(model_module, "ROWS_AT_A_TIME", 5)
    return trained(make, JointVAE(categories=(2, 3)), 2, (2, 3))


def shares_of(rows):
    return [special.softmax(rows[:, 2:4].astype(float), axis=1), special.softmax(rows[:, 4:].astype(float), axis=1)]


def test_batches_are_encoded_and_decoded_as_all_rows(joint):
    found, shares = joint.encode(ROWS), shares_of(ROWS)
    np.testing.assert_allclose(found.mean, ROWS[:, :2])
    np.testing.assert_allclose(found.std, np.full((12, 2), SPREAD), rtol=1e-6)
    for name, table in zip(("category 0", "category 1"), shares, strict=True):
        np.testing.assert_allclose(found.categories[name], table, rtol=1e-6)
    codes = np.hstack([ROWS[:, :2], *shares])
    np.testing.assert_allclose(joint.codes_of(ROWS), codes, rtol=1e-6)
    np.testing.assert_allclose(joint.decode(codes), codes.reshape(12, 1, 1, 7), rtol=1e-6)
    np.testing.assert_allclose(joint.codes_of(ROWS[:1]), codes[:1], rtol=1e-6)


def test_divergences_and_costs_are_means_over_all_rows(joint, monkeypatch):
    shares = shares_of(ROWS)
    gaussian = 0.5 * (ROWS[:, :2].astype(float) ** 2 + math.exp(-1) - 1 + 1).mean(axis=0)
    discrete = [np.mean([stats.entropy(row, np.full(len(row), 1 / len(row))) for row in table]) for table in shares]
    divergences = joint.kl_per_code(ROWS)
    np.testing.assert_allclose(divergences, [*gaussian, *discrete], rtol=1e-5)
    generator = random_stream(3, "codes of a model")
    noise = np.vstack([generator.standard_normal((n, 2), dtype=np.float32) for n in (5, 5, 2)])
    codes = np.hstack([ROWS[:, :2] + SPREAD * noise, *shares])
    cost = 0.5 * ((codes - ROWS) ** 2 + math.log(2 * math.pi)).sum(axis=1).mean()
    assert joint.reconstruction_cost(ROWS, rng=3) == pytest.approx(cost, rel=1e-5)
    monkeypatch.setattr(model_module, "LEAST_ACTIVE", float(np.sort(divergences)[1]))  # a code at the limit is not
    assert joint.n_active_codes(ROWS) == 2


def test_a_deterministic_model_has_points_and_no_divergences(make):
    model = trained(make, AAE(), 3)
    rows = ROWS[:, :3]
    np.testing.assert_allclose(model.encode(rows), rows)
    assert np.isnan(model.kl_per_code(rows)).tolist() == [True] * 3
    assert model.reconstruction_cost(rows) == pytest.approx(1.5 * math.log(2 * math.pi), rel=1e-6)


def test_images_of_another_shape_are_refused(joint):
    with pytest.raises(InputError, match=r"images of \(1, 1, 7\), and these have 6 numbers each"):
        joint.encode(ROWS[:, :6])


def test_traversals_move_one_code_of_one_image(joint):
    rows = 0.1 * ROWS
    rows[:, 1] *= 30.0
    rows[:, 4] += 9.0
    codes, divergences = joint.codes_of(rows), joint.kl_per_code(rows)
    names = ["code 0", "code 1", "category 0", "category 1"]
    order = np.argsort(-divergences)
    assert order.tolist() != [0, 1, 2, 3]
    found = traversals(joint, rows, start=4)
    assert list(found) == [f"{names[k]} ({divergences[k]:.2f})" for k in order]
    for k, pictures in zip(order, found.values(), strict=True):
        places = {0: [0], 1: [1], 2: [2, 3], 3: [4, 5, 6]}[k]
        values = np.linspace(-2, 2, 9)[:, None] if k < 2 else np.eye(len(places))
        expected = np.repeat(codes[4:5], len(values), axis=0)
        expected[:, places] = values
        np.testing.assert_allclose(pictures.reshape(-1, 7), expected, atol=1e-6)


def test_codes_of_a_deterministic_model_are_sorted_by_their_variance(make):
    rows = ROWS[:, :3] * [1.0, 3.0, 2.0]
    found = traversals(trained(make, AAE(), 3), rows)
    variances = rows.var(axis=0)
    assert list(found) == [f"code {k} ({variances[k]:.2f})" for k in np.argsort(-variances)]


def test_curves_are_by_term_setting_and_model_and_reconstructions_by_model(make):
    history = [{"step": 100, "loss": 3.0, "kl": 1.0}, {"step": 200, "loss": 2.0}]
    model = trained(make, BetaVAE(beta=2), 3, history=history)
    lost = TrainedModel("lost", ModelSpec(VAE(), 0), None, Gaussian(), (), "it diverged")
    assert loss_curves([model, lost]) == {
        "loss": {"beta_vae-beta=2": {"mine": ([100, 200], [3.0, 2.0])}},
        "kl": {"beta_vae-beta=2": {"mine": ([100], [1.0])}},
    }
    found = reconstructions([model, lost], ROWS[:, :3])
    assert list(found) == ["mine"]
    np.testing.assert_allclose(found["mine"].reshape(12, 3), ROWS[:, :3])


@pytest.mark.parametrize(
    ("objective", "name"),
    [
        (VAE(), "vae"),
        (AnnealedVAE(), "annealed_vae-gamma=1000"),
        (AnnealedVAE(capacity=5), "annealed_vae-gamma=1000-capacity=5"),
        (FactorVAE(gamma=2, critic_hidden=(8, 4)), "factor_vae-gamma=2-critic_hidden=8x4"),
        (Custom(len), "custom-len"),
        (Custom(lambda step: step.kl), "custom-_lambda_"),
    ],
)
def test_a_setting_is_named_by_its_first_field_and_those_that_are_not_the_default(objective, name):
    assert setting_name(objective) == name


def test_a_model_is_compared_by_what_it_says_of_the_images_drawn(make):
    class Table(DataSet):
        """Images that are their own two factors."""

        name, image_shape, fingerprint = "table", (1, 1, 2), "table"
        described_factors = (Factor("a", "continuous"), Factor("b", "continuous"))

        def __len__(self):
            return 60

        def _images(self, indices):
            return np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)[indices]

        _factors = _images

    models = [trained(make, BetaVAE(beta=1), 2), trained(make, AAE(), 2)]
    found = compared_runs(models, Table(), metrics=["mcc"], n_rows=40, seed=2)
    drawn = Table().images(np.sort(random_stream(2, "compared images").permutation(60)[:40]))
    stochastic, deterministic = found.rows
    assert stochastic.column("reconstruction") == models[0].reconstruction_cost(drawn)
    assert stochastic.column("kl") == models[0].kl_per_code(drawn).sum()
    assert stochastic.active_codes == models[0].n_active_codes(drawn) == 2
    assert stochastic.column("mcc") == pytest.approx(1)
    assert math.isnan(deterministic.active_codes)
    assert math.isnan(deterministic.kl)
    assert [row.setting for row in found.rows] == ["beta_vae-beta=1", "aae-weight=10"]
    with pytest.raises(InputError, match="no models to compare"):
        compared_runs([], Table())
