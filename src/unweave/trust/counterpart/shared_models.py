"""Models in which factors that are nearly equivalent share their effect on a code.

If x and y are nearly equivalent, the data may not show which of them a code follows. `alike_factors` assumes one of the
two. Here both are used: with a strong ridge penalty, similar columns get similar weights. A code is shared only if such
a fit predicts held-out rows as well as the best of all other models does. The verdict draws from both kinds of models
in turn, so that its scores are means over the two assumptions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unweave.evidence import Evidence
from unweave.trust.counterpart.alike_factors import alike_pairs
from unweave.trust.counterpart.code_models import N_FOLDS, NO_FACTOR, CodeModels, out_of_fold
from unweave.trust.counterpart.factor_designs import JOINT_MODELS, TINY

FORMS = (4, 5)  # of JOINT_MODELS: smooth functions of ranks, without and with products
RIDGES = (1e-1, 1e-2, 1e-3, 1e-4)  # the strongest first


def shared_models(evidence: Evidence, found: CodeModels, *, seed: int = 0) -> CodeModels | None:
    """The models with codes shared between factors that are nearly equivalent; None if there are no such codes.

    The first fit in the order of `FORMS` and `RIDGES` is used whose error is within one standard error of the smallest
    error of all other models. A code keeps its model if there is no such fit, or if it belongs to a factor without an
    equivalent.

    >>> from unweave.trust.counterpart.code_models import code_models
    >>> x, difference, noise = np.random.default_rng(3).normal(size=(3, 500))
    >>> y = x + 0.03 * difference
    >>> evidence = Evidence({"x": x, "y": y}, (x + y + 0.5 * noise)[:, None])
    >>> found = code_models(evidence)
    >>> shared = shared_models(evidence, found)
    >>> found.owner.tolist(), shared.owner.tolist()
    ([0], [-1])
    """
    alike, scores = alike_pairs(found.designs), found.code_scores
    if not alike:
        return None
    open_ones = ~found.silent & ((found.owner == NO_FACTOR) | np.isin(found.owner, alike))
    folds = [test for _, test in evidence.folds(N_FOLDS, seed)]
    shared = np.zeros(open_ones.shape, dtype=bool)
    model, residuals, weights = found.model.copy(), found.residuals.copy(), dict(found.weights)
    for k in FORMS:
        if k not in weights:
            continue  # too many columns for so few rows
        columns, weights[k] = JOINT_MODELS[k].columns(found.designs), weights[k].copy()
        for ridge in RIDGES:
            predictions, fitted = out_of_fold(columns, scores, folds, ridge)
            more = np.square(scores - predictions) - found.least
            as_good = more.mean(axis=0) <= more.std(axis=0) / np.sqrt(len(more)) + TINY
            new = open_ones & as_good & ~shared
            shared |= new
            model[new], weights[k][:, new] = k, fitted[:, new]
            residuals[:, new] = (scores - predictions)[:, new]
    if not shared.any():
        return None
    owner = np.where(shared, NO_FACTOR, found.owner)
    return replace(
        found, owner=owner, model=model, of_codes=found.of_codes & ~shared, residuals=residuals, weights=weights
    )
