"""MNIST at sizes that can be trained on two cores: padded to 32 x 32, averaged to 16 x 16 or 8 x 8, and normalised."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unweave.datasets.digits import Digits, mnist
from unweave.evidence import EvidenceError
from unweave.papers.experiment import Options

N_CLASSES = 10
SIDE, QUICK_SIDE = 16, 8
N_TEST = 2000

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
    """Return the images of an experiment: 16 x 16, or 8 x 8 with ``options.quick``."""
    if options.data is None:
        raise EvidenceError("These flows are trained on MNIST: pass the folder of its four idx files with --data.")
    return _read(options.data, QUICK_SIDE if options.quick else SIDE)


@lru_cache(maxsize=2)
def _read(folder: Path, side: int) -> DigitImages:
    images, labels = _averaged(mnist(folder, "train", 32), side)
    test_images, test_labels = _averaged(mnist(folder, "test", 32), side)
    rows = np.random.default_rng(0).permutation(len(test_images))[:N_TEST]
    _refuse_missing_classes(labels, "training")
    _refuse_missing_classes(test_labels[rows], "test")
    mean, deviation = float(images.mean()), float(images.std())
    return DigitImages(
        (images - mean) / deviation,
        labels,
        (test_images[rows] - mean) / deviation,
        test_labels[rows],
        mean,
        deviation,
    )


def _averaged(digits: Digits, side: int) -> tuple[Images, Labels]:
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
        raise EvidenceError(f"The {which} images have no digit {missing[0]}: give files with all ten digits.")
