"""Measures without factors: closed forms of UDR and total correlation, and runs with a known agreement."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import unweave
from unweave.cli import main
from unweave.estimators.correlation import disentanglement_ranking, total_correlation

RNG = np.random.default_rng(0)
CODES = RNG.normal(size=(2000, 4))


def by_hand(matrix):
    """UDR by its definition, entry by entry."""
    n_a, n_b = matrix.shape
    total = 0.0
    for b in range(n_b):
        total += max(matrix[a, b] for a in range(n_a)) ** 2 / sum(matrix[a, b] for a in range(n_a))
    for a in range(n_a):
        total += max(matrix[a, b] for b in range(n_b)) ** 2 / sum(matrix[a, b] for b in range(n_b))
    return total / (n_a + n_b)


def test_disentanglement_ranking():
    matrix = RNG.uniform(0.1, 1, size=(3, 5))
    assert disentanglement_ranking(matrix) == pytest.approx(by_hand(matrix))
    assert disentanglement_ranking(np.eye(4)) == 1
    assert disentanglement_ranking(np.full((4, 4), 0.8)) == pytest.approx(0.8 / 4)
    assert disentanglement_ranking(np.zeros((2, 2))) == 0


def test_total_correlation_of_gaussians():
    root = RNG.normal(size=(3, 3))
    covariance = root @ root.T + np.eye(3)
    values = RNG.multivariate_normal(np.zeros(3), covariance, size=50_000)
    scale = np.sqrt(np.diag(covariance))
    expected = -0.5 * np.linalg.slogdet(covariance / np.outer(scale, scale))[1]
    assert total_correlation(values) == pytest.approx(expected, rel=0.02)
    assert total_correlation(np.exp(values / 3)) == pytest.approx(
        total_correlation(values)
    )  # it is invariant to monotone maps
    assert total_correlation(np.column_stack([values, values[:, 0]])) > 10  # a copy
    assert total_correlation(values[:, :1]) == 0


def test_permuted_and_mixed_runs():
    rotation = np.linalg.qr(RNG.normal(size=(4, 4)))[0]
    found = unweave.unlabelled(
        {
            "a": CODES,
            "permuted": -np.exp(CODES[:, ::-1]),
            "mixed": CODES @ rotation,
            "other": RNG.normal(size=(2000, 4)),
        }
    )
    pairs = {(pair.first, pair.second): pair for pair in found.pairs}
    assert pairs["a", "permuted"].matched == pytest.approx(1)
    assert pairs["a", "permuted"].partners == {f"code {k}": f"code {3 - k}" for k in range(4)}
    assert pairs["a", "mixed"].linear == pytest.approx(1, abs=1e-3)
    assert pairs["a", "mixed"].matched < 0.9
    assert pairs["a", "other"].matched == pytest.approx(pairs["a", "other"].chance, abs=0.02)
    assert pairs["a", "other"].linear < 0.05
    assert found.runs["a"].ranking == np.median(
        [pair.ranking for pair in found.pairs if "a" in (pair.first, pair.second)]
    )


def test_codes_that_a_posterior_switches_off_do_not_count():
    mean = np.column_stack([2 * CODES[:, :2], 0.01 * CODES[:, 2:3]])
    std = np.column_stack([np.full((2000, 2), 0.3), np.ones((2000, 1))])
    found = unweave.unlabelled({"vae": unweave.Posterior(mean, std)})
    assert (found.runs["vae"].n_codes, found.runs["vae"].n_active) == (3, 2)
    assert set(found.runs["vae"].scores) == {"informativeness", "separability"}
    assert "two or more runs" in str(found)


def test_refusals():
    with pytest.raises(unweave.InputError, match="There are no runs"):
        unweave.unlabelled({})
    with pytest.raises(unweave.InputError, match="same samples"):
        unweave.unlabelled({"a": CODES, "b": CODES[:10]})


def test_command(tmp_path):
    for seed in (0, 1):
        np.savez(tmp_path / f"seed{seed}.npz", codes=CODES[:, :: 1 - 2 * seed], factors=CODES)
    files = [str(tmp_path / f"seed{seed}.npz") for seed in (0, 1)]
    run = CliRunner().invoke(main, ["unlabelled", *files])
    assert run.exit_code == 0, run.output
    assert "The runs learned the same codes" in run.output
    data = json.loads(CliRunner().invoke(main, ["unlabelled", *files, "--json"]).output)
    assert data["pairs"][0]["matched"] == pytest.approx(1)
    assert CliRunner().invoke(main, ["unlabelled", files[0], files[0]]).exit_code == 2


def test_similarities_of_all_pairs_join_the_runs(tmp_path):
    rng = np.random.default_rng(0)
    runs = {f"run{k}": rng.normal(size=(60, 3)) for k in range(3)}
    found = unweave.unlabelled(runs, similarity=True, rng=4)
    assert found.similarity == unweave.similarity(runs, rng=4)
    assert str(found).endswith(str(found.similarity))
    assert unweave.unlabelled(runs).similarity is None
    for name, codes in runs.items():
        np.savez(tmp_path / f"{name}.npz", codes=codes)
    command = ["unlabelled", *(str(tmp_path / f"{name}.npz") for name in runs), "--seed=4"]
    told = json.loads(CliRunner().invoke(main, [*command, "--similarity", "--json"]).output)
    assert told["similarity"]["rows"][0]["value"] == found.similarity.rows[0].value
    printed = CliRunner().invoke(main, [*command, "--picture", str(tmp_path / "cka.png")]).output
    assert "procrustes" in printed
    assert (tmp_path / "cka.png").read_bytes()[:4] == b"\x89PNG"
    assert "only one representation" in CliRunner().invoke(main, [*command[:2], "--similarity"]).output


def test_the_linear_agreement_is_the_mean_of_both_directions():
    wide = np.column_stack([CODES[:300], RNG.normal(size=(300, 2))])
    (pair,) = unweave.unlabelled({"a": CODES[:300, :2], "b": wide}, rng=3).pairs
    there = unweave.metrics.r2(wide, CODES[:300, :2], kinds="continuous", rng=3).value
    back = unweave.metrics.r2(CODES[:300, :2], wide, kinds="continuous", rng=3).value
    assert pair.linear == pytest.approx((there + back) / 2)
    assert there < 0.5 < back


def test_a_run_without_active_codes_agrees_with_none():
    found = unweave.unlabelled({"a": CODES[:50], "flat": np.ones((50, 2)), "b": CODES[:50]})
    first, _, second = found.pairs
    assert (first.second, second.first) == ("flat", "flat")
    for pair in (first, second):
        assert np.isnan([pair.matched, pair.chance, pair.linear, pair.ranking]).all()
        assert pair.partners == {}
    assert found.runs["flat"].n_active == 0
