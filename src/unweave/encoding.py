"""From a model and images to codes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.datasets import DataSet, DependentSample
from unweave.errors import FileError, InputError, OptionError, UnweaveError
from unweave.evidence import Evidence, Posterior
from unweave.evidence.archives import array_in
from unweave.evidence.columns import plain
from unweave.files.reading import CATEGORY, KINDS, NAMES, STD
from unweave.options import checks_options
from unweave.own_modules import imported
from unweave.progress import progress_bar
from unweave.randomness import random_stream
from unweave.store import Store, write_result


@dataclass(frozen=True, eq=False)
class Encoded:
    """Codes of some images of a data set.

    Attributes
    ----------
    arrays : mapping of name to array
        codes (n x m), and codes_std and ``codes_category NAME`` if the encoder returns these.
    factors : array, n x d
    factor_names, kinds : tuple of str
    indices : array, n
        Indices of the images in the data set.
    note : mapping
        How the codes were computed: model, data set and its fingerprint, rows, and seed.
    row_groups : array, n, optional
        The group of each row, such as its episode, if the data set has groups.
    """

    arrays: Mapping[str, NDArray[Any]]
    factors: FloatArray
    factor_names: tuple[str, ...]
    kinds: tuple[str, ...]
    indices: NDArray[np.int64]
    note: Mapping[str, Any] = field(default_factory=dict)
    row_groups: NDArray[np.int64] | None = None

    def __repr__(self) -> str:
        return f"Encoded({self.n_rows} rows, {self.means.shape[1]} codes, {len(self.factor_names)} factors)"

    @property
    def n_rows(self) -> int:
        """Number of images."""
        return len(self.indices)

    @property
    def means(self) -> NDArray[Any]:
        """Codes, or the means of their posterior."""
        return self.arrays["codes"]

    @property
    def codes(self) -> Posterior | NDArray[Any]:
        """Codes for `Evidence`: a `Posterior` if the encoder is stochastic, otherwise an array."""
        categories = {
            name.removeprefix(CATEGORY): table for name, table in self.arrays.items() if name.startswith(CATEGORY)
        }
        if STD in self.arrays:
            return Posterior(self.means, self.arrays[STD], categories=categories or None)
        return self.means

    def evidence(self, **options: Any) -> Evidence:
        """Evidence of the factors and codes, and of the groups of rows if there are any."""
        options = {"row_groups": self.row_groups} | options
        if not self.factor_names:
            return Evidence(None, self.codes, **options)
        named: dict[str, Any] = {"factor_names": self.factor_names, "kinds": list(self.kinds)}
        return Evidence(self.factors, self.codes, **(named | options))

    def rows(self, chosen: NDArray[Any] | slice) -> Encoded:
        """The codes and factors of some of the rows."""
        arrays = {name: array[chosen] for name, array in self.arrays.items()}
        groups = None if self.row_groups is None else self.row_groups[chosen]
        indices = self.indices[chosen]
        return replace(self, arrays=arrays, factors=self.factors[chosen], indices=indices, row_groups=groups)

    def save(self, path: str | Path) -> Path:
        """Write the file; an interruption does not leave an incomplete file."""
        path = Path(path)
        content: dict[str, Any] = {
            "factors": self.factors,
            NAMES: np.array(self.factor_names),
            KINDS: np.array(self.kinds),
            **self.arrays,
            "indices": self.indices,
            "note": np.array(json.dumps(dict(self.note))),
            **({} if self.row_groups is None else {"row_groups": self.row_groups}),
        }
        write_result(path, lambda file: np.savez(file, **content))
        return path


def read_encoded(path: str | Path) -> Encoded:
    """Read a file that `Encoded.save` wrote."""
    path = Path(path)
    if not path.is_file():
        raise FileError(f"There is no file {path}: create it with unweave encode.")
    try:
        with np.load(path, allow_pickle=False) as content:
            arrays = {name: array_in(content, name, path) for name in content.files}
        names, kinds = (tuple(map(str, arrays.pop(name))) for name in (NAMES, KINDS))
        note = json.loads(str(arrays.pop("note")))
        codes = {name: array for name, array in arrays.items() if name.startswith("codes")}
        groups = arrays.get("row_groups")
        return Encoded(codes, arrays["factors"], names, kinds, arrays["indices"], note, groups)
    except UnweaveError:
        raise
    except KeyError as error:
        raise FileError(f"{path} has no array {error}: pass a file that unweave encode wrote.") from None
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise FileError(f"{path} is not a complete file of codes ({error}): create it again.") from None


Encoder = Callable[[NDArray[np.float32]], Any]


def encoder_of(model: Any) -> Encoder:
    """Function that encodes an array of images: the model, or its method encode; torch modules in evaluation mode."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(model, torch.nn.Module):
        from unweave.neural.decoders import torch_encoded

        return partial(torch_encoded, model)
    encode = None if isinstance(model, str) else getattr(model, "encode", None)  # texts have such a method
    function = encode if callable(encode) else model
    if isinstance(model, (str, Path)):
        raise InputError(f"{str(model)!r} is a text and no model: load the model, and pass the module or a function.")
    if not callable(function):
        raise InputError(f"{type(model).__name__} cannot encode: pass a function of images, or a torch module.")
    return function


def named_model(text: str, weights: str | Path | None = None) -> Any:
    """Model from ``module:name``, an .npz file of published weights, or a name in the folder of weights."""
    if text.endswith(".npz") or (weights is not None and ":" not in text):
        from unweave.neural.published_vaes import read_published

        return read_published(text, weights)
    if text.endswith((".pt", ".pth", ".ckpt")):
        raise OptionError(
            f"{text} has weights and not the network: write a module that builds the network and loads them "
            f"(net.load_state_dict(torch.load({text!r}))), and name it as module:net."
        )
    if ":" not in text:
        raise OptionError(
            f"{text!r} is not a model: write module:name for a function or torch module, or the name of a published "
            "model with --weights and the folder that has its arrays."
        )
    model = imported(text, "encoder")
    return model() if isinstance(model, type) else model


Spread = Literal["std", "log_variance"]
SPREAD_NAMES = {"std": "std", "log_variance": "log_variance", "logvar": "log_variance", "log_var": "log_variance"}
TO_ONE = 1e-3


class OutputReader:
    """Reads the output of an encoder for a batch, in the same way for all batches.

    A second array next to the means contains standard deviations or log-variances. If ``spread`` does not state which,
    the first batch decides: they are log-variances if one of them is negative.
    """

    def __init__(self, spread: Spread | None = None) -> None:
        if spread not in (None, "std", "log_variance"):
            raise OptionError(f"A spread of {spread!r} is not known: use std or log_variance.")
        self.spread = spread
        self._shapes: dict[str, tuple[int, ...]] = {}

    def arrays(self, output: Any, n_images: int) -> dict[str, NDArray[np.float32]]:
        """Named arrays of a batch; raises an error unless they are finite, with a row per image and constant widths."""
        arrays = {name: self._number_table(name, part, n_images) for name, part in self._parts(output).items()}
        if "codes_std" in arrays:
            arrays["codes_std"] = self._std(arrays["codes_std"], arrays["codes"])
        shapes = {name: array.shape[1:] for name, array in arrays.items()}
        self._shapes = self._shapes or shapes
        if shapes != self._shapes:
            raise InputError(
                f"The encoder returned {_shapes_in_words(shapes)} for one batch and {_shapes_in_words(self._shapes)} "
                "for another: let it return the same shapes for all batches."
            )
        return arrays

    def all_arrays(self, encoder: Encoder, batches: Iterable[Any]) -> dict[str, NDArray[np.float32]]:
        """Named arrays of batches of images, one after another."""
        return joined_arrays([self.arrays(encoder(batch), len(batch)) for batch in batches])

    def _parts(self, output: Any) -> dict[str, Any]:
        if isinstance(output, Posterior):
            tables = {CATEGORY + name: table for name, table in output.categories.items()}
            self.spread = "std"
            return {"codes": output.mean, "codes_std": output.std, **tables}
        if isinstance(output, Mapping):
            return self._named_parts(output)
        if isinstance(output, (tuple, list)) and not _is_table(output):
            if not 1 <= len(output) <= 3:
                raise InputError(
                    f"The encoder returned {len(output)} values: let it return the mean, the mean and the std or "
                    "log-variance, or these and the categorical codes."
                )
            mean, *rest = output
            parts = {"codes": mean} | ({"codes_std": rest[0]} if rest and rest[0] is not None else {})
            return parts | (_categories(rest[1]) if len(rest) == 2 else {})
        return {"codes": output}

    def _named_parts(self, output: Mapping[str, Any]) -> dict[str, Any]:
        if "mean" not in output:
            raise InputError(f"The encoder returned {', '.join(map(repr, output))}: let it return 'mean' as well.")
        parts: dict[str, Any] = {"codes": output["mean"]}
        for name, spread in SPREAD_NAMES.items():
            if name in output:
                parts["codes_std"] = output[name]
                self.spread = "std" if spread == "std" else "log_variance"
        return parts | _categories(output.get("categories", {}))

    def _number_table(self, name: str, given: Any, n_images: int) -> NDArray[np.float32]:
        what = name.removeprefix(CATEGORY)
        try:
            table = np.asarray(plain(given), dtype=np.float32)
        except (TypeError, ValueError):
            raise InputError(f"The encoder returned {type(given).__name__} as {what}: let it return numbers.") from None
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2 or len(table) != n_images:
            raise InputError(
                f"The encoder returned {what} of shape {table.shape} for {n_images} images: "
                f"return one row per image, a table of shape ({n_images}, number of codes)."
            )
        bad = ~np.isfinite(table)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise InputError(
                f"The encoder returned {table[row, column]} as {what}, in row {row} and column {column} of a batch: "
                "codes have to be finite."
            )
        if name.startswith(CATEGORY) and ((table < 0).any() or (np.abs(table.sum(axis=1) - 1) > TO_ONE).any()):
            raise InputError(f"The rows of {what} are not probabilities: let the encoder apply its softmax.")
        return table

    def _std(self, spread: NDArray[np.float32], mean: NDArray[np.float32]) -> NDArray[np.float32]:
        if spread.shape != mean.shape:
            raise InputError(
                f"The encoder returned means {mean.shape} and spreads {spread.shape}: return one spread for each mean."
            )
        if self.spread is None:
            self.spread = "log_variance" if (spread < 0).any() else "std"
        if self.spread == "log_variance":
            return np.exp(spread / 2)
        if (spread < 0).any():
            raise InputError(
                "The encoder returned a negative standard deviation: use --spread log_variance if it is a log-variance."
            )
        return spread


def joined_arrays(parts: Sequence[Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """The arrays of all parts by name, one part after another."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _is_table(output: Sequence[Any]) -> bool:
    """Whether a list is a table of numbers rather than several outputs."""
    return isinstance(output, list) and bool(output) and isinstance(output[0], (list, float, int))


def _categories(given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return {f"{CATEGORY}{name}": table for name, table in given.items()}
    tables = given if isinstance(given, (tuple, list)) else [given]
    return {f"{CATEGORY}category {number}": table for number, table in enumerate(tables)}


def _shapes_in_words(shapes: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name.removeprefix(CATEGORY)} of width {shape[0]}" for name, shape in shapes.items())


PROBED = 8
BATCHES_PER_PART = 20


@checks_options
def encode(
    model: Any,
    dataset: Any,
    factors: object = None,
    *,
    out: str | Path | None = None,
    rows: int | None = None,
    seed: int = 0,
    batch_size: int = 250,
    spread: Spread | None = None,
    progress: bool = True,
) -> Encoded:
    """Codes of the images of a data set, with their factors.

    Parameters
    ----------
    model : torch module, callable, or object with a method encode
        Takes images (n x channels x height x width, float32 from 0 to 1) and returns their codes (n x m), mean and std,
        mean and log-variance, a `Posterior`, or a mapping with 'mean', 'std' or 'log_variance', and 'categories'. A
        third output is the probabilities of categorical codes, n x k each.
    dataset : `DataSet`, array, tensor, or DataLoader
        A `DependentSample` has dependent factors and needs ``rows``. Images of your own are an array or a tensor with
        an image in each row, which the model gets as they are, or an iterable of batches, each of images or of a pair
        of images and factors.
    factors : table, optional
        Factors of your own images, in their order.
    out : path, optional
        File to write, .npz. An interrupted encoding continues when it is called again.
    rows : int, optional
        Number of images to draw at random, with seed ``seed``. By default all images are encoded in order.
    batch_size : int
        Number of images per batch.
    spread : {"std", "log_variance"}, optional
        Meaning of the second output; by default it is read as log-variances if the first images give a negative value.
    progress : bool
        Show a bar with the time left, on terminals and in notebooks, after two seconds.

    Examples
    --------
    >>> from unweave.datasets import small_sprites
    >>> encoded = encode(lambda images: images.mean(axis=(1, 2)), small_sprites(), rows=100)
    >>> encoded.means.shape, encoded.factor_names
    ((100, 16), ('shape', 'scale', 'x', 'y'))
    """
    if batch_size < 1:
        raise OptionError(f"batch_size is {batch_size}: use at least one image per batch.")
    if not isinstance(dataset, DataSet):
        if rows is not None:
            raise OptionError("rows draws from a data set: pass the images and factors that you want encoded.")
        encoded = _of_own_images(model, dataset, factors, batch_size, spread)
        if out is not None:
            _folder_of_parts(out)  # checks the name
            encoded.save(out)
        return encoded
    if factors is not None:
        raise OptionError(f"{dataset.name} has its own factors: pass factors with images of your own only.")
    indices = _chosen_rows(dataset, rows, seed)
    encoder, reader = encoder_of(model), OutputReader(spread)
    note = {
        "model": getattr(model, "name", "") or getattr(model, "__qualname__", type(model).__name__),
        "dataset": dataset.name,
        "fingerprint": dataset.fingerprint,
        "rows": len(indices),
        "seed": None if rows is None else seed,
    }
    probe = reader.arrays(encoder(dataset.images(indices[:PROBED])), len(indices[:PROBED]))
    store = None if out is None else Store(_folder_of_parts(out), _identity(note, probe, batch_size))
    stretches = list(_stretches(len(indices), batch_size * BATCHES_PER_PART))
    parts: list[dict[str, NDArray[Any]]] = []
    with progress_bar(len(stretches), progress) as bar, store or nullcontext():
        for start, stop in stretches:
            bar.step(f"encoding {dataset.name}: {start} of {len(indices)} images")
            key = f"{start:09}-{stop:09}"
            part = None if store is None else store.arrays(key)
            if part is None:
                batches = (indices[a:b] for a, b in _stretches(stop, batch_size, start))
                part = reader.all_arrays(encoder, map(dataset.images, batches))
                if store is not None:
                    store.add_arrays(key, part)
            parts.append(part)
        arrays = joined_arrays(parts)
        groups = getattr(dataset, "row_groups", None)
        groups = None if groups is None else groups[indices]
        encoded = Encoded(arrays, dataset.factors(indices), dataset.factor_names, dataset.kinds, indices, note, groups)
        if out is not None:
            encoded.save(out)
    if store is not None:
        shutil.rmtree(store.folder, ignore_errors=True)
    return encoded


def _of_own_images(model: Any, images: Any, factors: object, batch_size: int, spread: Spread | None) -> Encoded:
    """Codes of images in an array or in batches, and their factors."""
    encoder, reader = encoder_of(model), OutputReader(spread)
    codes: list[dict[str, NDArray[Any]]] = []
    beside: list[NDArray[Any]] = []
    for batch in _batches(images, batch_size):
        pair = batch if isinstance(batch, (tuple, list)) else (batch,)
        if isinstance(batch, Mapping) or not 1 <= len(pair) <= 2:
            raise InputError("A batch is neither images nor a pair of images and factors: let the loader give these.")
        shown = np.asarray(plain(pair[0]))
        if shown.dtype.kind != "f":
            raise InputError(
                f"The images have type {shown.dtype}: pass them as the model was trained on them, such as images / 255."
            )
        codes.append(reader.arrays(encoder(shown.astype(np.float32)), len(shown)))
        beside += [np.asarray(plain(part)).reshape(len(shown), -1) for part in pair[1:]]
    if not codes:
        raise InputError("There are no images: pass an array of images, or batches of them.")
    if factors is None and len(beside) == len(codes):
        factors = np.concatenate(beside)
    arrays = joined_arrays(codes)
    n_rows = len(arrays["codes"])
    note = {"model": getattr(model, "__qualname__", type(model).__name__), "rows": n_rows}
    if factors is None:
        return Encoded(arrays, np.empty((n_rows, 0)), (), (), np.arange(n_rows), note)
    read = Evidence(factors, arrays["codes"])
    kinds = tuple(str(kind.value) for kind in read.kinds)
    return Encoded(arrays, read.factors, read.factor_names, kinds, np.arange(n_rows), note)


def _batches(images: Any, batch_size: int) -> Iterator[Any]:
    """Batches of an array or tensor, or of a loader that gives batches."""
    if hasattr(images, "shape"):
        if len(images.shape) < 2:
            raise InputError(f"The images have shape {tuple(images.shape)}: pass an array with one image in each row.")
        return (images[start:stop] for start, stop in _stretches(len(images), batch_size))
    if isinstance(images, (str, Path)) or not hasattr(images, "__iter__"):
        raise InputError(
            f"{type(images).__name__} has no images: pass an array, a tensor, a DataLoader, or a data set of "
            "unweave.datasets, such as unweave.datasets.load('small_sprites')."
        )
    shapes = [np.shape(part) for part in images] if isinstance(images, (list, tuple)) else []
    if len(shapes) == 2 and len(shapes[0]) > len(shapes[1]) and shapes[0][:1] == shapes[1][:1]:
        raise InputError("The images are a pair of arrays: pass encode(model, images, factors), each on its own.")
    if len(shapes) > 1 and len(shapes[0]) in (2, 3) and len({*shapes}) == 1:
        raise InputError(
            f"The images are a list of {len(shapes)} arrays of shape {shapes[0]}: pass np.stack(images) if each is one "
            "image, or np.concatenate(images) if each is a batch."
        )
    return iter(images)


def _chosen_rows(dataset: DataSet, rows: int | None, seed: int) -> NDArray[np.int64]:
    if rows is not None and rows < 1:
        raise OptionError(f"rows is {rows}: ask for at least one image.")
    if isinstance(dataset, DependentSample):
        if rows is None:
            raise OptionError("Images with dependent factors are drawn: pass their number as rows (--rows N).")
        return dataset.sample_indices(rows, seed)
    if rows is None:
        return np.arange(len(dataset))
    if rows > len(dataset):
        raise OptionError(f"{dataset.name} has {len(dataset)} images, so {rows} cannot be drawn: ask for fewer.")
    return random_stream(seed, "encoded images").permutation(len(dataset))[:rows]


def _folder_of_parts(out: str | Path) -> Path:
    """Folder of the finished parts of an encoding, beside the file to write."""
    path = Path(out)
    if path.suffix != ".npz":
        raise FileError(f"{path} does not end with .npz, which is the format of the output: choose such a name.")
    short = len(os.fsencode(path.name)) < 250
    return path.with_name(f"{path.name if short else hashlib.sha256(os.fsencode(path.name)).hexdigest()}.parts")


def _stretches(n_rows: int, length: int, first: int = 0) -> Iterator[tuple[int, int]]:
    return ((start, min(start + length, n_rows)) for start in range(first, n_rows, length))


def _identity(note: Mapping[str, Any], probe: Mapping[str, NDArray[Any]], batch_size: int) -> dict[str, Any]:
    """What identifies an encoding, so that only its own parts are reused; a model is identified by its first codes."""
    choice = {name: note[name] for name in ("dataset", "fingerprint", "rows", "seed")}
    digest = hashlib.blake2b(digest_size=16)
    for name, array in probe.items():  # rounded, because sums can differ in their last digits
        digest.update(name.encode() + np.round(array, 3).tobytes())
    return choice | {"batch size": batch_size, "model": digest.hexdigest()}
