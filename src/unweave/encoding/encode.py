"""`encode`: compute the codes of a data set with any model, in batches; an interrupted encoding can be continued."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.datasets import DataSet, DependentSample
from unweave.encoding.encoded import Encoded, EncodingError
from unweave.encoding.models import Encoder, encoder_of
from unweave.encoding.outputs import OutputReader, Spread
from unweave.encoding.parts import KeptParts
from unweave.progress import progress_bar
from unweave.randomness import random_stream

PROBED = 8
BATCHES_PER_PART = 20


def encode(
    model: Any,
    dataset: DataSet,
    out: str | Path | None = None,
    *,
    rows: int | None = None,
    seed: int = 0,
    batch_size: int = 250,
    spread: Spread | None = None,
    progress: bool = False,
) -> Encoded:
    """Codes of the images of a data set, with their factors.

    Parameters
    ----------
    model : torch module, callable, or object with a method encode
        Takes images (n x channels x height x width, float32 from 0 to 1) and returns their codes (n x m), mean and std,
        mean and log-variance, a `Posterior`, or a mapping with 'mean', 'std' or 'log_variance', and 'categories'. A
        third output is the probabilities of categorical codes, n x k each.
    dataset : `DataSet`
        A `DependentSample` has dependent factors and needs ``rows``.
    out : path, optional
        File to write, .npz. An interrupted encoding continues when it is called again.
    rows : int, optional
        Number of images to draw at random, with seed ``seed``. By default all images are encoded in order.
    batch_size : int
        Number of images per batch.
    spread : {"std", "log_variance"}, optional
        Meaning of the second output; by default it is read as log-variances if the first images give a negative value.
    progress : bool
        Whether to show a progress bar on a terminal.

    Examples
    --------
    >>> from unweave.datasets import small_sprites
    >>> encoded = encode(lambda images: images.mean(axis=(1, 2)), small_sprites(), rows=100)
    >>> encoded.means.shape, encoded.factor_names
    ((100, 16), ('shape', 'scale', 'x', 'y'))
    """
    if batch_size < 1:
        raise EncodingError(f"batch_size is {batch_size}: use at least one image per batch.")
    indices = _chosen(dataset, rows, seed)
    encoder, reader = encoder_of(model), OutputReader(spread)
    note = {
        "model": getattr(model, "name", "") or getattr(model, "__qualname__", type(model).__name__),
        "dataset": dataset.name,
        "fingerprint": dataset.fingerprint,
        "rows": len(indices),
        "seed": None if rows is None else seed,
    }
    probe = reader.arrays(encoder(dataset.images(indices[:PROBED])), len(indices[:PROBED]))
    parts = None if out is None else KeptParts(_npz(out), _identity(note, probe, batch_size))
    stretches = list(_stretches(len(indices), batch_size * BATCHES_PER_PART))
    kept: list[dict[str, NDArray[Any]]] = []
    with progress_bar(len(stretches), progress) as bar:
        for start, stop in stretches:
            bar.step(f"encoding {dataset.name}: {start} of {len(indices)} images")
            if parts is not None and parts.has(start, stop):
                continue
            found = _encoded_stretch(encoder, reader, dataset, indices[start:stop], batch_size)
            if parts is None:
                kept.append(found)
            else:
                parts.add(start, stop, found)
    read = kept if parts is None else [parts.read(start, stop) for start, stop in stretches]
    arrays = {name: np.concatenate([part[name] for part in read]) for name in read[0]}
    encoded = Encoded(arrays, dataset.factors(indices), dataset.factor_names, dataset.kinds, indices, note)
    if parts is not None:
        encoded.save(parts.out)
        parts.remove()
    return encoded


def _chosen(dataset: DataSet, rows: int | None, seed: int) -> NDArray[np.int64]:
    if rows is not None and rows < 1:
        raise EncodingError(f"rows is {rows}: ask for at least one image.")
    if isinstance(dataset, DependentSample):
        if rows is None:
            raise EncodingError("Images with dependent factors are drawn: pass their number as rows (--rows N).")
        return dataset.sample_indices(rows, seed)
    if rows is None:
        return np.arange(len(dataset))
    if rows > len(dataset):
        raise EncodingError(f"{dataset.name} has {len(dataset)} images, so {rows} cannot be drawn: ask for fewer.")
    return random_stream(seed, "encoded images").permutation(len(dataset))[:rows]


def _npz(out: str | Path) -> Path:
    path = Path(out)
    if path.suffix != ".npz":
        raise EncodingError(f"{path} does not end with .npz, which is the format of the output: choose such a name.")
    return path


def _stretches(n_rows: int, length: int) -> Iterator[tuple[int, int]]:
    return ((start, min(start + length, n_rows)) for start in range(0, n_rows, length))


def _encoded_stretch(
    encoder: Encoder, reader: OutputReader, dataset: DataSet, indices: NDArray[np.int64], batch_size: int
) -> dict[str, NDArray[Any]]:
    batches = []
    for start, stop in _stretches(len(indices), batch_size):
        images = dataset.images(indices[start:stop])
        batches.append(reader.arrays(encoder(images), len(images)))
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


def _identity(note: Mapping[str, Any], probe: Mapping[str, NDArray[Any]], batch_size: int) -> dict[str, Any]:
    """What identifies an encoding, so that only its own parts are reused; a model is identified by its first codes."""
    choice = {name: note[name] for name in ("dataset", "fingerprint", "rows", "seed")}
    return choice | {"batch size": batch_size, "model": _digest(probe)}


def _digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Digest of the codes of the first images; codes are rounded, because sums can differ in their last digits."""
    digest = hashlib.blake2b(digest_size=16)
    for name, array in arrays.items():
        digest.update(name.encode() + np.round(array, 3).tobytes())
    return digest.hexdigest()
