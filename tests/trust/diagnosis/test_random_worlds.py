"""The diagnosis of random worlds whose dependence class and effective dimension are known by construction."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import ndtr

from unweave import Evidence
from unweave.synthetic.encoders import ONE_FACTOR, TWO_FACTORS
from unweave.trust import diagnose

SINGLE = ("cube", "tanh", "square", "absolute")
DOUBLE = ("product", "sum", "sum_of_squares", "tanh_product", "signed_root")
KINDS = ("independent", "equicorrelated", "blocks", "nonlinear", "single", "multi")


@dataclass(frozen=True)
class RandomWorld:
    factors: np.ndarray
    dependence_class: str
    effective_dimension: int
    story: str


def random_world(seed, n_rows=1000):
    rng = np.random.default_rng([7, seed])
    kind = KINDS[seed % len(KINDS)]
    n_factors = int(rng.integers(3, 11))
    n_constraints = int(rng.integers(1, min(2, n_factors - 2) + 1)) if kind in ("single", "multi") else 0
    n_free = n_factors - n_constraints
    free, story = _gaussian(kind, n_free, n_rows, rng)
    marginal = rng.choice(["gaussian", "uniform 0 to 1", "uniform -1 to 1"])
    if marginal != "gaussian":
        free = ndtr(free) if marginal == "uniform 0 to 1" else 2 * ndtr(free) - 1
    columns, said = list(free.T), [story, marginal]
    classes = "independent" if story == "independent" else "correlated"
    if kind == "nonlinear":
        classes, said = "nonlinear dependence", ["noisy square"]
        weight = rng.uniform(0.6, 0.9)
        source = free[:, 0] - free[:, 0].mean()
        square = (source**2 - (source**2).mean()) / (source**2).std()
        columns[1] = weight * square + np.sqrt(1 - weight**2) * rng.normal(size=n_rows)
    for k in range(n_constraints):
        double = kind == "multi" and (k == 0 or rng.random() < 0.5)
        name = str(rng.choice(DOUBLE if double else SINGLE))
        sources = rng.choice(n_free, 2, replace=False)
        found = TWO_FACTORS[name](*free[:, sources].T) if double else ONE_FACTOR[name](free[:, sources[0]])
        columns.append(found)
        said.append(name)
        classes = "multi-factor constraint" if kind == "multi" else "single-factor constraint"
    if n_constraints == 0 and kind != "nonlinear" and rng.random() < 0.4:
        for j in rng.choice(n_free, int(rng.integers(1, n_free + 1)), replace=False):
            n_levels = int(rng.integers(3, 11))
            columns[j] = np.floor(n_levels * np.argsort(np.argsort(columns[j])) / n_rows)
        said.append("some discrete")
    order = rng.permutation(n_factors)
    return RandomWorld(np.column_stack(columns)[:, order], classes, n_free, f"{seed} d={n_factors}: " + ", ".join(said))


def _gaussian(kind, n_free, n_rows, rng):
    """Normal columns: independent, all equally correlated, or correlated in pairs; all |rho| are 0 or at least .2."""
    covariance, story = np.eye(n_free), "independent"
    if kind in ("single", "multi"):
        kind = str(rng.choice(["independent", "equicorrelated", "blocks"]))
    if kind == "equicorrelated":
        rho = rng.uniform(0.2, 0.95) if rng.random() < 0.8 else 0.97
        covariance[:], story = rho, f"rho {rho:.2f}"
        np.fill_diagonal(covariance, 1.0)
    elif kind == "blocks" and n_free > 1:
        places = rng.permutation(n_free)
        story = "pairs with rho"
        for k in range(int(rng.integers(1, n_free // 2 + 1))):
            rho = rng.choice([-1, 1]) * rng.uniform(0.2, 0.95)
            i, j = places[2 * k : 2 * k + 2]
            covariance[i, j] = covariance[j, i] = rho
            story += f" {rho:.2f}"
    return rng.multivariate_normal(np.zeros(n_free), covariance, n_rows), story


@pytest.mark.slow
def test_two_hundred_random_worlds():
    right_class, right_dimension, failures = 0, 0, []
    for seed in range(200):
        world = random_world(seed)
        found = diagnose(Evidence(world.factors))
        same_class = found.dependence_class.value == world.dependence_class
        same_dimension = found.effective_dimension == world.effective_dimension
        right_class, right_dimension = right_class + same_class, right_dimension + same_dimension
        if not (same_class and same_dimension):
            failures.append((world.story, found.dependence_class.value, found.effective_dimension))
    assert right_class >= 190, failures
    assert right_dimension >= 190, failures
