"""The distribution q(z | x) that a stochastic encoder returns for every sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.errors import InputError
from unweave.estimators.posteriors import CodeCorrelations, code_correlations
from unweave.evidence.columns import (
    Table,
    common_index,
    gathered,
    probability_table,
    quoted,
    read_numbers,
    refuse_repeated,
)
from unweave.options import checks_options
from unweave.sentences import printable

LARGEST_SPREAD = 1e150
Batches = Iterable[Any] | Callable[[], Iterable[Any]]


@checks_options
class Posterior:
    """Output of a stochastic encoder for every sample: Gaussian codes, categorical codes, or both.

    Pass it to `Evidence` or to a metric instead of the codes. Metrics that do not use posteriors use the means, and the
    most probable category of a categorical code. A deterministic encoder is the limit as std goes to 0.

    Parameters
    ----------
    mean : array-like, n x m
        Means of the Gaussian codes.
    std, log_variance : array-like, n x m
        Standard deviations or log-variances of codes that are independent given the sample; pass one of the two.
    covariance : array-like, n x m x m or m x m
        Covariance of codes that are not independent given the sample.
    categories : mapping of name to array-like, n x k
        Probabilities of the values of every categorical code (JointVAE has one); these codes follow the Gaussian ones.
    names : sequence of str, optional
        Names of the Gaussian codes.

    Examples
    --------
    >>> posterior = Posterior(mean=[[0.0, 1.0], [2.0, 3.0]], std=[[0.1, 1.0], [0.1, 1.0]])
    >>> posterior.mean.shape
    (2, 2)
    >>> Posterior([[0.0], [2.0]], [[1.0], [1.0]], categories={"shape": [[0.9, 0.1], [0.2, 0.8]]}).names
    ('code 0', 'shape')
    """

    trained_with: str = ""  # objective of an encoder that was trained here; without it nothing is advised on training

    def __init__(
        self,
        mean: object = None,
        std: object = None,
        *,
        log_variance: object = None,
        covariance: object = None,
        categories: Mapping[str, object] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        spreads = [spread for spread in (std, log_variance, covariance) if spread is not None]
        if mean is None and spreads:
            raise InputError("The posterior has a spread but no mean: pass its mean as well.")
        if mean is None and not categories:
            raise InputError("The posterior is empty: pass mean and std, or categories.")
        if mean is not None and len(spreads) != 1:
            raise InputError(
                "A posterior needs exactly one spread: pass std, log_variance or covariance together with the mean."
            )
        self.categories: dict[str, FloatArray] = {
            printable(name): probability_table(table, f"Categorical code {quoted(name)}")
            for name, table in (categories or {}).items()
        }
        gaussian = None if mean is None else read_numbers(mean, "code", names)
        n_rows = next(iter(self.categories.values())).shape[0] if gaussian is None else gaussian.values.shape[0]
        self.mean: FloatArray = np.empty((n_rows, 0)) if gaussian is None else gaussian.values
        self.covariance: FloatArray | None = None
        self.spread: Table | None = None
        if gaussian is not None and covariance is not None:
            self.covariance = _checked_covariance(covariance, self.mean.shape)
            std = np.sqrt(np.diagonal(self.covariance, axis1=1, axis2=2))
        if gaussian is not None:
            self.spread = _checked_spread(std, log_variance, gaussian)
        self.table: Table = _point_table(gaussian, self.categories)
        self._seal()

    def __repr__(self) -> str:
        kinds = f", {len(self.categories)} categorical" * bool(self.categories)
        return f"Posterior({self.table.values.shape[0]} rows, {len(self.table.names)} codes{kinds})"

    def _seal(self) -> None:
        for array in (self.mean, self.std, self.table.values):
            array.flags.writeable = False

    @classmethod
    def from_batches(cls, batches: Batches, *, names: Sequence[str] | None = None, on_disk: bool = False) -> Self:
        """Posterior from an iterable of (mean, std) batches, or from a function that returns one.

        Parameters
        ----------
        batches : iterable of pairs, or function without arguments
            Every pair has the means and the standard deviations of some rows, in the order of the factors.
        names : sequence of str, optional
            Names of the codes.
        on_disk : bool
            Store the posterior in a temporary file, which estimators read in blocks of rows, for posteriors that do not
            fit in memory.

        Examples
        --------
        >>> batches = (([[float(k), 0.0]], [[0.1, 1.0]]) for k in range(3))
        >>> Posterior.from_batches(batches).mean[:, 0].tolist()
        [0.0, 1.0, 2.0]
        """
        mean, std = gathered(batches, on_disk)
        stated = tuple(f"code {i}" for i in range(mean.shape[1])) if names is None else tuple(map(printable, names))
        if len(stated) != mean.shape[1]:
            raise InputError(f"There are {len(stated)} code names for {mean.shape[1]} codes: give one for each.")
        return cls._of(mean, _positive(Table("std", std, stated, (None,) * len(stated))), None, {}, stated)

    @classmethod
    def _of(
        cls,
        mean: FloatArray,
        spread: Table | None,
        covariance: FloatArray | None,
        categories: dict[str, FloatArray],
        names: Sequence[str],
    ) -> Self:
        """Posterior from parts that have been checked."""
        posterior = cls.__new__(cls)
        posterior.mean, posterior.spread, posterior.covariance = mean, spread, covariance
        posterior.categories = categories
        gaussian = Table("code", mean, tuple(names[: mean.shape[1]]), (None,) * mean.shape[1]) if mean.size else None
        posterior.table = _point_table(gaussian, categories)
        posterior._seal()
        return posterior

    @property
    def std(self) -> FloatArray:
        """Standard deviation of every row and Gaussian code."""
        return np.empty_like(self.mean) if self.spread is None else self.spread.values

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all codes, the Gaussian ones first."""
        return self.table.names

    @property
    def n_gaussian(self) -> int:
        """Number of Gaussian codes."""
        return self.mean.shape[1]

    @property
    def spreads(self) -> tuple[FloatArray, ...]:
        """All parameters of the posterior except the means, for digests."""
        covariance = () if self.covariance is None else (self.covariance,)
        return (self.std, *covariance, *self.categories.values())

    @property
    def collapsed(self) -> tuple[str, ...]:
        """Names of codes whose q(z | x) is the same for every sample; they carry no information."""
        still = (np.ptp(self.mean, axis=0) == 0) & (np.ptp(self.std, axis=0) == 0)
        gaussian = [name for name, is_still in zip(self.names, still, strict=False) if is_still]
        return (*gaussian, *(name for name, table in self.categories.items() if (np.ptp(table, axis=0) == 0).all()))

    def correlations(self, seed: int = 0) -> CodeCorrelations:
        """Correlation matrices of the Gaussian codes: of their means and of draws from the posterior (001, A.5).

        Means of noisy codes can correlate although draws hardly do. A correlation of 0 does not imply independence.

        >>> means = np.repeat([[-0.1, -0.1], [0.1, 0.1]], 500, axis=0)
        >>> found = Posterior(means, np.ones_like(means)).correlations()
        >>> found.means[0, 1].round(2), found.expected[0, 1].round(2)
        (np.float64(1.0), np.float64(0.01))
        """
        return code_correlations(self.mean, self.std, self.covariance, seed)

    def rows(self, index: np.ndarray) -> Self:
        """The posterior of these rows alone."""
        return self._of(
            np.asfortranarray(self.mean[index]),
            None if self.spread is None else self.spread.rows(index),
            None if self.covariance is None else self.covariance[index],
            {name: table[index] for name, table in self.categories.items()},
            self.names,
        )

    def renamed(self, names: Sequence[str]) -> Self:
        """The same posterior with these names for its codes."""
        if len(names) != len(self.names):
            raise InputError(f"There are {len(names)} code names for {len(self.names)} codes: give one for each.")
        names = list(map(printable, names))
        refuse_repeated(names, "code")
        spread = None if self.spread is None else replace(self.spread, names=tuple(names[: self.n_gaussian]))
        categories = dict(zip(names[self.n_gaussian :], self.categories.values(), strict=True))
        return self._of(self.mean, spread, self.covariance, categories, names)


def _point_table(gaussian: Table | None, categories: Mapping[str, FloatArray]) -> Table:
    """Codes for metrics that do not use posteriors: means, followed by the most probable categories."""
    if gaussian is not None and not categories:
        return gaussian
    names = [*(gaussian.names if gaussian else ()), *categories]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"Two codes are called {quoted(twice)}: give every code a name of its own.")
    lengths = {name: table.shape[0] for name, table in categories.items()}
    n_rows = gaussian.values.shape[0] if gaussian else next(iter(lengths.values()))
    for name, length in lengths.items():
        if length != n_rows:
            raise InputError(
                f"Categorical code {quoted(name)} has {length} rows and the other codes have {n_rows}: "
                "pass the same samples in the same order."
            )
    points = [table.argmax(axis=1).astype(np.float64) for table in categories.values()]
    values = np.asfortranarray(np.column_stack([*(gaussian.values.T if gaussian else ()), *points]))
    return Table("code", values, tuple(names), (None,) * len(names), gaussian.index if gaussian else None)


def _checked_spread(std: object, log_variance: object, mean: Table) -> Table:
    spread = read_numbers(log_variance if std is None else std, "std")
    if mean.values.shape != spread.values.shape:
        raise InputError(
            f"The posterior's mean has shape {mean.values.shape} but its spread {spread.values.shape}: "
            "pass one spread for each mean."
        )
    common_index({"posterior's mean": mean.index, "posterior's spread": spread.index})
    with np.errstate(over="ignore"):  # `Evidence` raises an error that names the code with infinite values
        values = np.exp(spread.values / 2) if std is None else spread.values
    return _positive(replace(spread, values=values, names=mean.names))


def _positive(spread: Table) -> Table:
    below = np.flatnonzero((spread.values <= 0).any(axis=0))
    if below.size:
        raise InputError(
            f"The posterior's std of code {quoted(spread.names[below[0]])} is zero or negative in "
            f"{int((spread.values[:, below[0]] <= 0).sum())} rows: pass logarithms of variances as log_variance, "
            "or plain codes where the encoder is deterministic."
        )
    extreme = np.flatnonzero(_beyond(spread.values).any(axis=0))
    if extreme.size:
        raise InputError(
            f"The posterior's std of code {quoted(spread.names[extreme[0]])} is not between {1 / LARGEST_SPREAD:g} and "
            f"{LARGEST_SPREAD:g}, so its square overflows or underflows: state the codes in other units."
        )
    return spread


def _beyond(std: FloatArray) -> NDArray[np.bool_]:
    """Mask of finite numbers whose squares overflow or underflow; infinite ones are reported elsewhere."""
    return np.isfinite(std) & ((std > LARGEST_SPREAD) | (std < 1 / LARGEST_SPREAD))


def _checked_covariance(given: object, shape: tuple[int, ...]) -> FloatArray:
    try:
        covariance = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("The posterior's covariance is not made of numbers: pass an array.") from None
    n_rows, n_codes = shape
    if covariance.shape not in ((n_codes, n_codes), (n_rows, n_codes, n_codes)):
        raise InputError(
            f"The posterior's covariance has shape {covariance.shape}, but its mean has shape {shape}: "
            f"pass one {n_codes} x {n_codes} matrix for all rows, or one for each row."
        )
    matrices = covariance.reshape(-1, n_codes, n_codes)
    lopsided = (matrices - matrices.transpose(0, 2, 1)).max() > 1e-8 * matrices.max()
    if not np.isfinite(matrices).all() or lopsided or (np.linalg.eigvalsh(matrices)[:, 0] <= 0).any():
        raise InputError(
            "The posterior's covariance is not symmetric and positive definite in every row: "
            "pass covariances, and plain codes where the encoder is deterministic."
        )
    return np.broadcast_to(covariance, (n_rows, n_codes, n_codes))
