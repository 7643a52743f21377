"""Every field of a card: values that make sense, those at the edge among them, and values that do not."""

import math

import pytest

from unweave.card import MetricError
from unweave.card.card import RULES, check_fields
from unweave.evidence import FactorKind

KINDS = frozenset({FactorKind.CONTINUOUS})
BOOLEAN = ([True, False], [None, 1, "yes"])
TEXT = (["a"], ["", "  ", None, 3])
TOLERANCE = ([0, 0.0, 0.1, math.inf], [-1e-9, "0", None, True])
VALUES = {
    "name": TEXT,
    "summary": (["", "a"], [None, 3]),
    "measures": (["compactness", "warmth"], ["", None, "compactnes"]),
    "equivalence": (["any", "elementwise"], ["anything", None, ("any",)]),
    "factor_kinds": ([KINDS, frozenset()], [{FactorKind.CONTINUOUS}, frozenset({"continuous"}), "any"]),
    "needs": ([(), ("factors", "codes")], [["factors"], "factors", ("factors", "colours"), {"factors"}]),
    "min_rows": ([0, 10], [-1, 2.0, True, "10"]),
    "bounds": ([(0, 1), (-math.inf, math.inf)], [(1, 0), (1, 1), (0, 1, 2), [0, 1], (0,), ("0", "1"), (False, True)]),
    "best": ([0, math.nan, 1.5], [None, "1", True]),
    "chance": ([0.5, "by permutation", lambda n, m, d: 1 / n], ["by chance", None, (0,)]),
    "cost": TEXT,
    "fails_when": TEXT,
    "reference": TEXT,
    "assumes": ([()], [[], ("factors",), None]),
    "identity_tolerance": TOLERANCE,
    "order_tolerance": TOLERANCE,
    "takes_factor_tables": BOOLEAN,
    "takes_sparse_codes": BOOLEAN,
    "factor_by_factor": BOOLEAN,
    "takes_code_groups": BOOLEAN,
    "undefined_with": ([()], [[], frozenset(), ("one colour",), None]),
    "variants": ([()], [[], ("a",), None]),
    "raw_range": (["", "0 to 2"], [None, 0]),
    "version": ([1, 7], [0, 1.0, True, "1"]),
}


def test_every_field_is_tried():
    assert set(VALUES) == set(RULES)


@pytest.mark.parametrize("field", VALUES)
def test_values_that_make_sense_are_taken_and_others_are_named(field):
    good, bad = VALUES[field]
    for value in good:
        check_fields("A card", {field: value})
    for value in bad:
        with pytest.raises((MetricError, TypeError), match=field):
            check_fields("A card", {field: value})


def test_a_metric_may_need_everything_and_be_undefined_in_every_case():
    from typing import get_args

    from unweave.card import Need
    from unweave.card.card import Case

    check_fields("A card", {"undefined_with": get_args(Case), "needs": get_args(Need)})
    with pytest.raises(MetricError, match="undefined_with"):
        check_fields("A card", {"undefined_with": list(get_args(Case))})
