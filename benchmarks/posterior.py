"""Posteriors at the size of dSprites: bin masses on a grid, and densities of mixtures.

`python -m benchmarks.posterior` runs only these benchmarks.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable

import joblib
import numpy as np
from scipy.special import erf, logsumexp, xlogy

from benchmarks.measurement import HEADING, Measurement, Target, seconds
from benchmarks.timing import best_cpu_seconds, peak_gigabytes
from unweave.estimators.mixture import Components, log_ratios
from unweave.estimators.quantised_posterior import QuantisedPosterior
from unweave.evidence import Evidence, Posterior
from unweave.metrics import informativeness, jemmig, rmig

N_ROWS, N_CODES, N_BINS, N_SAMPLES = 737_280, 10, 100, 10_000
CARDINALITIES = (3, 6, 40, 32, 32)
GRID = QuantisedPosterior(N_BINS, limits=(-4.0, 4.0))  # the grid of 001, which the definition uses as well
ROWS_OF_DIRECT, DRAWS_TIMED, DRAWS_OF_BROADCAST = 20_480, 512, 8

MEMORY_PROGRAM = """
from benchmarks.posterior import dsprites_posteriors, three_metrics
three_metrics(dsprites_posteriors())
"""


def dsprites_posteriors(n_rows: int = N_ROWS) -> Evidence:
    """Return combinations of five factors, with five codes of one factor each and five that are nearly the prior."""
    rng = np.random.default_rng(0)
    factors = np.stack(np.unravel_index(np.arange(N_ROWS), CARDINALITIES), axis=1)
    factors = factors[rng.permutation(N_ROWS)[:n_rows]]
    signal = (factors - factors.mean(axis=0)) / factors.std(axis=0)
    mean = np.hstack([signal, 0.1 * rng.normal(size=(n_rows, 5))])
    std = np.hstack([np.full((n_rows, 5), 0.2), np.full((n_rows, 5), 0.99)]) * rng.uniform(0.8, 1.2, size=mean.shape)
    return Evidence(factors, Posterior(mean, std), kinds="categorical")


def three_metrics(evidence: Evidence) -> list[float]:
    """Compute RMIG, JEMMIG and informativeness, which share one pass over the rows."""
    return [metric(evidence, estimator=GRID).raw for metric in (rmig, jemmig, informativeness)]


def direct_formula(evidence: Evidence) -> list[float]:
    """Compute the three metrics by definition, with the error function at both edges of every bin (001, A.13)."""
    mean, std = evidence.posterior.mean, evidence.posterior.std
    edges = np.linspace(-4, 4, N_BINS + 1)
    low, high = edges[:-1].copy(), edges[1:].copy()
    low[0], high[-1] = -np.inf, np.inf
    scale = math.sqrt(2) * std[:, :, None]
    upper = erf((high - mean[:, :, None]) / scale)
    masses = 0.5 * (upper - erf((low - mean[:, :, None]) / scale))  # rows x codes x bins
    marginal = masses.mean(axis=0)
    entropies = -xlogy(marginal, marginal).sum(axis=1)
    told = entropies + xlogy(masses, masses).sum(axis=2).mean(axis=0)
    gaps, joints = [], []
    for j in range(evidence.n_factors):
        one_hot = evidence.factors[:, j, None] == np.unique(evidence.factors[:, j])
        joint = np.einsum("nms,nv->msv", masses, one_hot / len(one_hot), optimize=True)
        of_factor = -xlogy(one_hot.mean(axis=0), one_hot.mean(axis=0)).sum()
        joint_entropy = -xlogy(joint, joint).sum(axis=(1, 2))
        information = entropies + of_factor - joint_entropy
        first, second = np.argsort(information)[::-1][:2]
        gap = information[first] - information[second]
        gaps.append(gap / of_factor)
        joints.append((joint_entropy[first] - gap) / (of_factor + math.log(N_BINS)))
    return [float(np.mean(gaps)), float(np.mean(joints)), float(told.mean() / math.log(N_BINS))]


def quantised_time() -> Measurement:
    """Time of the three metrics on all rows, relative to the definition, which is timed on a part of the rows."""
    whole, part = dsprites_posteriors(), dsprites_posteriors(ROWS_OF_DIRECT)
    np.testing.assert_allclose(three_metrics(part), direct_formula(part), atol=1e-5)
    times = best_cpu_seconds(
        {
            "unweave": lambda _: three_metrics(_fresh(whole)),
            "slice": lambda _: direct_formula(part),
        },
        repetitions=3,
    )
    scale = N_ROWS / ROWS_OF_DIRECT
    return Measurement(
        subject=f"rmig + jemmig + informativeness, n = {N_ROWS:,}, {N_CODES} codes, {N_BINS} bins, five factors",
        figure=times["slice"] * scale / times["unweave"],
        unit="times faster than the error function at both edges of every bin",
        target=Target("at least", 5),
        notes=(
            f"the definition is timed on {ROWS_OF_DIRECT:,} rows and scaled by {scale:g}; same numbers to 1e-5",
            seconds(times),
        ),
    )


def quantised_masses() -> Measurement:
    """Largest error of a bin's mass, in millionths."""
    rng = np.random.default_rng(1)
    mean, std = rng.normal(size=200_000), np.exp(rng.uniform(-6, 1, 200_000))
    grid = GRID
    found = grid.masses(mean, std)
    edges = np.linspace(-4, 4, N_BINS + 1)[:, None]
    below = 0.5 * erf((edges - mean) / (math.sqrt(2) * std))
    below[0], below[-1] = -0.5, 0.5
    return Measurement(
        subject="masses of 200,000 posteriors with std from .0025 to 2.7, against scipy's error function",
        figure=float(np.abs(found - np.diff(below, axis=0)).max() * 1e6),
        unit="millionths, the largest error of a bin's mass",
        target=Target("at most", 1),
    )


def quantised_memory() -> Measurement:
    """Peak memory of a new process, including inputs and imports."""
    return Measurement(
        subject=f"rmig + jemmig + informativeness, n = {N_ROWS:,}, without torch",
        figure=peak_gigabytes(MEMORY_PROGRAM),
        unit="GB peak memory of a new process, including inputs",
        target=Target("at most", 1.5),
    )


def _mixture() -> tuple[Components, np.ndarray, np.ndarray]:
    posterior = dsprites_posteriors().posterior
    components = Components(posterior.mean, posterior.std)
    rows = np.random.default_rng(0).integers(N_ROWS, size=DRAWS_TIMED)
    return components, components.draw(rows, [np.random.default_rng(i) for i in range(N_CODES)]), rows


def _joint_entropy_ratios(components: Components, draws: np.ndarray, rows: np.ndarray) -> np.ndarray:
    everything = [(np.arange(len(rows)), np.arange(N_ROWS))]
    return log_ratios(components, draws, rows, [tuple(range(N_CODES))], everything)[:, 0]


def mixture_against_the_machine() -> Measurement:
    """Time of mixture densities, relative to a matrix product of the same size and one exponential per pair."""
    components, draws, rows = _mixture()
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(256, 2 * N_CODES + 2)), rng.normal(size=(2 * N_CODES + 2, 256))
    product, exponents = np.empty((256, 256)), -np.abs(rng.normal(size=(256, 256)))
    blocks = DRAWS_TIMED * N_ROWS // 256**2

    def machine(_: object) -> None:
        for _ in range(blocks):
            np.matmul(left, right, out=product)
            np.exp(exponents, out=product)

    contestants: dict[str, Callable[[object], object]] = {
        "unweave": lambda _: _joint_entropy_ratios(components, draws, rows),
        "matmul + exp": machine,
    }
    times = best_cpu_seconds(contestants, repetitions=3)
    return Measurement(
        subject=f"joint mixture entropy, {N_SAMPLES:,} samples x {N_ROWS:,} components, {N_CODES} codes",
        figure=times["unweave"] / times["matmul + exp"],
        unit="times a matrix product of that size plus one exponential per pair",
        target=Target("at most", 3),
        notes=(
            f"both are timed on {DRAWS_TIMED} of {N_SAMPLES:,} draws; product and exponential work within the cache",
            seconds(times),
        ),
    )


def mixture_against_broadcasting() -> Measurement:
    """Time of mixture densities, relative to arrays of draws x components x codes and a log-sum-exp."""
    components, draws, rows = _mixture()
    few = slice(DRAWS_OF_BROADCAST)

    def broadcast(_: object) -> np.ndarray:
        mean, std = components.mean[None], components.std[None]
        densities = -0.5 * ((draws[few, None] - mean) / std) ** 2 - np.log(std) - 0.5 * math.log(2 * math.pi)
        together = densities.sum(axis=2)
        own = together[np.arange(DRAWS_OF_BROADCAST), rows[few]]
        return own - logsumexp(together, axis=1) + math.log(N_ROWS)

    np.testing.assert_allclose(_joint_entropy_ratios(components, draws[few], rows[few]), broadcast(None), atol=1e-9)
    contestants: dict[str, Callable[[object], object]] = {
        "unweave": lambda _: _joint_entropy_ratios(components, draws, rows),
        "slice": broadcast,
    }
    times = best_cpu_seconds(contestants, repetitions=3)
    scale = DRAWS_TIMED / DRAWS_OF_BROADCAST
    return Measurement(
        subject=f"joint mixture entropy, {N_SAMPLES:,} samples x {N_ROWS:,} components, {N_CODES} codes",
        figure=times["slice"] * scale / times["unweave"],
        unit="times faster than broadcasting and scipy's logsumexp",
        target=Target("at least", 10),
        notes=(
            f"broadcasting is timed on {DRAWS_OF_BROADCAST} draws and scaled by {scale:g}; same numbers to 1e-9",
            seconds(times),
        ),
    )


def posterior_threads() -> Measurement:
    """Gain of core use (CPU time over wall time) from a second thread, relative to the gain of plain exponentials.

    The relation to plain exponentials is needed because a busy or limited machine may not give a process two cores.
    """
    components, draws, rows = _mixture()
    work: dict[str, Callable[[], object]] = {
        "exponentials": _exponentials,
        "grid": lambda: QuantisedPosterior().quantised(components.mean, components.std),
        "mixture": lambda: _joint_entropy_ratios(components, draws, rows),
    }
    used = {}
    for name, run in work.items():
        cores = {}
        for n_jobs in (1, 2):
            with joblib.parallel_config("threading", n_jobs=n_jobs):
                wall, cpu = time.perf_counter(), time.process_time()
                run()
                cores[n_jobs] = (time.process_time() - cpu) / (time.perf_counter() - wall)
        used[name] = cores[2] / cores[1]
    return Measurement(
        subject=f"masses on the grid and densities of the mixture, n = {N_ROWS:,}",
        figure=min(used["grid"], used["mixture"]) / used["exponentials"],
        unit="times the gain of plain exponentials from a second thread, the smaller of both",
        notes=(", ".join(f"{name} {ratio:.2f}" for name, ratio in used.items()),),
    )


def _exponentials() -> None:
    def run(_: int) -> None:
        numbers = np.zeros((256, 256))
        for _ in range(4000):
            np.exp(numbers)

    joblib.Parallel(require="sharedmem")(joblib.delayed(run)(k) for k in range(4))


def _fresh(evidence: Evidence) -> Evidence:
    """Return the same evidence without memoised results."""
    return Evidence(evidence.factors, evidence.posterior, kinds="categorical")


BENCHMARKS: dict[str, Callable[[], Measurement]] = {
    "quantised-time": quantised_time,
    "quantised-masses": quantised_masses,
    "quantised-memory": quantised_memory,
    "mixture-machine": mixture_against_the_machine,
    "mixture-broadcast": mixture_against_broadcasting,
    "posterior-threads": posterior_threads,
}


def main() -> int:
    """Run all benchmarks of this module; return 0 if every target is met."""
    print(HEADING)
    missed = 0
    for name, run in BENCHMARKS.items():
        measurement = run()
        print(*measurement.lines(name), sep="\n", flush=True)
        missed += measurement.met is False
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
