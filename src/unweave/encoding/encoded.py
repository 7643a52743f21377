"""`Encoded`: codes of images with the factors of these images, and the file that stores them.

The file is an .npz with the arrays factors, factor_names, factor_kinds, codes, codes_std for a posterior, one array
``codes_category NAME`` for every categorical code, the indices of the images, and a note on how it was created.
"""

from __future__ import annotations

import errno
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.evidence import Evidence, EvidenceError, Posterior
from unweave.evidence.reading.archives import array_in
from unweave.files.tables_and_arrays import CATEGORY, KINDS, NAMES, STD
from unweave.whole_files import write_whole


class EncodingError(EvidenceError):
    """Raised if an encoding cannot be started or finished; the message states what to do."""


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
    """

    arrays: Mapping[str, NDArray[Any]]
    factors: FloatArray
    factor_names: tuple[str, ...]
    kinds: tuple[str, ...]
    indices: NDArray[np.int64]
    note: Mapping[str, Any] = field(default_factory=dict)

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
        """Evidence of the factors and codes."""
        kinds = dict(zip(self.factor_names, self.kinds, strict=True))
        return Evidence(self.factors, self.codes, factor_names=self.factor_names, kinds=kinds, **options)

    def rows(self, chosen: NDArray[Any] | slice) -> Encoded:
        """The codes and factors of some of the rows."""
        arrays = {name: array[chosen] for name, array in self.arrays.items()}
        return Encoded(
            arrays, self.factors[chosen], self.factor_names, self.kinds, self.indices[chosen], dict(self.note)
        )

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
        }
        write_arrays(path, content)
        return path


def read_encoded(path: str | Path) -> Encoded:
    """Read a file that `Encoded.save` wrote."""
    path = Path(path)
    if not path.is_file():
        raise EncodingError(f"There is no file {path}: create it with unweave encode.")
    try:
        with np.load(path, allow_pickle=False) as content:
            arrays = {name: array_in(content, name, path) for name in content.files}
        names, kinds = (tuple(map(str, arrays.pop(name))) for name in (NAMES, KINDS))
        note = json.loads(str(arrays.pop("note")))
        return Encoded(
            {name: array for name, array in arrays.items() if name.startswith("codes")},
            arrays["factors"],
            names,
            kinds,
            arrays["indices"],
            note,
        )
    except EvidenceError:
        raise
    except KeyError as error:
        raise EncodingError(f"{path} has no array {error}: pass a file that unweave encode wrote.") from None
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise EncodingError(f"{path} is not a complete file of codes ({error}): create it again.") from None


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write an .npz in one step, so that an interruption does not leave an incomplete file."""
    try:
        write_whole(path, lambda stream: np.savez(stream, **arrays))
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        what = "the disk is full: make room and give the same command again" if full else f"{error.strerror}"
        raise EncodingError(f"{path} cannot be written: {what}.") from None
