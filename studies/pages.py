"""Pages of constructed worlds for readers: python -m studies.pages FOLDER."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import unweave
from unweave.synthetic.known_decoders import Torus


def main(folder: str) -> None:
    """Write a comparison of layers, sparse codes, and a decoder without labels, as page and text."""
    rng, n = np.random.default_rng(31), 600
    factors = dict(zip(("size", "hue", "tilt"), rng.normal(size=(3, n)), strict=True))
    z = np.column_stack(list(factors.values()))
    layers = {
        f"layer {k}": z @ rng.normal(size=(3, 8)) + noise * rng.normal(size=(n, 8))
        for k, noise in enumerate((4.0, 2.0, 1.0, 0.3))
    }
    sparse = np.maximum(np.hstack([z, -z]) - 0.3, 0) @ np.eye(6, 60) + np.maximum(rng.normal(size=(n, 60)) - 2, 0)
    pages = {
        "layers": unweave.compare(factors, layers, budget=3, progress=False),
        "sparse": unweave.evaluate(factors, sparse, budget=3, progress=False),
        "decoder": unweave.evaluate(decoder=Torus(), progress=False),
    }
    for name, found in pages.items():
        found.to_html(Path(folder) / f"{name}.html")
        (Path(folder) / f"{name}.txt").write_text(f"{found}\n")


if __name__ == "__main__":
    main(sys.argv[1])
