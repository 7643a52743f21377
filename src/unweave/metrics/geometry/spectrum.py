"""The entropy spectrum of a decoder: how important each latent is, and how many latents are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray
from unweave.card import Count
from unweave.estimators.geometry import gram
from unweave.estimators.geometry.gram import HALF_LOG_2PI_E
from unweave.estimators.geometry.priors import Prior, StandardNormal
from unweave.evidence import Decoder, Evidence, EvidenceError
from unweave.metrics.geometry.manifolds import Sampling, entropies, geometry, latent_names, log_volumes


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Manifold entropies of a decoder's latents in nats, in the order of the latents, and derived quantities.

    ``order`` lists the latents from the most to the least important. ``cumulative`` is the joint entropy H(q_S) of the
    first 1, 2, ... latents in that order; it counts shared information once. ``tangents`` (D x d) is the mean Jacobian,
    whose columns show how each latent changes the data (000, E.2).
    """

    names: tuple[str, ...]
    entropies: FloatArray
    standard_errors: FloatArray
    cumulative: FloatArray
    total_correlation: float
    tangents: FloatArray

    @property
    def order(self) -> list[int]:
        """Indices of the latents by decreasing entropy."""
        return [int(i) for i in np.argsort(-self.entropies, kind="stable")]

    @property
    def sorted_entropies(self) -> FloatArray:
        """Entropies in decreasing order."""
        return self.entropies[self.order]

    def n_for(self, nats: float) -> int:
        """Number of most important latents whose joint entropy reaches ``nats``: a bottleneck size (000, section 8).

        >>> spectrum(np.diag([1.0, 4.0, 0.1])).n_for(4.0)
        2
        """
        enough = np.flatnonzero(self.cumulative >= nats)
        if not enough.size:
            raise EvidenceError(
                f"No bottleneck keeps {nats:g} nats: the first {int(self.cumulative.argmax()) + 1} latents keep the "
                f"most, {self.cumulative.max():.4g} nats, so use a smaller number."
            )
        return int(enough[0]) + 1

    def n_above(self, nats: float) -> int:
        """Number of latents with an entropy above ``nats``, for example above the entropy of the noise in the data."""
        return int((self.entropies > nats).sum())

    @property
    def effective_dimension(self) -> float:
        """Effective number of latents, from 1 to d: exp of the entropy of their shares of the variance exp(2 H).

        >>> round(spectrum(np.eye(3)).effective_dimension, 6)
        3.0
        """
        variances = np.exp(2 * (self.entropies - self.entropies.max()))
        shares = variances[variances > 0] / variances.sum()
        return float(np.exp(-(shares * np.log(shares)).sum()))

    @property
    def knee(self) -> tuple[int, float]:
        """Number of sorted latents before the largest drop in entropy, and the drop in nats; (1, nan) if d is 1."""
        falls = -np.diff(self.sorted_entropies)
        return (int(falls.argmax()) + 1, float(falls.max())) if falls.size else (1, np.nan)


def spectrum(
    decoder: object,
    *,
    prior: Prior = StandardNormal(),  # noqa: B008 - a frozen value
    n_samples: Count = 1000,
    rng: int = 0,
) -> Spectrum:
    """Entropy spectrum of a decoder, given as an `Evidence`, an array of Jacobians, a torch module or a `Decoder`.

    Examples
    --------
    >>> found = spectrum(np.diag([1.0, 4.0, 0.1]))
    >>> found.order, found.knee[0]
    ([1, 0, 2], 2)
    """
    evidence = decoder if isinstance(decoder, Evidence) else Evidence(decoder=decoder)
    sampling = Sampling(prior, n_samples, rng)
    found = geometry(evidence, sampling)
    single = entropies(found)
    order = [int(i) for i in np.argsort(-single.value, kind="stable")]
    return Spectrum(
        names=latent_names(evidence),
        entropies=single.value,
        standard_errors=single.standard_error,
        cumulative=_cumulative(evidence, sampling, order),
        total_correlation=float(-found.log_directions[found.resolved].mean()),
        tangents=found.tangents,
    )


def traversals(
    decoder: object, dimensions: Sequence[int], values: Sequence[float] = (-2.0, -1.0, 0.0, 1.0, 2.0)
) -> FloatArray:
    """Decoded data (latents x values x D) when one latent takes the given values and all other latents are 0.

    >>> from unweave.synthetic.known_decoders import LinearDecoder
    >>> traversals(LinearDecoder(np.eye(2)), [1], [-1.0, 1.0])[0].tolist()
    [[0.0, -1.0], [0.0, 1.0]]
    """
    found = decodable(decoder)
    latents = np.zeros((len(dimensions), len(values), found.latent_size))
    for row, i in enumerate(dimensions):
        latents[row, :, i] = values
    decoded = found.decode(latents.reshape(-1, found.latent_size))  # type: ignore[attr-defined]
    return np.asarray(decoded, dtype=np.float64).reshape(len(dimensions), len(values), -1)


def decodable(decoder: object) -> Decoder:
    """Return the decoder, or that of an Evidence; raise EvidenceError if it is only an array of Jacobians."""
    evidence = decoder if isinstance(decoder, Evidence) else Evidence(decoder=decoder)
    if evidence.decoder is None or not hasattr(evidence.decoder, "decode"):
        raise EvidenceError("Jacobians alone cannot decode latents: pass the decoder itself.")
    return evidence.decoder


def _cumulative(evidence: Evidence, sampling: Sampling, order: list[int]) -> FloatArray:
    """H(q_S) of the first 1, 2, ... latents in this order, up to the number of outputs (A.23)."""
    found = geometry(evidence, sampling)
    n_sets = min(found.n_latents, found.n_outputs)
    sizes = HALF_LOG_2PI_E * np.arange(1, n_sets + 1)
    if found.cosines is None or np.isnan(found.cosines).any():
        sets = tuple(tuple(order[: k + 1]) for k in range(n_sets))
        return sizes + log_volumes(evidence, sampling, sets).mean(axis=0)
    lengths = np.cumsum(found.log_lengths[found.resolved][:, order], axis=1)[:, :n_sets]
    directions = gram.nested_log_volumes(found.cosines[found.resolved], order)
    # Near the limit of precision the result depends on the order of the columns. The cosines of a subset never have a
    # smaller determinant than those of all columns, and the last value must agree with `total_entropy`.
    directions = np.maximum(directions, found.log_directions[found.resolved][:, None])
    directions[:, -1] = found.log_directions[found.resolved]
    return sizes + (lengths + directions[:, :n_sets]).mean(axis=0)
