"""Codes whose posterior carries almost no information, and codes without a posterior that may have collapsed."""

from __future__ import annotations

import numpy as np

from unweave.evidence import Evidence
from unweave.memo import memoised

LEAST_NATS = 0.02
LEAST_SPREAD = 0.002  # relative to the widest code; spread is the distance between the 10 % and 90 % quantiles


@memoised(on="codes")
def collapsed_codes(evidence: Evidence) -> tuple[str, ...]:
    """Names of codes that never vary, or whose posterior hardly depends on the sample.

    A Gaussian code with means of variance v and posterior variance s^2 carries about log(1 + v / s^2) / 2 nats. Below
    .02 nats it counts as collapsed, whatever its scale. Without a posterior there is no such scale, so only constant
    codes count.

    >>> from unweave import Posterior
    >>> mean = np.random.default_rng(0).normal(size=(100, 2)) * [1.0, 0.05]
    >>> collapsed_codes(Evidence(mean, Posterior(mean, np.ones((100, 2)))))
    ('code 1',)
    >>> collapsed_codes(Evidence(mean, mean))
    ()
    """
    posterior = evidence.posterior
    if not evidence.codes.size:
        return ()
    still = np.isin(evidence.code_names, evidence.dead_codes)
    if posterior is not None:
        variance, own = posterior.mean.var(axis=0), np.square(posterior.std).mean(axis=0)
        still[: posterior.n_gaussian] |= np.log1p(variance / own) / 2 < LEAST_NATS
    return _named(evidence, still)


@memoised(on="codes")
def narrow_codes(evidence: Evidence) -> tuple[str, ...]:
    """Names of codes without a posterior that vary by less than .2 % of the widest code.

    They may be means of collapsed codes, or codes on another scale; this cannot be decided without a posterior.

    >>> codes = np.random.default_rng(0).normal(size=(100, 2)) * [1.0, 0.001]
    >>> narrow_codes(Evidence(codes, codes))
    ('code 1',)
    """
    if evidence.posterior is not None or not evidence.codes.size:
        return ()
    # quantiles, because the standard deviation of a heavy-tailed code depends on a few rows, and the interquartile
    # range of a code that is mostly 0 is 0
    low, high = np.quantile(evidence.codes, [0.1, 0.9], axis=0)
    spread = high - low
    return _named(evidence, (spread > 0) & (spread <= LEAST_SPREAD * spread.max()))


def _named(evidence: Evidence, those: np.ndarray) -> tuple[str, ...]:
    return tuple(name for name, is_one in zip(evidence.code_names, those, strict=True) if is_one)
