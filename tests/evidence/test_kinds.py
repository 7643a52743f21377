"""Kinds of factors, which are stated in three ways or inferred by the documented rule."""

import math

import numpy as np
import pandas as pd
import pytest

from unweave import Evidence, FactorKind, InputError, OptionError, UnweaveError

N_ROWS = 300
RNG = np.random.default_rng(0)
FACTORS = {
    "angle": RNG.uniform(0, 360, N_ROWS),
    "level": RNG.integers(0, 4, N_ROWS),
    "shape": RNG.choice(["heart", "square"], N_ROWS),
}


def kinds(factors=FACTORS, given=None):
    return tuple(map(str, Evidence(factors, kinds=given).kinds))


def test_what_is_not_given_is_inferred():
    assert kinds() == ("continuous", "ordinal", "categorical")


@pytest.mark.parametrize(
    ("n_levels", "n_rows", "expected"),
    [(50, 250, "ordinal"), (51, 500, "continuous"), (50, 249, "continuous"), (2, 10, "ordinal"), (2, 9, "continuous")],
)
def test_the_rule_for_numbers(n_levels, n_rows, expected):
    assert kinds(np.arange(n_rows) % n_levels / 7) == (expected,)


@pytest.mark.parametrize("given", ["categorical", FactorKind.CATEGORICAL, " Categorical "])
def test_one_kind_for_all(given):
    assert kinds({"level": FACTORS["level"], "shape": FACTORS["shape"]}, given) == ("categorical", "categorical")


def test_one_kind_for_each():
    stated = ["circular:360", FactorKind.CONTINUOUS, "categorical"]
    assert kinds(given=stated) == kinds(given=tuple(stated)) == ("circular", "continuous", "categorical")


def test_kinds_by_name_leave_the_others_to_the_rule():
    assert kinds(given={"level": "continuous"}) == ("continuous", "continuous", "categorical")
    assert kinds(np.arange(10), {"factor 0": "ordinal"}) == ("ordinal",)
    assert kinds({0: np.arange(10)}, {0: "ordinal"}) == ("ordinal",)


@pytest.mark.parametrize(
    "given", ["ordinal:low<mid<high", " Ordinal: low < mid < high ", {"light": "ordinal:low<mid<high"}]
)
def test_texts_have_the_order_that_is_stated(given):
    levels = np.array(["low", "mid", "high"])
    places = RNG.integers(0, 3, 60)
    evidence = Evidence({"light": levels[places]}, kinds=given)
    as_pandas = Evidence({"light": pd.Series(pd.Categorical(levels[places], levels, ordered=True))})
    assert evidence.factors[:, 0].tolist() == places.tolist()
    assert evidence.fingerprint == as_pandas.fingerprint
    assert kinds({"light": levels[places]}, given) == ("ordinal",)
    some = Evidence({"light": [None, *levels[places]]}, kinds=given, missing="drop")
    assert some.factors[:, 0].tolist() == places.tolist()


@pytest.mark.parametrize(
    ("text", "period"),
    [("circular", 2 * math.pi), ("circular:360", 360.0), ("circular: 7.5", 7.5), ("circular:0.5", 0.5)],
)
def test_circular_has_a_period(text, period):
    declared = Evidence(np.linspace(0, min(6, 0.8 * period), 20), kinds=text).declared_kinds[0]
    assert (declared.kind, declared.period) == ("circular", period)


def test_kinds_do_not_depend_on_where_codes_are_missing():
    codes = np.where(np.arange(N_ROWS) < 10, 1.0, np.nan)
    evidence = Evidence(FACTORS, codes, missing="drop")
    assert (evidence.n_rows, evidence.kinds) == (10, Evidence(FACTORS).kinds)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("nominal", "'nominal' is not a kind of factor: use continuous, ordinal, categorical, circular"),
        ("circular:0", "'circular:0' is not a kind"),
        ("circular:-3", "'circular:-3' is not a kind"),
        ("circular:inf", "'circular:inf' is not a kind"),
        ("circular:nan", "'circular:nan' is not a kind"),
        ("circular:full", "'circular:full' is not a kind"),
        ("ordinal:3", "'ordinal:3' is not a kind"),
        (7, "'7' is not a kind"),
        (["ordinal"], "kinds is a list of 1 for 3 factors: write kinds='ordinal' for all of them, a list of 3, or"),
        ({"leval": "ordinal"}, "kinds names 'leval', but the factors are 'angle', 'level', 'shape': use these names"),
        (
            {"shape": "ordinal"},
            r"ordinal needs the order of its levels: write kinds={'shape': 'ordinal:heart<square'} \(--kinds 'shape",
        ),
        ({"shape": "ordinal:heart<sqare"}, "The order of factor 'shape' leaves out 'square': name each of its levels"),
        ({"shape": "ordinal:heart<square<heart"}, "The order of factor 'shape' names a level twice"),
        ({"level": "ordinal:0<1<2<3"}, "Factor 'level' has numbers, whose order is that of their values"),
        ({"shape": "categorical:heart<square"}, "'categorical:heart<square' is not a kind of factor"),
        ({"angle": "circular"}, "Factor 'angle' is circular with period 6.28319, but its values span 35.*circular:360"),
    ],
    ids=str,
)
def test_kinds_that_do_not_fit(given, message):
    with pytest.raises(UnweaveError, match=message):
        Evidence(FACTORS, kinds=given)


@pytest.mark.parametrize(("beyond", "fits"), [(-0.1, True), (0.0, True), (5e-10, True), (2e-9, False), (0.1, False)])
@pytest.mark.parametrize("start", [0.0, -180.0, 700.0])
def test_values_may_exceed_a_period_by_rounding_only(start, beyond, fits):
    angles = start + np.linspace(0, 360 * (1 + beyond), 30)
    if fits:
        assert kinds(angles, "circular:360") == ("circular",)
    else:
        with pytest.raises(InputError, match=r"circular with period 360, but its values span"):
            kinds(angles, "circular:360")


@pytest.mark.parametrize(
    ("n_levels", "n_rows", "is_category"), [(50, 50, True), (51, 101, False), (51, 102, True), (51, 110, True)]
)
def test_categories_are_few_or_repeat(n_levels, n_rows, is_category):
    labels = {"file": [f"image {k % n_levels}" for k in range(n_rows)]}
    if is_category:
        assert kinds(labels) == ("categorical",)
    else:
        with pytest.raises(
            InputError, match=f"Factor 'file' is categorical with {n_levels} values in {n_rows} rows: leave it"
        ):
            kinds(labels)


@pytest.mark.parametrize(("n_factors", "end"), [(8, "'f7': use"), (9, "'f7' and others: use")])
def test_eight_names_are_listed(n_factors, end):
    with pytest.raises(OptionError, match=f"kinds names 'x', but the factors are 'f0'.*{end} these names"):
        kinds({f"f{j}": [1.0, 2.0] for j in range(n_factors)}, {"x": "ordinal"})


def test_every_kind_answers_what_other_modules_ask():
    asked = ("is_numeric", "has_classes", "is_continuous", "is_categorical", "is_circular")
    answers = {kind.value: [name for name in asked if getattr(kind, name)] for kind in FactorKind}
    assert answers == {
        "continuous": ["is_numeric", "is_continuous"],
        "ordinal": ["is_numeric", "has_classes"],
        "categorical": ["has_classes", "is_categorical"],
        "circular": ["is_circular"],
    }
    assert len({kind.role for kind in FactorKind}) == len(FactorKind)


@pytest.mark.parametrize("given", ["continuous", "ordinal", "categorical", "circular", "circular:9.5"])
def test_distances_between_target_columns_have_a_closed_form(given):
    column = np.random.default_rng(1).integers(0, 6, 80).astype(float)
    declared = Evidence(column, kinds=given).declared_kinds[0]
    columns = declared.target_columns(column)
    distances = np.linalg.norm(columns[:, None] - columns[None], axis=2)
    steps = np.abs(column[:, None] - column[None])
    expected = {
        "categorical": np.sqrt(2) * (steps > 0),
        "circular": 2 * np.abs(np.sin(np.pi * steps / declared.period)),
    }
    np.testing.assert_allclose(distances, expected.get(declared.kind, steps), atol=1e-12)
    restated = Evidence(column, kinds=declared.text).declared_kinds[0]
    assert repr(restated) == repr(declared)


@pytest.mark.parametrize("period", [0.5, 2 * math.pi, 360.0])
def test_shares_of_the_circle_do_not_depend_on_whole_turns(period):
    declared = Evidence(np.linspace(0, period / 2, 20), kinds=f"circular:{period}").declared_kinds[0]
    values = np.random.default_rng(2).uniform(-2, 2, 50) * period
    shares = declared.share_of_circle(values)
    assert ((shares >= 0) & (shares < 1)).all()
    np.testing.assert_allclose(np.exp(1j * declared.angle(values)), np.exp(2j * np.pi * shares), atol=1e-9)
