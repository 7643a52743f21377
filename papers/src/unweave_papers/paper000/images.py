"""Images of digits, and spectra of VAEs trained on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unweave.datasets.digits import Digits, mnist
from unweave.errors import InputError
from unweave.evidence import Evidence
from unweave.metrics.manifolds import Spectrum, spectrum
from unweave.progress import progress_bar
from unweave.report.figures.geometry import spectrum_figure
from unweave_papers.experiment import ClaimCheck, Options, Pictures
from unweave_papers.figures import curves_figure

if TYPE_CHECKING:
    from unweave.models import TrainedModel

N_CLASSES = 10
SIDE, QUICK_SIDE = 16, 8
N_TEST, N_SMALL_TEST = 2000, 300
Images = NDArray[np.float32]
Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DigitImages:
    """Normalised training and held-out images (n x 1 x side x side) with their labels.

    A pixel is (grey - mean) / deviation. The mean and the standard deviation are those of all training pixels, so
    entropies are those of data in units of that standard deviation.
    """

    images: Images
    labels: Labels
    test_images: Images
    test_labels: Labels
    mean: float
    deviation: float

    @property
    def side(self) -> int:
        """Height and width of an image in pixels."""
        return self.images.shape[2]

    def grey(self, images: NDArray[np.floating]) -> NDArray[np.floating]:
        """Convert normalised images to grey values, approximately from 0 to 1."""
        return images * self.deviation + self.mean


def digit_images(options: Options) -> DigitImages:
    """Return the images of an experiment: 16 x 16, or 8 x 8 with ``options.quick``; without MNIST, scikit-learn's."""
    return _small() if options.data is None else _read(options.data, QUICK_SIDE if options.quick else SIDE)


@lru_cache(maxsize=1)
def _small() -> DigitImages:
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    images = (pixels / 16).astype(np.float32).reshape(-1, 1, QUICK_SIDE, QUICK_SIDE)
    rows = np.random.default_rng(0).permutation(len(images))
    train, test = rows[N_SMALL_TEST:], rows[:N_SMALL_TEST]
    mean, deviation = float(images[train].mean()), float(images[train].std())
    normal, labels = (images - mean) / deviation, labels.astype(np.int64)
    return DigitImages(normal[train], labels[train], normal[test], labels[test], mean, deviation)


@lru_cache(maxsize=2)
def _read(folder: Path, side: int) -> DigitImages:
    images, labels = _average_pixels(mnist(folder, "train", 32), side)
    test_images, test_labels = _average_pixels(mnist(folder, "test", 32), side)
    rows = np.random.default_rng(0).permutation(len(test_images))[:N_TEST]
    _refuse_missing_classes(labels, "training")
    _refuse_missing_classes(test_labels[rows], "test")
    mean, deviation = float(images.mean()), float(images.std())
    return DigitImages(
        (images - mean) / deviation, labels, (test_images[rows] - mean) / deviation, test_labels[rows], mean, deviation
    )


def _average_pixels(digits: Digits, side: int) -> tuple[Images, Labels]:
    """Average blocks of pixels, so that images have ``side`` x ``side`` pixels."""
    step = 32 // side
    parts = []
    for start in range(0, len(digits), 10_000):
        pixels = digits.images(range(start, min(start + 10_000, len(digits))))
        parts.append(pixels.reshape(-1, 1, side, step, side, step).mean(axis=(3, 5)))
    return np.concatenate(parts).astype(np.float32), digits.labels.astype(np.int64)


def _refuse_missing_classes(labels: Labels, which: str) -> None:
    missing = sorted(set(range(N_CLASSES)) - set(labels.tolist()))
    if missing:
        raise InputError(f"The {which} images have no digit {missing[0]}: give files with all ten digits.")


BETAS = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
N_STEPS, QUICK_STEPS = 3000, 1000
N_SAMPLES, QUICK_SAMPLES = 1000, 200
N_IMAGES = 20_000
SHARP = 1.0  # smallest drop of entropy at a sharp knee, in nats
ACTIVE = 3.0  # a latent is active if its entropy is within so many nats of the largest entropy of any model
METHODS = {"VAE": "VAE", "betaH": "beta-VAE", "betaB": "AnnealedVAE", "factor": "FactorVAE", "btcvae": "beta-TCVAE"}
PUBLISHED = ("mnist", "celeba")


@dataclass(frozen=True, eq=False)
class VAESpectra:
    """Spectra of trained models by beta, and of published ones by data set and method."""

    trained: dict[float, Spectrum]
    published: dict[str, dict[str, Spectrum]]

    @property
    def threshold(self) -> float:
        """Entropy above which a latent of the trained models is active."""
        return max(float(spectrum.entropies.max()) for spectrum in self.trained.values()) - ACTIVE

    def n_active(self) -> list[int]:
        """Number of active latents for every beta."""
        return [spectrum.n_above(self.threshold) for spectrum in self.trained.values()]


def compute(n_latents: int, options: Options) -> VAESpectra:
    """Compute the spectra of trained VAEs, and of published ones (only of these if there are weights but no data)."""
    trains = options.data is not None or options.weights is None
    return VAESpectra(
        _spectra_of_trained_vaes(n_latents, digit_images(options), options) if trains else {},
        {} if options.weights is None else _spectra_of_published_vaes(options),
    )


def _spectra_of_trained_vaes(n_latents: int, digits: DigitImages, options: Options) -> dict[float, Spectrum]:
    from unweave.models import MLP, BetaVAE, TrainingSettings, train

    n_steps = options.n_steps or (QUICK_STEPS if options.quick else N_STEPS)
    weight = 28**2 / digits.side**2
    settings = TrainingSettings(n_steps=n_steps, learning_rate=1e-3, reconstruction_weight=weight)
    images = np.clip(digits.grey(digits.images[:N_IMAGES]), 0.0, 1.0).astype(np.float32)
    fleet = train(
        images,
        [BetaVAE(beta=beta) for beta in BETAS],
        seed=options.seed or 0,
        n_codes=n_latents,
        trunk=MLP((128, 128)),
        settings=settings,
        folder=options.folder / f"digits{digits.side}-vaes-{n_latents}-latents-{n_steps}-steps",
        progress=options.progress,
    )
    n_samples = QUICK_SAMPLES if options.quick else N_SAMPLES
    models = [model for model in fleet if model.network is not None]
    return {
        float(model.spec.objective.beta): spectrum(Evidence(decoder=_decoder(model)), n_samples=n_samples)  # type: ignore[attr-defined]
        for model in models
    }


def _decoder(model: TrainedModel) -> Any:
    from unweave.neural.decoders import TorchDecoder

    network = model.network
    assert network is not None

    def images(codes: Any) -> Any:
        return model.likelihood.pixels(network.decode(codes[None]))[0]

    return TorchDecoder(images, network.architecture.sizes.n_codes)


def _spectra_of_published_vaes(options: Options) -> dict[str, dict[str, Spectrum]]:
    from unweave.neural.decoders import TorchDecoder
    from unweave.neural.published_vaes import read_published

    n_samples = QUICK_SAMPLES if options.quick else N_SAMPLES
    spectra: dict[str, dict[str, Spectrum]] = {data_set: {} for data_set in PUBLISHED}
    with progress_bar(len(PUBLISHED) * len(METHODS), options.progress) as bar:
        for data_set in PUBLISHED:
            for file, method in METHODS.items():
                bar.step(f"{method} of {data_set}")
                model = read_published(f"{file}_{data_set}", options.weights)
                # CelebA has 12,288 outputs; with a fifth of the samples errors are still below .05 nats
                n_here = n_samples if data_set == "mnist" else max(n_samples // 5, 40)
                decoder = TorchDecoder(model.decode, model.n_codes, module=model)
                spectra[data_set][method] = spectrum(Evidence(decoder=decoder), n_samples=n_here)
    return spectra


def compare(results: VAESpectra, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figures 6 and E.7: fewer latents are active as beta grows, until all latents collapse."""
    for data_set, spectra in results.published.items():
        for method, one in spectra.items():
            yield ClaimCheck(f"{method} of {data_set}: entropies", "", _range_and_drop(one))
            claim = f"{method} of {data_set}: largest drop of the entropies, nats"
            yield ClaimCheck.number(claim, "a very sharp knee", one.largest_drop[1], above=SHARP)
    if not results.trained:
        return
    for beta, one in results.trained.items():
        yield ClaimCheck(f"beta {beta:g}: entropies", "", _range_and_drop(one))
    yield from _over_beta(results)


def _over_beta(spectra: VAESpectra) -> Iterator[ClaimCheck]:
    counts = dict(zip(spectra.trained, spectra.n_active(), strict=True))
    alive = [beta for beta, n in counts.items() if n]
    gone = [beta for beta in counts if beta not in alive]
    for beta in [*alive, *gone[:1]]:
        claim = f"active latents (entropy within 3 nats of the largest), beta {beta:g}"
        yield ClaimCheck.quantity(claim, "figure only", float(counts[beta]))
    tops = {beta: float(spectra.trained[beta].entropies.max()) for beta in alive}
    best = max(tops, key=lambda beta: tops[beta])
    yield ClaimCheck.quantity(f"largest entropy, beta {alive[0]:g}", "figure only", tops[alive[0]])
    yield ClaimCheck.quantity(f"largest entropy, beta {best:g}", "figure only", tops[best])
    claim = "beta with the largest entropy over the largest beta with active latents"
    yield ClaimCheck.number(claim, "1", best / alive[-1], above=0.99)
    claim = "smallest beta without active latents"
    yield ClaimCheck.number(claim, "about 20", gone[0] if gone else np.inf, above=9.9, below=50.1)


def compare_totals(results: VAESpectra, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figures E.8 and E.9: the total correlation does not fall with beta."""
    for data_set, spectra in results.published.items():
        for method, one in spectra.items():
            yield ClaimCheck(f"{method} of {data_set}: entropy and total correlation per latent", "", _totals(one))
    if not results.trained:
        return
    for beta, one in results.trained.items():
        yield ClaimCheck(f"beta {beta:g}: entropy and total correlation per latent", "", _totals(one))
    counts = results.n_active()
    alive = [one for one, n in zip(results.trained.values(), counts, strict=True) if n]
    shared = [one.total_correlation / len(one.entropies) for one in alive]
    words = ", ".join(f"{value:.3f}" for value in shared)
    yield ClaimCheck("total correlation per latent by beta, before the collapse", "does not fall", words)
    claim = f"relative change of the total correlation up to the collapse, {len(alive[0].entropies)} latents"
    yield ClaimCheck.number(claim, "0 or more", shared[-1] / shared[0] - 1, above=-0.05)


def _range_and_drop(one: Spectrum) -> str:
    falling, (place, drop) = one.sorted_entropies, one.largest_drop
    return f"{falling[0]:.2f} to {falling[-1]:.2f}, largest drop {drop:.2f} after {place}"


def _totals(one: Spectrum) -> str:
    size = len(one.entropies)
    return f"{one.cumulative[-1] / size:.3f}, {one.total_correlation / size:.3f}"


def draw(name: str, results: VAESpectra, options: Options) -> Pictures:
    """Draw the spectra for all betas and of the published models."""
    groups: dict[str, dict[str, Spectrum]] = dict(results.published)
    if results.trained:
        groups["beta"] = {f"beta {beta:g}": one for beta, one in results.trained.items()}
    for label, spectra in groups.items():
        figure = spectrum_figure({key: one.entropies for key, one in spectra.items()})
        yield f"{name}-{label}", figure


def draw_totals(name: str, spectra: VAESpectra, options: Options) -> Pictures:
    """Draw total entropy and total correlation per latent against beta."""
    if spectra.trained:
        size = len(next(iter(spectra.trained.values())).entropies)
        curves = {
            "total entropy": [one.cumulative[-1] / size for one in spectra.trained.values()],
            "total correlation": [one.total_correlation / size for one in spectra.trained.values()],
        }
        figure = curves_figure(curves, [f"{beta:g}" for beta in spectra.trained], "nats per latent", across="beta")
        yield name, figure
