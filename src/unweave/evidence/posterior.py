"""The distribution q(z | x) that a stochastic encoder gives for every sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from unweave.evidence.tables import EvidenceError, FloatArray, Table, read_table


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
        self.table: Table = read_table(mean, "code", names)
        spread = read_table(log_variance if std is None else std, "code", self.table.names)
        self.mean: FloatArray = self.table.values
        self.std: FloatArray = np.exp(spread.values / 2) if std is None else spread.values
        if self.mean.shape != self.std.shape:
            raise EvidenceError(
                f"The posterior's mean has shape {self.mean.shape} but its spread {self.std.shape}: "
                "pass one spread for each mean."
            )
        if not np.isfinite(self.std).all():
            raise EvidenceError("The posterior's std is missing or infinite in some rows: leave these rows out.")
        below = np.flatnonzero((self.std <= 0).any(axis=0))
        if below.size:
            raise EvidenceError(
                f"The posterior's std of code {self.table.names[below[0]]!r} is zero or negative in "
                f"{int((self.std[:, below[0]] <= 0).sum())} rows: pass standard deviations, not variances' logarithms, "
                "or plain codes where the encoder is deterministic."
            )

    def rows(self, index: np.ndarray) -> Self:
        """The posterior of these rows."""
        return type(self)(self.mean[index], self.std[index], names=self.table.names)
