"""Constraints between factors, and how they are searched for."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from unweave import Evidence
from unweave.estimators.regression import unexplained_variance
from unweave.metrics import identification, t_mex
from unweave.randomness import random_stream
from unweave.responses import constraints
from unweave.responses import constraints as constraint_search
from unweave.responses.constraints import (
    ConstraintSearch,
    FactorConstraints,
    _kernels,
    _parts,
    _separate_rows,
    factor_constraints,
)
from unweave.responses.factor_bases import factor_view
from unweave.trust import diagnose

OF_ONE = {
    "square": lambda a: a**2,
    "absolute": np.abs,
    "rectified": lambda a: np.maximum(a, 0),
    "sine": lambda a: np.sin(3 * a),
    "remainder": lambda a: a % 1,
    "wave": lambda a: np.cos(2 * np.pi * a),
    "cube": lambda a: a**3,
    "exponential": np.exp,
    "sign": np.sign,
    "floor": np.floor,
}
OF_TWO = {
    "product": np.multiply,
    "quotient": np.divide,
    "angle": np.arctan2,
    "larger": np.maximum,
    "sum": np.add,
    "radius": np.hypot,
    "comparison": lambda a, b: (a > b) * 1.0,
    "exclusive or": lambda a, b: ((a > 0) ^ (b > 0)) * 1.0,
}
OF_THREE = {
    "product of three": lambda a, b, c: a * b * c,
    "product and sum": lambda a, b, c: a * b + c,
    "sum of three": lambda a, b, c: a + b + c,
}
FUNCTIONS = OF_ONE | OF_TWO | OF_THREE
N_SOURCES = {name: k for k, group in ((1, OF_ONE), (2, OF_TWO), (3, OF_THREE)) for name in group}


def free_columns(seed, n_rows=1000, n_factors=4):
    rng = np.random.default_rng([99, seed])
    return rng.normal(size=(n_rows, n_factors)) if seed % 2 else rng.uniform(-1, 1, size=(n_rows, n_factors))


def with_constraint(name, seed, **options):
    free = free_columns(seed, **options)
    return free, FUNCTIONS[name](*free[:, : N_SOURCES[name]].T)


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_diagnosis_and_identification_agree(name):
    """42 worlds: 21 functions, each of normal and of uniform factors; all worlds have four degrees of freedom."""
    for seed in (1, 2):  # of 24 choices of rows for a comparison, one misses it, which is that for seed 0
        free, determined = with_constraint(name, seed)
        evidence = Evidence(np.column_stack([free, determined]), free)
        score = identification(evidence)
        assert diagnose(evidence).effective_dimension == float(score.parts["effective_dimension"]) == 4
        assert score.value == pytest.approx(1, abs=0.01)


MANY_TO_ONE = ["absolute", "square", "sine", "wave"]


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        pytest.param(name, seed, marks=[pytest.mark.slow] * (k != seed))
        for k, name in enumerate(MANY_TO_ONE)
        for seed in range(4)
    ],
)
def test_codes_of_all_free_factors_get_full_marks(name, seed):
    """Sixteen runs with a many-to-one function of one factor, in any column; four of them are quick."""
    free, determined = with_constraint(name, seed, n_rows=600, n_factors=3)
    evidence = Evidence(np.insert(free, seed, determined, axis=1), free)
    score = identification(evidence)
    assert diagnose(evidence).effective_dimension == float(score.parts["effective_dimension"]) == 3
    assert score.value == pytest.approx(1, abs=0.01)
    assert score.parts["free_factors"].tolist() == np.insert(np.ones(3), seed, 0.0).tolist()


def test_a_folded_code_does_not_make_its_factor_redundant():
    x, y = np.random.default_rng(0).normal(size=(2, 1000))
    score = identification(np.column_stack([x, y, np.abs(x)]), np.column_stack([np.abs(x), y]))
    assert score.parts["free_factors"].tolist() == [1, 1, 0]
    assert score.value < 0.9


def determined_names(columns):
    evidence = Evidence(columns)
    return [int(name.split()[1]) for name in factor_constraints(evidence).determined]


def test_functions_of_other_columns_are_named():
    x, y, w = np.random.default_rng(0).normal(size=(3, 800))
    assert determined_names(np.column_stack([x, y, w])) == []
    assert determined_names(np.column_stack([x, x**3, w])) == [0, 1]
    assert determined_names(np.column_stack([x, np.cos(2 * x), w])) == [1]
    assert determined_names(np.column_stack([x, y, x * y, w])) == [2]
    grid = np.stack(np.meshgrid(np.arange(3.0), np.arange(4.0), np.arange(50.0)), axis=-1).reshape(-1, 3)
    assert determined_names(grid) == []


def test_t_mex_names_the_same_factors():
    x, y, w = np.random.default_rng(1).normal(size=(3, 800))
    factors = np.column_stack([x, y, w, np.sin(3 * x)])
    caveats = t_mex(factors, np.column_stack([x, y, w])).caveats
    assert any("factor 3" in caveat.factors for caveat in caveats)


@pytest.mark.parametrize("rho", [0.97, 0.99, 0.998, 0.999])
def test_correlation_is_no_constraint(rho):
    """The unexplained share of a factor, however small, does not decrease with the number of rows."""
    x, y = np.random.default_rng(2).normal(size=(2, 2000))
    found = factor_constraints(Evidence(np.column_stack([x, rho * x + np.sqrt(1 - rho**2) * y])))
    assert found.constraints == ()


def test_sets_of_free_factors_have_one_size():
    """Two of temperature, resistance, current and voltage determine all, and the most valuable pair is chosen."""
    temperature, current = np.random.default_rng(3).uniform(0.5, 1.5, size=(2, 1000))
    resistance = 1 + 0.4 * temperature
    factors = np.column_stack([temperature, resistance, current, resistance * current])
    found, names = factor_constraints(Evidence(factors)), [f"factor {j}" for j in range(4)]
    assert found.free(names) == [0, 2]
    assert found.free(names, np.array([0.0, 0.0, 1.0, 1.0])) == [2, 3]
    assert found.free(names, np.array([0.1, 1.0, 0.5, 0.4])) == [1, 2]
    assert found.alike(names).tolist() == [0, 0, 2, 3]


def test_factors_that_never_vary_are_like_no_other():
    x, y = np.random.default_rng(4).normal(size=(2, 300))
    factors = {"still": np.ones(300), "x": x, "y": y, "cube": x**3, "quiet": np.zeros(300), "half": -x / 2}
    assert factor_constraints(Evidence(factors)).alike(list(factors)).tolist() == [0, 1, 2, 1, 4, 1]


def test_a_product_is_a_polynomial_of_two_factors_and_of_no_other_number():
    x, y, w = np.random.default_rng(5).normal(size=(3, 300))
    search = factor_constraints(Evidence({"x": x, "y": y, "w": w, "product": x * y})).search
    assert search.open_to_pair(3, (0, 1)) == pytest.approx(0, abs=1e-6)
    assert search.open_to_pair(2, (0, 1)) > 0.8
    assert search.open_to_pair(3, (0,)) == search.open_to_pair(3, (0, 1, 2)) == 1.0


@pytest.mark.parametrize(("kind", "n_used"), [("continuous", 3), ("ordinal", 6)])
def test_the_search_uses_one_row_of_a_group_and_of_a_combination_of_numbers(kind, n_used):
    """Six groups of two rows; two groups each have the same value."""
    groups = np.repeat(np.arange(6), 2)
    evidence = Evidence({"x": groups // 2 + 0.5}, row_groups=groups, kinds={"x": kind})
    found = _separate_rows(evidence, 3)
    assert (found.n_separate, found.n_repeated, found.rows.size) == (6, 6 - n_used, n_used)
    seen, expected = set(), []
    for row in random_stream(3, "rows for constraints").permutation(12).tolist():
        new = {("group", groups[row])} | ({("value", groups[row] // 2)} if kind == "continuous" else set())
        if not new & seen:
            expected.append(row)
        seen |= new
    assert found.rows.tolist() == expected


@pytest.mark.parametrize(("n_rows", "n_views"), [(49, 0), (50, 2)])
def test_there_is_no_search_with_fewer_than_fifty_rows(n_rows, n_views):
    """Of two factors that determine each other, the later one is removed, and a constant is no factor."""
    x = np.random.default_rng(6).normal(size=n_rows)
    found = factor_constraints(Evidence({"x": x, "cube": x**3, "still": np.ones(n_rows)}))
    assert len(found.views) == n_views
    named = [(each.determined, each.by, each.invertible, each.is_single) for each in found.constraints]
    assert named == ([("cube", ("x",), True, True)] if n_views else [])


def test_the_search_is_among_the_first_factors_that_vary(monkeypatch):
    monkeypatch.setattr(constraints, "MOST_FACTORS", 2)
    x, y = np.random.default_rng(7).normal(size=(2, 60))
    found = factor_constraints(Evidence({"x": x, "y": y, "cube": x**3}))
    assert [view.name for view in found.views] == ["x", "y", "cube"]
    assert len(found.search.views) == 2
    assert found.constraints == ()
    assert found.alike(["x", "y", "cube"]).tolist() == [0, 1, 2]


def related(found, *, given_back=(), determined=()):
    """Constraints among factors 0 to 5, with tables in place of the search."""
    search = SimpleNamespace(
        gives_back=lambda target, sources: (target, sources) in given_back,
        is_determined=lambda target, sources: (target, sources) in determined,
    )
    views = tuple(SimpleNamespace(name=str(j)) for j in range(6))
    return FactorConstraints(None, views, found, (), search)


@pytest.mark.parametrize(("worth", "free"), [(0.51, [1]), (0.509, [0]), (0.4, [0])])
def test_a_factor_replaces_another_if_it_is_worth_a_hundredth_more(worth, free):
    known = related(((1, (0,)),), given_back={(0, (1,))})
    assert known.free(["0", "1"], np.array([0.5, worth])) == free
    assert related(((1, (0,)),)).free(["0", "1"], np.array([0.5, worth])) == [0]


def test_the_least_valuable_source_that_is_given_back_is_replaced():
    """Factor 2 is a function of 0 and 1; of these, 1 is worth less, and 0 is replaced if 1 cannot be."""
    worth = np.array([0.4, 0.3, 0.9])
    names = ["0", "1", "2"]
    both = {(1, (0, 2)), (0, (1, 2))}
    assert related(((2, (0, 1)),), given_back=both).free(names, worth) == [0, 2]
    assert related(((2, (0, 1)),), given_back={(0, (1, 2))}).free(names, worth) == [1, 2]
    assert related(((2, (0, 1)),)).free(names, worth) == [0, 1]


def test_sources_that_were_removed_themselves_stand_for_their_own():
    """Factor 3 follows from 2 and 1, and 2 from 0: the kept factors behind 3 are 0 and 1."""
    known = related(((3, (1, 2)), (2, (0,))), given_back={(0, (1, 3))})
    assert known.free(["0", "1", "2", "3"], np.array([0.1, 0.3, 0.0, 0.9])) == [1, 3]


@pytest.mark.parametrize(
    ("found", "target", "sources", "expected"),
    [
        (((1, (0,)),), 0, (2, 3), True),  # 2 and 3 give back 1, which determines 0
        (((1, (0,)),), 0, (1, 2), False),  # 1 is a source itself
        (((1, (0, 4)),), 0, (2, 3), False),  # 1 is a function of two factors
        (((0, (1,)),), 0, (2, 3), True),
        (((0, (1, 4)),), 0, (2, 3), False),
        (((5, (1,)),), 0, (2, 3), False),
    ],
)
def test_a_factor_is_given_back_through_one_that_is_equivalent_to_it(found, target, sources, expected):
    known = related(found, given_back={(1, (2, 3)), (1, (1, 2))}, determined={(0, (1,))})
    assert known._gives_back(target, sources) is expected
    assert related(found, given_back={(target, sources)})._gives_back(target, sources) is True
    assert related(found, given_back={(1, (2, 3))})._gives_back(0, (2, 3)) is False


RNG = np.random.default_rng(0)
NUMBER, CLASSES = SimpleNamespace(labels=None), SimpleNamespace(labels=np.zeros(3, dtype=int))


def views_of(**columns):
    evidence = Evidence(columns)
    return tuple(factor_view(evidence, j) for j in range(evidence.n_factors))


def stubbed(n_factors=6, **methods):
    """A search among numbers whose methods are replaced by these functions."""
    search = ConstraintSearch((NUMBER,) * n_factors)
    for name, method in methods.items():
        setattr(search, name, method)
    return search


def test_kernels_of_several_sources_widen_with_the_root_of_their_number():
    assert [kernel.length for kernel in _kernels(9)] == [3.0, 6.0, 12.0]
    assert [kernel.length for kernel in _kernels(4)] == [2.0, 4.0, 8.0]
    assert [kernel.ridge for kernel in _kernels(3)] == [kernel.ridge for kernel in _kernels(2)] == [1e-3, 1e-4, 1e-4]
    assert [kernel.length for kernel in _kernels(2)] == [0.5, 1.0, 2.5]
    assert [(kernel.length, kernel.ridge) for kernel in _kernels(1)] == [(0.2, 1e-3), (0.6, 1e-3), (2.0, 1e-3)]


@pytest.mark.parametrize(
    ("left", "of_quarters", "expected"),
    [
        (0.0005, 0.0, True),
        (0.0006, 0.0, False),
        (0.02, 1.0, True),
        (0.021, 1.0, False),
        (0.75 * 0.016, 0.016, True),
        (0.76 * 0.016, 0.016, False),
    ],
)
def test_a_small_share_is_little_if_it_falls_with_the_number_of_rows(left, of_quarters, expected):
    assert ConstraintSearch((NUMBER,))._is_little(0, left, lambda: of_quarters) is expected


@pytest.mark.parametrize(
    ("left", "of_quarters", "expected"), [(0.05, 0.0, True), (0.06, 0.0, False), (0.35, 1.0, True), (0.36, 1.0, False)]
)
def test_classes_may_leave_more_unexplained(left, of_quarters, expected):
    assert ConstraintSearch((CLASSES,))._is_little(0, left, lambda: of_quarters) is expected


@pytest.mark.parametrize(
    ("view", "left", "of_quarters", "expected"),
    [
        (NUMBER, 0.003, 0.0, True),
        (NUMBER, 0.004, 0.0, False),
        (NUMBER, 0.05, 0.1, True),
        (NUMBER, 0.05, 0.09, False),
        (NUMBER, 0.051, 1.0, False),
        (CLASSES, 0.05, 0.0, True),
        (CLASSES, 0.06, 0.0, False),
        (CLASSES, 0.6, 1.0, True),
        (CLASSES, 0.61, 1.0, False),
        (CLASSES, 0.8 * 0.5, 0.5, True),
        (CLASSES, 0.41, 0.5, False),
    ],
)
def test_few_rows_rule_out_what_leaves_much_unexplained(view, left, of_quarters, expected):
    """The best of three kernels decides, on all rows and on quarters of them."""
    search = ConstraintSearch((view,) * 3)
    search.followed = lambda source: (np.ones(3), np.ones(3))
    search.open_to_pair = lambda target, sources: 1.0
    search.screened = lambda target, sources, n_parts=1: np.array(
        [0.9, left if n_parts == 1 else of_quarters, 1.5] if n_parts in (1, 4) else [0.0]
    )
    assert search.may_be_determined(0, (1, 2)) is expected


def test_what_a_line_or_a_polynomial_explains_needs_no_kernel():
    def fail(*given):
        raise AssertionError(given)

    whole, quarters = np.array([0.5, 0.0004, 0.5]), np.ones(3)
    search = stubbed(3, followed=lambda source: (whole, quarters), screened=fail, open_to_pair=lambda *given: 1e-6)
    assert search.may_be_determined(1, (0,))
    assert search.may_be_determined(2, (0, 1))
    assert search._decide(1, (0,)) == (True, 0.0004)
    search.open_to_pair = lambda *given: 1.01e-6
    with pytest.raises(AssertionError):
        search.may_be_determined(2, (0, 1))
    with pytest.raises(AssertionError):
        search.may_be_determined(1, (0, 2))  # interpolation is along one factor alone


def test_only_kernels_that_are_nearly_best_on_few_rows_are_tried_on_all():
    tried = []

    def open_shares(sources, targets, parts, kernels):
        tried.append((np.asarray(kernels).tolist(), len(parts), sum(part.size for part in parts)))
        return np.array([[0.015], [0.03]] if len(parts) == 1 else [[0.02], [0.05]])[: len(kernels)]

    search = stubbed(
        3,
        _is_followed=lambda *given: False,
        may_be_determined=lambda *given: True,
        screened=lambda *given: np.array([0.131, 0.1, 0.13]),
        _open_shares=open_shares,
        _is_exact=lambda *given: False,
    )
    search.views = (SimpleNamespace(labels=None, targets=np.zeros((40, 1))),) * 3
    assert search.decision(0, (1, 2)) == (True, 0.015)
    assert tried == [([1, 2], 1, 40), ([1, 2], 4, 40)]
    assert search.decision(0, (1, 2)) == (True, 0.015)
    assert len(tried) == 2  # every decision is made once
    search.views = (SimpleNamespace(labels=np.zeros(40, dtype=int), targets=np.zeros((40, 2))),) * 3
    search.decision(1, (0, 2))
    assert tried[2] == ([0, 1, 2], 1, 40)


@pytest.mark.parametrize(("exact", "expected"), [(True, (True, 0.0)), (False, (False, 0.3))])
def test_values_decide_if_ranks_do_not(exact, expected):
    search = stubbed(
        _is_followed=lambda *given: False,
        may_be_determined=lambda *given: True,
        screened=lambda *given: np.array([0.3, 0.1, 0.2]),
        _open_shares=lambda sources, targets, parts, kernels: np.array([[0.3]]),
        _is_exact=lambda *given: exact,
    )
    search.views = (SimpleNamespace(labels=None, targets=np.zeros((40, 1))),) * 3
    assert search._decide(0, (1, 2)) == expected
    search.may_be_determined = lambda *given: False
    found = search._decide(0, (1, 2))
    assert found == (True, 0.0) if exact else (found[0], np.isnan(found[1])) == (False, True)


@pytest.mark.parametrize(
    ("labels", "left", "of_quarters", "expected"),
    [
        (None, 0.1, 1.0, True),
        (None, 0.11, 1.0, False),
        (None, 0.75 * 0.1, 0.1, True),
        (None, 0.076, 0.1, False),
        (np.zeros(40, dtype=int), 0.35, 1.0, True),
        (np.zeros(40, dtype=int), 0.36, 1.0, False),
    ],
)
def test_a_constraint_gives_back_its_source_if_little_is_left_and_falls(labels, left, of_quarters, expected):
    search = stubbed(
        is_determined=lambda *given: False,
        _open_shares=lambda sources, targets, parts: np.array([[0.9], [{1: left, 4: of_quarters}[len(parts)]]]),
    )
    search.views = (SimpleNamespace(labels=labels, targets=np.zeros((40, 1))),) * 2
    assert search.gives_back(0, (1,)) is expected
    search.is_determined = lambda *given: True
    assert search.gives_back(0, (1,)) is True


def test_a_single_kernel_gives_the_shares_of_all_targets():
    """300 rows of 400; the shares are those of leave-one-out predictions by each kernel."""
    x, y = RNG.normal(size=(2, 400))
    views = views_of(x=x, y=y, square=x**2)
    search = ConstraintSearch(views)
    found = search.screened(2, (0,))
    for k, kernel in enumerate(_kernels(1)):
        predicted = kernel.leave_one_out(views[0].inputs[:300], views[2].targets[:300])
        assert found[k] == pytest.approx(unexplained_variance(views[2].targets[:300], predicted))
    assert set(search._screened) == {((j, (0,)), 1) for j in range(3)}
    quarters = search.screened(2, (0,), 4)
    shares = []
    for rows in _parts(np.arange(300), 4):
        predicted = _kernels(1)[0].leave_one_out(views[0].inputs[rows], views[2].targets[rows])
        shares.append(unexplained_variance(views[2].targets[rows], predicted))
    assert quarters[0] == pytest.approx(np.mean(shares))
    assert [key for key in search._screened if key[1] == 4] == [((2, (0,)), 4)]
    search.screened(2, (0, 1))
    assert ((1, (0, 1)), 1) not in search._screened


def test_interpolation_along_a_column_explains_functions_of_it():
    x, y = RNG.normal(size=(2, 200))
    search = ConstraintSearch(views_of(x=x, y=y, bent=np.abs(x)))
    whole, quarters = search.followed(0)
    assert whole[0] < 1e-3
    assert whole[2] < 0.001 < quarters[2] < 0.02
    assert whole[1] > 0.8
    shares = []
    for rows in _parts(np.arange(200), 4):
        order = rows[np.argsort(x[rows])]
        inner = order[1:-1]
        at = (search.views[0].place[inner] - search.views[0].place[order[:-2]])[:, None]
        width = (search.views[0].place[order[2:]] - search.views[0].place[order[:-2]])[:, None]
        targets = search.views[1].targets
        predicted = np.empty((200, 1))
        predicted[inner] = targets[order[:-2]] + at / width * (targets[order[2:]] - targets[order[:-2]])
        predicted[order[[0, -1]]] = targets[order[[1, -2]]]
        shares.append(search.views[1].unexplained(rows, predicted[rows]))
    assert quarters[1] == pytest.approx(np.mean(shares))
    labels = Evidence({"x": x, "level": np.arange(200) % 3}, kinds={"level": "categorical"})
    categories = ConstraintSearch(tuple(factor_view(labels, j) for j in range(2)))
    assert [share.tolist() for share in categories.followed(1)] == [[1.0, 1.0], [1.0, 1.0]]


def test_shares_of_numbers_and_classes_together_are_those_of_each():
    rng = np.random.default_rng(1)
    evidence = Evidence(
        {"x": rng.normal(size=60), "level": np.arange(60) % 3, "y": rng.normal(size=60)}, kinds={"level": "categorical"}
    )
    views = tuple(factor_view(evidence, j) for j in range(3))
    rows = np.arange(5, 55)
    predictions = rng.normal(size=(50, 5))
    found = ConstraintSearch(views)._left_by(predictions, (2, 1, 0), rows)
    parts = predictions[:, :1], predictions[:, 1:4], predictions[:, 4:]
    exact = [views[j].unexplained(rows, part) for j, part in zip((2, 1, 0), parts, strict=True)]
    assert found == pytest.approx(exact)
    circle = Evidence({"turn": rng.uniform(size=60), "x": rng.normal(size=60)}, kinds={"turn": "circular:1"})
    turns = tuple(factor_view(circle, j) for j in range(2))
    found = ConstraintSearch(turns)._left_by(predictions[:, :3], (0, 1), rows)
    assert found == pytest.approx(
        [turns[0].unexplained(rows, predictions[:, :2]), turns[1].unexplained(rows, predictions[:, 2:3])]
    )
    numbers = ConstraintSearch(views)._left_by(predictions[:, :2], (2, 0), rows)
    assert numbers == pytest.approx([views[2].unexplained(rows, parts[0]), views[0].unexplained(rows, parts[1][:, :1])])


@pytest.mark.parametrize(
    ("n_factors", "n_rows", "used"), [(2, 900, 300), (12, 900, 300), (13, 900, 315), (14, 900, 360), (14, 330, 330)]
)
def test_polynomials_have_three_rows_for_each_of_their_terms(n_factors, n_rows, used):
    """A second-degree polynomial of 13 variables has 105 terms: a constant, 13 + 13 powers and 78 products."""
    numbers, column = RNG.normal(size=(2, n_rows))
    view = SimpleNamespace(targets=np.zeros((n_rows, 1)), numbers=numbers, column=column)
    search = ConstraintSearch((view,) * n_factors)
    assert search._numbers(range(n_factors), standard=True).shape == (used, n_factors)
    assert search._numbers([0, 1], standard=True)[:, 1].tolist() == numbers[:300].tolist()
    assert search._numbers([0, 1], standard=False)[:, 1].tolist() == column[:300].tolist()


@pytest.mark.parametrize(("n_functions", "n_rows", "used"), [(9, 500, 300), (10, 500, 363), (10, 340, 340)])
def test_products_of_two_bases_explain_what_a_ridge_regression_explains(n_functions, n_rows, used):
    """With ten functions each there are 11 x 11 terms, and three rows for each term."""
    rng = np.random.default_rng(n_rows)
    bases = [np.linalg.qr(rng.normal(size=(n_rows, n_functions)))[0] for _ in range(2)]
    targets = [rng.normal(size=(n_rows, 1)), rng.normal(size=(n_rows, 3)), bases[0][:, :1] * bases[1][:, 2:3]]
    views = [SimpleNamespace(basis=bases[j % 2], targets=values) for j, values in enumerate(targets)]
    found = ConstraintSearch(views)._open_to_polynomials((0, 1))
    left, right = (basis[:used] for basis in bases)
    both = np.column_stack([left[:, k] * right[:, j] for k, j in np.ndindex(n_functions, n_functions)])
    functions = np.column_stack([left, right, np.sqrt(used) * both])
    functions -= functions.mean(axis=0)
    exact = []
    for values in targets:
        centred = values[:used] - values[:used].mean(axis=0)
        padded = np.vstack([functions, 1e-3 * np.eye(functions.shape[1])])  # a ridge of 1e-6
        weights = np.linalg.lstsq(padded, np.vstack([centred, np.zeros((len(padded) - used, centred.shape[1]))]))[0]
        exact.append(1 - ((functions.T @ centred) * weights).sum() / np.square(centred).sum())
    assert found == pytest.approx(exact, abs=1e-9)


def test_pairs_that_explain_most_are_candidates():
    """Three pairs for each target, without those that leave more than .85 unexplained."""
    left = {pair: 0.1 * k for k, pair in enumerate(combinations(range(4), 2))}  # from 0 to 0.5
    search = stubbed(5, _open_to_polynomials=lambda pair: np.full(5, left.get(pair, 0.85)))
    candidates = search._pairs([0, 1, 2, 3, 4])
    assert [pair for target, pair in candidates if target == 4] == [(0, 1), (0, 2), (0, 3)]
    assert [pair for target, pair in candidates if target == 0] == [(1, 2), (1, 3), (2, 3)]
    assert [target for target, _ in candidates] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]
    search._open_to_polynomials = lambda pair: np.full(5, 0.85 if pair == (0, 1) else 0.86)
    assert search._pairs([0, 1, 2, 3]) == [(2, (0, 1)), (3, (0, 1))]


def test_with_many_factors_only_those_that_depend_on_the_target_are_its_sources(monkeypatch):
    monkeypatch.setattr(constraint_search, "SOURCES_OF_MANY", 2)
    monkeypatch.setattr(constraint_search, "MOST_FACTORS_IN_ALL_PAIRS", 4)
    eye = np.eye(5)
    bases = [eye[:, :1], 0.6 * eye[:, :1], 0.1 * eye[:, :1], -0.9 * eye[:, :1], eye[:, 1:2]]
    search = ConstraintSearch([SimpleNamespace(basis=basis) for basis in bases])
    assert search._likely_sources(0, [0, 1, 2, 3, 4]) == [1, 3]
    assert search._likely_sources(0, [0, 2, 4]) == [2, 4]
    few = ConstraintSearch([SimpleNamespace(basis=basis) for basis in bases[:4]])
    assert few._likely_sources(0, [0, 1, 2, 3]) == [1, 2, 3]


def test_all_others_are_candidates_if_they_are_three_or_more():
    search = stubbed()
    assert search._all_others([0, 1, 2]) == []
    assert search._all_others([0, 1, 3, 5]) == [(0, (1, 3, 5)), (1, (0, 3, 5)), (3, (0, 1, 5)), (5, (0, 1, 3))]
    assert search._singles([1, 4, 5]) == [(4, (1,)), (5, (1,)), (1, (4,)), (5, (4,)), (1, (5,)), (4, (5,))]


@pytest.mark.parametrize(
    ("sources", "needed", "expected"),
    [
        ((1, 2, 3, 4, 5), {2, 4, 5}, (2, 4, 5)),
        ((1, 2, 3, 4, 5), {4}, (3, 4, 5)),
        ((1, 2, 3), {2}, (1, 2, 3)),
        ((1, 2), {2}, (1, 2)),
    ],
)
def test_sources_that_are_not_needed_are_dropped_down_to_three(sources, needed, expected):
    search = stubbed(is_determined=lambda target, fewer: needed <= set(fewer))
    assert search._fewest(0, sources) == expected


def test_candidates_are_decided_in_the_order_of_what_they_leave_and_the_later_column_goes():
    decided = []
    shares = {(0, (1,)): 0.0102, (1, (0,)): 0.0098, (2, (0,)): 0.004, (0, (2,)): 0.03}
    search = stubbed(
        may_be_determined=lambda target, sources: (target, sources) in shares,
        _at_first=lambda candidate: shares[candidate],
        is_determined=lambda target, sources: decided.append((target, sources)),
        _exact_candidates=lambda kept: [],
        _open_to_polynomials=lambda pair: np.ones(6),
    )
    assert search.best_determined([0, 1, 2]) is None
    assert decided == [(2, (0,)), (1, (0,)), (0, (1,)), (0, (2,))]


def test_six_candidates_of_each_size_are_decided():
    decided = []
    search = stubbed(
        may_be_determined=lambda *given: True,
        _at_first=lambda candidate: 0.0,
        is_determined=lambda target, sources: decided.append(len(sources)),
        _exact_candidates=lambda kept: [],
        _open_to_polynomials=lambda pair: np.zeros(6),
    )
    assert search.best_determined(list(range(6))) is None
    assert decided == [1] * 6 + [2] * 6 + [5] * 6


def test_exact_relations_come_after_single_factors_and_before_pairs():
    search = stubbed(
        may_be_determined=lambda target, sources: len(sources) == 2,
        _at_first=lambda candidate: 0.0,
        is_determined=lambda *given: True,
        _exact_candidates=lambda kept: [(2, (0, 1)), (1, (0, 2))],
        _open_to_polynomials=lambda pair: np.zeros(6),
    )
    assert search.best_determined([0, 1, 2, 3]) == (2, (0, 1))
    search._exact_candidates = lambda kept: []
    assert search.best_determined([0, 1, 2, 3]) == (3, (0, 1))
    search.may_be_determined = lambda *given: True
    assert search.best_determined([0, 1, 2, 3]) == (3, (0,))


@pytest.mark.parametrize(
    ("sources", "screened", "of_pair", "followed", "expected"),
    [
        ((1,), 0.3, 1.0, 0.2, 0.2),
        ((1,), 0.1, 1.0, 0.2, 0.1),
        ((1, 2), 0.3, 0.25, 0.0, 0.25),
        ((1, 2), 0.2, 0.25, 0.0, 0.2),
    ],
)
def test_the_best_of_all_ways_counts_at_first(sources, screened, of_pair, followed, expected):
    search = stubbed(
        screened=lambda *given: np.array([0.9, screened, 0.8]),
        open_to_pair=lambda *given: of_pair,
        followed=lambda source: (np.array([followed, 0.7]), np.zeros(2)),
    )
    assert search._at_first((0, sources)) == expected


def test_of_exact_relations_those_without_division_and_with_few_factors_come_first():
    """Of a, b and a b the product is removed, and not b as a quotient, although b is the later column."""
    a, b, c = np.random.default_rng(2).uniform(1, 2, size=(3, 300))
    search = ConstraintSearch(views_of(product=a * b, a=a, b=b, c=c))
    assert search._exact_candidates([0, 1, 2, 3]) == [(0, (1, 2)), (2, (0, 1)), (1, (0, 2))]
    assert search._exact_candidates([0, 1]) == []
    assert search._exact_candidates([0, 1, 2]) == [(0, (1, 2)), (2, (0, 1)), (1, (0, 2))]
    root = ConstraintSearch(views_of(a=a, b=b, root=np.sqrt(a) * b**3, c=c))
    assert root._exact_candidates([0, 1, 2, 3]) == [(2, (0, 1)), (1, (0, 2)), (0, (1, 2))]


def test_an_exact_relation_has_two_sources_or_more_and_numbers_alone():
    a, b = np.random.default_rng(3).uniform(1, 2, size=(2, 300))
    level = np.arange(300) % 3
    evidence = Evidence({"a": a, "b": b, "ratio": a / b, "sum": a + b, "level": level}, kinds={"level": "categorical"})
    search = ConstraintSearch(tuple(factor_view(evidence, j) for j in range(5)))
    assert search._is_exact(2, (0, 1))
    assert search._is_exact(3, (0, 1))
    assert not search._is_exact(1, (0, 4))
    assert not search._is_exact(0, (1,))
    assert not search._is_exact(0, (1, 4))
    assert search.open_to_pair(0, (1, 4)) == 1.0
    assert search.open_to_pair(3, (0, 1)) < 1e-9
