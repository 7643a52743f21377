"""Codes of trained encoders of dSprites, on which conclusions of papers 001, 002 and 004 are based.

The codes of the published models are computed once and stored in the folder of the reproduction. A folder of files
written by `unweave encode`, one per encoder, can be given instead of the weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from unweave.datasets import DependentSample, DSprites
from unweave.datasets.dependence import Dependence
from unweave.encoding import Encoded, encode, read_encoded
from unweave.evidence import Evidence, EvidenceError
from unweave.papers.experiment import Options

# our names of the published models of dSprites to the names of their files
MODELS = {
    "VAE": "VAE_dsprites",
    "beta-VAE": "betaH_dsprites",
    "AnnealedVAE": "betaB_dsprites",
    "FactorVAE": "factor_dsprites",
    "beta-TCVAE": "btcvae_dsprites",
    "beta-TCVAE, MI -5": "btcvae_dsprites_a-5",
    "beta-TCVAE, MI 0": "btcvae_dsprites_a0",
    "beta-TCVAE, MI 5": "btcvae_dsprites_a5",
    "JointVAE": "joint_dsprites",
}
FEWEST_ROWS = 500


def codes_of(
    options: Options,
    n_rows: int,
    models: Sequence[str] = tuple(MODELS),
    dependences: Sequence[Dependence] = (),
    label: str = "independent",
) -> dict[str, Encoded]:
    """Compute or read the codes of ``n_rows`` images by each encoder; the images are the same for all encoders.

    With ``options.codes`` the encoders are the files of that folder, and rows with dependent factors are drawn from
    the rows of these files.
    """
    seed = options.seed or 0
    if options.codes is not None:
        return {name: _drawn(found, n_rows, dependences, seed) for name, found in _given(options.codes).items()}
    folder = options.folder / "codes"
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for name in models:
        path = folder / f"{MODELS[name]}-{label}-{n_rows}-{seed}.npz"
        found[name] = read_encoded(path) if path.exists() else _encoded(name, path, n_rows, dependences, options)
    return found


def models_among(found: Mapping[str, Encoded], names: Sequence[str]) -> dict[str, Encoded]:
    """Return the models of these names, or all if none exists: encoders in a folder of codes can have any name."""
    there = {name: found[name] for name in names if name in found}
    return there or dict(found)


def _encoded(name: str, path: Path, n_rows: int, dependences: Sequence[Dependence], options: Options) -> Encoded:
    from unweave.neural.published_vaes import read_published

    assert options.weights is not None
    sprites = DSprites()
    images = DependentSample(sprites, dependences) if dependences else sprites
    model = read_published(MODELS[name], options.weights)
    return encode(model, images, path, rows=n_rows, seed=options.seed or 0, progress=options.progress)


def _given(folder: Path) -> dict[str, Encoded]:
    paths = sorted(folder.glob("*.npz"))
    if not paths:
        raise EvidenceError(f"{folder} has no .npz file of codes: write one per encoder with unweave encode.")
    found = {path.stem: read_encoded(path) for path in paths}
    first_name, first = next(iter(found.items()))
    for name, other in found.items():
        if other.factor_names != first.factor_names:
            raise EvidenceError(f"{name} and {first_name} in {folder} have different factors: encode one data set.")
    return found


def _drawn(found: Encoded, n_rows: int, dependences: Sequence[Dependence], seed: int) -> Encoded:
    """Draw rows without replacement, so that no row is in both a training and a test set."""
    rng = np.random.default_rng(seed)
    if not dependences:
        return found.rows(rng.permutation(found.n_rows)[:n_rows])
    sample = DependentSample(DSprites(), dependences)
    weights = sample.weights_of(found.indices)
    kept = np.flatnonzero(rng.uniform(size=found.n_rows) * weights.max() <= weights)
    if kept.size < min(FEWEST_ROWS, n_rows):
        raise EvidenceError(
            f"Only {kept.size} of {found.n_rows} encoded images are left after drawing dependent factors: encode more "
            "images, or give --weights instead of --codes."
        )
    return found.rows(rng.permutation(kept)[:n_rows])


def evidence_of_levels(encoded: Encoded) -> Evidence:
    """Return evidence with categorical and ordinal factors only, as in 001 and 002; no factor is circular."""
    kinds = {
        name: "categorical" if kind == "categorical" else "ordinal"
        for name, kind in zip(encoded.factor_names, encoded.kinds, strict=True)
    }
    return Evidence(encoded.factors, encoded.codes, factor_names=encoded.factor_names, kinds=kinds)
