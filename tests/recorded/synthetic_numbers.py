"""Worlds, encoders, attacks, decoders and closed forms: the same seed gives the same numbers in every version."""

from functools import partial

import numpy as np

from unweave import Posterior
from unweave.synthetic import encoders, known_decoders, released, theory, toys, worlds
from unweave.synthetic.attacks import Redundancy, Synergy
from unweave.synthetic.encoders import ONE_FACTOR, TWO_FACTORS

ROWS = np.random.default_rng(0).normal(size=(40, 4))
POSTERIOR = Posterior(ROWS[:, :3], np.exp(ROWS[:, 1:] / 4))
MARGINALS = ("gaussian", "uniform", "truncated", "discrete")
PLAIN = encoders.PermutedAndScaled()

WORLDS = [
    *(worlds.Independent(3, marginal) for marginal in MARGINALS),
    *(worlds.Correlated(3, 0.7, marginal) for marginal in MARGINALS),
    worlds.WithCovariance(((1.0, 0.4), (0.4, 2.0))),
    worlds.Confounded(),
    worlds.Causal(4),
    worlds.Causal(3, weight=0.5, link="square"),
    worlds.OneFactorConstraint(6, tuple(ONE_FACTOR)[:3]),
    worlds.OneFactorConstraint(6, tuple(ONE_FACTOR)[3:6]),
    worlds.TwoFactorConstraint(6, tuple(TWO_FACTORS)[:2]),
    worlds.TwoFactorConstraint(6, tuple(TWO_FACTORS)[2:]),
    worlds.Circuit(),
    worlds.Levelled(),
    worlds.Levelled(4, 2),
    worlds.Reordered(worlds.Circuit()),
]
ENCODERS = [
    PLAIN,
    encoders.Elementwise(),
    encoders.Elementwise(0.3),
    encoders.Mixed(),
    encoders.Mixed(3.0, 1.5, standardise=True),
    encoders.Noise(3),
    encoders.Noise(5, "gaussian"),
    encoders.Copied(),
    encoders.Copied(2.5),
    encoders.WithMixedExtras(),
    encoders.WithMixedExtras(3.0, 0.5),
    encoders.Distributed(),
    encoders.Distributed(4),
    encoders.PartlyMixed(0.3),
    encoders.Noisy(PLAIN),
    encoders.Noisy(encoders.Mixed(), 0.4),
    encoders.Reshaped(PLAIN),
    encoders.WithCopies(PLAIN),
    encoders.WithCopies(encoders.Mixed(), 3),
    encoders.WithNoiseCodes(PLAIN),
    encoders.WithNoiseCodes(PLAIN, 2),
    encoders.Kept((0, 2)),
    encoders.Dropped((1,)),
    released.ReleasedElementwise(),
    released.ReleasedMixed(),
    released.ReleasedKept(2),
    released.ReleasedElementwiseCopies(),
    released.ReleasedDistributed(),
    released.ReleasedNoise(3),
]


def declared(world):
    """A drawn world, and what it says of itself."""
    found = (world.factor_names, world.effective_dimension, world.constraints)
    return {"rows": world.sample(30, rng=1), "declared": found}


def encoded(encoder):
    """Codes, and what an encoder says of them."""
    return {
        "codes": encoder.encode(ROWS, rng=3),
        "purity": encoder.purity(4, rng=3),
        "n_codes": encoder.n_codes(4),
        "mixing": encoders.mixing_share(encoder, 4, rng=3),
        "declared": (encoder.equivalence, encoder.applies, encoder.loses),
    }


def attacked(attack):
    """Means and covariances of codes after an attack."""
    found = attack.attack(POSTERIOR)
    return found.mean, found.covariance


def decoded(decoder, size):
    """Data, entropies and Jacobians of a decoder."""
    latents = np.random.default_rng(5).uniform(0.1, 0.9, size=(6, size))
    found = {"size": decoder.latent_size, "entropies": decoder.true_entropies, "data": decoder.decode(latents)}
    found["jacobians"] = np.concatenate(list(decoder.jacobian_blocks(latents)))
    for name in ("sample", "encode"):
        if hasattr(decoder, name):
            found[name] = decoder.sample(5, rng=1) if name == "sample" else decoder.encode(found["data"])
    return found


def toy_model(**options):
    """All closed forms of the model of 002."""
    model = theory.ToyModel(**options)
    names = ("whole", "single", "rest", "second", "mig_numerator", "unibound", "interaction", "unique_upper_bound")
    names += ("redundancy", "synergy")
    found = {name: getattr(model, name) for name in names}
    factors, posterior = model.sample(20, rng=2)
    own = [model.rest_without_added(own) for own in (False, True)]
    return found | {"rows": (factors, posterior.mean, posterior.covariance), "without": own}


def null_mcc(*sizes):
    """The distribution of the largest correlations of noise."""
    null = theory.NullMcc(*sizes)
    quantiles = [null.quantile(share) for share in (0.05, 0.5, 0.95)]
    return null.mean, null.mean_bounds, quantiles, [null.largest(k) for k in (1, 3)], null.cumulative(0.2)


def closed_forms():
    """Closed forms on a few sizes."""
    covariance = np.array([[1.0, 0.3, 0.0], [0.3, 4.0, 0.5], [0.0, 0.5, 2.0]])
    matrix = np.array([[1.0, 0.2, 0.0], [0.5, -1.0, 0.3], [0.0, 0.1, 2.0]])
    return {
        "mixed pair": [theory.mcc_of_mixed_pair(rho, e) for rho in (0.0, 0.6) for e in (0.0, 0.3, 1.0)],
        "least": [theory.least_mcc_of_mixed_pair(e) for e in (0.1, 0.5, 1.0)],
        "linear": theory.mcc_of_linear_map(matrix, covariance),
        "distributed": [theory.mcc_of_distributed(k) for k in (2, 3, 5)],
        "dropped": [theory.dci_disentanglement_of_dropped(n, 6) for n in (1, 2, 4, 6)],
        "completeness of dropped": [theory.dci_completeness_of_dropped(n, 6) for n in (1, 3, 6)],
        "constraint": [theory.dci_disentanglement_of_constraint(n) for n in (3, 5, 10)],
        "copies": [theory.dci_completeness_of_copies(k, 4) for k in (1, 2, 5)],
        "r2": [theory.r2_of_dropped(n, 5, rho) for n in (1, 3, 5) for rho in (0.0, 0.5)],
    }


CASES = {f"world {world}": partial(declared, world) for world in WORLDS}
CASES |= {f"encoder {encoder}": partial(encoded, encoder) for encoder in ENCODERS}
CASES |= {
    f"attack {attack}": partial(attacked, attack)
    for attack in (Redundancy(), Redundancy(2.0, "identity"), Synergy(), Synergy(0.5, "identity"))
}
CASES |= {
    "linear decoder": partial(decoded, known_decoders.LinearDecoder(ROWS[:5, :3], 0.5), 3),
    "principal components": partial(decoded, known_decoders.LinearDecoder.principal_components(ROWS.T @ ROWS), 4),
    "torus": partial(decoded, known_decoders.Torus(3), 6),
    "two moons": partial(decoded, known_decoders.TwoMoons(), 2),
    "dependent classes": lambda: toys.DependentClasses().sample(30, rng=4),
    "dependent classes, others": lambda: toys.DependentClasses(0.4, 0.7, 3, 4).sample(30, rng=4),
    "nuised classes": lambda: toys.ClassesWithNuisance(0.3).sample(30, rng=4),
    "toy model": partial(toy_model, n_factors=3, sigma=0.1),
    "toy model, redundancy": partial(toy_model, n_factors=3, sigma=0.1, attack="redundancy", alpha=2.0),
    "toy model, synergy": partial(toy_model, n_factors=4, sigma=0.2, attack="synergy", alpha=1.5),
    "noise, one factor": partial(null_mcc, 50, 8, 1),
    "noise, three factors": partial(null_mcc, 50, 8, 3),
    "closed forms": closed_forms,
}
