from functools import partial

import numpy as np
import pytest

import unweave
from unweave.auditing.measurement.subjects import subject_of, subjects_of
from unweave.evidence import Evidence, EvidenceError
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


def test_the_scale_turns_what_is_best_to_one():
    subject = subject_of(lambda factors, codes: 3.0, scale=(10.0, 0.0))
    assert subject.score(EVIDENCE, 0) == pytest.approx(0.7)
    assert "10 counts as 0 and 0 as 1" in str(subject.treatment)


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
    with pytest.raises(EvidenceError):
        subject_of(given)


def test_names_are_different():
    with pytest.raises(EvidenceError, match="different names"):
        subjects_of(["mcc", mcc])
