"""The distribution q(z | x) that a stochastic encoder gives for every sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np

from unweave.evidence.columns import EvidenceError, FloatArray
from unweave.evidence.tables import Table, common_index, read_numbers


class Posterior:
    """Diagonal Gaussian q(z | x): a mean and a standard deviation for every row and code.

    Pass it to `Evidence` or to a metric in the place of the codes. Metrics of points use the means.

    Parameters
    ----------
    mean, std : array-like, n x m
        What the encoder gives for every sample. ``log_variance`` may be given instead of ``std``.

    Examples
    --------
    >>> posterior = Posterior(mean=[[0.0, 1.0], [2.0, 3.0]], std=[[0.1, 1.0], [0.1, 1.0]])
    >>> posterior.mean.shape
    (2, 2)
    """

    def __init__(
        self,
        mean: object,
        std: object = None,
        *,
        log_variance: object = None,
        names: Sequence[str] | None = None,
    ) -> None:
        if (std is None) == (log_variance is None):
            raise EvidenceError("A posterior needs its spread once: pass either std or log_variance beside the mean.")
        self.table: Table = read_numbers(mean, "code", names)
        spread = read_numbers(log_variance if std is None else std, "std")
        if self.mean.shape != spread.values.shape:
            raise EvidenceError(
                f"The posterior's mean has shape {self.mean.shape} but its spread {spread.values.shape}: "
                "pass one spread for each mean."
            )
        common_index({"posterior's mean": self.table.index, "posterior's spread": spread.index})
        with np.errstate(over="ignore"):  # an infinity is refused by name when the evidence is built
            values = np.exp(spread.values / 2) if std is None else spread.values
        self.spread: Table = replace(spread, values=values, names=self.table.names)
        below = np.flatnonzero((self.std <= 0).any(axis=0))
        if below.size:
            raise EvidenceError(
                f"The posterior's std of code {self.table.names[below[0]]!r} is zero or negative in "
                f"{int((self.std[:, below[0]] <= 0).sum())} rows: pass logarithms of variances as log_variance, "
                "or plain codes where the encoder is deterministic."
            )
        for array in (self.mean, self.std):
            array.flags.writeable = False

    @property
    def mean(self) -> FloatArray:
        """Mean of every row and code."""
        return self.table.values

    @property
    def std(self) -> FloatArray:
        """Standard deviation of every row and code."""
        return self.spread.values

    def rows(self, index: np.ndarray) -> Self:
        """The posterior of these rows."""
        return type(self)(self.mean[index], self.std[index], names=self.table.names)

    def renamed(self, names: Sequence[str]) -> Self:
        """The same posterior with these names for its codes."""
        return type(self)(self.mean, self.std, names=names)
