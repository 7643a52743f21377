"""Which steps apply to data, and how many draws of which kind each of them has."""

from types import SimpleNamespace

import numpy as np
import pytest

from unweave import Evidence
from unweave.metrics import r2
from unweave.randomness import random_stream
from unweave.responses.constraints import factor_constraints
from unweave.trust import diagnose, without_codes
from unweave.trust import effects as steps
from unweave.trust.effects import CheckStep, _halves, _some_collapsed, steps_of

RNG = np.random.default_rng(0)
PAIR = object()


class Drawn:
    """A counterpart whose draws say what was asked for."""

    each_factor_told = True

    def __init__(self, n_redundant, followed, shared=None, name="one"):
        self.n_redundant, self.by_codes, self.shared, self.name, self.asked = n_redundant, followed, shared, name, []

    def redundant_codes(self):
        return self.n_redundant

    def followed(self, names):
        return tuple(name for name in names if name in self.by_codes)

    def sample(self, generator, *, where, same_codes, same_rows):
        kept = "".join(word for word, stays in (("codes ", same_codes), ("rows ", same_rows)) if stays)
        return f"{self.name} {where} {kept}{generator.integers(1000)}"


def wanted(n, where, kept="", name="one"):
    """The draws that such a call gives."""
    return tuple(f"{name} {where} {kept}{random_stream(7, 'counterpart', k).integers(1000)}" for k in range(n))


@pytest.fixture
def found(monkeypatch):
    """The steps for a number of rows, redundant factors, redundant codes, and a sampler or none."""

    def of(n_rows=1000, *, redundant=(), followed=(), pairs=(), n_extra=0, drawn=(), shared=None, dead=()):
        asked = []

        def counterpart(evidence, **options):
            asked.append((evidence.factor_names, evidence.posterior, options))
            return Drawn(n_extra, followed, shared)

        monkeypatch.setattr(steps, "Counterpart", SimpleNamespace(of=counterpart))
        monkeypatch.setattr(steps, "independent_draws", lambda evidence, names, n, seed: drawn)
        evidence = Evidence(RNG.normal(size=(n_rows, 3)), RNG.normal(size=(n_rows, 2)), factor_names=("a", "b", "c"))
        diagnosis = SimpleNamespace(redundant_factors=redundant, free_pairs=pairs, dead_codes=dead, constraints=(PAIR,))
        return evidence, steps_of(evidence, diagnosis, seed=7), asked

    return of


def test_constraints_are_searched_once_where_there_are_none():
    """Draws of factors without constraints have none, so a metric that needs them does not search each draw."""
    factors = RNG.normal(size=(400, 2)) @ [[1.0, 0.7], [0.0, 0.7]]
    for last in (factors[:, 1], factors[:, 0] ** 2):
        evidence = Evidence(np.column_stack([factors[:, 0], last]), factors)
        diagnosis = diagnose(evidence)
        drawn = steps_of(evidence, diagnosis).evidences
        same = [factor_constraints(each) is factor_constraints(evidence) for each in drawn if each.n_rows != 200]
        assert same == [not diagnosis.constraints] * len(same) != []


def test_there_is_no_step_where_nothing_applies(found):
    evidence, none, asked = found()
    assert vars(none) == vars(steps.Steps((), observed=evidence))
    assert asked == [(("a", "b", "c"), None, {"collapsed": (), "seed": 7})]


def test_dependent_factors_alone_have_five_draws_from_the_models(found):
    evidence, all_steps, _ = found(pairs=(PAIR,))
    here, there = wanted(2, "here", "codes "), wanted(5, "elsewhere", "codes rows ")
    assert [vars(each) for each in all_steps.steps] == [vars(CheckStep("dependence", here, there, modelled=True))]
    assert all_steps.real == wanted(1, "as it is", "codes rows ")
    assert all_steps.control == here
    assert (all_steps.halves, all_steps.without_collapsed, all_steps.set_free) == ((), (), ())
    assert (all_steps.each_told, all_steps.observed) == (True, evidence)


def test_the_last_of_several_steps_has_five_draws_and_those_before_have_two(found):
    _, three, _ = found(999, pairs=(PAIR,), n_extra=1)
    assert [vars(each) for each in three.steps] == [
        vars(CheckStep("dependence", wanted(2, "here", "codes "), wanted(2, "elsewhere", "codes rows "), True)),
        vars(
            CheckStep(
                "number of codes", wanted(2, "elsewhere", "codes rows "), wanted(2, "elsewhere", "rows "), modelled=True
            )
        ),
        vars(CheckStep("number of rows", wanted(5, "elsewhere", "rows "), wanted(5, "elsewhere"), modelled=True)),
    ]
    assert [half.n_rows for half in three.halves] == [499] * 5
    _, two, _ = found(1000, pairs=(PAIR,), n_extra=1)
    assert [(each.effect, len(each.before), len(each.after)) for each in two.steps] == [
        ("dependence", 2, 2),
        ("number of codes", 2, 5),
    ]
    _, rows, _ = found(999, pairs=(PAIR,))
    assert [(each.effect, len(each.before), len(each.after)) for each in rows.steps] == [
        ("dependence", 2, 2),
        ("number of rows", 5, 5),
    ]


def test_redundant_codes_are_removed_from_the_observed_data_where_factors_are_independent(found):
    _, all_steps, _ = found(n_extra=1)
    (step,) = all_steps.steps
    assert vars(step) == vars(
        CheckStep("number of codes", wanted(1, "as it is", "codes rows "), wanted(2, "as it is", "rows "))
    )
    assert all_steps.control == ()
    assert all_steps.real == step.before


def test_draws_of_a_sampler_replace_the_models(found):
    evidence, all_steps, _ = found(pairs=(PAIR,), n_extra=2, drawn=("first", "second"))
    dependence, codes = all_steps.steps
    assert (dependence.effect, dependence.after, dependence.modelled) == ("dependence", ("first", "second"), False)
    assert np.array_equal(dependence.before[0].codes, evidence.codes)
    assert (codes.before, codes.after) == (wanted(1, "as it is", "codes rows "), wanted(2, "as it is", "rows "))
    assert all_steps.control == ()
    _, few, _ = found(500, drawn=("first", "second"))
    assert [each.effect for each in few.steps] == ["number of rows"]
    assert few.control == wanted(2, "here", "codes ")


def test_redundant_factors_that_no_code_follows_are_removed_and_others_are_set_free(found):
    evidence, all_steps, asked = found(redundant=("b", "c"), followed=("c",))
    removed, dependence = all_steps.steps
    assert (removed.effect, removed.before, removed.modelled) == ("redundant factors", (evidence,), False)
    assert removed.after[0].factor_names == ("a", "c")
    assert (dependence.effect, all_steps.set_free) == ("dependence", ("c",))
    assert [(names, options.get("n_removed")) for names, _, options in asked] == [
        (("a", "b", "c"), None),
        (("a", "c"), 1),
    ]
    _, kept, asked = found(redundant=("b",), followed=("b",))
    assert [each.effect for each in kept.steps] == ["dependence"]
    assert len(asked) == 1


@pytest.mark.parametrize("same", [lambda x: 2 * x + 1, lambda x: -(x**3), np.exp], ids=["linear", "cube", "exp"])
@pytest.mark.parametrize(("kept", "other"), [("x", "same"), ("same", "x")])
@pytest.mark.parametrize("order", [("x", "same", "y"), ("same", "y", "x"), ("y", "x", "same")])
def test_of_two_factors_that_determine_each_other_the_one_without_a_code_is_redundant(same, kept, other, order):
    """The score of a code for one of them is that without the other one, and is not lowered by varying both."""
    x, y = np.random.default_rng(5).normal(size=(2, 1000))
    factors = {"x": x, "same": same(x), "y": y}
    evidence = Evidence({name: factors[name] for name in order}, np.column_stack([factors[kept], y]))
    all_steps = steps_of(evidence, diagnose(evidence))
    linear = abs(np.corrcoef(x, same(x))[0, 1]) > 1 - 1e-9
    assert all_steps.left_out in ([("x",), ("same",)] if linear else [(other,)])
    assert all_steps.set_free == ()
    assert all_steps.on(r2, r2(evidence)).elsewhere(r2(evidence)) > 0.99


def test_every_second_draw_of_an_even_number_is_from_shared_models(found):
    _, all_steps, _ = found(pairs=(PAIR,), shared=Drawn(0, (), name="other"))
    one, other = (wanted(6, "elsewhere", "codes rows ", name) for name in ("one", "other"))
    assert all_steps.steps[0].after == (one[0], other[1], one[2], other[3], one[4], other[5])
    assert all_steps.real == wanted(1, "as it is", "codes rows ")


@pytest.mark.parametrize(
    ("dead", "constant", "expected"),
    [
        ((), 0, False),
        (("code 2",), 0, True),
        (("code 2",), 1, False),  # metrics leave out constant codes by themselves
        (("code 1", "code 2"), 1, True),
        (("code 0", "code 1", "code 2"), 0, False),
    ],
)
def test_some_codes_have_collapsed_if_they_vary_and_others_live(dead, constant, expected):
    codes = RNG.normal(size=(20, 3))
    codes[:, 3 - constant :] = 1.0
    diagnosis = SimpleNamespace(dead_codes=dead)
    assert _some_collapsed(Evidence(RNG.normal(size=(20, 2)), codes), diagnosis) is expected


def test_without_some_codes_all_else_stays():
    evidence = Evidence(
        {"angle": RNG.uniform(0, 360, 12), "x": RNG.normal(size=12)},
        RNG.normal(size=(12, 3)),
        kinds={"angle": "circular:360"},
        row_groups=np.arange(12) // 3,
    )
    left = without_codes(evidence, ["code 1"])
    assert left.code_names == ("code 0", "code 2")
    assert left.codes.tolist() == evidence.codes[:, [0, 2]].tolist()
    assert left.factors.tolist() == evidence.factors.tolist()
    assert (left.factor_names, left.declared_kinds) == (evidence.factor_names, evidence.declared_kinds)
    assert left.row_groups.tolist() == evidence.row_groups.tolist()


def test_halves_are_different_and_keep_row_groups_whole():
    factors = np.arange(45.0)[:, None]
    halves = _halves(Evidence(factors, factors, row_groups=np.arange(45) // 3), seed=0)
    assert len({half.fingerprint for half in halves}) == len(halves) == 5
    for half in halves:
        assert np.bincount(half.factors[:, 0].astype(int) // 3).tolist().count(3) == 7
    rows = np.concatenate([half.factors[:, 0] for half in _halves(Evidence(factors, factors), seed=0)])
    assert rows.size == 5 * 22
    assert rows.max() == 44
