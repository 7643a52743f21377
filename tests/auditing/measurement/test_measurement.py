"""Cases, grids and subjects of audits, and how they are measured."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import unweave
from unweave import OptionError, UnweaveError
from unweave.auditing import Grid
from unweave.auditing import measurement as measuring
from unweave.auditing.measurement import PROPERTIES, Bench, Case, Subject, subject_of, subjects_of
from unweave.evidence import Evidence
from unweave.metrics import mcc
from unweave.store import Results
from unweave.sweeps import Measurement, sweep
from unweave.sweeps.execution import compute
from unweave.synthetic.encoders import Mixed, Noise, PermutedAndScaled
from unweave.synthetic.worlds import Independent

FACTORS = np.random.default_rng(0).normal(size=(200, 3))
EVIDENCE = Evidence(FACTORS, FACTORS * [1.0, -2.0, 3.0])


@pytest.mark.parametrize(
    ("given", "label", "text"),
    [
        ("mcc:correlation=spearman", "mcc (correlation=spearman)", "'mcc:correlation=spearman'"),
        (mcc, "mcc", "'mcc'"),
        (partial(mcc, correlation="spearman"), "mcc (correlation=spearman)", "'mcc:correlation=spearman'"),
        (lambda factors, codes: 0.5, "<lambda>", "metric"),
    ],
)
def test_what_can_be_audited(given, label, text):
    subject = subject_of(given)
    assert (subject.label, subject.text) == (label, text)
    assert subject.score(EVIDENCE, 0) == pytest.approx(0.5 if text == "metric" else 1.0)


def test_a_function_gets_the_two_arrays():
    assert subject_of(lambda factors, codes: factors[0, 0] / codes[0, 0]).score(EVIDENCE, 0) == pytest.approx(1.0)


def test_a_lower_is_better_metric_of_a_card_is_turned():
    @unweave.metric(
        measures="errors", equivalence="any", min_rows=2, bounds=(0.0, 4.0), best=0.0, chance=4.0,
        cost="none", fails_when="never", reference="none",
    )  # fmt: skip
    def errors(evidence):
        """Errors."""
        return unweave.Score(1.0)

    assert subject_of(errors).score(EVIDENCE, 0) == pytest.approx(0.75)


def test_options_may_give_a_metric_a_scale():
    subject = subject_of("t_mex:score=alignment")
    assert (subject.worst, subject.best, subject.refusal) == (0.0, 1.0, None)


@pytest.mark.parametrize(
    ("name", "why"), [("t_mex", "no finite worst"), ("rmig", "needs a posterior"), ("total_entropy", "needs a decoder")]
)
def test_what_cannot_be_audited_says_why(name, why):
    audit = unweave.audit(name)
    assert why in str(audit.refusal)
    assert (audit.ticks, audit.results) == ("––––", ())  # noqa: RUF001
    assert why in str(audit)


@pytest.mark.parametrize("given", [3, "no_such_metric"])
def test_what_is_no_metric_is_refused(given):
    with pytest.raises(UnweaveError):
        subject_of(given)


def test_names_are_different():
    with pytest.raises(OptionError, match="different names"):
        subjects_of(["mcc", mcc])


@pytest.mark.parametrize("scale", [(1.0, 1.0), (0.0, 1.0, 2.0), (0.0,)])
def test_what_is_no_scale_is_refused(scale):
    with pytest.raises(OptionError, match="is not a worst and a best score"):
        subject_of("mcc", scale=scale)


@pytest.mark.parametrize(
    ("scale", "score", "treated"),
    [
        (None, 0.5, False),
        ((0.0, 1.0), 0.5, False),
        ((0.0, 2.0), 0.25, True),
        ((-1.0, 1.0), 0.75, True),
        ((1.0, 0.0), 0.5, True),
    ],
)
def test_scores_are_rescaled_and_it_is_said(scale, score, treated):
    subject = subject_of(lambda factors, codes: 0.5, scale=scale)
    assert subject.score(EVIDENCE, 0) == score
    assert (subject.treatment is not None) is treated
    assert (subject.version, subject.rescaled) == (0, scale is not None)
    assert subject.refusal is None
    assert subject_of("mcc", scale=(0.0, 2.0)).score(EVIDENCE, 0) == pytest.approx(0.5)


def test_a_scale_that_is_infinite_is_refused():
    for scale in ((0.0, np.inf), (-np.inf, 1.0)):
        subject = subject_of(lambda factors, codes: 0.5, scale=scale)
        assert subject.refusal.kind == "no_scale_to_audit"
        assert subject.treatment is None


def test_the_seed_of_the_case_is_passed_to_metrics_that_take_one_unless_it_is_stated():
    seen = []

    @unweave.metric(
        measures="seeds", equivalence="any", min_rows=2, chance=0.0, cost="none", fails_when="never", reference="none",
    )  # fmt: skip
    def seeded(evidence, *, rng=0):
        """Seeds."""
        seen.append(rng)
        return unweave.Score(0.5)

    subject_of(seeded).score(EVIDENCE, 7)
    subject_of(partial(seeded, rng=3)).score(EVIDENCE, 8)
    assert seen == [7, 3]
    assert subject_of(seeded).text == "metric"


def test_options_that_cannot_be_written_have_no_text_and_no_metric_is_no_audit():
    from unweave.estimators import Pearson

    assert subject_of(partial(mcc, correlation=Pearson())).text == "metric"
    with pytest.raises(OptionError, match="at least one metric"):
        subjects_of([])


def test_telling_cells_come_first():
    """Both ends of a curve come before its middle, twice the codes before other ratios, and expensive cells last."""
    points = Grid().points()
    turns = [point.turn for point in points]
    assert turns == sorted(turns)
    assert {point.name for point in points if point.turn == 0} == set(PROPERTIES)
    mixed = [point.x for point in points if (point.name, point.series, point.n_factors) == ("P1", "E3", 5)]
    assert mixed[:2] == [0.0, 0.97]
    copied = [point.x for point in points if (point.name, point.series, point.n_factors) == ("P3", "E5", 5)]
    assert copied[:3] == [1, 2.0, 10.0]
    assert points[-1].case.encoder.n_codes(5) > 200


@pytest.mark.parametrize("seed", range(3))
def test_noise_codes_do_not_know_the_factors_of_the_same_seed(seed):
    evidence = Case(Independent(5), Noise(5)).evidence(seed)
    between = np.corrcoef(evidence.factors, evidence.codes, rowvar=False)[:5, 5:]
    assert np.abs(between).max() < 4 / np.sqrt(1000)


SMALL, LARGE = Case(Independent(2), Mixed(), 100), Case(Independent(2), Mixed(), 1000)
OTHER = Case(Independent(2), PermutedAndScaled(), 100)


@pytest.fixture
def bench(monkeypatch):
    """Every cell takes a second for each hundred rows."""
    monkeypatch.setattr(
        Subject, "measured", lambda self, data, seed: Measurement(self.label, 0.5, 0.5, None, data.n_rows / 100)
    )
    return Bench([subject_of(lambda factors, codes: 0.5)], budget=10.0)


def test_known_cells_cost_nothing(bench):
    bench.measure([SMALL], [0, 1])
    assert bench.spent == 2.0
    bench.measure([SMALL], [0, 1])
    assert bench.spent == 2.0
    bench.measure([SMALL], [0, 1, 2])
    assert bench.spent == 3.0


def test_a_cell_is_expected_to_take_its_share_of_a_smaller_one(bench):
    bench.measure([SMALL], [0])
    size = LARGE.size / SMALL.size
    assert bench._expected_seconds(LARGE.size) == pytest.approx(size)
    assert bench._expected_seconds(SMALL.size) == 1.0
    assert bench._expected_seconds(SMALL.size - 1) == 0.0
    assert set(bench.measure([LARGE, OTHER], [0])) == {OTHER}  # ten seconds do not fit into the nine that are left


@pytest.mark.parametrize(("spent", "fits"), [(8.0, True), (9.0, True), (9.5, False), (10.0, False)])
def test_what_ends_with_the_budget_fits(bench, spent, fits):
    bench.measure([SMALL], [0])
    bench.spent = spent
    assert bench._fits([OTHER], [0]) == fits
    assert bench._fits([SMALL], [0])
    bench.budget = None
    assert bench._fits([OTHER], [0])


@pytest.mark.parametrize(
    ("n_jobs", "n_seeds", "batches"),
    [(1, 1, [1] * 9), (2, 2, [4, 4, 1]), (2, 3, [3, 3, 3]), (3, 3, [4, 4, 1]), (2, 1, [8, 1])],
)
def test_several_jobs_measure_four_cells_each_at_once(n_jobs, n_seeds, batches, monkeypatch):
    asked = []
    bench = Bench([subject_of(lambda factors, codes: 0.5)], n_jobs=n_jobs)
    monkeypatch.setattr(bench, "_run", lambda cases, seeds: asked.append(len(cases)) or {case: [] for case in cases})
    cases = [Case(Independent(2), Mixed(), 100 + k) for k in range(9)]
    assert list(bench.measure([*cases, cases[0]], range(n_seeds))) == cases
    assert [size for size in asked if size] == batches


@pytest.mark.parametrize(("n_jobs", "n_seeds", "used"), [(1, 3, 1), (2, 3, 2), (4, 3, 3), (4, 1, 1)])
def test_there_are_no_more_jobs_than_cells(n_jobs, n_seeds, used, monkeypatch):
    asked = []

    def computed(tasks, n_jobs, idle):
        asked.extend([n_jobs] * bool(tasks))
        return enumerate(map(compute, tasks))

    monkeypatch.setattr(measuring, "computed_tasks", computed)
    Bench([subject_of(lambda factors, codes: 0.5)], n_jobs=n_jobs).measure([SMALL], range(n_seeds))
    assert asked == [used]


def test_the_slowest_cell_of_a_size_counts(bench, monkeypatch):
    seconds = iter([2.0, 5.0, 3.0])
    monkeypatch.setattr(Subject, "measured", lambda self, *_: Measurement(self.label, 0.5, 0.5, None, next(seconds)))
    bench.budget = None
    bench.measure([SMALL], [0, 1, 2])
    assert bench._seconds_by_size == {SMALL.size: 5.0}
    assert bench.spent == 10.0


def test_a_cell_is_known_if_all_subjects_have_it(bench):
    both = Bench([*bench.subjects, subject_of("mcc")], bench.store)
    bench.measure([SMALL], [0])
    assert bench._known(SMALL, 0)
    assert not both._known(SMALL, 0)


def test_outcomes_are_read_with_the_same_libraries_and_version_only(tmp_path, monkeypatch):
    path, subject = tmp_path / "cells.jsonl", subject_of("mcc")
    Bench([subject], Results(path)).measure([SMALL], [0])
    assert Bench([subject], Results(path))._known(SMALL, 0)
    assert not Bench([replace(subject, worst=-1.0)], Results(path))._known(SMALL, 0)
    monkeypatch.setattr(sweep, "library_releases", lambda: {"numpy": "0.1"})
    assert not Bench([subject], Results(path))._known(SMALL, 0)
