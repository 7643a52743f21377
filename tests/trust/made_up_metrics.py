"""Metrics that tests declare, with default values for the fields of the card."""

import math

from unweave.card import metric


def made_up(**fields):
    """A decorator that declares a metric for a test; ``fields`` replace default fields of the card."""
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
