"""Cards: their fields, the checks of their fields, and the explanation of a metric."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from unweave import Evidence, MetricUndefined, Score
from unweave.card import Card, MetricError, Variant
from unweave.card.card import RULES, CardDescription, check_card, check_fields
from unweave.card.decorator import (
    _on_all_rows,
    _plain_option,
    _refuse_missing_fields,
    _refuse_unknown_fields,
    joined_score,
)
from unweave.card.explain import _order_in_words, chance_in_words
from unweave.evidence import FactorKind
from unweave.evidence.columns import NeedsRows
from unweave.findings import Finding
from unweave.metrics import CATALOGUE
from unweave.score import ShownMatrix

CARD = Card(
    name="mine", summary="", measures="warmth", equivalence="any", min_rows=10, chance=0.0, cost="none",
    fails_when="always", reference="none",
)  # fmt: skip
Z = np.random.default_rng(0).normal(size=(12, 2))
SPARSE = Evidence(Z, sparse.csr_array(Z))
FLAT = Evidence(np.ones((12, 2)), Z)


def card(**fields):
    return dataclasses.replace(CARD, **fields)


@pytest.mark.parametrize(
    ("fields", "evidence", "lacking"),
    [
        ({}, Evidence(Z, Z), None),
        ({}, Evidence(Z), "codes"),
        ({}, Evidence(None, Z), "factors"),
        ({"needs": ("factors",)}, Evidence(Z), None),
        ({}, SPARSE, "dense codes"),
        ({"takes_sparse_codes": True}, SPARSE, None),
        ({"needs": ("factors",)}, SPARSE, None),
        ({"needs": ("factors", "codes", "nuisances"), "takes_sparse_codes": True}, SPARSE, "nuisances"),
        ({"needs": ("codes", "decoder")}, SPARSE, "decoder"),
        ({"needs": ("nuisances",)}, Evidence(Z, Z, nuisances=Z), None),
    ],
)
def test_what_is_missing_is_the_first_need(fields, evidence, lacking):
    assert card(**fields).lacking(evidence) == lacking


@pytest.mark.parametrize(
    ("fields", "evidence", "said"),
    [
        ({}, Evidence(Z[:10], Z[:10]), None),
        ({}, Evidence(Z[:9], Z[:9]), "mine needs at least 10 rows and has 9"),
        ({}, FLAT, "A score needs a factor that varies"),
        ({"needs": ("codes",)}, FLAT, None),
        ({}, Evidence(np.column_stack([Z[:, 0], np.ones(12)]), Z), None),
    ],
)
def test_rows_and_factors_that_vary_are_needed(fields, evidence, said):
    refusal = card(**fields).refusal(evidence)
    assert (refusal or "").startswith(said or "")
    assert bool(refusal) == bool(said)


@pytest.mark.parametrize(
    ("fields", "bounds", "best"),
    [
        ({}, (-math.inf, math.inf), math.inf),
        ({"best": 0.0}, (-math.inf, math.inf), -math.inf),
        ({"best": math.nan}, (-math.inf, math.inf), math.nan),
    ],
)
def test_without_normalisation_there_are_no_bounds(fields, bounds, best):
    under = card(**fields).under({"normalise": False})
    np.testing.assert_equal((under.bounds, under.best), (bounds, best))
    assert card(**fields).under({"normalise": "none"}).bounds == (0.0, 1.0)


def test_a_variant_holds_for_its_value_alone():
    several = card(variants=(Variant("k", 1, (0.0, 5.0), 0.0, 0.5), Variant("k", 2, (0.0, 7.0), 7.0, 0.25)))
    for k, bounds, best, chance in [(0, (0.0, 1.0), 1.0, 0.0), (1, (0.0, 5.0), 0.0, 0.5), (2, (0.0, 7.0), 7.0, 0.25)]:
        under = several.under({"k": k})
        assert (under.bounds, under.best, under.chance) == (bounds, best, chance)
        described = CardDescription.of(several, {"k": k})
        assert (described.bounds, described.best, described.lower_is_better) == (bounds, best, best == 0.0)


@pytest.mark.parametrize(("best", "fits"), [(0.0, True), (1.0, True), (math.nan, True), (1.01, False), (-0.01, False)])
def test_the_best_score_lies_within_the_bounds(best, fits):
    if fits:
        check_card(card(best=best))
    else:
        with pytest.raises(MetricError, match="outside its bounds, 0 to 1"):
            card(best=best)


@pytest.mark.parametrize(("tolerance", "matters"), [(0.0, False), (1e-5, False), (1.1e-5, True), (0.1, True)])
def test_rounding_is_no_effect_of_the_order(tolerance, matters):
    said = _order_in_words(card(order_tolerance=tolerance))
    assert said.startswith("matters" if matters else "does not matter")


def test_fields_that_are_unlike_any_are_listed():
    with pytest.raises(MetricError, match="A card has no field 'xyz': there are measures, equivalence, "):
        _refuse_unknown_fields({"measures": "a", "xyz": 1})
    stated = {name: getattr(CARD, name) for name in ("measures", "equivalence", "min_rows", "chance", "cost")}
    with pytest.raises(MetricError, match="A card needs fails_when, reference: add them"):
        _refuse_missing_fields(stated)
    with pytest.raises(MetricError, match="A card needs reference: add it"):
        _refuse_missing_fields(stated | {"fails_when": "always"})


@dataclasses.dataclass(frozen=True)
class Probe:
    depth: int = 3
    sizes: tuple[int, ...] = (1, 2)


class WithLibrary(Probe):
    library = "sklearn"


def test_options_are_described_as_plain_data():
    plain = {"name": "Probe", "depth": 3, "sizes": [1, 2]}
    assert _plain_option(Probe()) == plain
    assert _plain_option(WithLibrary()) == plain | {"name": "WithLibrary", "library": "sklearn"}
    assert _plain_option(Probe) is Probe
    assert (_plain_option((1, 2)), _plain_option("word")) == ([1, 2], "word")


@pytest.mark.parametrize(
    ("n_planning", "needs_rows", "kind", "quantities"),
    [
        (1000, False, "all_rows_in_blocks", {"n_rows": 1000, "n_sampled": 50}),
        (999, False, "all_rows_in_planned_bins", {"n_rows": 1000, "n_sampled": 50, "n_planning": 999}),
        (999, True, "rows_sampled", {"n_rows": 50, "of": 1000}),
    ],
)
def test_a_score_of_all_rows_says_how_it_was_computed(n_planning, needs_rows, kind, quantities):
    known = SimpleNamespace(n_rows=1000, n_planning=n_planning)
    evidence = SimpleNamespace(all_rows=known, n_rows=50, summary=lambda: "totals")

    def score_of(rows):
        if rows == "totals" and needs_rows:
            raise NeedsRows
        return rows

    found, said = _on_all_rows(score_of, evidence)
    assert said == (Finding(kind, **quantities),)
    assert found == (evidence if needs_rows else "totals")


def partial_labels(*parts):
    """Codes of two columns, and factors that are labelled on different rows."""
    labelled = [SimpleNamespace(factor_names=names, n_rows=n_rows) for names, n_rows in parts]
    return SimpleNamespace(labelled_parts=labelled, factor_names=["x", "y", "z"], n_codes=2, n_factors=3)


def of_part(part):
    """A score per factor and a matrix, both with the number of rows in them."""
    shown = (ShownMatrix("a_matrix", "A"), ShownMatrix("other", "B"))
    parts = {"a_matrix": np.full((2, len(part.factor_names)), float(part.n_rows)), "other": np.zeros((2, 1))}
    scores = {name: part.n_rows / 100 + k / 10 for k, name in enumerate(part.factor_names)}
    return Score(0.0, per_factor=scores, parts=parts, matrices=shown, caveats=(f"{part.n_rows} rows.",))


def test_scores_of_parts_are_joined_in_the_order_of_the_factors():
    evidence = partial_labels((["z"], 50), (["x", "y"], 20))
    found = joined_score(SimpleNamespace(refusal=lambda part: None), evidence, of_part)
    assert found.per_factor == pytest.approx({"x": 0.2, "y": 0.3, "z": 0.5})
    assert found.raw == pytest.approx((0.2 + 0.3 + 0.5) / 3)
    assert found.parts["a_matrix"].tolist() == [[20.0, 20.0, 50.0]] * 2
    assert [matrix.part for matrix in found.matrices] == ["a_matrix"]
    assert list(map(str, found.caveats[:2])) == ["50 rows.", "20 rows."]
    assert found.caveats[2] == Finding("factors_on_labelled_rows", n_rows=20, of=50, factors=["x", "y"])


def test_a_part_that_is_refused_has_no_score():
    evidence = partial_labels((["z"], 20), (["x", "y"], 20))
    card = SimpleNamespace(refusal=lambda part: "Too few." if part.factor_names == ["z"] else None)
    found = joined_score(card, evidence, of_part)
    assert math.isnan(found.per_factor["z"])
    assert found.raw == pytest.approx(0.25)
    np.testing.assert_equal(found.parts["a_matrix"], [[20.0, 20.0, np.nan]] * 2)
    assert list(map(str, found.caveats)) == ["20 rows."]
    with pytest.raises(MetricUndefined, match="Too few of z"):
        joined_score(SimpleNamespace(refusal=lambda part: f"Too few of {part.factor_names[0]}"), evidence, of_part)


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
    "moves_at_200_rows": ([(), (0.0, 0.1, 2)], [0.1, (0.1,), [0.1, 0.1, 0.1], (0.1, 0.1, -0.1), None]),
    "takes_factor_tables": BOOLEAN,
    "takes_sparse_codes": BOOLEAN,
    "factor_by_factor": BOOLEAN,
    "takes_code_groups": BOOLEAN,
    "no_blocks_because": TEXT,
    "takes_factor_groups": BOOLEAN,
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


@pytest.mark.parametrize(
    ("chance", "words"),
    [
        (0.25, "0.25"),
        ("by permutation", "has to be measured by permuting the rows"),
        ("no pairing", "none, because the metric does not relate factors to codes"),
        (lambda n, m, d: 1 / m, "0.1 for 10 codes, and different for other sizes"),
        (lambda n, m, d: 1 / d, "0.2 for 5 factors, and different for other sizes"),
        (lambda n, m, d: 1 / n, "0.001 for 1,000 rows, and different for other sizes"),
        (lambda n, m, d: d / n, "0.005 for 5 factors and 1,000 rows, and different for other sizes"),
        (lambda n, m, d: m * d / n, "0.05 for 10 codes, 5 factors and 1,000 rows, and different for other sizes"),
    ],
)
def test_sizes_are_named_if_they_matter(chance, words):
    assert chance_in_words(SimpleNamespace(chance=chance, measures="recovery")) == words


def test_the_baselines_of_orthogonality_are_named():
    for entry in (CATALOGUE["manifold_total_correlation"], CATALOGUE["manifold_mutual_information"]):
        assert "randomly rotated latents and of random directions" in chance_in_words(entry.card)
    assert chance_in_words(CATALOGUE["manifold_entropy"].card).startswith("none")


def test_sizes_are_changed_one_at_a_time():
    asked = []
    chance_in_words(SimpleNamespace(chance=lambda *sizes: asked.append(sizes) or len(asked)))
    base, *others = asked
    assert base == (1000, 10, 5)
    changed = [[new != old for new, old in zip(sizes, base, strict=True)] for sizes in others]
    assert changed == [[False, True, False], [False, False, True], [True, False, False]]
