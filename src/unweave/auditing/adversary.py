"""The adversary: a search for an encoder that mixes factors and still scores high.

    product = score x mixing share,   mixing share = 1 - mean purity of the best matching of codes and factors

A metric of one-to-one recovery should be low for encoders that mix, so that every product is small. The factors are
independent here, because P1 measures the effect of correlation, and a search over correlations would always end at the
highest rho. The search has a fixed length and a seed. It tries encoders that often score too high, then random
encoders, then small changes of the best one. The product that it finds is a lower bound of the largest product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from unweave.auditing.measurement import MAP_SEED, Bench, Case, Subject, as_expression
from unweave.randomness import random_stream
from unweave.synthetic.encoders import (
    Encoder,
    Mixed,
    Noise,
    Noisy,
    PartlyMixed,
    Reshaped,
    WithCopies,
    WithNoiseCodes,
    mixing_share,
)
from unweave.synthetic.worlds import Independent

N_FACTORS, N_ROWS, N_MAPS = 5, 1000, 20
WORLD = Independent(N_FACTORS)
RATIOS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0)

KNOWN: tuple[Encoder, ...] = (
    Mixed(),
    Mixed(kappa=1.0),
    Mixed(ratio=10.0),
    PartlyMixed(0.4),
    Noise(5),
    Noise(50),
    Noise(200),
    Reshaped(Mixed(ratio=3.0)),
    WithCopies(Mixed(), 4),
    Noisy(PartlyMixed(0.25), 0.3),
)


@dataclass(frozen=True)
class RedTeam:
    """The encoder with the largest product of score and mixing share, and an expression for the product."""

    product: float
    score: float
    mixing_share: float
    expression: str
    n_tried: int


Candidate = tuple[Encoder, int]  # an encoder and the seed of its map


def red_team(bench: Bench, n_random: int = 40, n_refined: int = 20) -> list[RedTeam | None]:
    """The worst encoder found for each subject of the bench; None if no encoder has a score within the budget."""
    generator = random_stream(0, "drawn encoders")
    candidates: list[Candidate] = [(encoder, 0) for encoder in KNOWN]
    candidates += [(_random_encoder(generator), int(generator.integers(N_MAPS))) for _ in range(n_random)]
    scores = zip(*(_scores(bench, *candidate) for candidate in candidates), strict=True)
    return [
        _refined_worst_encoder(bench, subject, list(zip(candidates, of_subject, strict=True)), n_refined)
        for subject, of_subject in zip(bench.subjects, scores, strict=True)
    ]


def _refined_worst_encoder(
    bench: Bench, subject: Subject, scored: list[tuple[Candidate, float | None]], n_refined: int
) -> RedTeam | None:
    """Refine the worst encoder of one subject by small random changes."""

    def attempt(score: float, encoder: Encoder, seed: int) -> tuple[float, float, float, Encoder, int]:
        share = mixing_share(encoder, N_FACTORS, MAP_SEED + seed)
        return score * share, score, share, encoder, seed

    generator = random_stream(0, "refined encoders")
    attempts = [attempt(score, *candidate) for candidate, score in scored if score is not None]
    if not attempts:
        return None
    worst = max(attempts, key=itemgetter(0))
    n_tried = len(attempts)
    alone = Bench([subject], bench.store, 1, bench.budget, spent=bench.spent)
    for _ in range(n_refined):
        *_, encoder, seed = worst
        seed = seed if generator.random() < 0.5 else int(generator.integers(N_MAPS))
        encoder = _perturbed_encoder(encoder, generator)
        (score,) = _scores(alone, encoder, seed)
        if score is not None:
            n_tried += 1
            worst = max(worst, attempt(score, encoder, seed), key=itemgetter(0))
    bench.spent = alone.spent
    product, score, share, encoder, seed = worst
    expression = (
        f"{Case(WORLD, encoder, N_ROWS).expression(subject, seed)} * "
        f"mixing_share({as_expression(encoder)}, {N_FACTORS}, MAP_SEED + {seed})"
    )
    return RedTeam(product, score, share, expression, n_tried)


def _scores(bench: Bench, encoder: Encoder, seed: int) -> list[float | None]:
    """The score of every subject; None for a subject without a score, or if the budget is used up."""
    by_case = bench.measure([Case(WORLD, encoder, N_ROWS)], [seed])
    if not by_case:
        return [None] * len(bench.subjects)
    ((row,),) = by_case.values()
    return [None if math.isnan(measurement.value) else measurement.value for measurement in row]


def _random_encoder(generator: np.random.Generator) -> Encoder:
    """A random encoder: a full or partial mixing or noise; half of them with copies, more noise or monotone maps."""
    match generator.integers(4):
        case 0:
            inner: Encoder = Noise(int(generator.integers(5, 100)))
        case 1:
            inner = PartlyMixed(_three_digits(generator.uniform(0.05, 1.0)))
        case _:
            inner = Mixed(_three_digits(10 ** generator.uniform(0, 2)), float(generator.choice(RATIOS)))
    match generator.integers(8):
        case 0:
            return WithCopies(inner, int(generator.integers(2, 5)))
        case 1:
            return WithNoiseCodes(inner, int(generator.integers(5, 50)))
        case 2:
            return Noisy(inner, _three_digits(generator.uniform(0.05, 0.9)))
        case 3:
            return Reshaped(inner)
        case _:
            return inner


def _perturbed_encoder(encoder: Encoder, generator: np.random.Generator) -> Encoder:
    """The same kind of encoder with slightly different parameters."""
    match encoder:
        case Mixed():
            kappa = max(1.0, encoder.kappa * np.exp(0.5 * generator.normal()))
            ratio = min(max(1.0, encoder.ratio * np.exp(0.3 * generator.normal())), 15.0)
            return Mixed(_three_digits(kappa), _three_digits(ratio))
        case PartlyMixed():
            return PartlyMixed(_three_digits(min(max(encoder.t + 0.1 * generator.normal(), 0.0), 1.0)))
        case Noise():
            return Noise(min(max(2, round(encoder.codes * np.exp(0.4 * generator.normal()))), 300))
        case Noisy():
            share = min(max(encoder.share + 0.1 * generator.normal(), 0.0), 0.95)
            return Noisy(_perturbed_encoder(encoder.encoder, generator), _three_digits(share))
        case WithCopies():
            times = min(max(encoder.times + int(generator.integers(-1, 2)), 1), 6)
            return WithCopies(_perturbed_encoder(encoder.encoder, generator), times)
        case WithNoiseCodes():
            added = max(1, round(encoder.added * np.exp(0.4 * generator.normal())))
            return WithNoiseCodes(_perturbed_encoder(encoder.encoder, generator), added)
        case Reshaped():
            return Reshaped(_perturbed_encoder(encoder.encoder, generator))
        case _:
            return encoder


def _three_digits(number: float) -> float:
    """The number with three digits, so that expressions are short."""
    return round(float(number), 3)
