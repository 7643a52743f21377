"""Inputs that public implementations were run on, and what they gave."""

import json
from pathlib import Path

import numpy as np

GOLDEN = Path(__file__).parent / "golden"


def case(name):
    """Factors and codes of a case; c09s is the first 2,000 rows of c09."""
    with np.load(GOLDEN / f"{name.removesuffix('s')}.npz") as arrays:
        rows = slice(2000 if name.endswith("s") else None)
        return arrays["factors"][rows].astype(float), arrays["codes"][rows]


def values(file):
    """Case name to what the peers gave."""
    return json.loads((GOLDEN / file).read_text())["values"]
