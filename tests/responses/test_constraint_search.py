"""The steps of the search for constraints, one by one: limits, numbers of rows, candidates and their order."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from unweave import Evidence
from unweave.estimators.regression import unexplained_variance
from unweave.responses import constraints as constraint_search
from unweave.responses.constraints import ConstraintSearch, _kernels, _parts
from unweave.responses.factor_bases import factor_view

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


@pytest.mark.parametrize(("n_rows", "used"), [(999, 999), (1000, 1000), (1001, 1000)])
def test_kernels_use_at_most_a_thousand_rows(n_rows, used):
    assert ConstraintSearch((SimpleNamespace(targets=np.zeros((n_rows, 1))),)).n_rows == used


def test_kernels_of_several_sources_widen_with_the_root_of_their_number():
    assert [kernel.length for kernel in _kernels(9)] == [3.0, 6.0, 12.0]
    assert [kernel.length for kernel in _kernels(4)] == [2.0, 4.0, 8.0]
    assert [kernel.ridge for kernel in _kernels(3)] == [kernel.ridge for kernel in _kernels(2)] == [1e-3, 1e-4, 1e-4]
    assert [kernel.length for kernel in _kernels(2)] == [0.5, 1.0, 2.5]
    assert [(kernel.length, kernel.ridge) for kernel in _kernels(1)] == [(0.2, 1e-3), (0.6, 1e-3), (2.0, 1e-3)]


def test_parts_take_every_nth_row():
    assert [part.tolist() for part in _parts(np.arange(10, 17), 3)] == [[10, 13, 16], [11, 14], [12, 15]]


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
    ("left", "of_quarters", "expected"),
    [(0.05, 0.0, True), (0.06, 0.0, False), (0.35, 1.0, True), (0.36, 1.0, False)],
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
