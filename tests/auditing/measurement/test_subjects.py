from functools import partial

import numpy as np
import pytest

import unweave
from unweave import OptionError, UnweaveError
from unweave.auditing.measurement import subject_of, subjects_of
from unweave.evidence import Evidence
from unweave.metrics import mcc

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
