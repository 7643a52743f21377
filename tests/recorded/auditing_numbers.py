"""The cells of an audit, findings on scores that are made up, and the audits of two simple functions."""

import hashlib
import math
from functools import cache, partial

import numpy as np

from unweave.auditing import Grid, audit
from unweave.auditing.adversary import KNOWN, _perturbed_encoder, _random_encoder, red_team
from unweave.auditing.measurement import FURTHER, PROPERTIES, Bench, further_points, subject_of
from unweave.auditing.properties import card_cases, finding_of, mean_interval, promise_of
from unweave.metrics import CATALOGUE
from unweave.synthetic.encoders import Mixed, Noise, Noisy, WithCopies, WithNoiseCodes

SMALL = Grid(
    n_factors=(5,),
    n_rows=150,
    rhos=(0.0, 0.9),
    dropped=(1, 2),
    ratios=(2.0,),
    splits=(2,),
    mixed_shares=(0.25,),
    times=(2,),
    null_ratios=(0.1,),
)
MADE_UP = {
    "constant": lambda point, seed: 0.5,
    "falling": lambda point, seed: 1 - 0.3 * point.x + 0.01 * seed,
    "uneven": lambda point, seed: abs(math.sin(3 * point.x + len(point.series))) + 0.02 * seed**2,
    "partly missing": lambda point, seed: None if seed == 1 and point.x > 1 else 0.9 - 0.05 * point.x,
}


def listed(points):
    """Of every curve its places and a digest of its cases."""
    curves = {}
    for point in points:
        places, digest = curves.setdefault(str(point.curve), ([], hashlib.sha256()))
        places.append(point.x)
        digest.update(str(point.case).encode())
    return {curve: (places, digest.hexdigest()[:16]) for curve, (places, digest) in curves.items()}


def matched(factors, codes):
    """Mean over factors of the largest correlation."""
    size = factors.shape[1]
    return float(np.nan_to_num(np.abs(np.corrcoef(factors.T, codes.T)[:size, size:])).max(axis=1).mean())


def product(factors, codes):
    """A score that falls where factors correlate."""
    return matched(factors, codes) * float(1 - np.abs(np.corrcoef(factors.T) - np.eye(factors.shape[1])).max())


@cache
def audited(metric, further):
    """A small audit."""
    return audit(metric, grid=SMALL, n_seeds=2, budget=None, adversary=False, further=further)


def found(name, shape):
    """Every question on scores of a shape."""
    points = SMALL.points() if name in PROPERTIES else further_points()
    drawn = {point: {seed: MADE_UP[shape](point, seed) for seed in range(4)} for point in points}
    scores = {point: {seed: score for seed, score in of.items() if score is not None} for point, of in drawn.items()}
    answer = finding_of(name, points, scores)
    rows = [(row.label, row.number, row.interval, row.counts, row.least_spread) for row in answer.rows]
    return {"verdict": answer.verdict, "rows": rows, "worst": answer.worst.label if answer.worst else None}


def promised(name):
    """What a card promises of its encoders at several scores."""
    card = CATALOGUE[name].card
    return [
        [encoder, score, promise.kept] for encoder in card_cases() for score in (0.0, 0.4, 0.93, 1.0)
        for promise in [promise_of(card, encoder, score)]
    ]  # fmt: skip


def worst(metric):
    """What the adversary finds in a few tries."""
    [team] = red_team(Bench([subject_of(metric)]), n_random=4, n_refined=3)
    return team


CASES = {
    "cells": lambda: listed(Grid().points()),
    "cells of few": lambda: listed(SMALL.points()),
    "further cells": lambda: listed(further_points()),
    "turns of cells": lambda: [(point.curve, point.x, point.turn) for point in Grid().points()],
    "turns of further cells": lambda: [(point.curve, point.x, point.turn) for point in further_points()],
    "t intervals": lambda: [mean_interval(np.array(values)) for values in ([0.1, 0.4], [0.2, 0.5, 0.4, 0.9])],
    "matched, as data": lambda: audited(matched, True).to_dict() | {"seconds": 0},
    "adversary": partial(worst, matched),
    "encoders that the adversary draws": lambda: [repr(_random_encoder(np.random.default_rng(k))) for k in range(40)],
    "encoders that the adversary changes": lambda: [
        repr(_perturbed_encoder(encoder, np.random.default_rng(k)))
        for k in range(3)
        for encoder in (*KNOWN, WithNoiseCodes(Mixed(14.0, 14.0), 9), WithCopies(Noise(290), 6), Noisy(Mixed(), 0.92))
    ],
}
CASES |= {f"{name}, {shape}": partial(found, name, shape) for name in (*PROPERTIES, *FURTHER) for shape in MADE_UP}
CASES |= {f"promises of {name}": partial(promised, name) for name in ("mcc", "mig", "jemmig", "dci_size")}
