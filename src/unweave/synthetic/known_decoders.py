"""Decoders whose entropies and total correlation are known: linear maps, the torus of 000, two moons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.options import Amount, Count, Whole, checks_options
from unweave.randomness import random_stream
from unweave.synthetic.worlds import world_stream

HALF_LOG_2PI_E = float(0.5 * (1 + np.log(2 * np.pi)))
ROWS_PER_BLOCK = 1000
N_NODES = 40  # of quadrature


@checks_options
@dataclass(frozen=True, eq=False)
class LinearDecoder:
    """x = A z + b: each latent has the same effect at all points.

    >>> LinearDecoder.principal_components(np.diag([1.0, 9.0])).true_entropies.round(3)
    array([2.518, 1.419])
    """

    matrix: FloatArray
    shift: FloatArray | float = 0.0

    @classmethod
    def principal_components(cls, covariance: FloatArray) -> LinearDecoder:
        """The decoder U Lambda^(1/2) of PCA: orthogonal columns, most important first (000, B.10)."""
        eigenvalues, vectors = np.linalg.eigh(covariance)
        return cls(vectors[:, ::-1] * np.sqrt(eigenvalues[::-1]))

    @property
    def latent_size(self) -> int:
        """Number of latents."""
        return self.matrix.shape[1]

    @property
    def true_entropies(self) -> FloatArray:
        """H(q_i) = (1 + log 2 pi)/2 + log |A_i|, which is B.24 of 000 with column norms in place of eigenvalues."""
        return HALF_LOG_2PI_E + np.log(np.linalg.norm(self.matrix, axis=0))

    def decode(self, latents: FloatArray) -> FloatArray:
        """Data for these latents."""
        return latents @ self.matrix.T + self.shift

    def encode(self, data: FloatArray) -> FloatArray:
        """Latents for these data, by least squares."""
        return (data - self.shift) @ np.linalg.pinv(self.matrix).T

    def jacobian_blocks(self, latents: FloatArray) -> Iterator[FloatArray]:
        """Yield blocks of Jacobians, which all equal the matrix A."""
        for start in range(0, len(latents), ROWS_PER_BLOCK):
            rows = len(latents[start : start + ROWS_PER_BLOCK])
            yield np.broadcast_to(self.matrix, (rows, *self.matrix.shape)).copy()


@checks_options
@dataclass(frozen=True)
class Torus:
    """The 10-dimensional torus in 20 dimensions of 000 (eq. 12-16): ten angles, then ten radii, randomly rotated.

    The standard deviations of the angles decrease from .44 to .098, and those of the radii (with mean 1) from .05 to
    .011. Therefore every latent has a different importance, and all latents change the data in orthogonal directions.

    >>> torus = Torus()
    >>> latents = np.random.default_rng(0).normal(size=(5, 20))
    >>> bool(np.allclose(torus.encode(torus.decode(latents)), latents))
    True
    """

    n_circles: Count = 10
    rotation_seed: Whole = 0

    @property
    def latent_size(self) -> int:
        """Number of latents, two for each circle."""
        return 2 * self.n_circles

    @property
    def deviations(self) -> FloatArray:
        """Standard deviations of the angles, followed by those of the radii (eq. 15, 16)."""
        decay = np.exp(-np.linspace(0.0, 1.5, self.n_circles))
        return np.concatenate([0.07 * 2 * np.pi * decay, 0.05 * decay])

    @property
    def rotation(self) -> FloatArray:
        """The fixed orthogonal matrix that rotates the data."""
        rng = random_stream(self.rotation_seed, "rotation of the torus")
        return np.linalg.qr(rng.normal(size=(self.latent_size, self.latent_size)))[0]

    @property
    def true_entropies(self) -> FloatArray:
        """H(q_i) = (1 + log 2 pi)/2 + log sigma_i for radii, and additionally + E log r for angles.

        D.26 has an additional log 10. This is an error: because of its deltas, the sum over i in D.19 has one nonzero
        term and not ten.
        """
        radii = _mean_log_radius(self.deviations[self.n_circles :])
        return HALF_LOG_2PI_E + np.log(self.deviations) + np.concatenate([radii, np.zeros(self.n_circles)])

    def sample(self, n_rows: int, rng: int | np.random.Generator = 0) -> FloatArray:
        """Random data, n x 20 by default, without added noise."""
        return self.decode(world_stream(rng, n_rows).standard_normal((n_rows, self.latent_size)))

    def decode(self, latents: FloatArray) -> FloatArray:
        """Data for these latents."""
        angles, radii = self._polar(latents)
        flat = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=2).reshape(len(latents), -1)
        return flat @ self.rotation.T

    def encode(self, data: FloatArray) -> FloatArray:
        """Latents for these data."""
        circles = (data @ self.rotation).reshape(len(data), self.n_circles, 2)
        angles = np.arctan2(circles[..., 1], circles[..., 0])
        return np.concatenate([angles, np.linalg.norm(circles, axis=2) - 1], axis=1) / self.deviations

    def jacobian_blocks(self, latents: FloatArray) -> Iterator[FloatArray]:
        """Yield blocks of Jacobians (D.16, D.17), multiplied by the rotation."""
        circle = np.arange(self.n_circles)
        for start in range(0, len(latents), ROWS_PER_BLOCK):
            angles, radii = self._polar(latents[start : start + ROWS_PER_BLOCK])
            block = np.zeros((len(angles), self.latent_size, self.latent_size))
            block[:, 2 * circle, circle] = -radii * np.sin(angles)
            block[:, 2 * circle + 1, circle] = radii * np.cos(angles)
            block[:, 2 * circle, self.n_circles + circle] = np.cos(angles)
            block[:, 2 * circle + 1, self.n_circles + circle] = np.sin(angles)
            yield self.rotation @ (block * self.deviations)

    def _polar(self, latents: FloatArray) -> tuple[FloatArray, FloatArray]:
        scaled = latents * self.deviations
        return scaled[:, : self.n_circles], 1 + scaled[:, self.n_circles :]


@checks_options
@dataclass(frozen=True)
class TwoMoons:
    """Two half circles of radius 1; one latent moves along the moons, the other across them, orthogonally everywhere.

    ``sample`` draws training data for flows, with noise in both directions. The decoder has noise across the moons
    only, so that its entropies are known.

    >>> moons = TwoMoons()
    >>> moons.true_entropies.round(3)
    array([ 1.833, -0.884])
    """

    noise: Amount = 0.1

    @property
    def latent_size(self) -> int:
        """Number of latents: one along the moons and one across them."""
        return 2

    @property
    def true_entropies(self) -> FloatArray:
        """Entropies along the moons, log 2 pi (their length) + E log r, and across them, that of the noise."""
        return np.array([np.log(2 * np.pi) + _mean_log_radius(self.noise), HALF_LOG_2PI_E + np.log(self.noise)])

    def sample(self, n_rows: int, rng: int | np.random.Generator = 0) -> FloatArray:
        """Data like those of scikit-learn's ``make_moons``: points on the moons plus noise in both directions."""
        generator = world_stream(rng, n_rows)
        angle, lower = generator.uniform(0, np.pi, n_rows), generator.random(n_rows) < 0.5
        upper = np.column_stack([np.cos(angle), np.sin(angle)])
        points = np.where(lower[:, None], [1.0, 0.5] - upper, upper)
        return points + self.noise * generator.standard_normal((n_rows, 2))

    def decode(self, latents: FloatArray) -> FloatArray:
        """Data for these latents; a negative first latent is on the upper moon."""
        lower, along, radius, _ = self._parts(latents)
        return np.where(lower[:, None], [1.0, 0.5] - along * radius, along * radius)

    def jacobian_blocks(self, latents: FloatArray) -> Iterator[FloatArray]:
        """Yield the Jacobians, which are undefined only where one moon ends and the other begins."""
        lower, along, radius, speed = self._parts(latents)
        turned = np.column_stack([-along[:, 1], along[:, 0]])
        columns = np.stack([turned * radius * speed, self.noise * along], axis=2)
        yield np.where(lower[:, None, None], -columns, columns)

    def _parts(self, latents: FloatArray) -> tuple[NDArray[np.bool_], FloatArray, FloatArray, FloatArray]:
        from scipy.stats import norm

        position = 2 * norm.cdf(latents[:, 0])
        angle = np.pi * (position % 1)
        along = np.column_stack([np.cos(angle), np.sin(angle)])
        radius = 1 + self.noise * latents[:, 1:]
        return position >= 1, along, radius, 2 * np.pi * norm.pdf(latents[:, :1])


def _mean_log_radius(deviation: FloatArray | float) -> FloatArray:
    """E log |r| of a Gaussian radius r with mean 1 and this standard deviation."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(N_NODES)
    return np.log(np.abs(1 + np.multiply.outer(deviation, nodes))) @ weights / weights.sum()
