"""Random encoders with the sizes and marginal distributions of the evidence.

- permutation: rows of codes are assigned to other samples (whole row groups if there are groups, circular shifts if
  rows are a series);
- matched: every column of the codes is shuffled separately, so that codes are also independent of each other;
- constant: the same code for every sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from unweave.arrays import FloatArray, Rows
from unweave.card import Card
from unweave.evidence import Evidence, Posterior
from unweave.evidence.samplers import Sampler, Unpaired
from unweave.evidence.splits import shuffled_rows
from unweave.findings import Finding
from unweave.randomness import random_stream
from unweave.trust.row_order import null_order

Kind = Literal["permutation", "matched", "constant"]


def why_no_floor(card: Card) -> Finding | None:
    """The reason why there is no random encoder for this metric, or None."""
    learned, truth = {"codes", "posterior"} & {*card.needs}, {"factors", "nuisances"} & {*card.needs}
    if card.chance != "no pairing" and learned and truth:
        return None
    looked_at = "a decoder" if "decoder" in card.needs else "codes"
    return Finding("no_pairing", metric=card.name, looks_at=looked_at)


def unknowing(evidence: Evidence, kind: Kind, seed: int, index: int) -> Evidence:
    """Evidence of a random encoder; the same seed and index give the same evidence.

    >>> evidence = Evidence([1, 2, 3, 4], [5, 6, 7, 8])
    >>> sorted(unknowing(evidence, "matched", seed=0, index=0).codes[:, 0].tolist())
    [5.0, 6.0, 7.0, 8.0]
    """
    rng = random_stream(seed, "null draws", index)
    if kind == "permutation":
        return evidence.permuted(rng, null_order(evidence, rng))
    if kind == "matched":
        orders = [shuffled_rows(evidence.n_rows, evidence.row_groups, rng) for _ in range(evidence.n_codes)]
        apart = evidence.sampler and ShuffledColumns(Unpaired(evidence.sampler, int(rng.integers(2**31))))
        return evidence.recoded(_shuffled(evidence, orders), apart)
    if kind == "constant":
        codes = np.broadcast_to(evidence.codes.mean(axis=0), evidence.codes.shape)
        still = evidence.sampler and ConstantCodes(evidence.sampler, tuple(codes[0].tolist()))
        return evidence.recoded(codes if evidence.posterior is None else _prior(evidence.posterior), still)
    raise ValueError(f"kind={kind!r} is not known: use 'permutation', 'matched' or 'constant'.")


def _shuffled(evidence: Evidence, orders: list[Rows]) -> FloatArray | Posterior:
    posterior = evidence.posterior
    if posterior is None:
        return np.column_stack([evidence.codes[order, i] for i, order in enumerate(orders)])
    n = posterior.n_gaussian
    return Posterior(
        np.column_stack([posterior.mean[order, i] for i, order in enumerate(orders[:n])]) if n else None,
        np.column_stack([posterior.std[order, i] for i, order in enumerate(orders[:n])]) if n else None,
        categories={
            name: table[order] for (name, table), order in zip(posterior.categories.items(), orders[n:], strict=True)
        },
        names=posterior.names[:n] if n else None,
    )


def _prior(posterior: Posterior) -> Posterior:
    """The same posterior for every sample, with the mean and standard deviation of the aggregated posterior."""
    n = posterior.n_gaussian
    spread = np.sqrt(np.square(posterior.std).mean(axis=0) + posterior.mean.var(axis=0)) if n else None
    return Posterior(
        np.broadcast_to(posterior.mean.mean(axis=0), posterior.mean.shape) if n else None,
        np.broadcast_to(spread, posterior.mean.shape) if spread is not None else None,
        categories={
            name: np.broadcast_to(table.mean(axis=0), table.shape) for name, table in posterior.categories.items()
        },
        names=posterior.names[:n] if n else None,
    )


@dataclass(frozen=True)
class ShuffledColumns:
    """A sampler that shuffles every column of the codes of another sampler separately."""

    sampler: Sampler

    def __call__(self, fixed: Mapping[str, float], n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Return factors and codes of ``n_rows`` rows."""
        factors, codes = self.sampler(fixed, n_rows, rng)
        return factors, rng.permuted(np.asarray(codes), axis=0)


@dataclass(frozen=True)
class ConstantCodes:
    """A sampler with the factors of another sampler and the same codes in every row."""

    sampler: Sampler
    codes: tuple[float, ...]

    def __call__(self, fixed: Mapping[str, float], n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Return factors and codes of ``n_rows`` rows."""
        factors, _ = self.sampler(fixed, n_rows, rng)
        return factors, np.tile(self.codes, (n_rows, 1))
