"""The authors' implementation of the manifold entropic metrics, on the same Jacobians."""

import json

import numpy as np
import pytest
from golden_cases import GOLDEN, values

from unweave.metrics import (
    manifold_cross_mutual_information,
    manifold_entropy,
    manifold_mutual_information,
    manifold_total_correlation,
    total_entropy,
)
from unweave.synthetic.known_decoders import Torus

PEER = values("geometry.json")
SINGLE_PRECISION = 3e-6  # the peer returns entropies in float32


def arrays(name):
    with np.load(GOLDEN / f"{name}.npz") as file:
        return {key: file[key] for key in file.files}


def mlp_jacobians():
    case = arrays("man_mlp")
    first = np.tanh(case["z"] @ case["W1"] + case["b1"])
    second = np.tanh(first @ case["W2"] + case["b2"])
    chain = case["W1"] * (1 - first**2)[:, None, :] @ (case["W2"] * (1 - second**2)[:, None, :]) @ case["W3"]
    return chain.transpose(0, 2, 1)


def torus_jacobians(scaled):
    latents = arrays("man_torus10")["z"]
    jacobians = np.concatenate(list(Torus(n_circles=5).jacobian_blocks(latents)))
    return jacobians * latents.std(axis=0, ddof=1) if scaled else jacobians


CASES = {
    "linear": lambda: (arrays("man_linear")["A"].T, PEER["man_linear"]["A"]),
    "pca": lambda: (arrays("man_linear")["A_pca"].T, PEER["man_linear"]["A_pca"]),
    "mlp": lambda: (mlp_jacobians(), PEER["man_mlp"]),
    "torus, scaled": lambda: (torus_jacobians(True), PEER["man_torus10"]["scaled_by_deviation_of_z"]),
    "torus": lambda: (torus_jacobians(False), PEER["man_torus10"]["not_scaled"]),
}


@pytest.mark.parametrize("name", CASES)
def test_same_jacobians_same_numbers(name):
    jacobians, peer = CASES[name]()
    assert list(manifold_entropy(jacobians).per_code.values()) == pytest.approx(peer["H_i"], abs=SINGLE_PRECISION)
    assert total_entropy(jacobians).raw == pytest.approx(peer["H_full"], abs=1e-5)
    assert manifold_total_correlation(jacobians).raw == pytest.approx(peer["MTC"], abs=1e-5)
    upper = np.triu_indices(jacobians.shape[-1], k=1)
    found = manifold_mutual_information(jacobians).parts["matrix"]
    assert found[upper] == pytest.approx(np.array(peer["MPMI"])[upper], abs=1e-9)
    assert pytest.approx(found, nan_ok=True) == found.T  # the peer leaves the lower triangle at zero


def test_cross_information_of_permuted_latents():
    jacobians = mlp_jacobians()
    peer = np.array(PEER["man_mlp"]["MCPMI_permuted_10"], dtype=float)
    score = manifold_cross_mutual_information(jacobians, jacobians[:, :, [1, 0, 2, 3, 4, 5]])
    assert np.isinf(score.parts["matrix"]).tolist() == np.isinf(peer).tolist()
    finite = np.isfinite(peer)
    assert score.parts["matrix"][finite] == pytest.approx(peer[finite], abs=1e-9)
    assert score.parts["partner"].tolist() == [1, 0, 2, 3, 4, 5]


def test_the_notebook_for_vaes_is_not_followed():
    """It leaves the prior's constant out of single entropies only: total correlation of PCA -1.42 nats per latent."""
    pca = arrays("man_linear")["A_pca"].T
    assert manifold_total_correlation(pca).raw == pytest.approx(0.0, abs=1e-12)


def test_values_are_those_of_the_peer():
    assert set(json.loads((GOLDEN / "geometry.json").read_text())) == {"note", "values"}
