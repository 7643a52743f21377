"""The image experiments of 000: required files, stored results, and verdicts on their claims."""

import dataclasses
import struct
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("zuko")

from unweave import InputError, OptionError, spectrum
from unweave.synthetic.known_decoders import Torus
from unweave_papers.experiment import Options, experiment_claims, experiment_of, paper_of
from unweave_papers.paper000 import flows as sample_sizes
from unweave_papers.paper000 import image_flows as core_flows
from unweave_papers.paper000 import image_flows as digit_flows
from unweave_papers.paper000 import image_flows as wavelet_flows
from unweave_papers.paper000 import images as vae_spectra
from unweave_papers.paper000.image_flows import MeasuredFlow
from unweave_papers.paper000.pictures import compare_pearson, torus_pictures

WEIGHTS = Path(__file__).parents[2] / "../shared/data/weights"


def written_digits(folder, labels=None, n=400, test_labels=None, side=28):
    """Write four idx files of noise images whose brightness is proportional to the label."""
    rng = np.random.default_rng(0)
    folder.mkdir(exist_ok=True)
    for split, rows in (("train", n), ("t10k", 100)):
        chosen = test_labels if split == "t10k" and test_labels is not None else labels
        digits = np.arange(rows) % 10 if chosen is None else np.resize(chosen, rows)
        pixels = (rng.random((rows, side, side)) * (25 * digits[:, None, None] + 20)).astype(np.uint8)
        header = struct.pack(">HBBIII", 0, 8, 3, rows, side, side)
        (folder / f"{split}-images-idx3-ubyte").write_bytes(header + pixels.tobytes())
        (folder / f"{split}-labels-idx1-ubyte").write_bytes(
            struct.pack(">HBBI", 0, 8, 1, rows) + digits.astype(np.uint8).tobytes()
        )
    return folder


def flow(entropies, information=None, **changes):
    d = len(entropies)
    matrix = np.full((d, d), 0.1) if information is None else information
    empty = np.zeros((1, d, d))
    found = MeasuredFlow("", 0.0, np.asarray(entropies, float), matrix, 1.0, empty, empty[0], empty, np.ones(d))
    return dataclasses.replace(found, **changes)


def test_every_figure_of_the_paper_is_listed():
    names = {entry.name for entry in paper_of("000").experiments}
    wanted = {f"fig{k}" for k in (1, 2, 3, 4, 5, 6, "B1", "C1", "D1", "D2", "D3")} | {f"figE{k}" for k in range(1, 10)}
    assert names == wanted


def test_missing_files_are_said_in_a_sentence(tmp_path):
    with pytest.raises(Exception, match="has no file train-images-idx3-ubyte"):
        experiment_claims("000", "fig5", Options(tmp_path, data=tmp_path, quick=True))
    small = vae_spectra.digit_images(Options(tmp_path))
    assert (small.side, len(small.images) + len(small.test_images)) == (8, 1797)


def test_a_digit_without_samples_is_named(tmp_path):
    data = written_digits(tmp_path / "data", labels=[0, 1, 2, 3, 4, 5, 6, 8, 9])
    with pytest.raises(InputError, match="training images have no digit 7"):
        experiment_claims("000", "fig4", Options(tmp_path, data=data, quick=True))
    data = written_digits(tmp_path / "held out", test_labels=[0, 1, 2, 3, 4, 5, 6, 8, 9])
    with pytest.raises(InputError, match="test images have no digit 7"):
        experiment_claims("000", "fig4", Options(tmp_path, data=data, quick=True))


def test_images_that_are_too_large_are_refused_in_a_sentence(tmp_path):
    data = written_digits(tmp_path / "data", side=40)
    with pytest.raises(OptionError, match="Images of 40 x 40 cannot be padded to 32"):
        experiment_claims("000", "fig4", Options(tmp_path, data=data, quick=True))


def test_flows_are_trained_once_and_kept(tmp_path):
    options = Options(tmp_path / "out", data=written_digits(tmp_path / "data"), quick=True, n_steps=2)
    first = experiment_claims("000", "figE5", options)
    kept = sorted((tmp_path / "out" / "flows").iterdir())
    assert [path.suffix for path in kept] == [".npz", ".pt"]
    times = [path.stat().st_mtime_ns for path in kept]
    assert experiment_claims("000", "figE5", options) == first
    assert [path.stat().st_mtime_ns for path in kept] == times


def test_the_knee_has_to_lie_at_the_core():
    good, bad = [3.0] * 5 + [0.0] * 20, [3.0] * 12 + [0.0] * 13
    for entropies, holds in ((good, True), (bad, False)):
        checks = list(core_flows.compare_core({5: [flow(entropies)]}, Options(Path())))
        verdicts = {check.claim: check for check in checks}
        check = verdicts["core of 5: farthest largest drop from the end of the core, in latents"]
        assert (check.holds, check.value) == (holds, 0.0 if holds else 7.0)


def test_the_first_latents_are_counted_if_they_are_of_the_core():
    for entropies, n_core in (
        ([3.0] * 5 + [0.0] * 20, "5"),
        ([0.0] * 20 + [3.0] * 5, "0"),
        ([3.0] * 4 + [0, 3.0], "4"),
    ):
        checks = list(core_flows.compare_core({5: [flow(entropies)]}, Options(Path())))
        assert next(check for check in checks if "core latents among" in check.claim).here == n_core


def test_diverged_flows_are_counted_and_not_compared():
    lost = dataclasses.replace(flow([0.0]), problem="The likelihood is not finite at step 3.")
    group = [lost, flow([3.0] * 5 + [0.0] * 20)]
    checks = list(core_flows.compare_core({5: group}, Options(Path())))
    assert (checks[-1].here, checks[-1].value) == ("1 of 2", 0.5)
    assert checks[-1].verdict == "holds in part"
    alone = list(core_flows.compare_core({5: [lost]}, Options(Path())))
    assert any(check.verdict == "undecided" for check in alone)


def test_the_wavelet_flow_has_to_share_less_at_the_same_cost():
    entropies = [3.0] * 4 + [2.0] * 12 + [1.0] * 48
    matrix = np.full((64, 64), 0.01)
    matrix[:4, :4] = 0.2
    wavelet = flow(entropies, matrix, total_correlation=30.0)
    for glow, verdicts in (
        (flow(entropies, total_correlation=60.0), ["holds"]),
        (flow(entropies, total_correlation=20.0, held_out=0.1), ["does not hold"]),
    ):
        both = {"GLOW-like": [glow], "wavelet": [wavelet]}
        checks = list(wavelet_flows.compare_wavelet(both, Options(Path())))
        assert [c.verdict for c in checks if c.is_claim] == verdicts
        values = [float(c.value) for c in checks if c.value is not None and not c.is_claim]
        assert values == pytest.approx([wavelet.held_out - glow.held_out, 3.0, 2.0, 1.0, 0.2, 0.01, 0.01])


def test_rank_correlations_have_intervals_around_them():
    rng = np.random.default_rng(0)
    one = rng.normal(size=256)
    rank, low, high = digit_flows.rank_correlation(one, one + rng.normal(size=256))
    assert low < rank < high
    assert 0.5 < low < high < 0.85


def test_tangents_that_are_shared_across_digits_agree():
    rng = np.random.default_rng(0)
    shared = np.broadcast_to(rng.normal(size=(1, 64, 20)), (10, 64, 20))
    same, other = digit_flows.tangent_agreement(flow(np.zeros(20), tangents=shared))
    assert same == pytest.approx(1.0)
    assert other < 0.3
    own = digit_flows.tangent_agreement(flow(np.zeros(20), tangents=rng.normal(size=(10, 64, 20))))
    assert own[0] == pytest.approx(own[1], abs=0.05)


def test_active_latents_are_counted_over_beta():
    found = {
        beta: spectrum(np.diag(np.exp(s)))
        for beta, s in ((1.0, [2.0, 1, -0.5]), (10.0, [3.0, -2, -3]), (50.0, [-3.0] * 3))
    }
    spectra = vae_spectra.VAESpectra(found, {})
    assert spectra.n_active() == [2, 1, 0]
    verdicts = [check.verdict for check in vae_spectra.compare(spectra, Options(Path())) if check.is_claim]
    assert verdicts == ["holds", "holds"]
    values = {check.claim: check.value for check in vae_spectra.compare(spectra, Options(Path()))}
    name = "active latents (entropy within 3 nats of the largest), beta"
    assert [values[f"{name} {beta}"] for beta in (1, 10, 50)] == [2, 1, 0]


def test_the_spread_falls_as_one_over_the_root():
    rng = np.random.default_rng(0)
    found = sample_sizes.spread(rng.normal(size=(3000, 30)), rng.normal(size=3000))
    deviations = {n: sample_sizes.deviation(runs) for n, runs in found["manifold entropy"].items()}
    assert deviations == pytest.approx({n: n**-0.5 for n in (5, 10, 20, 40)}, rel=0.05)
    assert all(check.holds for check in sample_sizes.compare_spread(found, Options(Path())) if check.is_claim)


def test_the_geometry_of_pca_is_exact(tmp_path):
    *checks, shared = experiment_claims("000", "figB1", Options(tmp_path))
    assert [check.verdict for check in checks] == ["holds"] * 3
    assert float(shared.here) > 0.1  # of the flow that is not aligned


def test_the_truth_of_the_torus_is_on_the_diagonal():
    torus = Torus()
    found = torus_pictures(torus, torus)
    order = np.argsort(-torus.true_entropies).tolist()
    assert compare_pearson("b", found, order).verdict == "holds"
    assert compare_pearson("a", found, order).verdict == "does not hold"
    compare_grids = experiment_of(paper_of("000"), "figD3").compare
    [check] = compare_grids(found, Options(Path()))
    assert check.verdict == "holds"


@pytest.mark.skipif(not WEIGHTS.is_dir(), reason="the published weights are not here")
def test_published_decoders_need_no_training(tmp_path, monkeypatch):
    monkeypatch.setattr(vae_spectra, "QUICK_SAMPLES", 20)
    monkeypatch.setattr(vae_spectra, "PUBLISHED", ("mnist",))
    checks = experiment_claims("000", "figE7", Options(tmp_path, weights=WEIGHTS, quick=True))
    verdicts = [check.verdict for check in checks if check.is_claim]
    assert (len(checks), sorted(set(verdicts))) == (10, ["does not hold", "holds"])


SPECTRA = ("entropies", "log standard deviations")


@pytest.mark.parametrize(
    ("high", "verdict"), [(0.499, "holds"), (0.5, "holds in part"), (0.949, "holds in part"), (0.95, "does not hold")]
)
def test_a_weak_correlation_is_surely_below_one_half(monkeypatch, high, verdict):
    monkeypatch.setattr(digit_flows, "rank_correlation", lambda *_: (0.3, 0.1, high))
    found = {"GIN": flow(np.arange(40.0), variances=np.ones(40))}
    [check] = [entry for entry in digit_flows.compare_gin(found, None) if "rank correlation" in entry.claim]
    assert (check.verdict, float(check.value), check.here) == (verdict, 0.3, f"0.300 [0.100, {high:.3f}]")


def test_important_latents_of_small_variance_are_counted(monkeypatch):
    monkeypatch.setattr(digit_flows, "rank_correlation", lambda *_: (0.3, 0.1, 0.4))
    entropies = np.arange(40.0, 0.0, -1.0)  # of 40 latents the 4 most important are the first
    entropies[4:] -= 1.5  # drops of 1, and of 2.5 after the fourth
    deviations = np.exp(np.r_[-9.0, -8.0, -7.0, 50.0, np.linspace(3.5, 0.0, 36)])  # three of them below the median
    found = {"GIN": flow(entropies, variances=deviations**2)}
    checks = {entry.claim: entry for entry in digit_flows.compare_gin(found, None)}
    small = checks["latents with less than the median variance among the 4 of largest entropy"]
    assert (small.value, small.holds) == (3.0, True)
    drops = [checks[f"largest drop of the sorted {name}, nats"].value for name in SPECTRA]
    assert drops == pytest.approx([2.5, 46.5])
    places = [checks[f"position of the largest drop of the sorted {name}"].here for name in SPECTRA]
    assert places == ["after 4, 6.2% of the range", "after 1, 78.8% of the range"]
    few = {"GIN": flow([3.0, 2.0, 1.0], variances=np.array([9.0, 1.0, 4.0]))}
    assert [entry.value for entry in digit_flows.compare_gin(few, None) if "median" in entry.claim] == [0.0]


@pytest.mark.parametrize(("step", "gap", "held"), [(0.51, 0.49, [True, True, True]), (0.49, 0.51, [False] * 3)])
def test_spectra_are_steep_over_a_tenth_and_comparable(step, gap, held):
    """Of 20 latents, a tenth is two steps of the entropy, which have to make more than a nat."""
    entropies = -step * np.arange(20.0)
    found = {"GIN": flow(entropies[::-1]), "cINN": flow(entropies + gap)}
    checks = [entry for entry in digit_flows.compare_spectra(found, None) if entry.is_claim]
    assert [entry.holds for entry in checks] == held
    assert [entry.value for entry in checks] == pytest.approx([2 * step, 2 * step, gap])
