"""Divergences and distances between distributions of codes that objectives share."""

from __future__ import annotations

import math

from torch import Tensor

LOG_TWO_PI = math.log(2 * math.pi)


def gaussian_kl_per_code(mean: Tensor, log_variance: Tensor) -> Tensor:
    """KL(N(mean, variance) || N(0, 1)) = 1/2 (mean^2 + variance - 1 - log variance), batch mean: models x codes."""
    return 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).mean(-2)


def categorical_kl(logits: Tensor) -> Tensor:
    """KL(p || uniform) = sum_k p_k log p_k + log K, mean over the batch: models x batch x K to one number per model."""
    log_probabilities = logits.log_softmax(-1)
    return (log_probabilities.exp() * log_probabilities).sum(-1).mean(-1) + math.log(logits.shape[-1])


def total_correlation_of_batch(codes: Tensor, mean: Tensor, log_variance: Tensor) -> Tensor:
    """Total correlation of the codes, with the mixture of the posteriors of the batch in place of q(z).

    mean_b [ log (1/B) sum_i prod_l q(z_bl | x_i) - sum_l log (1/B) sum_i q(z_bl | x_i) ]

    Chen et al. 2018 (S5) use 1 / (N B) instead of 1 / B, with N the number of images, which adds the constant
    (L - 1) log N and changes no gradient. Because every z_b is a sample of one of the B posteriors, the value is too
    high by about (K - 1 - sum_l (K_l - 1)) / (2 B), with K = E q(z | x) / q(z) for all codes and K_l for one code. It
    cannot exceed (L - 1) log B.

    Parameters are models x batch x codes; the result is one number per model.
    """
    codes, mean, log_variance = (part.transpose(-1, -2) for part in (codes, mean, log_variance))
    # log q(z_bl | x_i), models x codes x b x i
    squares = (codes.unsqueeze(3) - mean.unsqueeze(2)).square() * (-log_variance).exp().unsqueeze(2)
    log_densities = -0.5 * (squares + (log_variance + LOG_TWO_PI).unsqueeze(2))
    log_batch = math.log(mean.shape[-1])
    joint = log_densities.sum(1).logsumexp(2) - log_batch
    marginals = (log_densities.logsumexp(3) - log_batch).sum(1)
    return (joint - marginals).mean(1)
