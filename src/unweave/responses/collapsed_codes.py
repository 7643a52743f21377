"""Codes that carry next to nothing: those of a posterior whose means hardly move against its own spread."""

from __future__ import annotations

import numpy as np

from unweave.evidence import Evidence
from unweave.memo import memoised

LEAST_NATS = 0.02
LEAST_SPREAD = 0.002  # of the widest code, from 10 % to 90 % of the rows; narrower ones are rounding rather than codes


@memoised(on="codes")
def collapsed_codes(evidence: Evidence) -> tuple[str, ...]:
    """Names of codes that never vary, or carry next to nothing.

    A Gaussian code with means of variance v and posterior variance s^2 carries about log(1 + v / s^2) / 2 nats; under
    .02 it counts as collapsed, whatever its scale. Codes without a posterior have a scale only beside each other.

    >>> from unweave import Posterior
    >>> mean = np.random.default_rng(0).normal(size=(100, 2)) * [1.0, 0.05]
    >>> collapsed_codes(Evidence(mean, Posterior(mean, np.ones((100, 2)))))
    ('code 1',)
    """
    codes, posterior = evidence.codes, evidence.posterior
    if not codes.size:
        return ()
    still = np.isin(evidence.code_names, evidence.dead_codes)
    if posterior is None:
        # between quantiles: the standard deviation of a heavy-tailed code is that of a few rows, and the middle half of
        # one that is mostly 0 has no width
        low, high = np.quantile(codes, [0.1, 0.9], axis=0)
        spread = high - low
        still |= (spread > 0) & (spread <= LEAST_SPREAD * spread.max())
    else:
        variance, own = posterior.mean.var(axis=0), np.square(posterior.std).mean(axis=0)
        nats = np.log1p(np.divide(variance, own, out=np.full(own.size, np.inf), where=own > 0)) / 2
        still[: posterior.n_gaussian] |= nats < LEAST_NATS
    return tuple(name for name, is_still in zip(evidence.code_names, still, strict=True) if is_still)
