"""Intervals and ties of an evaluation come from the same parts of the samples, each scored once."""

import functools
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

import unweave
from unweave import Evidence, OptionError, Score, compare, evaluate, metrics
from unweave.evaluation import loop as judging
from unweave.metrics import mcc, r2
from unweave.trust import compared, interval
from unweave.trust.effects import N_DRAWS
from unweave.trust.intervals import N_PARTS

RNG = np.random.default_rng(0)
FACTORS, NOISE = RNG.normal(size=(2, 120, 2))
CODES = {"clean": FACTORS + 0.2 * NOISE, "alike": FACTORS + 0.2 * NOISE[::-1], "noisy": FACTORS + NOISE}
UNBOUND = 1e6
SEEN: Counter[tuple[int, float]] = Counter()


@unweave.metric(
    measures="a mean", equivalence="any", min_rows=2, chance=0.5, cost="none", fails_when="never", reference="none"
)
def counted(evidence):
    """The mean of the codes; records on which rows it was computed."""
    SEEN[evidence.n_rows, float(evidence.codes.sum())] += 1
    return Score(float(evidence.codes.mean()))


def test_every_part_is_scored_once():
    SEEN.clear()
    compare(FACTORS, CODES, metrics=[counted], budget=UNBOUND)
    parts = {key: n_times for key, n_times in SEEN.items() if key[0] == 60}
    assert len(parts) == len(CODES) * (N_PARTS + N_DRAWS)  # for the intervals, and for the verdict on half of the rows
    assert set(parts.values()) == {1}


@pytest.mark.parametrize("row_groups", [None, np.arange(120) // 10])
def test_intervals_and_ties_are_those_of_each_metric_alone(row_groups):
    two = {name: CODES[name] for name in ("clean", "noisy")}
    labels = {"mcc": mcc, "r2 (n_folds=2)": functools.partial(r2, n_folds=2)}
    options = {"n_seeds": 2, "seed": 3, "level": 0.9, "budget": UNBOUND, "row_groups": row_groups}
    found = compare(FACTORS, two, metrics=list(labels.values()), **options)
    evidences = {name: Evidence(FACTORS, codes, row_groups=row_groups) for name, codes in two.items()}
    for label, metric in labels.items():
        seeded = functools.partial(metric, rng=3)
        alone = compared(seeded, evidences, level=0.9)
        assert found.data.comparison[label] == alone
        for name, evidence in evidences.items():
            assert found.row(label, name).interval == interval(seeded, evidence, level=0.9)


def test_a_metric_that_fails_somewhere_compares_nothing():
    @unweave.metric(
        measures="a mean", equivalence="any", min_rows=2, chance=0.5, cost="none", fails_when="never", reference="none"
    )
    def fails_on_many_codes(evidence):
        """The mean of the codes, for at most two codes."""
        if evidence.n_codes > 2:
            raise ValueError("too many")
        return Score(float(evidence.codes.mean()))

    codes = {"two": FACTORS, "three": np.column_stack([FACTORS, NOISE[:, 0]])}
    found = compare(FACTORS, codes, metrics=["mcc", fails_on_many_codes], budget=UNBOUND)
    assert set(found.data.comparison) == {"mcc"}
    assert found.row("fails_on_many_codes", "two").interval.defined


def test_what_is_no_level_is_refused():
    with pytest.raises(OptionError, match="level=95 is not a level"):
        evaluate(FACTORS, FACTORS, metrics=["mcc"], level=95)


def row(label, seed=None, name="a", score=0.5, problem=None):
    return SimpleNamespace(label=label, seed=seed, representation=name, score=score, problem=problem)


def test_checks_are_those_of_the_first_seed_that_has_a_score():
    rows = [row("mcc", 3), row("mcc", 1), row("mig"), row("r2", 3, score=None), row("sap", problem="It failed.")]
    rows.append(row("mcc", 5, name="b"))
    assert judging._first_rows(rows, "a") == {row.label: row for row in (rows[0], *rows[2:5])}
    found = judging._first_scores(rows, "a", {label: metrics.CATALOGUE[label] for label in ("mcc", "mig", "r2", "sap")})
    assert found.rows == {"mcc": rows[0], "mig": rows[2]}
    assert (found.metrics["mcc"].func, found.metrics["mcc"].keywords) == (mcc, {"rng": 3})
    assert found.metrics["mig"] is metrics.mig


def test_metrics_with_factors_that_all_representations_have_are_compared(monkeypatch):
    monkeypatch.setattr(judging, "comparison_of_parts", lambda name, found, level: [name, found, level])
    chosen = {label: metrics.CATALOGUE[label] for label in ("mcc", "informativeness", "r2")}
    of_parts = {"a": {"mcc": 1, "informativeness": 2, "r2": 3}, "b": {"mcc": 4, "informativeness": 5}}
    assert judging._comparisons(of_parts, chosen, 0.9) == {"mcc": ["mcc", {"a": 1, "b": 4}, 0.9]}
