"""Encoders from a function, a torch module, an importable path, or published weights."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.encoding.encoded import EncodingError
from unweave.names import imported

Encoder = Callable[[NDArray[np.float32]], Any]


def encoder_of(model: Any) -> Encoder:
    """Function that encodes an array of images: the model, or its method encode; torch modules in evaluation mode."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(model, torch.nn.Module):
        from unweave.neural.encoder_adapters import TorchEncoder

        return TorchEncoder(model)
    encode = getattr(model, "encode", None)
    function = encode if callable(encode) else model
    if not callable(function):
        raise EncodingError(f"{type(model).__name__} cannot encode: pass a function of images, or a torch module.")
    return function


def named_model(text: str, weights: str | Path | None = None) -> Any:
    """Model from ``module:name``, an .npz file of published weights, or a name in the folder of weights."""
    if text.endswith(".npz") or (weights is not None and ":" not in text):
        from unweave.neural.published_vaes import read_published

        return read_published(text, weights)
    if ":" not in text:
        raise EncodingError(
            f"{text!r} is not a model: write module:name for a function or torch module, or the name of a published "
            "model with --weights and the folder that has its arrays."
        )
    found = imported(text, "encoder")
    return found() if isinstance(found, type) else found
