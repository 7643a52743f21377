"""How many samples are needed to find a significant difference between two representations.

    n needed = n  ((t + z) SE / |difference|)^2

with SE the standard error of the difference at n, which falls as 1 / sqrt(n), t the normal quantile of the level and z
that of the power. The formula assumes that the difference does not change with n. This is only an approximation for
scores with bins or probes. An imprecise difference gives an imprecise number of samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.stats import norm

from unweave.errors import InputError, OptionError
from unweave.findings import Finding
from unweave.options import checks_options
from unweave.trust.comparison import Comparison
from unweave.trust.intervals import check_level

FAR = 4.0  # a number of samples more than this factor above or below the observed one is extrapolated


@dataclass(frozen=True)
class SamplesNeeded:
    """Number of samples (row groups where there are any) at which two representations differ significantly.

    >>> SamplesNeeded("a", "b", difference=0.1, n_now=100, n_needed=250.0, fewest=200, most=300, power=0.8, level=0.95)
    SamplesNeeded(first='a', second='b', difference=0.1, n_now=100, n_needed=250.0, fewest=200, most=300, power=0.8, \
level=0.95, notes=())

    Attributes
    ----------
    first, second : str
        Names of the two representations.
    difference : float
        The difference that should be found.
    n_now, n_needed : int, float
        Observed and needed number of samples; infinite if there is no difference.
    fewest, most : float
        Needed number of samples for the largest and the smallest difference in the confidence interval; equal to
        ``n_needed`` where the difference was stated.
    power, level : float
        Probability of a significant difference if there is one, and of no significant difference if there is none.
    notes : tuple of Finding
        Caveats.
    """

    first: str
    second: str
    difference: float
    n_now: int
    n_needed: float
    fewest: float
    most: float
    power: float
    level: float
    notes: tuple[Finding, ...] = ()


@checks_options
def samples_needed(
    comparison: Comparison,
    first: str | None = None,
    second: str | None = None,
    *,
    difference: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> SamplesNeeded:
    """Number of samples at which two of the compared representations differ significantly with this power.

    Parameters
    ----------
    comparison : Comparison
        Result of `compared`.
    first, second : str, optional
        Names of the two representations; the best two by default.
    difference : float, optional
        The smallest difference of interest, in place of the observed difference.
    power, level : float
        Probability of a significant difference if there is one, and of no significant difference if there is none. They
        are those of a single pair, without correction for several pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import Evidence
    >>> from unweave.metrics import mcc
    >>> from unweave.trust.comparison import compared
    >>> rng = np.random.default_rng(0)
    >>> factors, noise = rng.normal(size=(2, 200, 2))
    >>> codes = {"better": factors + 0.50 * noise, "worse": factors + 0.52 * rng.normal(size=(200, 2))}
    >>> both = compared(mcc, {name: Evidence(factors, code) for name, code in codes.items()})
    >>> samples_needed(both, difference=0.01).n_needed > 200
    True
    """
    check_level(level)
    if not 0 < power < 1:
        raise OptionError(f"power={power} is not a power: use a number between 0 and 1, such as 0.8.")
    if not comparison.scores:
        raise InputError(f"There is no comparison to plan from: {comparison.reason}")
    best_two = list(comparison.scores)[:2]
    pair = comparison.between(first or best_two[0], second or best_two[1])
    reach = float(norm.ppf((1 + level) / 2) + norm.ppf(power))

    def needed(gap: float) -> float:
        if pair.standard_error == 0 or gap == 0:
            return 2.0 if gap else math.inf
        return max(2.0, math.ceil(comparison.n_units * (reach * pair.standard_error / abs(gap)) ** 2))

    if difference is not None:
        n_needed = fewest = most = needed(difference)
    else:
        ends = sorted((abs(pair.lower), abs(pair.upper)))
        n_needed, fewest = needed(pair.difference), needed(ends[1])
        most = math.inf if pair.lower <= 0 <= pair.upper else needed(ends[0])
    return SamplesNeeded(
        first=pair.first,
        second=pair.second,
        difference=pair.difference if difference is None else difference,
        n_now=comparison.n_units,
        n_needed=n_needed,
        fewest=fewest,
        most=most,
        power=power,
        level=level,
        notes=tuple(_notes(n_needed, most, comparison.n_units, difference is None)),
    )


def _notes(n_needed: float, most: float, n_now: int, difference_found: bool) -> list[Finding]:
    notes = []
    if difference_found and math.isinf(most):
        notes.append(Finding("difference_may_be_zero"))
    if n_needed > FAR * n_now or n_needed < n_now / FAR:
        notes.append(Finding("sample_size_extrapolated"))
    return notes
