"""Metrics that a test declares for itself, with a card whose fields it need not repeat."""

import math

from unweave.card import metric


def made_up(**fields):
    """Declare a metric for a test."""
    card = {
        "measures": "nothing",
        "equivalence": "any",
        "min_rows": 2,
        "bounds": (-math.inf, 1.0),
        "chance": "by permutation",
        "cost": "none",
        "fails_when": "always",
        "reference": "none",
    }
    return metric(**{**card, **fields})
