"""Decoders from files and importable paths."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unweave.evidence import EvidenceError, Jacobians
from unweave.names import imported


def read_decoder(source: str, latent_size: int | None = None) -> object:
    """Jacobians saved as .npy or .npz ('jacobians', and 'scales' if any), or an object named as 'module:name'.

    With ``latent_size`` the object is a torch function of latents; without, whatever `Evidence` takes as a decoder.
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


def _saved(path: Path) -> Jacobians:
    if not path.exists():
        raise EvidenceError(f"There is no file {path}: check the name and the folder.")
    try:
        content = np.load(path, allow_pickle=False, mmap_mode="r" if path.suffix == ".npy" else None)
    except (ValueError, OSError, EOFError):
        raise EvidenceError(
            f"{path} is not a numpy file of plain numbers: save it again with numpy.save or numpy.savez."
        ) from None
    if path.suffix == ".npy":
        return Jacobians(content)
    if "jacobians" not in content.files and len(content.files) != 1:
        raise EvidenceError(f"{path} has no array 'jacobians' but {', '.join(content.files)}: rename the one to use.")
    name = "jacobians" if "jacobians" in content.files else content.files[0]
    return Jacobians(content[name], content["scales"] if "scales" in content.files else None)
