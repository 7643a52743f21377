"""Attacks: entangle a posterior by a known amount without changing its total information (002, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from unweave.arrays import FloatArray
from unweave.errors import InputError
from unweave.evidence import Posterior
from unweave.options import Finite, Width, checks_options

Mixing = Literal["reflection", "identity"]
ORTHONORMAL = 1e-8


@checks_options
def reflection(n_codes: Width) -> FloatArray:
    """I - 2/L 11', an orthonormal matrix that mixes every code with all others (002, section 4.1).

    >>> matrix = reflection(3)
    >>> bool(np.allclose(matrix @ matrix.T, np.eye(3)))
    True
    """
    return np.eye(n_codes) - 2 / n_codes


@dataclass(frozen=True)
class _LinearAttack:
    """Base class: the codes and as many standard normal variables, transformed by a matrix of four blocks."""

    alpha: Finite = 1.0
    mixing: Mixing | tuple[tuple[Finite, ...], ...] = "reflection"

    equivalence = "none"
    changes_codes: ClassVar[bool]  # whether noise is added to the codes, or the codes to the noise

    def attack(self, posterior: Posterior) -> Posterior:
        """The attacked posterior, which is Gaussian with full covariances."""
        if posterior.categories:
            raise InputError(
                "Attacks are not defined for categorical codes: pass a posterior with Gaussian codes only."
            )
        n = posterior.n_gaussian
        transform = np.eye(2 * n)
        scaled = self.alpha * mixing_matrix(self.mixing, n)
        if self.changes_codes:
            transform[:n, n:] = scaled
        else:
            transform[n:, :n] = scaled
        return _transformed_posterior(posterior, transform)


@checks_options
@dataclass(frozen=True)
class Redundancy(_LinearAttack):
    """Doubles the number of codes by noisy mixtures of the original ones: (z, alpha U z + noise) (002, Eq 9).

    The original codes do not change, so that metrics of single codes or pairs of codes hardly react. If alpha is large,
    the new codes together carry almost all the information of the original ones.

    >>> attacked = Redundancy(alpha=2.0).attack(Posterior([[1.0, 0.0]], [[0.1, 0.1]]))
    >>> attacked.mean.tolist()
    [[1.0, 0.0, 0.0, -2.0]]
    """

    changes_codes = False


@checks_options
@dataclass(frozen=True)
class Synergy(_LinearAttack):
    """Adds noise to the codes, and the noise itself as further codes: (z + alpha U noise, noise) (002, Eq 10).

    If alpha is large, no code carries much information alone; all codes together carry as much as before.

    >>> attacked = Synergy(alpha=2.0).attack(Posterior([[1.0, 0.0]], [[0.1, 0.1]]))
    >>> attacked.mean.tolist()
    [[1.0, 0.0, 0.0, 0.0]]
    """

    changes_codes = True


@checks_options
def mixing_matrix(mixing: Mixing | tuple[tuple[float, ...], ...], n_codes: Width) -> FloatArray:
    """The orthonormal matrix U of an attack, by name or as rows of numbers.

    >>> mixing_matrix("identity", 2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if mixing == "reflection":
        return reflection(n_codes)
    matrix = np.eye(n_codes) if mixing == "identity" else np.array(mixing, dtype=np.float64)
    if matrix.shape != (n_codes, n_codes) or np.abs(matrix @ matrix.T - np.eye(n_codes)).max() > ORTHONORMAL:
        raise InputError(
            f"The mixing of an attack on {n_codes} codes has to be an orthonormal {n_codes} x {n_codes} matrix: "
            "pass the rows of such a matrix, 'reflection' or 'identity'."
        )
    return matrix


def _transformed_posterior(posterior: Posterior, transform: FloatArray) -> Posterior:
    """Posterior of a linear transform of (z, noise), with as many standard normal noise variables as codes."""
    n_rows, n = posterior.mean.shape
    mean = np.column_stack([posterior.mean, np.zeros((n_rows, n))]) @ transform.T
    covariance = np.zeros((n_rows, 2 * n, 2 * n))
    covariance[:, range(n, 2 * n), range(n, 2 * n)] = 1.0
    if posterior.covariance is None:
        covariance[:, range(n), range(n)] = np.square(posterior.std)
    else:
        covariance[:, :n, :n] = posterior.covariance
    names = [*posterior.names, *(f"added {i}" for i in range(n, 2 * n))]
    covariance = transform @ covariance @ transform.T
    return Posterior(mean, covariance=(covariance + covariance.transpose(0, 2, 1)) / 2, names=names)
