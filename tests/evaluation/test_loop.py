"""The metric loop: there is a row for every metric, representation and seed, also if others fail."""

import contextlib
import functools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import unweave
from unweave import InputError, OptionError, Posterior, Score, UnweaveError, compare, evaluate, metric, metrics
from unweave.estimators import Linear
from unweave.evaluation import loop
from unweave.findings import Finding
from unweave.metrics import mcc, mig
from unweave.progress import Progress

N_ROWS = 120
RNG = np.random.default_rng(0)
FACTORS = pd.DataFrame(RNG.normal(size=(N_ROWS, 2)), columns=["size", "hue"])
CODES = FACTORS.to_numpy() @ [[1.0, 0.3], [0.0, 1.0]]
NOISE = RNG.normal(size=(N_ROWS, 3))
QUICK = ["mcc", "r2", "mig"]


def declared(function, chance=0.0, **card):
    """Declare a function as a metric."""
    return metric(
        **{
            "measures": "nothing",
            "equivalence": "any",
            "min_rows": 1,
            "chance": chance,
            "cost": "none",
            "fails_when": "always",
            "reference": "none",
        }
        | card
    )(function)


def half(evidence):
    """A constant."""
    return Score(0.5)


def boom(evidence):
    """An accident."""
    raise ZeroDivisionError("two\nlines")


def no_score(evidence):
    """Return a number instead of a score."""
    return 0.5


class TestRows:
    def test_every_metric_that_two_tables_are_enough_for_has_one(self):
        evaluation = evaluate(FACTORS, CODES, metrics="all", quick=True)
        enough = [name for name, entry in metrics.CATALOGUE.items() if set(entry.card.needs) <= {"factors", "codes"}]
        assert evaluation.labels == tuple(enough)
        assert all(row.score is not None for row in evaluation.rows)
        assert evaluation.representations == ("codes",)

    def test_a_metric_that_needs_more_appears_when_it_is_given_or_named(self):
        nuisance = np.random.default_rng(5).normal(size=len(CODES))
        assert "nuisances_invariance" in evaluate(FACTORS, CODES, nuisances=nuisance, quick=True).labels
        (row,) = evaluate(FACTORS, CODES, metrics="nuisances_invariance").rows
        assert "needs nuisances" in str(row.problem)

    def test_a_row_is_what_the_metric_gives(self):
        evaluation = evaluate(FACTORS, CODES, metrics=["mcc:correlation=spearman", "r2"], seed=3, quick=True)
        assert evaluation["mcc"] == metrics.mcc(FACTORS, CODES, correlation="spearman", rng=3)
        assert evaluation["r2"] == metrics.r2(FACTORS, CODES, rng=3)

    def test_names_and_kinds_are_in_the_output(self):
        evaluation = evaluate(FACTORS, CODES, metrics="r2", kinds={"hue": "circular:30"}, quick=True)
        assert list(evaluation["r2"].per_factor) == ["size", "hue"]
        assert [(factor.name, factor.kind) for factor in evaluation.data.factors] == [
            ("size", "continuous"),
            ("hue", "circular"),
        ]
        assert "size continuous, hue circular" in str(evaluation)

    def test_evidence_and_posterior_are_taken(self):
        evidence = unweave.Evidence(FACTORS, CODES)
        assert evaluate(evidence, metrics="mcc").rows == evaluate(FACTORS, CODES, metrics="mcc").rows
        posterior = Posterior(CODES, np.ones_like(CODES))
        quickly = {"metrics": "mcc", "quick": True}
        assert evaluate(FACTORS, posterior, **quickly)["mcc"] == evaluate(evidence, **quickly)["mcc"]
        with pytest.raises(InputError, match=r"An Evidence already contains the codes.*pass it alone"):
            evaluate(evidence, CODES)


class TestFailures:
    def test_a_metric_that_raises_does_not_take_others_down(self):
        chosen = ["mcc", declared(boom), declared(no_score), declared(half)]
        evaluation = evaluate(FACTORS, CODES, metrics=chosen)
        problems = {row.label: row.problem and str(row.problem) for row in evaluation.rows}
        assert problems["boom"] == "boom failed with ZeroDivisionError: two lines"
        assert problems["no_score"].startswith("no_score failed with MetricError: no_score returned 0.5")
        assert (problems["mcc"], problems["half"], float(evaluation["half"])) == (None, None, 0.5)
        assert "boom failed with ZeroDivisionError: two lines" in str(evaluation)
        with pytest.raises(InputError, match="boom failed with ZeroDivisionError"):
            evaluation["boom"]

    def test_a_chance_level_that_raises_stays_in_its_row(self):
        chosen = [declared(half, chance=lambda n, m, d: 1 / 0), "mcc"]
        rows = evaluate(FACTORS, CODES, metrics=chosen).rows
        assert str(rows[0].problem) == "half failed with ZeroDivisionError: division by zero"
        assert rows[1].score is not None

    @pytest.mark.parametrize(
        ("metric", "message"),
        [
            ("mcc:correlation=kendall", "correlation='kendall' is not known: use 'pearson', 'spearman'"),
            ("mcc:normalise=none", "normalise='none' is not known: use 'matched' or 'coverage'"),
            ("r2:n_folds=1", "n_folds=1 of r2 is not allowed: use a whole number from 2"),
            (functools.partial(mig, estimator=Linear()), "is not allowed: use an estimator of .*Information"),
            (functools.partial(mcc, rng=-1), "rng=-1 of mcc is not allowed: use a whole number from 0"),
        ],
    )
    def test_wrong_option_values_are_refused_before_the_run(self, metric, message):
        with pytest.raises(OptionError, match=message):
            evaluate(FACTORS, CODES, metrics=[metric, "r2"])

    def test_families_are_names(self):
        labels = evaluate(FACTORS, CODES, metrics=["infomec", "mcc"], quick=True).labels
        assert labels == ("infomec_modularity", "infomec_explicitness", "infomec_compactness", "mcc")
        with pytest.raises(OptionError, match="There is no metric called 'dcii': did you mean 'dci'"):
            evaluate(FACTORS, CODES, metrics=["dcii"])

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"codes": CODES}, "No metric can be computed from codes alone: pass factors too"),
            ({"factors": FACTORS}, "No metric can be computed from factors alone: pass codes too"),
            (
                {"sampler": len},
                "computed from a sampler alone: pass factors and codes too. Without factors",
            ),
        ],
    )
    def test_one_side_alone_says_what_is_missing(self, given, message):
        with pytest.raises(InputError, match=message):
            evaluate(**given)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"level": None}, "level=None is not a level"),
            ({"metrics": 123}, "metrics=123 does not name metrics: pass names"),
            ({"metrics": [123]}, "An object of type int is not a metric"),
            ({"n_seeds": 10**12}, "n_seeds=1000000000000 is too many: use at most 10000"),
            (
                {"seeds": 5},
                "evaluate has no option 'seeds': write n_seeds=5 for five seeds, or seed=5 for seed number 5",
            ),
        ],
    )
    def test_bad_arguments_are_one_sentence(self, options, message):
        with pytest.raises(UnweaveError, match=message):
            evaluate(FACTORS, CODES, **({"metrics": "mcc"} | options))

    def test_too_few_rows_for_some(self):
        rows = {row.label: row for row in evaluate(FACTORS[:20], CODES[:20], metrics=QUICK, quick=True).rows}
        assert str(rows["mig"].problem) == "mig needs at least 40 rows and has 20: pass more samples."
        assert rows["mcc"].score is not None

    def test_missing_sides(self):
        problem = str(evaluate(FACTORS, metrics="mcc").rows[0].problem)
        assert problem == "mcc needs codes, and the evidence has none: pass the codes."
        assert "factors" in str(evaluate(None, CODES, metrics="mcc").rows[0].problem)

    def test_a_constant_factor_is_nan_and_named(self):
        factors = FACTORS.assign(weight=7.0)
        for score in (row.score for row in evaluate(factors, CODES, metrics=QUICK, quick=True).rows):
            assert np.isnan(score.per_factor["weight"])
            assert np.isfinite(score.value)
            assert Finding("constant_factors", factors=["weight"]) in score.caveats

    def test_constant_factors_alone_are_refused(self):
        for row in evaluate(np.ones((N_ROWS, 2)), CODES, metrics=QUICK).rows:
            assert str(row.problem) == (
                "A score needs a factor that varies, and all are constant: pass samples in which they vary."
            )

    def test_a_dead_code_is_scored_and_named(self):
        codes = pd.DataFrame(CODES, columns=["u", "v"]).assign(dead=3.0)
        for row in evaluate(FACTORS, codes, metrics=QUICK, quick=True).rows:
            assert np.isfinite(row.score.value)
            assert Finding("dead_codes", codes=["dead"]) in row.score.caveats


class TestSeeds:
    def test_metrics_with_a_random_part_run_once_per_seed(self):
        evaluation = evaluate(FACTORS, NOISE, metrics=["r2", "mig"], n_seeds=3, quick=True)
        assert [(row.label, row.seed) for row in evaluation.rows] == [("r2", 0), ("r2", 1), ("r2", 2), ("mig", None)]

    def test_a_seed_among_the_options_stays(self):
        chosen = [functools.partial(metrics.r2, rng=7), "r2:rng=7"]
        evaluation = evaluate(FACTORS, CODES, metrics=chosen, n_seeds=2, quick=True)
        assert [row.label for row in evaluation.rows] == ["r2 (rng=7)"]
        assert evaluation["r2"] == metrics.r2(FACTORS, CODES, rng=7)

    def test_a_seed_and_those_after_it(self):
        evaluation = evaluate(FACTORS, NOISE, metrics="r2", n_seeds=2, seed=np.int64(5), quick=True)
        assert [row.seed for row in evaluation.rows] == [5, 6]
        assert evaluation.rows[1].score == metrics.r2(FACTORS, NOISE, rng=6)

    @pytest.mark.parametrize("given", [[0, 1], -1, True, 1.5, "3", None], ids=str)
    def test_what_is_not_a_seed(self, given):
        for name in ("n_seeds", "seed"):
            with pytest.raises(OptionError, match=f"{name}=.* is not allowed: use a whole number from"):
                evaluate(FACTORS, CODES, metrics="mcc", **{name: given})


class TestJobs:
    def test_numbers_do_not_depend_on_threads(self):
        chosen = ["mcc", "dci_disentanglement", "dci_informativeness"]
        one, two = (evaluate(FACTORS, CODES, metrics=chosen, n_jobs=n_jobs, quick=True) for n_jobs in (1, 2))
        assert one == two

    def test_floors_intervals_and_verdicts_do_not_depend_on_threads(self):
        one, two = (evaluate(FACTORS, CODES, metrics=["mcc", "r2", "mig"], n_jobs=n_jobs) for n_jobs in (1, 2))
        seconds = {row.seconds for row in (*one.rows, *two.rows)}
        texts = [found.to_json() for found in (one, two)]
        for number in seconds:
            texts = [text.replace(f'"seconds": {number}', '"seconds": 0') for text in texts]
        assert texts[0] == texts[1]

    @pytest.mark.parametrize("budget", [float("nan"), -1, "30", None], ids=str)
    def test_what_is_not_a_time(self, budget):
        with pytest.raises(OptionError, match=r"budget=.* is not a time: use a number of seconds from 0"):
            evaluate(FACTORS, CODES, metrics="mcc", budget=budget)

    @pytest.mark.parametrize("n_jobs", [0, "2", 1.5], ids=str)
    def test_what_is_not_a_number_of_threads(self, n_jobs):
        with pytest.raises(OptionError, match=r"n_jobs=.* is not a number of threads: use 1 or more, or -1 for all"):
            evaluate(FACTORS, CODES, metrics="mcc", n_jobs=n_jobs)


class TestCompare:
    def test_side_by_side(self):
        both = compare(FACTORS, {"kept": CODES, "noise": NOISE}, metrics=QUICK, quick=True)
        assert both.representations == ("kept", "noise")
        for label in QUICK:
            assert both.score(label, "kept").value > both.score(label, "noise").value
            assert both.score(label, "noise") == evaluate(FACTORS, NOISE, metrics=label, quick=True)[label]

    def test_all_are_scored_on_the_same_rows(self):
        gaps = {"first": CODES.copy(), "second": NOISE.copy()}
        gaps["first"][0], gaps["second"][[0, 5]] = np.nan, np.nan
        both = compare(FACTORS, gaps, metrics=["mcc"], missing="drop", quick=True)
        rows = np.setdiff1d(np.arange(N_ROWS), [0, 5])
        named = {"metrics": ["mcc"], "factor_names": ["size", "hue"], "quick": True}
        alone = evaluate(FACTORS.to_numpy()[rows], CODES[rows], **named)
        assert both.score("mcc", "first").raw == pytest.approx(alone["mcc"].raw)
        assert (both.data.n_rows, both.data.n_dropped) == (118, 2)
        assert all(Finding("rows_dropped", n_rows=2) in row.score.caveats for row in both.rows)

    @pytest.mark.parametrize(
        ("representations", "message"),
        [
            ({}, "There is nothing to compare: pass a mapping from names to codes"),
            ([], "There is nothing to compare"),
            ({1: CODES, "1": NOISE}, "Two representations have the same name"),
            (
                {"good": CODES, "bad": CODES[:5]},
                "In 'bad': The rows do not pair up: factors have 120 rows, codes have 5",
            ),
            ({"good": CODES, "bad": NOISE * [1, 1, np.inf]}, "In 'bad': Code 'code 2' is infinite in 120 rows"),
        ],
        ids=["none", "list", "same name", "length", "infinite"],
    )
    def test_what_cannot_be_compared(self, representations, message):
        with pytest.raises(InputError, match=message):
            compare(FACTORS, representations, metrics="mcc")

    def test_no_row_is_complete_everywhere(self):
        first, second = np.where(np.arange(4) < 2, np.nan, 1.0), np.where(np.arange(4) < 2, 1.0, np.nan)
        with pytest.raises(InputError, match="Every row is missing in one of the representations"):
            compare([1, 2, 3, 4], {"first": first, "second": second}, missing="drop")


def test_chance_is_told_for_the_plain_metric_only():
    chosen = ["mcc", "mcc:cross_fit=true", declared(half, chance=0)]
    rows = evaluate(FACTORS, CODES, metrics=chosen, quick=True).rows
    assert 0 < rows[0].chance < 0.3
    assert rows[1].chance is None
    assert rows[2].chance == 0.0


def test_no_progress_bar_off_the_terminal(capsys):
    evaluate(FACTORS, CODES, metrics="mcc", progress=True)
    assert capsys.readouterr() == ("", "")


def test_progress_tells_every_step_and_draw(monkeypatch):
    said = []

    @contextlib.contextmanager
    def recorded(n_steps, wanted, in_seconds):
        assert in_seconds
        said.append(n_steps)
        yield Progress(lambda text, done: said.append((text, done)))

    monkeypatch.setattr(loop, "progress_bar", recorded)
    compare(FACTORS, {"a": CODES, "b": -CODES}, metrics="mcc", budget=1e3)
    _, *shown = said
    scores = [f"{name}: mcc {mcc(FACTORS, CODES).value:.2f}" for name in "ab"]
    assert all(text.split("\n")[:-1] == scores for text, _ in shown[2:])
    texts = [text.split("\n")[-1] for text, _ in shown]
    assert all(done >= 0 for _, done in shown)
    assert texts[:4] == ["mcc of a", "mcc of b", "diagnosis of a", "intervals of a"]
    assert "noise floors of a: draw 7 of 99" in texts
    assert "noise floors of b: draw 10 of 99" in texts
    assert texts[-2:] == ["verdicts of b", "comparisons"]


def test_one_representation_is_neither_named_nor_compared(monkeypatch):
    said = []

    @contextlib.contextmanager
    def recorded(n_steps, wanted, **options):
        yield Progress(lambda text, done: said.append(text.split("\n")[-1].split(":")[0]))

    monkeypatch.setattr(loop, "progress_bar", recorded)
    found = evaluate(FACTORS, CODES, metrics="mcc", budget=0.0)
    assert "comparisons" not in said
    assert found.data.comparison == {}
    assert {"noise floors", "intervals", "verdicts"} <= set(said)
    assert not [text for text in said if " of " in text]


class TestPosteriors:
    """Metrics of posteriors are computed by default only if mean and std are given."""

    FACTORS = np.random.default_rng(0).integers(0, 3, size=(300, 2))
    POSTERIOR = Posterior(FACTORS - 1.0, np.full((300, 2), 0.2))

    def test_metrics_of_posteriors_appear(self):
        evaluation = evaluate(self.FACTORS, self.POSTERIOR, metrics="all", quick=True)
        given = {"factors", "codes", "posterior"}
        enough = [name for name, entry in metrics.CATALOGUE.items() if set(entry.card.needs) <= given]
        assert evaluation.labels == tuple(enough)
        assert "rmig" in evaluation.labels
        assert [row.problem for row in evaluation.rows if row.problem] == []

    def test_by_name_they_say_what_is_missing(self):
        evaluation = evaluate(self.FACTORS, self.POSTERIOR.mean, metrics=["rmig", "mcc"], quick=True)
        assert evaluation.labels == ("rmig", "mcc")
        assert "pass codes=Posterior(mean, std)" in str(evaluation.rows[0].problem)

    def test_only_the_representation_with_a_posterior_gets_them(self):
        given = {"points": self.POSTERIOR.mean, "posterior": self.POSTERIOR}
        both = compare(self.FACTORS, given, metrics="all", quick=True)
        assert [row.representation for row in both.rows if row.metric == "rmig"] == ["posterior"]
        assert "failed" not in str(both)

    def test_threads_do_not_change_the_numbers(self):
        names = ["rmig", "wsepin", "unibound"]
        one, two = (evaluate(self.FACTORS, self.POSTERIOR, metrics=names, n_jobs=n, quick=True) for n in (1, 2))
        assert [row.score for row in one.rows] == [row.score for row in two.rows]


@pytest.mark.parametrize(("quick", "expected"), [(True, 4.04), (False, 24.0)])
def test_the_bar_lasts_for_all_scores_and_for_the_planned_share_of_the_budget(monkeypatch, quick, expected):
    said = []

    @contextlib.contextmanager
    def recorded(seconds, wanted, in_seconds):
        said.append(seconds)
        yield Progress(lambda text, done: None)

    monkeypatch.setattr(loop, "progress_bar", recorded)
    monkeypatch.setattr(loop, "expected_seconds", lambda labels, evidence: [2.0] * len(labels))
    monkeypatch.setattr(loop, "with_checks", lambda rows, *rest, **options: (rows, {}))
    compare(FACTORS, {"a": CODES, "b": -CODES}, metrics=[declared(half)], quick=quick, budget=10.0)
    assert said == [pytest.approx(expected)]


@pytest.mark.parametrize("level", [0, 1, -0.1, "0.95"])
def test_a_level_lies_between_0_and_1(level):
    with pytest.raises(OptionError, match="is not a level: use a number between 0 and 1"):
        evaluate(FACTORS, CODES, metrics="mcc", level=level)


@pytest.mark.parametrize(
    ("sizes", "sampler", "said"),
    [
        ((0, 0, 0), None, "from nothing alone: pass factors and codes too"),
        ((2, 0, 0), None, "from factors alone: pass codes too"),
        ((0, 3, 1), None, "from codes and nuisances alone: pass factors too"),
        ((0, 0, 2), len, "from nuisances and a sampler alone: pass factors and codes too"),
    ],
)
def test_what_is_given_and_what_is_missing(sizes, sampler, said):
    n_factors, n_codes, n_nuisances = sizes
    evidence = SimpleNamespace(
        n_factors=n_factors, n_codes=n_codes, nuisances=np.zeros((5, n_nuisances)), sampler=sampler
    )
    assert said in loop._what_is_missing(evidence)


@pytest.mark.parametrize(
    ("chance", "level"),
    [("by permutation", None), (0, 0.0), (float("nan"), None), (lambda n, m, d: n + 10 * m + 100 * d, 120 + 20 + 200)],
)
def test_the_chance_level_is_that_of_these_sizes(chance, level):
    found = loop._chance(SimpleNamespace(chance=chance), unweave.Evidence(FACTORS, CODES))
    assert found == level


def test_pictures_are_those_of_the_first_seed(monkeypatch):
    monkeypatch.setattr(loop, "matched_pairs", lambda evidence, score: (score.settings.get("rng"),))
    found = evaluate(FACTORS, CODES, metrics=["identification", "mcc"], n_seeds=2, seed=3, quick=True)
    assert found.data.matched_pairs == {"codes": (found["identification"].settings.get("rng"),)}
    assert evaluate(FACTORS, CODES, metrics="mcc", quick=True).data.matched_pairs == {}
