"""Every objective is compared with a closed form, an explicit computation, or a brute-force loop."""

import hashlib
import inspect
import itertools
import math

import numpy as np
import pytest
import torch
from scipy import linalg, special, stats

from unweave import InputError, OptionError
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
    Convolutional,
    FactorVAE,
    Gaussian,
    JointVAE,
    TrainingSettings,
    train,
)
from unweave.models.networks import Randomness, initial_weights
from unweave.models.objectives import (
    Custom,
    categorical_kl,
    density_ratio,
    gumbel_softmax,
    linear_ramp,
    shared_codes,
    support_distance,
    total_correlation_of_batch,
)

RNG = np.random.default_rng(0)


def test_linear_vae_reaches_probabilistic_pca():
    """The best linear VAE with noise variance s is the model of Tipping and Bishop: W = U (L - s)^(1/2)."""
    n_pixels, n_codes, noise, rng = 8, 2, 0.5, np.random.default_rng(1)
    loadings = np.linalg.qr(rng.normal(size=(n_pixels, n_codes)))[0] * [2.0, 1.0]
    rows = rng.normal(size=(2000, n_codes)) @ loadings.T + math.sqrt(noise) * rng.normal(size=(2000, n_pixels))
    rows -= rows.mean(axis=0)
    likelihood = Gaussian(variance=noise)
    settings = TrainingSettings(n_steps=250, batch_size=512, learning_rate=2e-2, likelihood=likelihood)
    [model] = train(rows, VAE(), n_codes=n_codes, trunk=MLP(hidden=()), settings=settings)

    values, vectors = np.linalg.eigh(np.cov(rows.T, bias=True))
    best = vectors[:, -n_codes:] * np.sqrt(values[-n_codes:] - noise)
    covariance = best @ best.T + noise * np.eye(n_pixels)
    closed_form = -stats.multivariate_normal(np.zeros(n_pixels), covariance).logpdf(rows).mean()
    loss = np.mean([model.reconstruction_cost(rows, seed) for seed in range(5)]) + model.kl_per_code(rows).sum()
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


@pytest.mark.parametrize("kind", OBJECTIVES.values(), ids=lambda kind: kind.name)
def test_a_stack_has_the_losses_of_its_models(kind, make):
    fixed = {"critic_hidden": (8,)} if kind.name in ("factor_vae", "aae") else {}
    fixed |= {"categories": (2, 3)} if kind.name == "joint_vae" else {}
    values = [1.0, 4.0, 9.0]
    objectives = [kind(**fixed, **dict.fromkeys([each.name for each in kind.hyperparameters()], v)) for v in values]
    categories, critic = objectives[0].category_sizes, objectives[0].critic
    n_pixels = 4 + sum(categories)
    batches, partners = RNG.uniform(size=(3, 40, n_pixels)), RNG.uniform(size=(3, 40, n_pixels))
    layers = make.network(4, categories, critic).architecture.critic_layers()
    network = make.network(4, categories, critic, initial_weights(layers, range(3)), 3, log_variance=-1.0)
    network.weights["decoder.0.weight"][:] = torch.eye(n_pixels)
    step = make.step(batches, network, number=2, partners=partners)
    together = kind.stacked(objectives)
    losses = together.loss(step)
    assert losses.shape == (3,)
    for k, objective in enumerate(objectives):
        critics = {name: weight[k : k + 1] for name, weight in network.critic_weights.items()}
        one = make.network(4, categories, critic, critics, log_variance=-1.0)
        one.weights["decoder.0.weight"][:] = torch.eye(n_pixels)
        alone = make.step(batches[k], one, number=2, partners=partners[k], random=Randomness([k]))
        assert objective.loss(alone).item() == pytest.approx(losses[k].item(), rel=1e-5)
        for name, term in alone.terms.items():
            assert term.item() == pytest.approx(step.terms[name][k].item(), rel=1e-5, abs=1e-6)
        if critic is not None:
            assert objective.critic_loss(alone).item() == pytest.approx(together.critic_loss(step)[k].item(), rel=1e-5)


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
    n_codes, correlation, rng = 3, 0.6, np.random.default_rng(2)
    covariance = np.full((n_codes, n_codes), correlation) + (1 - correlation) * np.eye(n_codes)
    closed_form = -0.5 * np.linalg.slogdet(covariance)[1]
    objective = FactorVAE(critic_hidden=(32, 32))
    bare = make.network(n_codes, critic=objective.critic)
    weights = initial_weights(bare.architecture.critic_layers(), [0])
    network = make.network(n_codes, critic=objective.critic, critic_weights=weights)
    adam = torch.optim.Adam([weight.requires_grad_() for weight in weights.values()], lr=1e-2)
    root = np.linalg.cholesky(covariance).T
    random = Randomness([0])
    for number in range(200):
        step = make.step(rng.normal(size=(512, n_codes)) @ root, network, number=number, random=random)
        adam.zero_grad()
        objective.critic_loss(step).sum().backward()
        adam.step()
    fresh = torch.tensor(rng.normal(size=(1, 20_000, n_codes)) @ root, dtype=torch.float32)
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
    settings = TrainingSettings(n_steps=400, learning_rate=4e-3, batch_size=32, reconstruction_weight=16.0)
    objective = AnnealedVAE(gamma=200, capacity=6, capacity_steps=300)
    [model] = train(blocks[0], objective, n_codes=6, settings=settings)
    for record in model.history[2:]:
        # a record is the mean over a hundred steps
        capacity = np.mean(
            [6 * min(number / 300, 1) for number in range(int(record["step"]) - 100, int(record["step"]))]
        )
        assert record["kl"] == pytest.approx(capacity, rel=0.05)


@pytest.mark.parametrize(("number", "share"), [(0, 0.0), (50, 0.5), (100, 1.0), (250, 1.0)])
def test_the_capacity_rises_linearly_and_then_stays(number, share, make):
    mean = RNG.uniform(size=(50, 3))
    step = make.step(mean, make.network(3, log_variance=-1.0), number=number)
    kl = 0.5 * (mean**2 + math.exp(-1)).sum(axis=1).mean()
    expected = 3 * math.log(2) + 7 * abs(kl - 5 * share)
    assert AnnealedVAE(gamma=7, capacity=5, capacity_steps=100).loss(step).item() == pytest.approx(expected, rel=1e-5)


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


def test_gumbel_softmax_by_hand_with_a_temperature_for_every_model():
    logits, uniform = RNG.normal(size=(2, 5, 3)), RNG.uniform(size=(2, 5, 3))
    found = gumbel_softmax(torch.tensor(logits), torch.tensor(uniform), torch.tensor([0.5, 2.0]))
    for k, temperature in enumerate((0.5, 2.0)):
        shares = np.exp((logits[k] - np.log(-np.log(uniform[k]))) / temperature)
        np.testing.assert_allclose(found[k], shares / shares.sum(axis=1, keepdims=True), rtol=1e-9)


@pytest.mark.parametrize(("capacity", "goal"), [(0.8, 0.4), (9.0, math.log(2) + math.log(3))])
def test_joint_vae_holds_both_capacities(make, capacity, goal):
    """The capacity of the categories stops at the most that they can have."""
    means, logits = RNG.normal(size=(30, 2)), RNG.normal(size=(30, 5))
    network = make.network(2, categories=(2, 3), log_variance=-1.0)
    step = make.step(np.hstack([means, logits]), network, number=50, likelihood=Gaussian())
    objective = JointVAE(gamma=10, capacity=4, categorical_capacity=capacity, capacity_steps=100, categories=(2, 3))
    gaussian = 0.5 * (means**2 + math.exp(-1) - 1 + 1).sum(axis=1).mean()
    discrete = sum(
        np.mean([stats.entropy(row, np.full(len(row), 1 / len(row))) for row in special.softmax(table, axis=1)])
        for table in (logits[:, :2], logits[:, 2:])
    )
    # the decoder returns zeros, so the reconstruction is the cost of the images themselves
    reconstruction = stats.norm.logpdf(np.hstack([means, logits])).sum(axis=1).mean()
    expected = -reconstruction + 10 * (abs(gaussian - 2.0) + abs(discrete - goal))
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
        with pytest.raises(OptionError, match=f"{entry.name}=-1.0 of {kind.name} is out of range.*{allowed}"):
            kind(**{entry.name: -1.0})
        if math.isfinite(above):
            with pytest.raises(OptionError, match=allowed):
                kind(**{entry.name: above})
        else:
            assert least == getattr(kind(**{entry.name: 0.0}), entry.name) == 0.0
        with pytest.raises(OptionError, match="out of range"):
            kind(**{entry.name: math.nan})


def test_hfs_draws_some_of_the_pairs_of_codes(make):
    means = RNG.uniform(size=(9, 4))
    step = make.step(means)
    pairs = list(itertools.combinations(range(4), 2))
    drawn = [pairs[k] for k in Randomness([0]).at(0).orders("pairs", 1, 6)[0, 0, :2]]
    expected = support_distance(torch.tensor(means[None]), torch.tensor([drawn])).item()
    HFSVAE(n_pairs=2).loss(step)
    assert step.terms["support distance"].item() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("categories", [(1,), (), (2, 1), (2.5,), (3, "x")])
def test_categories_have_at_least_two_values(categories):
    with pytest.raises(OptionError, match="whole numbers from 2"):
        JointVAE(categories=categories)


@pytest.mark.parametrize(
    "make_it",
    [
        lambda: MLP(hidden=(8, 0)),
        lambda: MLP(hidden=(1.5,)),
        lambda: Convolutional(channels=()),
        lambda: Convolutional(channels=(8, 0)),
        lambda: Convolutional(channels=(1.5,)),
        lambda: Convolutional(hidden=0),
        lambda: Gaussian(variance=0.0),
        lambda: Gaussian(variance=-1.0),
        lambda: Gaussian(variance=math.inf),
        lambda: BetaVAE(beta=True),
    ],
)
def test_sizes_and_variances_have_ranges(make_it):
    with pytest.raises(OptionError, match=r"above 0|out of range|each entry a whole number"):
        make_it()


def test_the_smallest_sizes_are_accepted():
    assert MLP(hidden=(1,)).hidden == Convolutional(channels=(1,), hidden=1).channels == (1,)
    assert JointVAE(categories=(2,)).category_sizes == (2,)


def test_a_function_that_returns_no_tensor_is_named(make):
    with pytest.raises(InputError, match="returns float: it has to return 1 numbers"):
        Custom(lambda step: 3.0).loss(make.step(np.zeros((2, 2))))
    settings = Custom(linear_ramp).settings()
    assert settings["function"] == "linear_ramp"
    assert settings["text"] == hashlib.blake2b(inspect.getsource(linear_ramp).encode(), digest_size=8).hexdigest()


def test_random_numbers_follow_from_seed_purpose_and_step_alone():
    random = Randomness([3, 4])
    torch.testing.assert_close(random.normal("noise", (2,)), Randomness([3, 4]).at(0).normal("noise", (2,)))
    for step in (70, 71, 5):
        expected = Randomness([3, 4]).at(step).normal("noise", (2,))
        torch.testing.assert_close(random.at(step).normal("noise", (2,)), expected)
    orders = random.orders("some", 5, 7)
    assert orders.shape == (2, 5, 7)
    assert (orders.sort(dim=2).values == torch.arange(7)).all()


def test_an_objective_is_an_instance_and_no_class():
    with pytest.raises(InputError, match="is not an objective"):
        train(np.zeros((4, 4)), BetaVAE)


def test_an_unknown_objective_is_named_with_the_nearest():
    with pytest.raises(OptionError, match="did you mean 'beta_vae'"):
        train(np.zeros((4, 4)), "betavae")
