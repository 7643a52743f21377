"""Experiments of 001, 002 and 004 on encoders of known quality, given as a folder of codes instead of weights."""

import numpy as np
import pytest
from click.testing import CliRunner

from unweave import FileError, InputError
from unweave.cli import main
from unweave.datasets import CorrelatedPair, DSprites
from unweave.encoding import Encoded
from unweave.estimators import Histogram, MixtureSampling
from unweave.evidence import Evidence, Posterior
from unweave.metrics import modularity, rmig, unibound
from unweave.synthetic.attacks import Redundancy
from unweave_papers import trained as complete_grids
from unweave_papers.experiment import Options, experiment_of, paper_of
from unweave_papers.paper001 import models as measured_models
from unweave_papers.paper001.experiments import compare_estimates, compare_rmig
from unweave_papers.paper002 import encoders as all_images
from unweave_papers.paper002 import encoders as attacked_encoders
from unweave_papers.paper002 import encoders as decomposed_encoders
from unweave_papers.paper002.encoders import attacked_information
from unweave_papers.paper002.experiments import compare_attacks, compare_scores
from unweave_papers.paper004 import encoders as measured_encoders
from unweave_papers.paper004.encoders import (
    best_single_code_accuracy,
    correlations,
    resampled,
    robustness,
    spearman,
)
from unweave_papers.paper004.experiments import compare_accuracy
from unweave_papers.stored import StoredNumbers
from unweave_papers.trained import codes_of, evidence_of_levels, grid_of, rows_of_grid

SPRITES = DSprites()
SCALED, CENTRE = np.array([0.9, 3.0, 0.5, 2.5, 2.5]), np.array([1.0, 0.75, 3.06, 0.5, 0.5])


def encoded(mixing=0.0, std=0.15, n_rows=3000, seed=0):
    """Codes that are scaled factors; ``mixing`` is the share of the next factor in each code."""
    indices = np.random.default_rng(seed).permutation(len(SPRITES))[:n_rows]
    factors = SPRITES.factors(indices)
    own = (factors - CENTRE) * SCALED
    mean = ((1 - mixing) * own + mixing * np.roll(own, 1, axis=1)).astype(np.float32)
    arrays = {"codes": mean, "codes_std": np.full_like(mean, std)}
    return Encoded(arrays, factors, SPRITES.factor_names, SPRITES.kinds, indices)


@pytest.fixture
def codes(tmp_path):
    folder = tmp_path / "given"
    folder.mkdir()
    for name, mixing in (("clean", 0.0), ("mixed", 0.3), ("entangled", 0.5)):
        encoded(mixing).save(folder / f"{name}.npz")
    return folder


def test_a_folder_of_codes_takes_the_place_of_weights(tmp_path, codes):
    found = codes_of(Options(tmp_path, codes=codes), 500)
    assert list(found) == ["clean", "entangled", "mixed"]
    assert all(model.n_rows == 500 for model in found.values())
    assert len({model.indices.tobytes() for model in found.values()}) == 1  # the same images for all


def test_dependent_rows_of_given_codes(tmp_path, codes):
    options = Options(tmp_path, codes=codes)
    found = codes_of(options, 700, dependences=[CorrelatedPair("x", "y", 0.4)])["clean"]
    assert len(np.unique(found.indices)) == found.n_rows
    assert np.corrcoef(found.factors[:, 3:].T)[0, 1] > 0.2
    with pytest.raises(InputError, match="encode more images"):
        codes_of(options, 700, dependences=[CorrelatedPair("x", "y", 0.01)])


def test_bad_folders(tmp_path, codes):
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match=r"no \.npz file of codes"):
        codes_of(Options(tmp_path, codes=tmp_path / "empty"), 10)
    other = encoded()
    Encoded(other.arrays, other.factors, tuple("abcde"), other.kinds, other.indices).save(codes / "other.npz")
    with pytest.raises(FileError, match="different factors"):
        codes_of(Options(tmp_path, codes=codes), 10)


def test_weights_or_codes_are_asked_for(tmp_path, codes):
    experiment = experiment_of(paper_of("004"), "fig6")
    experiment.check(Options(tmp_path))  # small models take their place
    experiment.check(Options(tmp_path, codes=codes))
    with pytest.raises(FileError, match=r"--codes .* is not a folder"):
        experiment.check(Options(tmp_path, codes=tmp_path / "nowhere"))


def test_kept_numbers(tmp_path):
    path = tmp_path / "deep" / "numbers.json"
    asked = []
    for _ in range(2):
        assert StoredNumbers(path).number("a", lambda: asked.append(1) or 3.5) == 3.5
    assert len(asked) == 1
    path.write_text(path.read_text()[:5])
    with pytest.warns(UserWarning, match="computed again"):
        assert StoredNumbers(path).number("a", lambda: 4.0) == 4.0


def test_rank_correlations():
    first = np.arange(9.0)
    assert spearman(first, np.exp(first)) == 1
    assert spearman(first, -first) == -1
    assert np.isnan(spearman(first, np.ones(9)))
    assert (resampled(first, first) == 1.0).all()
    other = np.random.default_rng(1).normal(size=9).round(1)
    rows = np.random.default_rng(0).integers(9, size=(2000, 9))
    one_by_one = [spearman(first[some], other[some]) for some in rows]
    assert resampled(first, other) == pytest.approx(one_by_one, nan_ok=True)
    assert np.isnan(resampled(first, np.where(first > 7, np.nan, first))).all()
    found = correlations(("one", "two"), {"m": np.stack([first, -first])}, np.stack([first, first]))
    assert found.of("m").tolist() == [1, -1]


def test_004_decides_by_resampled_encoders():
    """Two metrics that follow accuracy equally well cannot be told apart, and one that does not can."""
    rng = np.random.default_rng(0)
    target = rng.normal(size=(2, 30))
    close, apart = ({"sufficiency": target + 0.1 * rng.normal(size=target.shape), "MIG": other} for other in (
        target + 0.1 * rng.normal(size=target.shape), rng.normal(size=target.shape)))  # fmt: skip
    found = []
    for metrics in (close, apart):
        given = correlations(("one", "two"), metrics, target)
        found.append([row.verdict for row in compare_accuracy(given, None) if row.is_claim][:2])
    assert found == [["undecided", "holds"], ["holds", "holds"]]


def test_targets_of_004_order_encoders(monkeypatch):
    clean, mixed = (encoded(mixing, n_rows=1000).evidence() for mixing in (0.0, 0.5))
    monkeypatch.setattr(measured_encoders, "TREES", 5)
    assert robustness(clean) > robustness(mixed) + 0.2
    assert best_single_code_accuracy(clean) > best_single_code_accuracy(mixed)
    # trees of depth 5 have 32 leaves: enough to predict 3 shapes and 6 scales from their code, but not 40 orientations
    assert 0.5 < best_single_code_accuracy(clean) < 1


@pytest.mark.slow
def test_004_figures(tmp_path, codes, monkeypatch):
    monkeypatch.setattr(measured_encoders, "LEVELS", {"independent": (), "pair": (CorrelatedPair("x", "y", 0.4),)})
    monkeypatch.setattr(measured_encoders, "TREES", 3)
    arguments = ["--codes", str(codes), "--rows", "600", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(main, ["reproduce", "004", "fig6", *arguments])
    assert done.exit_code == 0, done.output
    assert "minimality correlates strongly with IRS" in done.output
    assert (tmp_path / "out" / "004-fig6.csv").read_text().count("minimality") == 2
    assert (tmp_path / "out" / "004-fig6.png").stat().st_size > 5000
    bins = CliRunner().invoke(main, ["reproduce", "004", "fig11", *arguments])
    assert bins.exit_code == 0, bins.output
    kept = StoredNumbers(next((tmp_path / "out" / "004").glob("given clean pair*"))).by_key
    # 20 bins are minimality's default
    assert kept["minimality, 20 bins"] == pytest.approx(kept["minimality"])


def test_modularity_of_a_matrix_is_that_of_the_metric():
    model = encoded(0.3)
    points = Evidence(model.factors, model.means, kinds=[str(k) for k in evidence_of_levels(model).kinds])
    expected = modularity(points, estimator=Histogram(100, "equal_width")).raw
    assert measured_models.modularity_of(measured_models.information_of_means(model)) == pytest.approx(expected)


def test_001_drawn_and_quantised_scores_agree(monkeypatch):
    monkeypatch.setattr(measured_models, "ROWS_SAMPLED", 1000)
    monkeypatch.setattr(measured_models, "MODEL_DRAWS", (4000,))
    found = {"clean": measured_models.sampled_and_quantised(encoded(0.2))}
    checks = list(compare_estimates(found, Options("nowhere")))
    assert len(checks) == 2
    assert all(check.holds for check in checks)


def test_001_tables_and_verdict():
    better, worse = (measured_models.rmig_per_factor(encoded(mixing)) for mixing in (0.0, 0.45))
    checks = {
        check.claim: check for check in compare_rmig({"FactorVAE": better, "beta-VAE": worse}, Options("nowhere"))
    }
    claim = f"factors with a better RMIG of FactorVAE than of beta-VAE, of {len(better)}"
    assert checks[claim].holds
    swapped = {check.claim: check for check in compare_rmig({"FactorVAE": worse, "beta-VAE": better}, Options("x"))}
    assert not swapped[claim].holds
    assert swapped[claim].verdict == "does not hold"
    mingled = {"FactorVAE": {**better, "x": 0.0}, "beta-VAE": {**worse, "x": 0.1}}
    partly = {check.claim: check for check in compare_rmig(mingled, Options("x"))}
    assert partly[claim].verdict == "holds in part"


def test_001_informativeness_is_sorted_and_ends_with_the_noisy_code():
    model = encoded()
    noisy = {"codes": np.column_stack([model.means, 0 * model.means[:, :1]])}
    noisy["codes_std"] = np.column_stack([model.arrays["codes_std"], np.ones((model.n_rows, 1))])
    with_noise = Encoded(noisy, model.factors, model.factor_names, model.kinds, model.indices)
    found = measured_models.informativeness_per_code(with_noise)
    assert found == sorted(found, reverse=True)
    assert found[-1] == pytest.approx(0, abs=1e-3)
    assert found[-2] > 0.1


@pytest.mark.slow
def test_001_figures(tmp_path, codes, monkeypatch):
    monkeypatch.setattr(measured_models, "ROWS_SAMPLED", 300)
    monkeypatch.setattr(measured_models, "MODEL_DRAWS", (100, 200))
    (codes / "mixed.npz").unlink()
    arguments = ["--codes", str(codes), "--rows", "400", "--out", str(tmp_path / "out")]
    for experiment in paper_of("001").experiments:
        if "weights" not in experiment.needs:
            continue  # seed studies train their own models
        done = CliRunner().invoke(main, ["reproduce", "001", experiment.name, *arguments])
        assert done.exit_code == 0, done.output
        assert list((tmp_path / "out").glob(f"001-{experiment.name}*.png"))


def test_002_decomposition(tmp_path, codes, monkeypatch):
    monkeypatch.setattr(decomposed_encoders, "ROWS", (200, 400))
    monkeypatch.setattr(decomposed_encoders, "DRAWS", MixtureSampling(300))
    options = Options(tmp_path / "out", codes=codes, n_rows=400)
    (codes / "mixed.npz").unlink()
    found = decomposed_encoders.decomposed_encoders(options)
    clean, entangled = found["clean"], found["entangled"]
    assert clean.scores["UniBound"] > entangled.scores["UniBound"] + 0.03
    assert list(clean.by_rows) == [200, 400]
    assert clean.by_rows[400] == clean.scores["UniBound"]
    assert clean.rows_description == "random rows, by --rows"
    assert 0 < clean.errors["UniBound"] < 0.1
    for low, high in clean.bounds.values():
        assert low <= high + 1e-6
    again = decomposed_encoders.decomposed_encoders(options)
    assert again == found


def test_002_rows_by_budget(tmp_path, codes, monkeypatch):
    monkeypatch.setattr(decomposed_encoders, "ROWS", (200, 400, 800))
    monkeypatch.setattr(decomposed_encoders, "DRAWS", MixtureSampling(100))
    for budget, expected in ((1e-9, 200), (1e9, 800)):
        monkeypatch.setattr(decomposed_encoders, "BUDGET", budget)
        options = Options(tmp_path / f"{budget}", codes=codes)
        assert decomposed_encoders._affordable_rows(options, ("clean",)) == expected


def test_002_attack_on_a_clean_encoder(tmp_path, codes, monkeypatch):
    """UniBound falls under the attack, MIG falls slightly, and unmixed copies do not change intervention scores."""
    monkeypatch.setattr(attacked_encoders, "ATTACK_STRENGTHS", (0.0, 5.0))
    monkeypatch.setattr(attacked_encoders, "ROWS_OF_DECOMPOSITION", 300)
    monkeypatch.setattr(attacked_encoders, "ATTACK_DRAWS", MixtureSampling(200))
    for name in ("mixed", "entangled"):
        (codes / f"{name}.npz").unlink()
    found = attacked_encoders.attacked_encoders(Options(tmp_path / "out", codes=codes, n_rows=1000))
    scores = found["clean"]["scores"]
    assert scores["UniBound"][1] < 0.5 * scores["UniBound"][0]
    assert scores["MIG"][1] > 0.6 * scores["MIG"][0]
    copies = found["clean"]["identity"]["FactorVAE"]
    assert copies[1] == pytest.approx(copies[0], abs=0.05)
    checks = {check.claim: check for check in compare_attacks(found, Options("nowhere"))}
    check = checks["clean: UniBound after the attack over before"]
    assert (check.holds, check.value) == (True, pytest.approx(scores["UniBound"][1] / scores["UniBound"][0]))


@pytest.mark.parametrize("alpha", [0.0, 0.7, 3.0])
def test_002_an_attack_needs_no_covariances(alpha):
    """The computation without covariances equals UniBound of the attacked posterior with its covariances."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, size=(400, 3)).astype(float)
    mean = (factors - 1.5) @ (np.eye(3) + 0.15 * rng.normal(size=(3, 3)))
    std = rng.uniform(0.3, 0.7, size=mean.shape)
    model = Encoded({"codes": mean, "codes_std": std}, factors, tuple("abc"), ("ordinal",) * 3, np.arange(400))
    draws = MixtureSampling(2000)
    found = attacked_information(model, Redundancy(alpha), draws)
    posterior = Posterior(mean, std) if alpha == 0 else Redundancy(alpha).attack(Posterior(mean, std))
    evidence = Evidence(factors, posterior, kinds=["categorical"] * 3)
    expected = unibound(evidence, estimator=draws)
    errors = np.hypot(found["error of UniBound"], float(expected.parts["standard_error"]))
    assert found["UniBound"] == pytest.approx(expected.raw, abs=4 * errors)
    assert found["error of UniBound"] == pytest.approx(float(expected.parts["standard_error"]), rel=1.0)
    gap = rmig(evidence, estimator=draws)
    assert found["MIG"] == pytest.approx(gap.raw, abs=6 * float(gap.parts["standard_error"]))


def test_002_sums_are_over_all_rows():
    """UniBound of a grid is exact only if the mixtures contain all rows."""
    for module in (decomposed_encoders, attacked_encoders, all_images):
        assert module.DRAWS.rows_used(737_280) is None


def test_002_all_images(tmp_path, monkeypatch):
    """UniBound is computed up to the largest grid that fits into its budget, and the comparison says so."""
    sizes = {144: (20, 16), 1152: (10, 8)}
    for module in (all_images, complete_grids):
        monkeypatch.setattr(module, "GRIDS", sizes)
    monkeypatch.setattr(all_images, "EVERYTHING", 1152)
    monkeypatch.setattr(all_images, "RANDOM_ROWS", (110,))
    monkeypatch.setattr(all_images, "ALL_IMAGES_DRAWS", MixtureSampling(200))
    monkeypatch.setattr(all_images, "peak_memory", lambda: 0.5)  # else that of all tests of this process
    fine = grid_of(1152)
    factors = fine.factors()
    mean = ((factors - CENTRE) * SCALED).astype(np.float32)
    arrays = {"codes": mean, "codes_std": np.full_like(mean, 0.15)}
    model = Encoded(arrays, factors, fine.factor_names, fine.kinds, np.arange(len(fine)))
    (tmp_path / "codes").mkdir()
    model.save(tmp_path / "codes" / "btcvae_dsprites-grid-1152.npz")
    monkeypatch.setattr(all_images, "ALL_IMAGES_BUDGET", 1e-9)
    found = all_images.compute(Options(tmp_path))
    assert list(found.by_grid) == [144]
    assert any("because of the budget" in check.here for check in all_images.compare(found, Options(tmp_path)))
    monkeypatch.setattr(all_images, "ALL_IMAGES_BUDGET", 1e9)
    found = all_images.compute(Options(tmp_path))
    assert list(found.by_grid) == [144, 1152]
    assert found.scores["RMIG"].value == rmig(evidence_of_levels(model), estimator=all_images.GRID).raw
    assert found.scores["UniBound"].value > 2 * found.by_rows[110].value
    checks = [check for check in all_images.compare(found, Options(tmp_path)) if check.is_claim]
    assert [check.verdict for check in checks] == ["holds", "holds"]
    assert all_images.compute(Options(tmp_path)) == found


def test_002_nothing_is_decided_where_unibound_is_0_for_all():
    """With too few rows UniBound is 0 for every model, so the claim about FactorVAE is undecided."""

    def model(unique):
        scores = {"BetaVAE": 0.9, "FactorVAE": 0.7, "MIG": 0.2, "UniBound": unique}
        return decomposed_encoders.Decomposed(scores, {500: unique}, {}, 500, "random rows", {}, {"UniBound": 0.01})

    for other, holds in ((0.0, None), (0.3, True)):
        found = {"FactorVAE": model(0.0), "beta-TCVAE": model(other)}
        checks = [check for check in compare_scores(found, Options("nowhere")) if "almost 0" in check.claim]
        assert [check.holds for check in checks] == [holds]
        assert [check.verdict for check in checks] == ["undecided" if holds is None else "holds"]
        assert [check.ledger for check in checks] == [118]


def test_unibound_needs_neighbours_and_not_many_rows():
    """On all combinations of fewer values UniBound is high; on as many random rows it is low."""
    draws = MixtureSampling(200)
    coarse = grid_of(3240)

    def unique(sprites, indices):
        factors = sprites.factors(indices)
        mean = (factors - CENTRE) * SCALED
        posterior = Posterior(mean, np.full_like(mean, 0.02))
        levels = Evidence(factors, posterior, kinds=["categorical"] + ["ordinal"] * 4)
        return unibound(levels, estimator=draws).raw

    on_grid = unique(coarse, np.arange(len(coarse)))
    on_random_rows = unique(SPRITES, np.random.default_rng(0).permutation(len(SPRITES))[: len(coarse)])
    assert on_grid > 0.95
    assert on_random_rows < 0.5 * on_grid


def test_every_grid_lies_in_the_whole_data_set():
    """This includes orientation, whose last value equals its first."""
    indices = np.arange(len(SPRITES))
    factors = SPRITES.factors()
    whole = Encoded({"codes": indices[:, None]}, factors, SPRITES.factor_names, SPRITES.kinds, indices)
    for n_images in complete_grids.GRIDS:
        part = rows_of_grid(whole, n_images)
        assert part.n_rows == n_images
        assert np.array_equal(part.factors, grid_of(n_images).factors())
        words = complete_grids.grid_description(n_images)
        assert (words == "all images") == (n_images == len(SPRITES))
        assert words == "all images" or words.count("every") == 2


def test_a_coarse_grid_lies_in_a_finer_one():
    fine = grid_of(11_520)
    indices = np.arange(len(fine))
    whole = Encoded({"codes": fine.factors(indices)}, fine.factors(indices), fine.factor_names, fine.kinds, indices)
    part = rows_of_grid(whole, 11_520)
    assert part.n_rows == 11_520
    finer = DSprites(keep={"orientation": slice(None, None, 4), "x": slice(None, None, 2), "y": slice(0, 1)})
    rows = finer.factors()
    columns = np.insert(rows, 4, 0.0, axis=1) if rows.shape[1] == 4 else rows
    encoded_finer = Encoded({"codes": columns}, columns, fine.factor_names, fine.kinds, np.arange(len(finer)))
    assert rows_of_grid(encoded_finer, 11_520).n_rows == 3 * 6 * 10 * 8
