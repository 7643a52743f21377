"""`unweave.environments`: the tests hold their size, find what shifted, and find the graph of a linear model."""

import json

import numpy as np
import pytest
from scipy import stats

import unweave
from unweave.estimators.energy import SortedColumns, sliced

CHAIN = np.array([[0, 1.0, 0], [0, 0, 0.8], [0, 0, 0]])


def intervened(seed, weights=CHAIN, n_rows=100, n_observed=300, kind="hard", size=2.0):
    """Rows of a linear Gaussian model: observational ones, then those of an intervention on each variable."""
    rng, d = np.random.default_rng(seed), len(weights)
    labels = np.repeat(["observational", *map(str, range(d))], [n_observed, *[n_rows] * d])
    noise = rng.normal(size=(labels.size, d))
    values = np.zeros_like(noise)
    for j in range(d):
        on = labels == str(j)
        values[:, j] = values @ weights[:, j] + noise[:, j]
        if kind == "hard":
            values[on, j] = size + noise[on, j]
        else:
            values[on, j] += size if kind == "soft" else (size - 1) * noise[on, j]
    return values, labels


def unrelated(seed, n_rows, n_environments=2, n_codes=3):
    rng = np.random.default_rng(seed)
    sizes = [n_rows // 2, *[n_rows // 2 // n_environments] * n_environments]
    labels = np.repeat(["observational", *"abcd"[:n_environments]], sizes)
    return rng.normal(size=(labels.size, n_codes)) @ rng.normal(size=(n_codes, n_codes)), labels


def mean_distance(mean, variance):
    """E|N(mean, variance)|."""
    spread = np.sqrt(variance)
    return spread * np.sqrt(2 / np.pi) * np.exp(-(mean**2) / 2 / variance) + mean * (
        1 - 2 * stats.norm.cdf(-mean / spread)
    )


def gaussian_shift(mean, std):
    """Energy distance of N(mean, std^2) and N(0, 1) as a share of 2 E|X - Y|."""
    within = mean_distance(0, 2 * std**2) + mean_distance(0, 2)
    return 1 - within / 2 / mean_distance(mean, 1 + std**2)


@pytest.mark.parametrize("seed", range(5))
def test_the_distance_is_scipys(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=30 + seed).round(1), rng.normal(0.5, 2.0, size=50).round(1)
    inside = np.arange(x.size + y.size) < x.size
    columns = SortedColumns.of(np.concatenate([x, y])[:, None])
    assert columns.distances(inside[None])[0] == pytest.approx(stats.energy_distance(x, y) ** 2, rel=1e-10)
    within = sum(np.abs(v[:, None] - v).sum() / v.size / (v.size - 1) for v in (x, y))
    expected = 1 - within / 2 / np.abs(x[:, None] - y).mean()
    assert columns.shares(inside[None], ~inside[None])[0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("mean", "std"), [(0.0, 1.0), (1.0, 1.0), (0.0, 3.0), (-2.0, 0.5)])
def test_the_shift_of_gaussians_is_the_closed_form(mean, std):
    rng = np.random.default_rng(0)
    codes = np.concatenate([rng.normal(size=10_000), rng.normal(mean, std, size=10_000)])
    row = unweave.environments(codes, np.repeat(["observational", "a"], 10_000)).shifts[0]
    assert row.shift == pytest.approx(gaussian_shift(mean, std), abs=0.01)
    assert row.lower <= gaussian_shift(mean, std) + 1e-3


def test_intervals_cover_the_closed_form():
    truth, covered = gaussian_shift(1.0, 1.5), 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        codes = np.concatenate([rng.normal(size=80), rng.normal(1.0, 1.5, size=80)])
        row = unweave.environments(codes, np.repeat(["observational", "a"], 80)).shifts[0]
        covered += row.lower <= truth <= row.upper
    assert covered >= 90  # 95 % of 100, and the probability of fewer than 90 is 2 %


@pytest.mark.parametrize("n_rows", [30, pytest.param(200, marks=pytest.mark.slow)])
def test_unrelated_rows_are_called_shifted_no_more_often_than_stated(n_rows):
    found = [unweave.environments(*unrelated([seed, n_rows], n_rows, 1)) for seed in range(200)]
    size = np.mean([one.matrix("p_value").min() <= 0.05 for one in found])
    assert abs(size - 0.05) <= 3 * np.sqrt(0.05 * 0.95 / 200)  # neither too many nor a test that never rejects
    assert np.mean([one.matrix("p_direct").min() <= 0.05 for one in found]) <= 0.05
    assert abs(np.mean([one.matrix().mean() for one in found])) < 0.005  # the shift is unbiased


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [60, 300, 1000, 3000])
def test_size_and_power_from_few_to_many_rows(n_rows):
    """Two environments of unrelated rows, and effects of an intervened cause: neither is called set by mistake."""
    unrelated_sets = [unweave.environments(*unrelated([seed, n_rows, 1], n_rows)) for seed in range(200)]
    assert np.mean([one.matrix("p_value").min() <= 0.05 for one in unrelated_sets]) <= 0.05 + 0.046
    sets = {"hard": (2.0, 0.9), "soft": (1.5, 0.9), "scale": (3.0, 0.6)}
    for kind, (size, power) in sets.items():
        sizes = {"n_rows": n_rows // 6, "n_observed": n_rows // 2, "kind": kind, "size": size}
        found = [unweave.environments(*intervened([seed, n_rows], **sizes)) for seed in range(100)]
        direct = np.array([one.matrix("p_direct") <= 0.05 for one in found])
        others = ~np.eye(3, dtype=bool)
        assert direct[:, others].any(axis=1).mean() <= 0.05 + 0.065, kind
        assert n_rows < 300 or direct[:, ~others].mean() >= power, kind


@pytest.mark.parametrize("kind", ["hard", "soft", "scale"])
def test_an_intervention_sets_its_target_and_shifts_the_effects(kind):
    codes, labels = intervened(1, kind=kind, size=3.0)
    found = unweave.environments(codes, labels, graph=CHAIN)
    assert [found.direct(name) for name in found.names] == [("code 0",), ("code 1",), ("code 2",)]
    assert found.shifted("0") == ("code 0", "code 1", "code 2")
    assert found.shifted("2") == ("code 2",)
    assert {found.verdict(name) for name in found.names} == {"exact"}
    assert set(found.edges) == {("0", "1"), ("1", "2")}
    assert found.distance == found.lower == 0


def test_mixed_codes_share_an_intervention():
    codes, labels = intervened(1, np.zeros((2, 2)))
    found = unweave.environments(codes @ [[1.0, 1.0], [1.0, -1.0]], labels)
    assert {found.verdict(name) for name in found.names} == {"too many"}
    copies = unweave.environments(np.column_stack([codes, codes[:, 0]]), labels)
    assert copies.direct("0") == ("code 0", "code 2")
    nearly = codes[:, [0]] + 1e-3 * np.random.default_rng(0).normal(size=(len(codes), 1))
    assert unweave.environments(np.hstack([codes, nearly]), labels).verdict("0") == "shared"


def test_a_code_of_another_factor_is_told_by_the_factors():
    factors, labels = intervened(2, np.zeros((2, 2)))
    swapped = np.where(labels == "0", "1", np.where(labels == "1", "0", labels))
    assert unweave.environments(factors, swapped).verdict("0") == "exact"
    found = unweave.environments(factors, swapped, factors=factors)
    assert {found.verdict(name) for name in found.names} == {"another code"}
    named = unweave.environments(factors, labels, factors={"x": factors[:, 0], "y": factors[:, 1]}, graph=[])
    assert named.targets == {"0": ("x",), "1": ("y",)}
    assert (named.verdict("0"), named.edges, named.distance) == ("exact", (), 0.0)


def test_several_targets_in_one_environment():
    factors, labels = intervened(3, np.zeros((3, 3)))
    factors[labels == "2", 0] += 3.0
    listed = [("0", "2") if label == "2" else str(label) for label in labels]
    found = unweave.environments(factors, listed)
    assert found.direct("0, 2") == ("code 0", "code 2")
    assert found.verdict("0, 2") == "exact"
    free = [() if label == "observational" else label for label in listed]  # no targets
    assert unweave.environments(factors, free).to_dict() == found.to_dict()
    only_one = [("0", "2") if label == "1" else str(label) for label in labels]
    assert unweave.environments(factors, only_one).verdict("0, 2") == "too few"


def test_blocks_are_units_and_a_block_of_one_code_is_the_code():
    codes, labels = intervened(4)
    rng = np.random.default_rng(4)
    mixed = {
        f"block {j}": np.column_stack([codes[:, j], rng.normal(size=(len(codes), 2))]) @ rng.normal(size=(3, 3))
        for j in range(3)
    }
    found = unweave.environments(mixed, labels, graph=CHAIN)
    assert [found.direct(name) for name in found.names] == [("block 0",), ("block 1",), ("block 2",)]
    assert found.distance <= 1
    alone = unweave.environments({f"code {j}": codes[:, [j]] for j in range(3)}, labels, graph=CHAIN)
    plain = unweave.environments(codes, labels, graph=CHAIN)
    assert alone.to_dict() == plain.to_dict()
    assert sliced(np.ones((5, 3))).size == 0  # a constant block has no direction


@pytest.mark.parametrize("crossed", [False, True])
def test_row_groups_are_permuted_as_a_whole(crossed):
    """Subjects with a value of their own: rows of one subject are not independent evidence of a shift."""
    hits = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        subject = np.repeat(np.arange(12), 10)
        labels = np.where((np.arange(120) % 2 if crossed else subject % 2) == 0, "observational", "a")
        codes = 3 * rng.normal(size=12)[subject] + rng.normal(size=120)
        found = unweave.environments(codes, labels, row_groups=subject)
        hits += found.shifts[0].p_value <= 0.05
    assert hits <= 12


def test_the_graph_is_that_of_the_model_and_not_of_the_correlations():
    """A collider and a confounded pair: conditioning on effects, or on nothing, would add edges."""
    weights = np.zeros((4, 4))
    weights[0, 2] = weights[1, 2] = weights[0, 3] = 1.0
    codes, labels = intervened(5, weights, n_rows=200, n_observed=600)
    found = unweave.environments(codes, labels, graph=weights)
    assert (set(found.edges), found.distance) == ({("0", "2"), ("1", "2"), ("0", "3")}, 0.0)
    wrong = [("2", "0"), ("1", "2"), ("1", "3")]  # reversed, right, extra; 0 -> 3 is missing
    assert unweave.environments(codes, labels, graph=wrong).distance == 3
    curved = codes.copy()
    curved[:, 2] = np.tanh(codes[:, 2])
    assert unweave.environments(curved, labels, graph=weights).distance == 0


def test_the_edge_test_is_the_f_test_of_nested_regressions():
    from sklearn.linear_model import LinearRegression
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    from unweave.evaluation.environments import _dependence

    rng = np.random.default_rng(6)
    x, z = rng.normal(size=(2, 80, 1))
    y = 0.3 * x + z**2 + rng.normal(size=(80, 1))

    def powers(column):
        return PolynomialFeatures(3, include_bias=False).fit_transform(StandardScaler().fit_transform(column))

    squares = []
    for design in (powers(z), np.hstack([powers(z), powers(x)])):
        squares.append(np.square(y - LinearRegression().fit(design, y).predict(design)).sum())
    ratio = (squares[0] - squares[1]) / 3 / (squares[1] / (80 - 7))
    assert _dependence(y, x, [z]) == pytest.approx(stats.f.sf(ratio, 3, 73), rel=1e-8)


def test_it_prints_draws_and_stores_itself():
    codes, labels = intervened(7)
    found = unweave.environments(codes, labels, graph=CHAIN, code_names=["a", "b", "c"])
    assert "Every intervention sets the codes of its targets alone" in str(found)
    assert "0 -> 1, 1 -> 2" in str(found)
    stored = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert stored["schema"] == "unweave.environments/1"
    assert stored["verdicts"] == {"0": "exact", "1": "exact", "2": "exact"}
    frame = found.to_frame("pandas")
    assert frame.shape == (9, 7)
    assert found["1", "b"].shift == frame["shift"][4] == found.matrix()[1, 1]
    assert found.plot().axes
    again = unweave.environments(unweave.Evidence(None, codes, environments=labels, code_names=["a", "b", "c"]))
    assert again.matrix("p_value").tolist() == found.matrix("p_value").tolist()


def test_dead_codes_and_few_rows():
    codes, labels = intervened(8, n_rows=12, n_observed=12)
    found = unweave.environments(np.column_stack([codes, np.ones(len(codes))]), labels)
    assert found["0", "code 3"].p_value == 1
    assert np.isnan(found["0", "code 3"].shift)
    assert "too few rows to condition" in str(found)


X, LABELS = np.random.default_rng(0).normal(size=(60, 2)), np.repeat(["observational", "0", "1"], 20)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({}, "There are no environments: pass the label of every row"),
        ({"environments": LABELS[:50]}, "environments have 50 rows"),
        ({"environments": np.where(LABELS == "0", "1", "0")}, r"No row is labelled 'observational' \(the labels are"),
        ({"environments": ["observational"] * 60}, "All rows are 'observational'"),
        ({"environments": ["observational"] * 55 + ["0"] * 5}, "Environment '0' has 5 rows: each needs 10"),
        ({"environments": LABELS, "factors": X[:, 0]}, "Environment '1' names no factor"),
        ({"environments": LABELS, "graph": [("0", "7")]}, "The graph names '7', which is not among 0, 1"),
        ({"environments": LABELS, "graph": np.eye(3)}, r"The graph has shape \(3, 3\): pass a matrix 2 x 2"),
        ({"environments": LABELS, "level": 2}, "level"),
        ({"environments": [None, *LABELS[1:]]}, "Values are missing in 1 of 60 rows"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(given, error):
    with pytest.raises(unweave.UnweaveError, match=error):
        unweave.environments(X, **given)


def test_unknown_names_are_refused():
    found = unweave.environments(X, LABELS)
    with pytest.raises(unweave.OptionError, match="'9' is not an environment: there are 0, 1"):
        found.direct("9")
    with pytest.raises(unweave.OptionError, match="'size' is not stated of a shift"):
        found.matrix("size")
    with pytest.raises(KeyError, match="was not tested"):
        found["0", "code 9"]
    with pytest.raises(unweave.InputError, match="pass it alone"):
        unweave.environments(unweave.Evidence(None, X, environments=LABELS), LABELS)


def test_an_evaluation_has_the_table_and_the_command_line_reads_the_column(tmp_path):
    import pandas as pd
    from click.testing import CliRunner

    from unweave.cli import main

    values, labels = intervened(9)
    named = np.where(labels == "observational", labels, np.char.add("factor ", labels))
    evaluation = unweave.evaluate(values, values[:, ::-1], environments=named, metrics=["mcc"], quick=True)
    found = evaluation.data.environments["codes"]
    assert found.direct("factor 0") == ("code 2",)
    assert "Every intervention sets" in str(evaluation)
    assert "What interventions do to the codes" in evaluation.to_html()
    evaluation.save(tmp_path / "evaluation.json")
    assert unweave.Evaluation.load(tmp_path / "evaluation.json") == evaluation
    with pytest.raises(unweave.InputError, match="No row is labelled 'observational'"):
        unweave.evaluate(values, values, environments=["a"] * len(values), metrics=["mcc"], quick=True)
    columns = {f"factor {j}": values[:, j] for j in range(3)} | {f"code {j}": values[:, 2 - j] for j in range(3)}
    pd.DataFrame(columns | {"set": named, "sold": values.sum(axis=1) > 0}).to_csv(tmp_path / "rows.csv", index=False)
    options = ["--environments", "set", "--target", "sold", "--metrics", "concept_task_leakage", "--quick", "--json"]
    ran = CliRunner().invoke(main, ["score", str(tmp_path / "rows.csv"), *options])
    stored = json.loads(ran.output)
    assert stored["data"]["environments"]["codes"]["edges"] == [["factor 0", "factor 1"], ["factor 1", "factor 2"]]
    assert stored["rows"][0]["score"]["value"] < 0.05


def test_a_graph_has_no_edge_from_a_node_to_itself():
    (codes, labels), pairs = intervened(1), [("0", "1"), ("1", "2"), ("0", "0")]
    found = [unweave.environments(codes, labels, graph=graph).distance for graph in (CHAIN, pairs)]
    assert found[0] == found[1]
    with pytest.raises(unweave.InputError, match=r"shape \(2, 2\): pass a matrix 3 x 3"):
        unweave.environments(codes, labels, graph=np.ones((2, 2)))


def test_the_headline_counts_codes_of_the_targets():
    """Each of two interventions sets one code, and it is that of the other factor."""
    rng = np.random.default_rng(0)
    labels, codes = np.repeat(["observational", "a", "b"], 200), rng.normal(size=(600, 2))
    codes[200:400, 1] += 2
    codes[400:, 0] += 2
    found = unweave.environments(codes, labels, factors={"a": codes[:, 0], "b": codes[:, 1]})
    assert {found.verdict(name) for name in found.names} == {"another code"}
    assert found.headline == "0 of 2 interventions set exactly the codes of their targets."
