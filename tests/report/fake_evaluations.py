"""Evaluations with fixed numbers that have everything a report can show."""

import dataclasses
import itertools

import numpy as np

from unweave import Score
from unweave.card.card import CardDescription
from unweave.evaluation import Evaluation, Row
from unweave.evaluation.results import CodesDescription, EvaluationData, FactorDescription
from unweave.findings import stated
from unweave.metrics import CATALOGUE
from unweave.responses.constraints import FunctionalConstraint
from unweave.score import ShownMatrix
from unweave.trust import Comparison, Diagnosis, Interval, NoiseFloor, Verdict
from unweave.trust.comparison import Difference
from unweave.trust.data_health import PairDependence, PairKind
from unweave.trust.diagnosis import DependenceClass
from unweave.trust.verdict_record import Reason

REASONS = {
    "trust": (),
    "caution": (
        Reason(
            finding=stated("Factors hue and size are correlated, and this metric counts what they share for both."),
            quantity="largest correlation of two factors",
            measured=0.62,
            section="003, section 3.1",
            advice=stated("report minimality and sufficiency, which hold for dependent factors"),
        ),
    ),
    "do not use": (
        Reason(
            finding=stated(
                "With 12 codes for 4 factors, copies of a factor lower the score of a perfect representation."
            ),
            quantity="codes per factor",
            measured=3.0,
            section="003, section 4.2",
            advice=stated("use dci_disentanglement, or drop duplicated codes first"),
        ),
        Reason(
            finding=stated("Factors hue and size are correlated, and this metric counts what they share for both."),
            quantity="largest correlation of two factors",
            measured=0.62,
            section="003, section 3.1",
            advice=stated("report minimality and sufficiency, which hold for dependent factors"),
        ),
    ),
}
# metric, measures, value, floor (mean, low, high, p), interval, verdict
CHOSEN = (
    ("mcc", "one-to-one recovery", 0.871, (0.214, 0.17, 0.26, 0.005), (0.85, 0.89), "caution"),
    ("r2", "explicitness", 0.934, (-0.012, -0.03, 0.004, 0.005), (0.92, 0.95), "trust"),
    ("dci_disentanglement", "modularity", 0.702, (0.118, 0.09, 0.15, 0.005), (0.66, 0.74), "trust"),
    ("dci_completeness", "compactness", 0.655, (0.131, 0.1, 0.16, 0.005), (0.61, 0.69), "caution"),
    ("mig", "compactness", 0.041, (0.033, 0.01, 0.06, 0.31), (0.01, 0.08), "do not use"),
    ("jemmig", "compactness", 0.512, (0.93, 0.9, 0.95, 0.005), (0.48, 0.55), "trust"),
)
PER_FACTOR = {"mcc", "r2", "dci_completeness", "mig", "jemmig"}
MATRIX = {
    "mcc": "correlation_matrix",
    "dci_disentanglement": "importance_matrix",
    "dci_completeness": "importance_matrix",
    "mig": "mutual_information_matrix",
}


def matrix_of(name, n_codes, n_factors):
    """A matrix with one large entry in every column."""
    rng = np.random.default_rng(sum(map(ord, name)))
    matrix = 0.22 * rng.random((n_codes, n_factors)) ** 2
    for j in range(n_factors):
        matrix[(5 * j + 2) % n_codes, j] = 0.95 - 0.5 * rng.random() ** 2
    return 1.6 * matrix if name == "mutual_information_matrix" else matrix


def fake_row(chosen, representation, factors, codes, shift=0.0):
    name, measures, value, (floor, low, high, p), interval, level = chosen
    value = value - shift
    rng = np.random.default_rng(len(name))
    parts = {MATRIX[name]: matrix_of(MATRIX[name], len(codes), len(factors))} if name in MATRIX else {}
    per_factor = {}
    if name in PER_FACTOR:
        per_factor = {
            factor: float(np.clip(value + 0.1 * draw, 0, 1))
            for factor, draw in zip(factors, rng.normal(size=len(factors)), strict=True)
        }
    best = 0.0 if name == "jemmig" else 1.0
    score = Score(
        raw=value,
        metric=name,
        version=1,
        bounds=(0.0, 1.0),
        best=best,
        per_factor=per_factor,
        per_code=dict.fromkeys(codes, 0.5) if name == "dci_disentanglement" else {},
        parts=parts,
        matrices=tuple(ShownMatrix(name, "Strength of every pair") for name in parts),
        caveats=("2 rows were odd.",) if name == "mig" else (),
        settings={"rng": 0, "normalise": "matched"} if name == "mcc" else {},
    )
    edge = low if score.lower_is_better else high
    noise_floor = NoiseFloor(
        metric=name,
        kind="permutation",
        raw=value,
        draws=draws_between(low, high),
        floor=max(floor, 0.0),
        upper=edge,
        p_value=p,
        resolution=0.005,
        calibrated=(value - max(floor, 0.0)) / (best - max(floor, 0.0)),
        per_factor_floor=dict.fromkeys(per_factor, floor),
        per_factor_upper=dict.fromkeys(per_factor, edge),
    )
    ends = Interval(
        metric=name,
        level=0.9,
        raw=value,
        lower=interval[0] - shift,
        upper=interval[1] - shift,
        bounds=score.bounds,
        n_parts=24,
        per_factor={factor: (max(0.0, share - 0.03), min(1.0, share + 0.03)) for factor, share in per_factor.items()},
    )
    return Row(
        representation=representation,
        label=name,
        card=dataclasses.replace(CardDescription.of(CATALOGUE[name].card, {}), measures=measures),
        seed=0 if name == "mcc" else None,
        score=score,
        problem=None,
        chance=0.1,
        seconds=0.5,
        noise_floor=noise_floor,
        interval=ends,
        verdict=Verdict(level, REASONS[level]),
    )


def draws_between(low, high):
    """Evenly spaced draws with these 5 % and 95 % quantiles."""
    beyond = (high - low) / 18
    return tuple(np.linspace(low - beyond, high + beyond, 199).tolist())


def fake_diagnosis(factors, codes):
    return Diagnosis(
        n_rows=10_000,
        n_factors=len(factors),
        n_codes=len(codes),
        rows_looked_at=4000,
        dependence_class=DependenceClass.MULTI_FACTOR,
        dependent_pairs=(PairDependence((factors[0], factors[1]), -0.62, 0.64, 0.01, 0.0, PairKind.LINEAR),),
        max_correlation=0.62,
        max_free_correlation=0.62,
        constraints=(FunctionalConstraint(factors[-1], tuple(factors[:2]), open_share=0.01),),
        effective_dimension=len(factors) - 1.0,
        dead_codes=(codes[1], codes[7]),
        duplicated_codes=((codes[3], codes[4]),),
        nuisance_per_code={codes[0]: 0.5, codes[2]: 0.04},
    )


def fake_evaluation(representations=("codes",), n_factors=4, n_codes=12, trusted=True, chosen=CHOSEN):
    names = ["size", "hue", "shape", "scale"]
    factors = names if n_factors == 4 else [f"factor {j}" for j in range(n_factors)]
    codes = [f"code {i}" for i in range(n_codes)]
    rows = [
        fake_row(entry, name, factors, codes, shift=0.02 * k)
        for k, name in enumerate(representations)
        for entry in chosen
    ]
    if not trusted:
        rows = [dataclasses.replace(row, noise_floor=None, interval=None, verdict=None) for row in rows]
    ties = (tuple(representations[:2]), *([tuple(representations[2:])] if representations[2:] else []))
    pairs = itertools.combinations(representations, 2)
    differences = tuple(
        Difference(*pair, 0.1, 0.1, 0.0, 0.2, float(any({*pair} <= {*tie} for tie in ties))) for pair in pairs
    )
    scores = dict.fromkeys(representations, 0.5)
    comparison = Comparison("", 0.9, 9, scores, differences, ties, notes=(stated("Few parts."),))
    data = EvaluationData(
        n_rows=10_000,
        n_dropped=3,
        factors=tuple(FactorDescription(name, "categorical" if name == "shape" else "continuous") for name in factors),
        representations={
            name: CodesDescription(n_codes, tuple(codes), f"{k:02d}c0ffee{k:02d}")
            for k, name in enumerate(representations)
        },
        versions={"python": "3.11.7", "unweave": "0.1.0", "numpy": "2.4.6"},
        diagnosis=dict.fromkeys(representations, fake_diagnosis(factors, codes)) if trusted else {},
        comparison={entry[0]: comparison for entry in chosen} if trusted and len(representations) > 1 else {},
    )
    return Evaluation(tuple(rows), data)
