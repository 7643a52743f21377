"""Output of an encoder as named arrays: the mean, the spread if there is one, and categorical codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unweave.encoding.encoded import EncodingError
from unweave.evidence import Posterior
from unweave.evidence.reading.columns import plain
from unweave.files.tables_and_arrays import CATEGORY

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
            raise EncodingError(f"A spread of {spread!r} is not known: use std or log_variance.")
        self.spread = spread
        self._shapes: dict[str, tuple[int, ...]] = {}

    def arrays(self, output: Any, n_images: int) -> dict[str, NDArray[np.float32]]:
        """Named arrays of a batch; raises an error unless they are finite, with a row per image and constant widths."""
        found = {name: self._number_table(name, part, n_images) for name, part in self._parts(output).items()}
        if "codes_std" in found:
            found["codes_std"] = self._std(found["codes_std"], found["codes"])
        shapes = {name: array.shape[1:] for name, array in found.items()}
        self._shapes = self._shapes or shapes
        if shapes != self._shapes:
            raise EncodingError(
                f"The encoder returned {_described(shapes)} for one batch and {_described(self._shapes)} for another: "
                "let it return the same shapes for all batches."
            )
        return found

    def _parts(self, output: Any) -> dict[str, Any]:
        if isinstance(output, Posterior):
            tables = {CATEGORY + name: table for name, table in output.categories.items()}
            self.spread = "std"
            return {"codes": output.mean, "codes_std": output.std, **tables}
        if isinstance(output, Mapping):
            return self._named_parts(output)
        if isinstance(output, (tuple, list)) and not _is_table(output):
            if not 1 <= len(output) <= 3:
                raise EncodingError(
                    f"The encoder returned {len(output)} values: let it return the mean, the mean and the std or "
                    "log-variance, or these and the categorical codes."
                )
            mean, *rest = output
            parts = {"codes": mean} | ({"codes_std": rest[0]} if rest and rest[0] is not None else {})
            return parts | (_categories(rest[1]) if len(rest) == 2 else {})
        return {"codes": output}

    def _named_parts(self, output: Mapping[str, Any]) -> dict[str, Any]:
        if "mean" not in output:
            raise EncodingError(f"The encoder returned {', '.join(map(repr, output))}: let it return 'mean' as well.")
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
            raise EncodingError(
                f"The encoder returned {type(given).__name__} as {what}: let it return numbers."
            ) from None
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2 or len(table) != n_images:
            raise EncodingError(
                f"The encoder returned {what} of shape {table.shape} for {n_images} images: return one row per image."
            )
        bad = ~np.isfinite(table)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise EncodingError(
                f"The encoder returned {table[row, column]} as {what}, in row {row} and column {column} of a batch: "
                "codes have to be finite."
            )
        if name.startswith(CATEGORY) and ((table < 0).any() or (np.abs(table.sum(axis=1) - 1) > TO_ONE).any()):
            raise EncodingError(f"The rows of {what} are not probabilities: let the encoder apply its softmax.")
        return table

    def _std(self, spread: NDArray[np.float32], mean: NDArray[np.float32]) -> NDArray[np.float32]:
        if spread.shape != mean.shape:
            raise EncodingError(
                f"The encoder returned means {mean.shape} and spreads {spread.shape}: return one spread for each mean."
            )
        if self.spread is None:
            self.spread = "log_variance" if (spread < 0).any() else "std"
        if self.spread == "log_variance":
            return np.exp(spread / 2)
        if (spread < 0).any():
            raise EncodingError(
                "The encoder returned a negative standard deviation: use --spread log_variance if it is a log-variance."
            )
        return spread


def _is_table(output: Sequence[Any]) -> bool:
    """Whether a list is a table of numbers rather than several outputs."""
    return isinstance(output, list) and bool(output) and isinstance(output[0], (list, float, int))


def _categories(given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return {f"{CATEGORY}{name}": table for name, table in given.items()}
    tables = given if isinstance(given, (tuple, list)) else [given]
    return {f"{CATEGORY}category {number}": table for number, table in enumerate(tables)}


def _described(shapes: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name.removeprefix(CATEGORY)} of width {shape[0]}" for name, shape in shapes.items())
