"""DCI and R2 where codes drop or copy factors (003, appendix F.2, corrected).

Importances of a probe sum to one for every factor (that is what tree libraries give), so a dropped factor spreads its
importance over all codes: D and C fall with every factor that is lost. 003's Proposition 2, by which they stay 1,
holds only for importances without that normalisation.
"""

from __future__ import annotations

import math


def dci_disentanglement_of_dropped(n_codes: int, n_factors: int) -> float:
    """D where m of d independent factors are kept: (m / d) log m / log d.

    Every row has 1 for its own factor and 1/m for each of the d - m lost ones, and sums to d / m, so that
    1 - H / log d of it is (m / d) log m / log d.

    >>> round(dci_disentanglement_of_dropped(9, 10), 3), dci_disentanglement_of_dropped(10, 10)
    (0.859, 1.0)
    """
    return n_codes / n_factors * math.log(n_codes) / math.log(n_factors)


def dci_completeness_of_dropped(n_codes: int, n_factors: int) -> float:
    """C where m of d independent factors are kept: m / d, because a lost factor is read from all codes alike.

    >>> dci_completeness_of_dropped(9, 10)
    0.9
    """
    return n_codes / n_factors


def dci_disentanglement_of_constraint(n_factors: int) -> float:
    """D of a perfect encoder where one factor is an increasing function of another: 1 - (2 / d) log 2 / log d.

    Trees cannot tell the two codes apart, so each is half of the importance for both factors.

    >>> [round(dci_disentanglement_of_constraint(d), 3) for d in (5, 10, 20)]
    [0.828, 0.94, 0.977]
    """
    return 1 - 2 / n_factors * math.log(2) / math.log(n_factors)


def dci_completeness_of_copies(n_copies: int, n_factors: int) -> float:
    """C where every factor has k codes of equal importance: 1 - log k / log(k d); D stays 1.

    >>> dci_completeness_of_copies(1, 5), round(dci_completeness_of_copies(2, 5), 3)
    (1.0, 0.699)
    """
    return 1 - math.log(n_copies) / math.log(n_copies * n_factors)


def r2_of_dropped(n_codes: int, n_factors: int, rho: float = 0.0) -> float:
    """R2 where m of d factors are kept and every two factors correlate by rho.

    A lost factor is read from the kept ones with m rho^2 / (1 + (m - 1) rho); without correlation R2 is m / d.

    >>> r2_of_dropped(9, 10), round(r2_of_dropped(9, 10, rho=0.5), 3)
    (0.9, 0.945)
    """
    of_lost = n_codes * rho**2 / (1 + (n_codes - 1) * rho)
    return (n_codes + (n_factors - n_codes) * of_lost) / n_factors
