"""Decoders from files and importable paths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unweave.evidence import EvidenceError, Jacobians
from unweave.files.formats import opened, shown
from unweave.names import imported

PUBLISHED = {"encoder.conv1.weight", "img_to_features.0.weight"}  # arrays by which a published VAE is recognised


def read_decoder(source: str, latent_size: int | None = None) -> object:
    """Read a decoder: Jacobians in .npy or .npz ('jacobians', optional 'scales'), a published VAE, or 'module:name'.

    With ``latent_size``, the named object has to be a torch function of latents. Without it, the object can be anything
    that `Evidence` takes as a decoder.
    """
    if source.endswith((".npy", ".npz")):
        return _saved(Path(source))
    if ":" not in source:
        raise EvidenceError(
            f"{source!r} is neither saved Jacobians (.npy, .npz) nor an importable path: write module:name."
        )
    found = imported(source, "decoder")
    decoder: object = found() if isinstance(found, type) else found
    if latent_size is not None:
        from unweave.neural.decoder_adapters import TorchDecoder

        return TorchDecoder(decoder, latent_size)  # type: ignore[arg-type]
    return decoder


def _saved(path: Path) -> object:
    file = opened(path)
    if not file.is_one_array and PUBLISHED & set(file.names):
        from unweave.neural.decoder_adapters import TorchDecoder
        from unweave.neural.published_vaes import read_published

        model = read_published(path)
        size: Any = model.unhidden[0].in_features  # inputs: Gaussian codes, then probabilities of categories
        return TorchDecoder(model.decode, size, module=model)
    if file.is_one_array:
        return Jacobians(file.content)
    if "jacobians" not in file.names and "codes" in file.names:
        raise EvidenceError(
            f"{path} has codes, but the geometry metrics need a decoder: pass the decoder as module:name, or a file "
            "with its Jacobians."
        )
    if "jacobians" not in file.names and len(file.names) != 1:
        raise EvidenceError(f"{path} has no array 'jacobians' but {shown(file.names)}: rename the array to use.")
    name = "jacobians" if "jacobians" in file.names else file.names[0]
    return Jacobians(file.column(name), file.column("scales") if "scales" in file.names else None)
