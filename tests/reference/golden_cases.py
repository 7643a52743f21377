"""Inputs on which public implementations were run, and their results."""

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
    """Dictionary from the name of a case to the results of other implementations."""
    return json.loads((GOLDEN / file).read_text())["values"]
