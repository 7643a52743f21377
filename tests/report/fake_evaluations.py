"""Evaluations that carry everything a report can show, with numbers chosen by hand."""

from types import SimpleNamespace

import numpy as np

from unweave import Score
from unweave.evaluation import Evaluation, Row

REASONS = {
    "trust": (),
    "caution": (
        SimpleNamespace(
            sentence="Factors hue and size are correlated, and this metric counts what they share for both.",
            quantity="largest correlation of two factors",
            measured=0.62,
            section="003, section 3.1",
            instead="report minimality and sufficiency, which hold for dependent factors",
        ),
    ),
    "do not use": (
        SimpleNamespace(
            sentence="With 12 codes for 4 factors, copies of a factor lower the score of a perfect representation.",
            quantity="codes per factor",
            measured=3.0,
            section="003, section 4.2",
            instead="use dci_disentanglement, or drop duplicated codes first",
        ),
        SimpleNamespace(
            sentence="Factors hue and size are correlated, and this metric counts what they share for both.",
            quantity="largest correlation of two factors",
            measured=0.62,
            section="003, section 3.1",
            instead="report minimality and sufficiency, which hold for dependent factors",
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
    ("jemmig", "compactness (lower is better)", 0.512, (0.93, 0.9, 0.95, 0.005), (0.48, 0.55), "trust"),
)
PER_FACTOR = {"mcc", "r2", "dci_completeness", "mig", "jemmig"}
MATRIX = {
    "mcc": "correlation_matrix",
    "dci_disentanglement": "importance_matrix",
    "dci_completeness": "importance_matrix",
    "mig": "mutual_information_matrix",
}
SENTENCES = [
    "Two factors, hue and size, are correlated (r = 0.62).",
    "Scale is a function of size and hue, so 3 of 4 factors vary freely.",
    "9 codes carry nothing that others do not; two are dead.",
]


def matrix_of(name, n_codes, n_factors):
    """A strong cell in every column, weaker ones around it."""
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
    score = Score(
        raw=value,
        metric=name,
        version=1,
        bounds=(0.0, 1.0),
        per_factor=per_factor,
        per_code=dict.fromkeys(codes, 0.5) if name == "dci_disentanglement" else {},
        parts=parts,
        caveats=("2 rows were odd.",) if name == "mig" else (),
        settings={"rng": 0, "normalise": "matched"} if name == "mcc" else {},
    )
    row = Row(representation, name, name, measures, 0 if name == "mcc" else None, score, None, 0.1, 0.5)
    noise_floor = SimpleNamespace(
        floor=floor,
        low=low,
        high=high,
        p_value=p,
        resolution=0.005,
        kind="permutation",
        n_draws=199,
        calibrated=(value - floor) / ((0.0 if name == "jemmig" else 1.0) - floor),
        note="",
        per_factor=dict.fromkeys(per_factor, (floor, low, high)),
    )
    ends = SimpleNamespace(
        low=interval[0] - shift,
        high=interval[1] - shift,
        level=0.9,
        kind="jackknife",
        note="",
        per_factor={factor: (max(0.0, share - 0.03), min(1.0, share + 0.03)) for factor, share in per_factor.items()},
    )
    verdict = SimpleNamespace(level=level, reasons=REASONS[level])
    return SimpleNamespace(**{**vars(row), "noise_floor": noise_floor, "interval": ends, "verdict": verdict})


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
        names_of_row = Row.__dataclass_fields__
        rows = [Row(**{key: value for key, value in vars(row).items() if key in names_of_row}) for row in rows]
    correlations = np.full((n_factors, n_factors), 0.04)
    np.fill_diagonal(correlations, 1.0)
    correlations[0, 1] = correlations[1, 0] = -0.62
    diagnosis = {
        "sentences": SENTENCES,
        "n_rows": 10_000,
        "n_factors": n_factors,
        "n_codes": n_codes,
        "rows_per_code": 10_000 / n_codes,
        "largest_correlation": 0.62,
        "effective_dimension": n_factors - 1,
        "constraints": [{"determined": "scale", "by": ["size", "hue"]}],
        "dead_codes": ["code 1", "code 7"],
        "duplicated_codes": [["code 3", "code 4"]],
        "nuisance_share": 0.27,
        "factor_correlation_matrix": correlations.tolist(),
    }
    data = {
        "n_rows": 10_000,
        "n_dropped": 3,
        "factors": [{"name": name, "kind": "categorical" if name == "shape" else "continuous"} for name in factors],
        "representations": {
            name: {"n_codes": n_codes, "fingerprint": f"{k:02d}c0ffee{k:02d}"} for k, name in enumerate(representations)
        },
        "versions": {"python": "3.11.7", "unweave": "0.1.0", "numpy": "2.4.6"},
    }
    if trusted:
        data["diagnosis"] = dict.fromkeys(representations, diagnosis)
    if trusted and len(representations) > 1:
        ties = {"groups": [list(representations[:2]), list(representations[2:])], "sentence": ""}
        data["comparison"] = {entry[0]: ties for entry in chosen}
    return Evaluation(tuple(rows), data)
