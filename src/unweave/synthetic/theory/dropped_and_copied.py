"""DCI and R2 of encoders that drop or copy factors (003, appendix F.2, corrected).

Tree libraries normalise the importances of a probe to sum to 1 for every factor. The importances of a dropped factor
are therefore spread over all codes, and D and C decrease with every factor that is lost. Proposition 2 of 003, which
states that D and C stay 1, holds only for importances without this normalisation.
"""

from __future__ import annotations

import math


def dci_disentanglement_of_dropped(n_codes: int, n_factors: int) -> float:
    """D if m of d independent factors are kept: (m / d) log m / log d.

    The importances of every code are 1 for its own factor and 1/m for each of the d - m lost factors. They sum to
    d / m, so that 1 - H / log d is (m / d) log m / log d.

    >>> round(dci_disentanglement_of_dropped(9, 10), 3), dci_disentanglement_of_dropped(10, 10)
    (0.859, 1.0)
    """
    return n_codes / n_factors * math.log(n_codes) / math.log(n_factors)


def dci_completeness_of_dropped(n_codes: int, n_factors: int) -> float:
    """C if m of d independent factors are kept: m / d, because all codes are equally important for a lost factor.

    >>> dci_completeness_of_dropped(9, 10)
    0.9
    """
    return n_codes / n_factors


def dci_disentanglement_of_constraint(n_factors: int) -> float:
    """D of a perfect encoder if one factor is an increasing function of another: 1 - (2 / d) log 2 / log d.

    The two codes are equivalent for trees, so each has half of the importance for both factors.

    >>> [round(dci_disentanglement_of_constraint(d), 3) for d in (5, 10, 20)]
    [0.828, 0.94, 0.977]
    """
    return 1 - 2 / n_factors * math.log(2) / math.log(n_factors)


def dci_completeness_of_copies(n_copies: int, n_factors: int) -> float:
    """C if every factor has k codes of equal importance: 1 - log k / log(k d); D is 1.

    >>> dci_completeness_of_copies(1, 5), round(dci_completeness_of_copies(2, 5), 3)
    (1.0, 0.699)
    """
    return 1 - math.log(n_copies) / math.log(n_copies * n_factors)


def r2_of_dropped(n_codes: int, n_factors: int, rho: float = 0.0) -> float:
    """R2 if m of d factors are kept and all pairs of factors have the correlation rho.

    The R2 of a lost factor from the kept ones is m rho^2 / (1 + (m - 1) rho). The mean R2 is m / d if rho is 0.

    >>> r2_of_dropped(9, 10), round(r2_of_dropped(9, 10, rho=0.5), 3)
    (0.9, 0.945)
    """
    of_lost = n_codes * rho**2 / (1 + (n_codes - 1) * rho)
    return (n_codes + (n_factors - n_codes) * of_lost) / n_factors
