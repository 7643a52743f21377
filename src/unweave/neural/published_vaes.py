"""Published convolutional VAEs, from their weights as plain arrays, and the tensors that torch.save wrote.

Two families of trained models are read: the Burgess networks of YannDubs/disentangling-vae, and the JointVAE networks
of Schlumberger/joint-vae. Both consist of 4 x 4 convolutions with stride 2, linear layers, and the mirror image of
these; the shapes of the arrays determine the sizes. The weights are not part of unweave: pass the folder that has them.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from unweave.errors import FileError, InputError, OptionError, UnweaveError
from unweave.evidence.archives import array_in, refuse_bomb
from unweave.names import suggestion

Arrays = Mapping[str, NDArray[Any]]
IMAGES_IN_CACHE = 64


class PublishedVAE(nn.Module):
    """A VAE with Gaussian codes, and possibly categorical codes.

    `encode` returns means and log-variances, and a tuple of tables of probabilities if there are categorical codes.
    `decode` takes Gaussian codes followed by the probabilities of categorical codes, and returns images from 0 to 1.
    """

    def __init__(self, arrays: Arrays) -> None:
        super().__init__()
        layout = _layout(arrays)
        self.name = ""
        self.features = _chain([_layer(arrays, name) for name in layout["convolutions"]])
        self.hidden = _chain([_layer(arrays, name) for name in layout["hidden"]])
        self.mean, self.log_variance = _gaussian_heads(arrays)
        self.categories = nn.ModuleList(_layer(arrays, name) for name in layout["categories"])
        self.unhidden = _chain([_layer(arrays, name) for name in layout["unhidden"]])
        self.unfeatures = _chain([_layer(arrays, name, transposed=True) for name in layout["transposed"]])
        self.n_codes = self.mean.out_features
        n_channels = _array(arrays, f"{layout['convolutions'][0]}.weight").shape[1]
        n_last = _array(arrays, f"{layout['convolutions'][-1]}.weight").shape[0]
        n_flat = _array(arrays, f"{layout['hidden'][0]}.weight").shape[1]
        side = round((n_flat / n_last) ** 0.5) * 2 ** len(layout["convolutions"])
        self.image_shape = int(n_channels), side, side
        self._n_channels = arrays[f"{layout['convolutions'][-1]}.weight"].shape[0]
        # twice as fast on a CPU for small batches
        self.features.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.eval()

    def encode(self, images: Tensor) -> tuple[Any, ...]:
        """Means and log-variances of images, and a tuple of probabilities of the categorical codes if there are any."""
        starts = range(0, len(images), IMAGES_IN_CACHE)
        features = [self.features(images[start : start + IMAGES_IN_CACHE]).flatten(1) for start in starts]
        hidden = self.hidden(torch.cat(features).relu()).relu()
        tables = tuple(head(hidden).softmax(dim=1) for head in self.categories)
        gaussian = (self.mean(hidden), self.log_variance(hidden))
        return (*gaussian, tables) if tables else gaussian

    def decode(self, codes: Tensor) -> Tensor:
        """Images of codes, n x channels x height x width."""
        features = self.unhidden(codes).relu()
        side = int((features.shape[1] / self._n_channels) ** 0.5)
        return self.unfeatures(features.view(len(codes), self._n_channels, side, side)).sigmoid()

    def forward(self, images: Tensor) -> Tensor:
        """Reconstructions from the means."""
        mean, _, *tables = self.encode(images)
        return self.decode(torch.cat([mean, *(tables[0] if tables else ())], dim=1))


def read_published(source: str | Path, weights: str | Path | None = None) -> PublishedVAE:
    """Read a published model from an .npz file of its arrays, or by its name in the folder of weights.

    If there is an index.json beside the file, the arrays must have the names and shapes that it states.
    """
    path = _path_of(source, weights)
    arrays = _arrays(path)
    index = path.parent / "index.json"
    if index.is_file():
        for name, shape in json.loads(index.read_text(encoding="utf-8")).get(path.stem, {}).get("shapes", {}).items():
            there = arrays[name].shape if name in arrays else None
            if there != tuple(shape):
                what = "is missing" if there is None else f"has shape {there}"
                raise FileError(f"{name} {what} in {path}, but index.json says {tuple(shape)}: get the file again.")
    model = PublishedVAE(arrays)
    model.name = path.stem
    return model


def _layout(arrays: Arrays) -> dict[str, list[str]]:
    """Names of the layers, in order, for either family."""
    if "encoder.conv1.weight" in arrays:
        larger = "encoder.conv_64.weight" in arrays
        return {
            "convolutions": [f"encoder.conv{at}" for at in ("1", "2", "3", *(("_64",) if larger else ()))],
            "hidden": ["encoder.lin1", "encoder.lin2"],
            "categories": [],
            "unhidden": ["decoder.lin1", "decoder.lin2", "decoder.lin3"],
            "transposed": [f"decoder.convT{at}" for at in (*(("_64",) if larger else ()), "1", "2", "3")],
        }
    if "img_to_features.0.weight" in arrays:
        return {
            "convolutions": _names_of_layers(arrays, "img_to_features"),
            "hidden": ["features_to_hidden.0"],
            "categories": _names_of_layers(arrays, "fc_alphas"),
            "unhidden": ["latent_to_features.0", "latent_to_features.2"],
            "transposed": _names_of_layers(arrays, "features_to_img"),
        }
    raise InputError(
        f"These arrays are not those of a published VAE ({', '.join(list(arrays)[:3]) or 'there are none'}): it has "
        "encoder.conv1.weight (Burgess) or img_to_features.0.weight (JointVAE)."
    )


def _names_of_layers(arrays: Arrays, prefix: str) -> list[str]:
    numbers = (name.split(".")[1] for name in arrays if name.startswith(f"{prefix}.") and name.endswith(".weight"))
    return [f"{prefix}.{number}" for number in sorted(numbers, key=int)]


def _chain(layers: Sequence[nn.Module]) -> nn.Sequential:
    """A sequence of layers with rectifiers between them."""
    between = [part for layer in layers for part in (nn.ReLU(), layer)]
    return nn.Sequential(*between[1:])


def _layer(arrays: Arrays, name: str, transposed: bool = False) -> Any:
    """A linear or convolutional layer with the weights of this name, whose shape determines its kind."""
    n_out, n_in, *sizes = _array(arrays, f"{name}.weight").shape
    layer: Any
    if not sizes:
        layer = nn.Linear(n_in, n_out)
    elif transposed:
        layer = nn.ConvTranspose2d(n_out, n_in, sizes[0], stride=2, padding=1)
    else:
        layer = nn.Conv2d(n_in, n_out, sizes[0], stride=2, padding=1)
    with torch.no_grad():
        for part in ("weight", "bias"):
            getattr(layer, part).copy_(torch.from_numpy(np.array(_array(arrays, f"{name}.{part}"), dtype=np.float32)))
    return layer


def _gaussian_heads(arrays: Arrays) -> tuple[nn.Linear, nn.Linear]:
    if "encoder.mu_logvar_gen.weight" not in arrays:
        return _layer(arrays, "fc_mean"), _layer(arrays, "fc_log_var")
    # one layer computes means and log-variances, which alternate: those of the first code, then those of the second
    both = {part: arrays[f"encoder.mu_logvar_gen.{part}"] for part in ("weight", "bias")}
    mean, log_variance = ({f"head.{part}": array[at::2] for part, array in both.items()} for at in (0, 1))
    return _layer(mean, "head"), _layer(log_variance, "head")


def _array(arrays: Arrays, name: str) -> NDArray[Any]:
    if name not in arrays:
        raise InputError(f"The arrays of this model lack {name!r}: the file is incomplete, or that of another model.")
    return arrays[name]


def _path_of(source: str | Path, weights: str | Path | None) -> Path:
    path = Path(source)
    if weights is None or path.suffix == ".npz":
        if path.is_file():
            return path
        raise FileError(
            f"There is no file {path}: give an .npz of a model's arrays, or a model's name and --weights with the "
            "folder that has it."
        )
    folder = Path(weights)
    if not folder.is_dir():
        raise FileError(f"There is no folder {folder} of weights: put the published .npz files there.")
    if (folder / f"{source}.npz").is_file():
        return folder / f"{source}.npz"
    names = sorted(path.stem for path in folder.glob("*.npz"))
    raise OptionError(f"{folder} has no model {str(source)!r}: {suggestion(str(source), names)}")


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as content:
            return {name: array_in(content, name, path) for name in content.files}
    except UnweaveError:
        raise
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise FileError(f"{path} is not a complete .npz file of arrays ({error}): get it again.") from None


def saved_tensors(path: Path) -> dict[str, NDArray[Any]] | NDArray[Any]:
    """Tensors of a .pt or .pth file by name, or its one tensor. Only tensors are unpickled (``weights_only``)."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                unpacked = sum(entry.file_size for entry in archive.infolist())
            refuse_bomb(f"The file {path}", unpacked, os.path.getsize(path))
        content = torch.load(path, map_location="cpu", weights_only=True)
    except UnweaveError:
        raise
    except Exception as error:  # torch raises many kinds of errors for damaged files
        reason = "" if "weights_only" in str(error) else f" ({' '.join(str(error).split())[:100]})"
        raise FileError(
            f"{path} has more than tensors, such as a whole module, or is damaged{reason}: encode samples with the "
            "model, and save torch.save({'factors': factors, 'codes': codes}, ...)."
        ) from None
    if isinstance(content, torch.Tensor):
        return _tensor_values(content)
    tensors = content if isinstance(content, dict) else {}
    arrays = {str(name): _tensor_values(entry) for name, entry in tensors.items() if isinstance(entry, torch.Tensor)}
    if not arrays:
        raise FileError(f"{path} has no tensors by name: save a dictionary with 'factors' and 'codes'.")
    return arrays


def _tensor_values(tensor: Any) -> NDArray[Any]:
    tensor = tensor.detach().cpu()
    return np.asarray((tensor.float() if tensor.dtype.itemsize == 2 and tensor.is_floating_point() else tensor).numpy())
