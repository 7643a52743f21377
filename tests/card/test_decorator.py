"""Metrics as the decorator makes them: arguments, options, and what is added to a score."""

import dataclasses
import inspect
import math
import typing
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

import numpy as np
import pytest

import unweave
from unweave import MetricUndefined, OptionError
from unweave.card import ANY_KIND, Assumption, Card, CardFields, Count, Metric, MetricError
from unweave.evidence import EvidenceOptions
from unweave.metrics import irs, mcc, mig, sufficiency
from unweave.options import check_option_values
from unweave.score import Score

FIELDS = {
    "measures": "nothing",
    "equivalence": "any",
    "factor_kinds": ANY_KIND,
    "needs": ("factors", "codes"),
    "min_rows": 10,
    "bounds": (0.0, 1.0),
    "best": 1.0,
    "chance": 0.0,
    "cost": "none",
    "fails_when": "always",
    "reference": "none",
}
Z = np.random.default_rng(0).normal(size=(50, 2))


def half(evidence, *, power=1.0):
    """Score 1/2 for any evidence."""
    return Score(0.5**power)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("bounds", "hello", "two numbers"),
        ("bounds", (1.0, 0.0), "the lower one first"),
        ("bounds", (0.0, 1.0, 2.0), "two numbers"),
        ("best", "high", "a number"),
        ("best", 2.0, "outside its bounds"),
        ("needs", ("factrs",), "'factors'"),
        ("needs", "factors", "a tuple"),
        ("chance", "by permutations", "'by permutation'"),
        ("chance", None, "a number"),
        ("equivalence", "elementwize", "'elementwise'"),
        ("factor_kinds", frozenset({"continuous"}), "FactorKind"),
        ("factor_kinds", "continuous", "frozenset"),
        ("min_rows", 10.5, "whole number"),
        ("min_rows", True, "whole number"),
        ("measures", "", "a property"),
        ("measures", "modularty", "did you mean 'modularity'"),
        ("undefined_with", ("one row",), "'one factor', 'one code'"),
        ("reference", 3, "text"),
        ("assumes", ("rows are enough",), "Assumption"),
        ("order_tolerance", -0.1, "from 0"),
        ("takes_factor_tables", "yes", "True or False"),
        ("variants", ({"option": "k"},), "Variant"),
        ("version", 0, "from 1"),
    ],
)
def test_a_value_that_makes_no_sense_is_named(field, value, said):
    with pytest.raises(MetricError, match=f"{field}=.*{said}") as caught:
        unweave.metric(**{**FIELDS, field: value})(half)
    assert len(str(caught.value).splitlines()) == 1


def test_a_misspelt_or_missing_field_is_named():
    with pytest.raises(MetricError, match="no field 'bound': did you mean 'bounds'"):
        unweave.metric(**FIELDS, bound=(0, 1))
    with pytest.raises(MetricError, match="needs chance, cost: add them"):
        unweave.metric(**{name: value for name, value in FIELDS.items() if name not in ("cost", "chance")})


def test_what_most_cards_say_need_not_be_said():
    unsaid = ("factor_kinds", "needs", "bounds", "best")
    short = unweave.metric(**{name: value for name, value in FIELDS.items() if name not in unsaid})(half)
    usual = {"version": 1, "identity_tolerance": 1e-6, "order_tolerance": 0.0, "undefined_with": (), "raw_range": ""}
    assert short.card == unweave.metric(**FIELDS)(half).card == unweave.metric(**FIELDS, **usual)(half).card


def test_values_at_the_edge_make_sense():
    for fields in ({"best": math.nan}, {"bounds": (-math.inf, 0)}, {"chance": lambda n, m, d: 0.0}, {"needs": ()}):
        best = {"best": 0} if "bounds" in fields else {}
        assert isinstance(unweave.metric(**{**FIELDS, **best, **fields})(half).card, Card)


def no_evidence():
    """Has no parameter for the evidence."""


def by_position(evidence, power=1.0):
    """Has an option that is not keyword-only."""


def without_default(evidence, *, power):
    """Has an option without a default."""


def clashing(evidence, *, kinds=None):
    """Has an option with the name of an option of Evidence."""


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (no_evidence, "takes no evidence"),
        (by_position, "'power' by position"),
        (without_default, "'power' .* has no default"),
        (clashing, "'kinds', which belongs to Evidence"),
    ],
)
def test_a_function_that_cannot_be_a_metric_is_refused(function, said):
    with pytest.raises(MetricError, match=said):
        unweave.metric(**FIELDS)(function)


@pytest.mark.parametrize(("given", "said"), [(0.5, "0.5 of type float"), (None, "NoneType"), (Z, "ndarray")])
def test_a_metric_that_returns_no_score_says_so_in_one_sentence(given, said):
    @unweave.metric(**FIELDS)
    def careless(evidence):
        """Does not return a Score."""
        return given

    with pytest.raises(MetricError, match=f"careless returned .*{said}.*return a Score") as caught:
        careless(Z, Z)
    assert len(str(caught.value)) < 200
    (row,) = unweave.evaluate(Z, Z, metrics=[careless], quick=True).rows
    assert "return a Score" in str(row.problem)


def test_factors_and_codes_can_be_given_by_name():
    mcc = unweave.metrics.mcc
    assert mcc(factors=Z, codes=Z[:, ::-1]) == mcc(Z, Z[:, ::-1]) == mcc(factors=unweave.Evidence(Z, Z[:, ::-1]))
    jacobians = np.random.default_rng(1).normal(size=(20, 4, 2))
    entropy = unweave.metrics.manifold_entropy
    assert entropy(decoder=jacobians) == entropy(jacobians)


@pytest.mark.parametrize("call", [unweave.metrics.mcc, unweave.evaluate, unweave.Evidence])
def test_a_misspelt_option_of_evidence_is_a_type_error(call):
    with pytest.raises(TypeError, match="no option 'kidns': did you mean 'kinds'"):
        call(Z, Z, kidns="ordinal")


def test_run_time_sees_the_fields_of_a_card():
    """Card, CardFields and the signature of `metric` name the same fields, with the same types."""
    fields = {entry.name: entry.type for entry in dataclasses.fields(Card) if entry.name not in ("name", "summary")}
    stated = inspect.signature(unweave.metric).parameters
    assert list(stated) == list(fields) == list(CardFields.__annotations__)
    card_types, field_types = typing.get_type_hints(Card), typing.get_type_hints(CardFields)
    assert {name: card_types[name] for name in fields} == field_types


def test_run_time_sees_the_options_of_evidence():
    """Type checkers and the signatures at run time have the same options of Evidence."""
    options = typing.get_type_hints(EvidenceOptions)
    for call in (unweave.Evidence, unweave.evaluate, unweave.compare, unweave.metrics.mcc):
        shown = inspect.signature(call).parameters
        assert {name for name in shown if shown[name].kind is inspect.Parameter.KEYWORD_ONLY} >= set(options)
        assert shown["missing"].default == "refuse"
    spelled_out = typing.get_type_hints(Metric.__call__)
    assert {name: spelled_out[name] for name in options} == options
    declared = inspect.signature(Metric.__call__).parameters
    shown = inspect.signature(unweave.metrics.mcc).parameters
    assert all(declared[name].default == shown[name].default for name in options)


class Probe(Protocol):
    def fit(self, rows): ...

    def predict(self, rows): ...


@dataclass(frozen=True)
class Ridge:
    strength: float = 1.0

    def fit(self, rows):
        return self

    def predict(self, rows):
        return rows


class FitsOnly:
    def fit(self, rows):
        return self


@pytest.mark.parametrize(
    ("annotation", "good", "bad", "use"),
    [
        (Literal["a", "b"], ["a", "b"], ["c", 1, ["a"]], "'a' or 'b'"),
        (Literal["a"], ["a"], ["b"], "'a'"),
        (Literal["a"] | float, ["a", 0.5, 2], ["b", None, True], "'a' or a number"),
        (bool, [True, np.True_], [0, 1, "yes", None], "True or False"),
        (int, [0, -3, np.int64(4)], [1.0, True, "1"], "a whole number"),
        (Count, [1, 7], [0, -1, 1.5, True], "a whole number from 1"),
        (float, [0.5, 2, np.float32(0.5), np.inf], [np.nan, True, "0.5", None], "a number"),
        (float | None, [0.5, None], ["none"], "a number or None"),
        (Probe, [Ridge()], [Ridge, FitsOnly(), "ridge", None], r"an estimator of unweave.estimators \(Probe\)"),
        (Ridge, [Ridge(2.0)], [FitsOnly(), 1.0], r"an estimator of unweave.estimators \(Ridge\)"),
        (
            Probe | int | None,
            [Ridge(), 3, None],
            [2.5],
            r"an estimator of unweave.estimators \(Probe\), a whole number or None",
        ),
        (Annotated[float, "a note"], [0.5], ["a"], "a number"),
    ],
)
def test_values(annotation, good, bad, use):
    for value in good:
        check_option_values("mine", {"option": annotation}, {"option": value})
    for value in bad:
        said = "is not known" if isinstance(value, str) and "'a'" in use else "of mine is not allowed"
        with pytest.raises(OptionError, match=f"^option=.* {said}: use {use}"):
            check_option_values("mine", {"option": annotation}, {"option": value})


@pytest.mark.parametrize("annotation", [Any, dict, int | dict])
def test_other_annotations_are_not_checked(annotation):
    check_option_values("mine", {"option": annotation}, {"option": "anything", "unknown": 3})


CARD = {
    "measures": "explicitness",
    "equivalence": "any",
    "min_rows": 2,
    "chance": 0.0,
    "cost": "none",
    "fails_when": "always",
    "reference": "none",
}
NEGATIVE, FEW = "Some codes are negative.", "There are few rows."
POSITIVE = Assumption(NEGATIVE, lambda evidence: bool((evidence.codes >= 0).all()))
MANY = Assumption(FEW, lambda evidence: evidence.n_rows > 3)
NUMBERS = np.arange(10.0)


@unweave.metric(**CARD, assumes=(POSITIVE, MANY))
def assuming(evidence):
    """Score 1/2; the codes are assumed to be positive."""
    return Score(0.5, caveats=("Half.",))


@unweave.metric(**CARD)
def seeded(evidence, *, rng: int | np.random.Generator | None = 0):
    """Score 1/2, with a seed as an option."""
    assert isinstance(rng, int)
    return Score(0.5)


@pytest.mark.parametrize(
    ("codes", "said"), [(NUMBERS, ()), (-NUMBERS, (NEGATIVE,)), (NUMBERS[:3], (FEW,)), (-NUMBERS[:3], (NEGATIVE, FEW))]
)
def test_assumptions_that_do_not_hold_are_caveats(codes, said):
    score = assuming(NUMBERS[: len(codes)], codes)
    assert tuple(map(str, score.caveats)) == ("Half.", *said)


def seed_of(rng):
    return seeded(NUMBERS, NUMBERS, rng=rng).settings["rng"]


def test_a_seed_is_itself_and_a_generator_is_drawn_from():
    assert [seed_of(rng) for rng in (0, 7, np.int64(7))] == [0, 7, 7]
    one, same, other = (np.random.default_rng(seed) for seed in (1, 1, 2))
    assert seed_of(one) == seed_of(same) != seed_of(other)
    assert seed_of(one) == seed_of(same)  # the second draw is equal as well
    assert len({seed_of(one), seed_of(one), seed_of(one)}) == 3


def test_none_is_fresh_entropy():
    assert len({seed_of(None) for _ in range(5)}) > 1


def test_metrics_of_single_codes_refuse_blocks():
    rng = np.random.default_rng(0)
    factors, groups = rng.normal(size=(60, 2)), {"both": [0, 1]}
    codes = factors + 0.1 * rng.normal(size=(60, 2))
    with pytest.raises(MetricUndefined, match="irs takes no block of codes such as 'both', because its distances"):
        irs(factors, codes, code_groups=groups)
    for metric in (mcc, mig, sufficiency):
        assert metric(factors, codes, code_groups=groups).raw >= 0


def test_repeated_rows_are_said_by_every_score_that_pairs_them():
    """Noise of 100 rows, each repeated five times, has a dci_informativeness of .84, which needs a caveat."""
    rng = np.random.default_rng(0)
    factors, codes = np.tile(rng.normal(size=(100, 2)), (5, 1)), np.tile(rng.normal(size=(100, 2)), (5, 1))
    for metric in (mcc, mig, sufficiency):
        assert "The 500 rows come from only 100 samples" in " ".join(map(str, metric(factors, codes).caveats))
        grouped = metric(factors, codes, row_groups=np.arange(500) % 100)
        assert not any(caveat.kind == "rows_come_again" for caveat in grouped.caveats)
    levels = rng.integers(0, 3, size=(500, 2)).astype(float)
    assert not any(caveat.kind == "rows_come_again" for caveat in mig(levels, levels).caveats)  # equal by chance
