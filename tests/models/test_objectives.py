"""Every objective is compared with a closed form, an explicit computation, or a brute-force loop."""

import itertools
import math

import numpy as np
import pytest
import torch
from scipy import linalg, stats

from unweave.models import (
    AAE,
    DIPVAEI,
    DIPVAEII,
    HFSVAE,
    MLP,
    OBJECTIVES,
    VAE,
    AdaGVAE,
    AnnealedVAE,
    BetaTCVAE,
    BetaVAE,
    FactorVAE,
    Gaussian,
    JointVAE,
    TrainingError,
    TrainingSettings,
    train,
)
from unweave.models.networks import initial_weights
from unweave.models.objectives.ada_gvae import shared_codes
from unweave.models.objectives.divergences import categorical_kl, total_correlation_of_batch
from unweave.models.objectives.factor_vae import density_ratio
from unweave.models.objectives.hfs_vae import support_distance
from unweave.models.objectives.joint_vae import gumbel_softmax
from unweave.models.randomness import Randomness

RNG = np.random.default_rng(0)


def test_linear_vae_reaches_probabilistic_pca():
    """The best linear VAE with noise variance s is the model of Tipping and Bishop: W = U (L - s)^(1/2)."""
    n_pixels, n_codes, noise = 8, 2, 0.5
    loadings = np.linalg.qr(RNG.normal(size=(n_pixels, n_codes)))[0] * [2.0, 1.0]
    rows = RNG.normal(size=(2000, n_codes)) @ loadings.T + math.sqrt(noise) * RNG.normal(size=(2000, n_pixels))
    rows -= rows.mean(axis=0)
    likelihood = Gaussian(variance=noise)
    settings = TrainingSettings(n_steps=800, batch_size=512, learning_rate=8e-3, likelihood=likelihood)
    [model] = train(rows, VAE(), n_codes=n_codes, trunk=MLP(hidden=()), settings=settings)

    values, vectors = np.linalg.eigh(np.cov(rows.T, bias=True))
    best = vectors[:, -n_codes:] * np.sqrt(values[-n_codes:] - noise)
    covariance = best @ best.T + noise * np.eye(n_pixels)
    closed_form = -stats.multivariate_normal(np.zeros(n_pixels), covariance).logpdf(rows).mean()
    loss = np.mean([model.reconstruction_cost(rows, rng) for rng in range(5)]) + model.kl_per_code(rows).sum()
    assert loss == pytest.approx(closed_form, rel=0.01)
    learned = model.network.weights["decoder.0.weight"][0].detach().numpy().T
    assert np.degrees(linalg.subspace_angles(learned, best).max()) < 2


def test_vae_and_beta_vae_by_hand(make):
    mean = RNG.uniform(size=(50, 3))
    step = make.step(mean, make.network(3, log_variance=-1.0))
    spread = math.exp(-0.5)
    by_hand = stats.norm(mean, spread).entropy().sum(axis=1)
    cross_entropy = 0.5 * (3 * math.log(2 * math.pi) + (mean**2 + spread**2).sum(axis=1))
    kl = (cross_entropy - by_hand).mean()
    reconstruction = 3 * math.log(2)  # the decoder returns 1/2 for every pixel
    assert VAE().loss(step).item() == pytest.approx(reconstruction + kl, rel=1e-5)
    assert BetaVAE(beta=7).loss(step).item() == pytest.approx(reconstruction + 7 * kl, rel=1e-5)


def test_a_stack_has_the_losses_of_its_models(make):
    batches = RNG.uniform(size=(3, 40, 4))
    objectives = [BetaTCVAE(beta=beta) for beta in (1, 4, 9)]
    together = BetaTCVAE.stacked(objectives).loss(make.step(batches, make.network(4, n_models=3, log_variance=-1.0)))
    network = make.network(4, log_variance=-1.0)
    for k, (objective, batch) in enumerate(zip(objectives, batches, strict=True)):
        step = make.step(batch, network)
        step.random.seeds = (k,)
        assert objective.loss(step).item() == pytest.approx(together[k].item(), rel=1e-6)


def test_total_correlation_of_a_batch_on_gaussian_codes(make):
    """The closed form up to the bias (K - 1 - sum_l (K_l - 1)) / (2 B), with K = prod 1 / (1 - rho^2)."""
    n_batches, batch, noise = 300, 100, 1.5
    covariance = np.array([[1.0, 0.8, 0.3], [0.8, 1.0, 0.4], [0.3, 0.4, 1.0]])
    total = covariance + noise * np.eye(3)
    scale = np.sqrt(np.diag(total))
    closed_form = -0.5 * np.linalg.slogdet(total / np.outer(scale, scale))[1]
    excess = 1 / np.linalg.det(np.eye(3) - np.linalg.solve(total, covariance)) - 1
    excess_of_one = 1 / (1 - np.diag(covariance) / np.diag(total)) - 1
    bias = (excess - excess_of_one.sum()) / (2 * batch)
    mean = RNG.multivariate_normal(np.zeros(3), covariance, size=(n_batches, batch))
    codes = mean + math.sqrt(noise) * RNG.normal(size=mean.shape)
    spread = torch.full((n_batches, batch, 3), math.log(noise))
    found = total_correlation_of_batch(torch.tensor(codes), torch.tensor(mean), spread).numpy()
    error = np.std(found) / math.sqrt(n_batches)
    assert abs(np.mean(found) - closed_form - bias) < 4 * error
    assert error < 0.05 * closed_form
    assert BetaTCVAE(beta=1).loss(make.step(mean[0])).item() == pytest.approx(VAE().loss(make.step(mean[0])).item())


def test_total_correlation_of_a_batch_cannot_pass_its_limit():
    codes = torch.randn(1, 64, 5, generator=torch.Generator().manual_seed(0))
    found = total_correlation_of_batch(codes, codes, torch.full_like(codes, -24.0))
    assert found.item() == pytest.approx(4 * math.log(64), rel=0.02)


def test_critic_estimates_a_gaussian_total_correlation(make):
    n_codes, correlation = 3, 0.6
    covariance = np.full((n_codes, n_codes), correlation) + (1 - correlation) * np.eye(n_codes)
    closed_form = -0.5 * np.linalg.slogdet(covariance)[1]
    objective = FactorVAE(critic_hidden=(64, 64))
    bare = make.network(n_codes, critic=objective.critic)
    weights = initial_weights(bare.architecture.critic_layers(), [0])
    network = make.network(n_codes, critic=objective.critic, critic_weights=weights)
    adam = torch.optim.Adam([weight.requires_grad_() for weight in weights.values()], lr=3e-3)
    root = np.linalg.cholesky(covariance).T
    random = Randomness([0])
    for number in range(800):
        step = make.step(RNG.normal(size=(256, n_codes)) @ root, network, number=number, random=random)
        adam.zero_grad()
        objective.critic_loss(step).sum().backward()
        adam.step()
    fresh = torch.tensor(RNG.normal(size=(1, 20_000, n_codes)) @ root, dtype=torch.float32)
    assert density_ratio(network.critic(fresh)).item() == pytest.approx(closed_form, rel=0.15)


def test_factor_vae_adds_what_its_critic_finds(make):
    objective = FactorVAE(gamma=3.0, critic_hidden=(8,))
    bare = make.network(3, critic=objective.critic)
    weights = initial_weights(bare.architecture.critic_layers(), [0])
    codes = RNG.uniform(size=(30, 3))
    network = make.network(3, critic=objective.critic, critic_weights=weights)
    first, last = (weights[f"critic.{k}.weight"][0].numpy() for k in (0, 1))
    hidden = codes @ first + weights["critic.0.bias"][0].numpy()
    logits = np.where(hidden > 0, hidden, 0.2 * hidden) @ last + weights["critic.1.bias"][0].numpy()
    added = objective.loss(make.step(codes, network)).item() - VAE().loss(make.step(codes, network)).item()
    assert added == pytest.approx(3.0 * (logits[:, 0] - logits[:, 1]).mean(), rel=1e-3)


def test_kl_of_annealed_vae_follows_its_capacity(blocks):
    settings = TrainingSettings(n_steps=1000, learning_rate=2e-3, reconstruction_weight=16.0)
    objective = AnnealedVAE(gamma=200, capacity=6, capacity_steps=800)
    [model] = train(blocks[0], objective, n_codes=6, settings=settings)
    for record in model.history:
        # a record is the mean over a hundred steps
        capacity = np.mean(
            [6 * min(number / 800, 1) for number in range(int(record["step"]) - 100, int(record["step"]))]
        )
        if record["step"] > 400:
            assert record["kl"] == pytest.approx(capacity, rel=0.05)


def test_dip_penalties_are_covariances(make):
    mean = RNG.normal(size=(60, 3)) @ RNG.normal(size=(3, 3))
    network = make.network(3, log_variance=-1.0)
    plain = VAE().loss(make.step(mean, network)).item()
    of_means = np.cov(mean.T, bias=True)
    of_codes = of_means + math.exp(-1) * np.eye(3)
    for objective, matrix, diagonal in (
        (DIPVAEI(off_diagonal=2), of_means, 20),
        (DIPVAEII(off_diagonal=2), of_codes, 2),
    ):
        off = sum(2 * matrix[i, j] ** 2 for i, j in itertools.permutations(range(3), 2))
        on = sum(diagonal * (matrix[i, i] - 1) ** 2 for i in range(3))
        assert objective.loss(make.step(mean, network)).item() - plain == pytest.approx(off + on, rel=1e-4)


def test_categorical_kl_is_the_closed_form():
    logits = torch.tensor(RNG.normal(size=(1, 20, 3)))
    shares = logits[0].softmax(-1).numpy()
    by_hand = np.mean([stats.entropy(row, np.full(3, 1 / 3)) for row in shares])
    assert categorical_kl(logits).item() == pytest.approx(by_hand, rel=1e-9)


def test_gumbel_softmax_chooses_with_the_right_frequency():
    logits = torch.tensor([0.5, -1.0, 1.0]).expand(1, 40_000, 3)
    uniform = torch.rand(logits.shape, generator=torch.Generator().manual_seed(0))
    chosen = gumbel_softmax(logits, uniform, 0.67)[0].argmax(-1)
    frequencies = np.bincount(chosen.numpy(), minlength=3) / len(chosen)
    np.testing.assert_allclose(frequencies, logits[0, 0].softmax(-1).numpy(), atol=0.01)


def test_joint_vae_holds_both_capacities(make):
    means, logits = RNG.normal(size=(30, 2)), RNG.normal(size=(30, 3))
    network = make.network(2, categories=(3,), log_variance=-1.0)
    step = make.step(np.hstack([means, logits]), network, number=50, likelihood=Gaussian())
    objective = JointVAE(gamma=10, capacity=4, categorical_capacity=0.8, capacity_steps=100)
    gaussian = 0.5 * (means**2 + math.exp(-1) - 1 + 1).sum(axis=1).mean()
    discrete = np.mean(
        [stats.entropy(row, np.full(3, 1 / 3)) for row in np.exp(logits) / np.exp(logits).sum(1)[:, None]]
    )
    # the decoder returns zeros, so the reconstruction is the cost of the images themselves
    reconstruction = stats.norm.logpdf(np.hstack([means, logits])).sum(axis=1).mean()
    expected = -reconstruction + 10 * (abs(gaussian - 2.0) + abs(discrete - 0.4))
    assert objective.loss(step).item() == pytest.approx(expected, rel=1e-5)


def test_adversarial_autoencoder_by_hand(make):
    objective = AAE(weight=5.0, critic_hidden=(4,))
    bare = make.network(2, critic=objective.critic)
    network = make.network(
        2, critic=objective.critic, critic_weights=initial_weights(bare.architecture.critic_layers(), [0])
    )
    codes = RNG.uniform(size=(25, 2))
    step = make.step(codes, network)
    with torch.no_grad():
        shares = network.critic(step.images)[0].softmax(-1).numpy()
        prior = network.critic(step.random.normal("prior", (25, 2)))[0].softmax(-1).numpy()
    expected = 2 * math.log(2) - 5 * np.log(shares[:, 1]).mean()
    assert objective.loss(step).item() == pytest.approx(expected, rel=1e-5)
    telling = -0.5 * np.log(shares[:, 0]).mean() - 0.5 * np.log(prior[:, 1]).mean()
    assert objective.critic_loss(step).item() == pytest.approx(telling, rel=1e-5)


def test_ada_gvae_finds_the_shared_codes():
    first = RNG.normal(size=(1, 200, 6))
    shared = RNG.random((1, 200, 6)) < 0.5
    shared[..., 0], shared[..., 1] = True, False
    second = np.where(shared, first + 0.01 * RNG.normal(size=first.shape), first + 3.0)
    spread = torch.full((1, 200, 6), -2.0)
    found = shared_codes(torch.tensor(first), spread, torch.tensor(second), spread)
    assert (found.numpy() == shared).all()


def test_ada_gvae_averages_what_is_shared(make):
    """One code is shared by all pairs: its KL is that of the averaged posterior, and the other code is unchanged."""
    first = np.column_stack([np.full(10, 0.2), np.full(10, 0.0)])
    second = np.column_stack([np.full(10, 0.4), np.full(10, 3.0)])
    step = make.step(first, make.network(2, log_variance=0.0), partners=second, likelihood=Gaussian())
    AdaGVAE(beta=2.0).loss(step)
    assert step.terms["kl"].item() == pytest.approx(0.5 * (0.3**2 + (0 + 3.0**2) / 2), rel=1e-5)
    assert step.terms["shared codes"].item() == 1.0


def test_support_distance_is_zero_where_the_support_is_a_product():
    grid = torch.tensor(list(itertools.product(range(4), range(5))), dtype=torch.float32)[None]
    assert support_distance(grid, torch.tensor([[[0, 1]]])).item() == 0.0
    n = 7
    diagonal = torch.arange(n, dtype=torch.float32).repeat(2, 1).T[None]
    expected = min(b**2 + (n - 1 - b) ** 2 for b in range(n))  # from the corner (0, n - 1)
    assert support_distance(diagonal, torch.tensor([[[0, 1]]])).item() == expected


def test_support_distance_against_loops():
    means = RNG.normal(size=(2, 9, 4))
    pairs = torch.tensor([[[0, 1], [1, 3]], [[0, 2], [2, 3]]])
    found = support_distance(torch.tensor(means), pairs)
    for model, chosen, distance in zip(means, pairs.tolist(), found, strict=True):
        expected = 0.0
        for i, j in chosen:
            corners = itertools.product(model[:, i], model[:, j])
            expected += max(min((a - p[i]) ** 2 + (b - p[j]) ** 2 for p in model) for a, b in corners)
        assert distance.item() == pytest.approx(expected, rel=1e-9)


def test_hfs_adds_its_distance_to_beta_vae(make):
    diagonal = np.repeat(np.linspace(0, 1, 8)[:, None], 2, axis=1)
    added = HFSVAE(gamma=5, beta=2).loss(make.step(diagonal)) - BetaVAE(beta=2).loss(make.step(diagonal))
    expected = 5 * min((b / 7) ** 2 + (1 - b / 7) ** 2 for b in range(8))
    assert added.item() == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("kind", OBJECTIVES.values(), ids=lambda kind: kind.name)
def test_every_hyperparameter_has_a_range(kind):
    for entry in kind.hyperparameters():
        least, above = entry.metadata["at_least"], entry.metadata["above"]
        allowed = f"above {above:g}" if math.isfinite(above) else f"from {least:g}"
        with pytest.raises(TrainingError, match=f"{entry.name}=-1.0 of {kind.name} is out of range.*{allowed}"):
            kind(**{entry.name: -1.0})
        if math.isfinite(above):
            with pytest.raises(TrainingError, match=allowed):
                kind(**{entry.name: above})
        else:
            assert getattr(kind(**{entry.name: least}), entry.name) == least
        with pytest.raises(TrainingError, match="out of range"):
            kind(**{entry.name: math.nan})


def test_categories_have_at_least_two_values():
    with pytest.raises(TrainingError, match="whole numbers from 2"):
        JointVAE(categories=(1,))


def test_an_unknown_objective_is_named_with_the_nearest():
    with pytest.raises(TrainingError, match="did you mean 'beta_vae'"):
        train(np.zeros((4, 4)), "betavae")
