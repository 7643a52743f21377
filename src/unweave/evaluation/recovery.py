"""`recovery`: the two matrices of causal papers, R2 and rank correlation of factors and their held-out readouts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np
from scipy.stats import rankdata

from unweave.arrays import FloatArray
from unweave.card import seed_from
from unweave.codec import plain_data
from unweave.errors import InputError
from unweave.estimators.correlation import best_matching
from unweave.estimators.linear_probes import Linear
from unweave.estimators.probes import Probe
from unweave.estimators.protocols import own_or_default
from unweave.evidence import Evidence, EvidenceOptions
from unweave.evidence.columns import data_frame
from unweave.evidence.inputs import with_option_signature
from unweave.metrics.matrices import target_columns, unit_targets, varying, varying_units
from unweave.metrics.prediction import near_training_targets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Recovery:
    """How well every code, or block of codes, predicts every factor, or block of factors; print it for two tables.

    Attributes
    ----------
    codes, factors : tuple of str
        Names of the rows and columns of both matrices.
    r2 : array, codes x factors
        Held-out R2. Affine maps of a block of factors change it by less than .001.
    spearman : array, codes x factors
        Rank correlation of held-out predictions with the factor, averaged over the columns of a block and over folds;
        nan for categorical factors.
    matched : dict of factor to code
        The one-to-one matching with the largest sum of R2; a factor without a code is missing.

    Examples
    --------
    >>> factors = np.random.default_rng(0).normal(size=(100, 2))
    >>> recovery(factors, factors[:, ::-1]).matched
    {'factor 0': 'code 1', 'factor 1': 'code 0'}
    """

    codes: tuple[str, ...]
    factors: tuple[str, ...]
    r2: FloatArray
    spearman: FloatArray
    matched: dict[str, str]

    def diagonal(self, of: Literal["r2", "spearman"] = "r2") -> float:
        """Mean over factors of the entry of the matched code; 0 for a factor without a code."""
        matrix, pairs = self._of(of)
        return float(np.nansum(matrix[pairs]) / np.isfinite(matrix).any(axis=0).sum())

    def off_diagonal(self, of: Literal["r2", "spearman"] = "r2") -> tuple[float, float]:
        """Largest entry outside the matching, and the mean over codes of the largest; nan if there is none."""
        matrix, pairs = self._of(of)
        others = matrix.copy()
        others[pairs] = np.nan
        some = others[np.isfinite(others).any(axis=1)]
        if not some.size:
            return float("nan"), float("nan")
        largest = np.nanmax(some, axis=1)
        return float(largest.max()), float(largest.mean())

    def _of(self, of: str) -> tuple[FloatArray, tuple[list[int], list[int]]]:
        if of not in ("r2", "spearman"):
            raise InputError(f"{of!r} is not a matrix of a Recovery: use 'r2' or 'spearman'.")
        places = [(self.codes.index(code), self.factors.index(factor)) for factor, code in self.matched.items()]
        return getattr(self, of), ([i for i, _ in places], [j for _, j in places])

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; nan becomes null."""
        return {"schema": "unweave.recovery/1", **plain_data(self)}

    def to_frame(self, backend: str | None = None) -> Any:
        """A row for each pair of code and factor (see `Evaluation.to_frame`)."""
        pairs = [(code, factor) for code in self.codes for factor in self.factors]
        columns = {"code": [code for code, _ in pairs], "factor": [factor for _, factor in pairs]}
        numbers = {"r2": self.r2.ravel().tolist(), "spearman": self.spearman.ravel().tolist()}
        is_matched = [self.matched.get(factor) == code for code, factor in pairs]
        return data_frame({**columns, **numbers, "matched": is_matched}, backend)

    def plot(self, of: Literal["r2", "spearman"] = "r2") -> Figure:
        """Heat map of one matrix, as a matplotlib figure."""
        from unweave.report.figures.codes import matrix_figure  # late: report is above

        return matrix_figure(self._of(of)[0], self.codes, self.factors, f"held-out {of}")

    def __repr__(self) -> str:
        shape, largest = f"{len(self.codes)} x {len(self.factors)}", self.off_diagonal()[0]
        return f"Recovery({shape}; r2 diagonal {self.diagonal():.2f}, largest other {largest:.2f})"

    def __str__(self) -> str:
        wide = max(map(len, self.codes))
        lines = []
        for name, title in (("r2", "R2, held out"), ("spearman", "Spearman correlation, held out")):
            matrix, (largest, mean) = self._of(name)[0], self.off_diagonal(name)  # type: ignore[arg-type]
            lines += [title, " " * wide + "".join(f"  {factor:>8}" for factor in self.factors)]
            for code, row in zip(self.codes, matrix, strict=True):
                marks = ["*" if self.matched.get(factor) == code else " " for factor in self.factors]
                cells = zip(self.factors, row, marks, strict=True)
                lines.append(
                    f"{code:{wide}}" + "".join(f"  {round(v, 2) + 0.0:{max(len(f), 8) - 1}.2f}{m}" for f, v, m in cells)
                )
            lines += [f"diagonal (*) {self.diagonal(name):.2f}, largest other {largest:.2f}, mean {mean:.2f}", ""]  # type: ignore[arg-type]
        return "\n".join(lines[:-1])


@with_option_signature
def recovery(
    factors: object,
    codes: object = None,
    *,
    probe: Probe = Linear(),  # noqa: B008 - a frozen value
    rng: int | np.random.Generator | None = 0,
    **options: Unpack[EvidenceOptions],
) -> Recovery:
    """R2 and rank correlation of every factor with its held-out readout from every code, as causal papers print them.

    Codes that were assigned to one causal variable are a block, and so are the factors of one variable, such as the
    channels of a colour. A disentangled representation has 1 on the diagonal, and elsewhere what the factors share.

    Parameters
    ----------
    factors : table or Evidence
        The true factors (n x d), as `Evidence` takes them, or an Evidence with factors and codes.
    codes : table or blocks
        The representation (n x m), or blocks of codes: n x blocks x dim, a list or a mapping of tables.
    probe : Probe
        Predicts a factor from one code or block; linear by default, so that bases of blocks do not matter.
    rng : int, Generator or None
        Seed of the five folds and of the probe.
    **options
        Options of `Evidence`, such as ``code_groups``, ``factor_groups``, ``kinds`` and ``row_groups``.

    Returns
    -------
    Recovery

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> colour, size = rng.normal(size=(500, 3)), rng.normal(size=(500, 1))
    >>> noise = rng.normal(size=(500, 1))
    >>> blocks = {"a": size * [1.0, 2.0] + noise * [1.0, -1.0], "b": colour @ rng.normal(size=(3, 3))}
    >>> found = recovery(np.hstack([colour, size]), blocks, factor_groups={"colour": [0, 1, 2]})
    >>> found.matched, round(found.diagonal(), 2), bool(found.off_diagonal()[0] < 0.05)
    ({'colour': 'b', 'factor 3': 'a'}, 1.0, True)
    """
    if not isinstance(factors, Evidence):
        evidence = Evidence(factors, codes, **options)
    elif codes is not None or options:
        raise InputError("An Evidence has its codes and options already: pass it alone.")
    else:
        evidence = factors
    if not evidence.n_codes or not varying_units(evidence).any():
        raise InputError("Recovery needs codes and a factor that varies: pass both.")
    seed, names = seed_from(rng), tuple(evidence.factor_units)
    bases, free = unit_targets(evidence), np.flatnonzero(varying_units(evidence))
    given = [target_columns(evidence, j) for j in range(evidence.n_factors)]
    n_of_bases, table = sum(basis.shape[1] for basis in bases), np.hstack([*bases, *given])
    ranked = np.cumsum([n_of_bases, *(columns.shape[1] for columns in given)])
    folds = evidence.folds(N_FOLDS, seed)
    r2, spearman = np.full((2, len(evidence.code_units), len(names)), np.nan)
    for i, members in enumerate(evidence.code_units.values()):
        block, errors = evidence.codes[:, members], np.zeros((2, n_of_bases))
        by_rank = np.zeros(table.shape[1])
        for train, test in folds:
            seen, wanted = block[train], table[train]
            fitted = own_or_default(Probe.prepared, probe)(seen).fit(seen, wanted, seed)
            predicted = near_training_targets(wanted, fitted.predict(block[test]), partial(fitted.predict, seen))
            left, plain = table[test] - predicted, table[test] - wanted.mean(axis=0)
            errors += [np.square(each[:, :n_of_bases]).sum(axis=0) for each in (left, plain)]
            by_rank += _rank_correlations(table[test], predicted) / len(folds)  # pooled folds would be biased
        starts = np.cumsum([0, *(basis.shape[1] for basis in bases[:-1])])
        r2[i, free] = 1 - np.divide(*np.add.reduceat(errors, starts, axis=1))
        for j, own in enumerate(evidence.factor_units.values()):
            own = own[varying(evidence)[own]]
            if own.size and not any(evidence.kinds[k].is_categorical for k in own):
                spearman[i, j] = np.mean(np.concatenate([by_rank[ranked[k] : ranked[k + 1]] for k in own]))
    units = tuple(evidence.code_units)
    rows, columns = best_matching(r2[:, free])
    matched = {names[free[j]]: units[i] for i, j in sorted(zip(rows, columns, strict=True), key=lambda pair: pair[1])}
    return Recovery(units, names, r2, spearman, matched)


def _rank_correlations(x: FloatArray, y: FloatArray) -> FloatArray:
    """Rank correlation of every column of two tables; 0 where one is constant."""
    x, y = (rankdata(each, axis=0) - (len(each) + 1) / 2 for each in (x, y))
    scale = np.sqrt(np.square(x).sum(axis=0) * np.square(y).sum(axis=0))
    return np.divide((x * y).sum(axis=0), scale, out=np.zeros_like(scale), where=scale > 0)
