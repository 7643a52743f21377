"""Measurements of 001 on trained encoders of dSprites, with its grid of 100 bins from -4 to 4.

Every measure returns plain numbers for the codes of one model. Codes come from `unweave.papers.trained_encoders`.
Models without posterior standard deviations are left out, because the measures need posteriors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from unweave.arrays import FloatArray
from unweave.encoding import Encoded
from unweave.estimators.information.histogram import Histogram
from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.estimators.posteriors.quantised_posterior import QuantisedPosterior
from unweave.estimators.probes.linear_probes import Lasso
from unweave.evidence import Evidence, Posterior
from unweave.metrics import (
    dci_disentanglement,
    informativeness,
    jemmig,
    mig,
    rmig,
    three_way_information,
    wsepin,
)
from unweave.papers.experiment import Options
from unweave.papers.kept_numbers import KeptNumbers
from unweave.papers.trained_encoders import codes_of, evidence_of_levels
from unweave.progress import progress_bar

LIMITS = (-4.0, 4.0)  # as in the published code
GRID = QuantisedPosterior(bins=100, limits=LIMITS)
N_ROWS = 20_000
ROWS_SAMPLED = 2000  # fewer rows for sampling from mixtures, whose cost is draws x rows
BINS = (10, 20, 50, 100, 200, 500)
DRAWS = (1000, 2000, 5000, 10_000)
Numbers = dict[str, Any]


def by_model(label: str, measure: Callable[[Encoded], Any], options: Options) -> Numbers:
    """Return a measure of every model by name; each is computed once and stored."""
    n_rows = options.n_rows or N_ROWS
    found = {}
    codes = {name: encoded for name, encoded in codes_of(options, n_rows).items() if "codes_std" in encoded.arrays}
    with progress_bar(len(codes), options.progress) as bar:
        for name, encoded in codes.items():
            bar.step(f"001: {label} of {name}")
            source = "given" if options.codes else "published"
            kept = KeptNumbers(options.folder / "001" / f"{source} {name} {n_rows} {options.seed or 0}.json")
            found[name] = kept.value(label, partial(measure, encoded))
    return found


def rmig_per_factor(encoded: Encoded) -> dict[str, float]:
    """RMIG of every factor (Table 8)."""
    return dict(rmig(evidence_of_levels(encoded), estimator=GRID).per_factor)


def jemmig_per_factor(encoded: Encoded) -> dict[str, float]:
    """JEMMIG of every factor (Table 9)."""
    return dict(jemmig(evidence_of_levels(encoded), estimator=GRID).per_factor)


def modularities(encoded: Encoded) -> dict[str, float]:
    """Modularity from the means, as published, and from q(z | x), with 100 bins, and JEMMIG (Figure 8)."""
    evidence = evidence_of_levels(encoded)
    return {
        "of means": modularity_of(information_of_means(encoded)),
        "of q(z | x)": modularity_of(information_of_posteriors(evidence)),
        "JEMMIG": jemmig(evidence, estimator=GRID).raw,
    }


def informativeness_per_code(encoded: Encoded) -> list[float]:
    """I(x, z_i) divided by the log of the number of bins, the most informative code first (Figures 9 and 14)."""
    found = informativeness(evidence_of_levels(encoded), estimator=GRID).per_code
    return sorted((float(value) for value in found.values()), reverse=True)


def scores_by_bins(encoded: Encoded) -> dict[str, list[float]]:
    """RMIG, JEMMIG and mean joint entropy of factors and their best codes, by the number of bins (Figure 17)."""
    evidence, rows = evidence_of_levels(encoded), []
    for bins in BINS:
        grid = QuantisedPosterior(bins, LIMITS)
        found = jemmig(evidence, estimator=grid)
        information, joint = found.parts["mutual_information_matrix"], found.parts["joint_entropy_matrix"]
        best = joint[information.argmax(axis=0), np.arange(joint.shape[1])]
        rows.append((rmig(evidence, estimator=grid).raw, found.raw, float(best.mean())))
    names = ("RMIG", "JEMMIG", "joint entropy")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def scores_by_draws(encoded: Encoded) -> dict[str, list[float]]:
    """JEMMIG and WSEPIN by the number of draws (Figure 18)."""
    evidence = evidence_of_levels(encoded.rows(slice(0, ROWS_SAMPLED)))
    return {
        "JEMMIG": [jemmig(evidence, estimator=MixtureSampling(draws)).raw for draws in DRAWS],
        "WSEPIN": [wsepin(evidence, estimator=MixtureSampling(draws)).raw for draws in DRAWS],
    }


def correlations(encoded: Encoded) -> dict[str, Any]:
    """Correlations between codes: of means, of one draw per sample, and expected over draws (Figure 20, A.5)."""
    posterior = encoded.codes
    assert isinstance(posterior, Posterior)
    found = posterior.correlations()
    return {
        "means": found.means.tolist(),
        "draws": found.draws.tolist(),
        "draws, in the limit": found.expected.tolist(),
    }


def shared_by_two_codes(encoded: Encoded) -> dict[str, Any]:
    """I(x, z_i, z_j) of every pair of codes in nats, its mean over pairs and the mean's standard error (Eq 2)."""
    evidence = evidence_of_levels(encoded.rows(slice(0, ROWS_SAMPLED)))
    found = three_way_information(evidence, estimator=MixtureSampling(DRAWS[1]), normalise=False)
    return {
        "I(x, z_i, z_j)": found.parts["three_way_matrix"].tolist(),
        "mean": found.raw,
        "standard error": float(found.parts["standard_error"]),
    }


def matrices(encoded: Encoded) -> dict[str, list[list[float]]]:
    """Information from q(z | x) and from means, and importances of a lasso without shape, as in 001 (Figure 23)."""
    evidence = evidence_of_levels(encoded)
    numbers = [j for j, name in enumerate(encoded.factor_names) if name != "shape"]
    kinds = ["continuous"] * len(numbers)
    ordered = Evidence(encoded.factors[:, numbers], encoded.means, kinds=kinds)
    importance = dci_disentanglement(ordered, probe=Lasso(0.002)).parts["importance_matrix"]
    return {
        "q(z | x)": information_of_posteriors(evidence).tolist(),
        "means": information_of_means(encoded).tolist(),
        "importance": np.asarray(importance).tolist(),
    }


def sampled_and_quantised(encoded: Encoded) -> dict[str, tuple[float, float]]:
    """JEMMIG in nats and RMIG, by sampling and on the grid, on the same rows (Figure 24)."""
    evidence = evidence_of_levels(encoded.rows(slice(0, ROWS_SAMPLED)))
    draws = MixtureSampling(DRAWS[-1])
    return {
        "JEMMIG": (
            jemmig(evidence, estimator=draws, normalise=False).raw,
            jemmig(evidence, estimator=GRID, normalise=False).raw,
        ),
        "RMIG": (rmig(evidence, estimator=draws).raw, rmig(evidence, estimator=GRID).raw),
    }


def three_gaps(encoded: Encoded) -> dict[str, float]:
    """RMIG on the grid, MIG of Chen et al. (sampling) and of Locatello et al. (histogram of means) (Figure 25)."""
    few = evidence_of_levels(encoded.rows(slice(0, ROWS_SAMPLED)))
    evidence = evidence_of_levels(encoded)
    return {
        "RMIG": rmig(evidence, estimator=GRID).raw,
        "MIG (Chen)": rmig(few, estimator=MixtureSampling(DRAWS[-1])).raw,
        "MIG (Locatello)": mig(evidence, estimator=Histogram(100, "equal_width")).raw,
    }


def information_of_posteriors(evidence: Evidence) -> FloatArray:
    """I(z_i, y_k) from q(z | x) on the grid, codes x factors."""
    return np.asarray(rmig(evidence, estimator=GRID).parts["mutual_information_matrix"])


def information_of_means(encoded: Encoded) -> FloatArray:
    """I(z_i, y_k) from a histogram of the means with 100 bins, codes x factors."""
    kinds = ["categorical" if kind == "categorical" else "ordinal" for kind in encoded.kinds]
    points = Evidence(encoded.factors, encoded.means, kinds=kinds)
    return np.asarray(mig(points, estimator=Histogram(100, "equal_width")).parts["mutual_information_matrix"])


def modularity_of(information: FloatArray) -> float:
    """Modularity (Ridgeway and Mozer, 2018) of an information matrix, codes x factors.

    For each code, the leak is the mean square of its information about other factors, relative to the square for its
    best factor. Modularity is 1 minus the mean leak over codes.

    >>> modularity_of(np.array([[1.0, 0.0], [0.0, 0.5]]))
    1.0
    """
    squares = np.square(np.maximum(information, 0))
    most = squares.max(axis=1)
    alive = most > 0
    leak = (squares.sum(axis=1) - most)[alive] / (most[alive] * (information.shape[1] - 1))
    return float(1 - leak.mean()) if alive.any() else float("nan")


def models_in(found: Numbers, *wanted: str) -> Iterator[tuple[str, Any]]:
    """Yield the models with these names that were measured, with their numbers."""
    yield from ((name, found[name]) for name in wanted if name in found)
