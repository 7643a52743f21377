"""Data sets whose factors are a table with one row per image, in no particular order."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Sequence

from unweave.arrays import FloatArray
from unweave.datasets.interface import DataSet, DataSetError, Factor, Images, Indices


class TabledDataSet(DataSet):
    """Images whose factors were measured, read or annotated, and are given as an n x d table."""

    def __init__(
        self, name: str, factors: Sequence[Factor], table: FloatArray, image_shape: tuple[int, int, int]
    ) -> None:
        if table.ndim != 2 or table.shape[1] != len(factors) or len(table) == 0:
            raise DataSetError(f"{name} has a table of factors of shape {table.shape}: it needs one column per factor.")
        self.name = name
        self.described_factors = tuple(factors)
        self.image_shape = image_shape
        self._table = table

    def __len__(self) -> int:
        return len(self._table)

    @property
    def fingerprint(self) -> str:
        """Digest of the name, the factors of all images and the first 16 images; other images are not read."""
        digest = hashlib.blake2b(repr((self.name, self.image_shape, self.described_factors)).encode(), digest_size=16)
        digest.update(self._table.tobytes())
        digest.update(self.images(range(min(16, len(self)))).tobytes())
        return digest.hexdigest()

    def _factors(self, indices: Indices) -> FloatArray:
        return self._table[indices]

    @abstractmethod
    def _images(self, indices: Indices) -> Images:
        """Images with valid indices."""
