"""Verdicts of artificial metrics with given scores on the counterpart: thresholds, ranges, draws, and the audit."""

import numpy as np
import pytest
from made_up_metrics import made_up

from unweave import Evidence
from unweave.metrics import identification, mcc, r2
from unweave.score import Score
from unweave.trust.counterpart.counterpart import Counterpart
from unweave.trust.diagnosis.diagnosis import diagnose
from unweave.trust.verdict import verdicts

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(1000, 2))  # enough rows, so that the counterpart has no more
CORRELATED = FACTORS @ [[1.0, 0.95], [0.0, 0.3]]
EVIDENCE = Evidence(CORRELATED, CORRELATED @ [[1.0, 1.0], [1.0, -1.0]])


def verdict_of(metric, evidence=EVIDENCE):
    return verdicts({"it": metric}, {"it": metric(evidence)}, evidence, diagnose(evidence))["it"]


def correlated(evidence):
    return abs(np.corrcoef(evidence.factors, rowvar=False)[0, 1]) > 0.5


@pytest.mark.parametrize(
    ("moved", "level"), [(0.09, "trust"), (0.11, "caution"), (0.19, "caution"), (0.21, "do not use")]
)
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("width", [1, 2])
def test_a_tenth_of_the_range_is_caution_and_a_fifth_is_too_much(moved, level, sign, width):
    @made_up(bounds=(1.0 - width, 1.0))
    def moving(evidence):
        """0.5 for independent factors, and another value for correlated factors."""
        return Score(0.5 + sign * width * moved * correlated(evidence))

    found = verdict_of(moving)
    assert found.level == level
    assert found.elsewhere == pytest.approx(0.5)


def test_a_model_that_does_not_give_the_score_back_gives_no_verdict():
    @made_up(bounds=(0.0, 1.0))
    def exact(evidence):
        """1 for the observed codes, .5 for all others, and .45 if factors do not correlate."""
        here = np.array_equal(evidence.codes, EVIDENCE.codes)
        return Score(1.0 if here else 0.5 if correlated(evidence) else 0.45)

    found = verdict_of(exact, Evidence(CORRELATED, EVIDENCE.codes))
    assert found.level == "no verdict"
    assert "0.50" in found.reasons[0].sentence
    assert found.reasons[0].instead


def test_the_last_step_has_five_draws():
    drawn = set()

    @made_up(bounds=(0.0, 1.0))
    def counting(evidence):
        """0.5 for all data."""
        if not correlated(evidence):
            drawn.add(evidence.fingerprint)
        return Score(0.5)

    assert verdict_of(counting).level == "trust"
    assert len(drawn) == 5


@pytest.fixture
def _audited(monkeypatch):
    """An audit in which identification satisfies every property, and mcc violates every property."""
    found = {"identification": "satisfied", "mcc": "violated"}
    table = {name: {key: {"verdict": verdict} for key in ("P1", "P2", "P3", "P4")} for name, verdict in found.items()}
    monkeypatch.setattr("unweave.trust.audit_table.table", lambda: table)


@pytest.mark.usefixtures("_audited")
@pytest.mark.parametrize(("metric", "level"), [(identification, "trust"), (mcc, "caution")])
def test_what_the_audit_found_decides_where_nothing_can_be_tried(metric, level):
    """With a constant factor, the score is not computed again; the other factors correlate."""
    first = FACTORS[:200, 0]
    correlated = np.column_stack([first, first + 0.5 * FACTORS[:200, 1], np.ones(200)])
    found = verdict_of(metric, Evidence(correlated, correlated[:, :2]))
    assert found.level == level
    assert np.isnan(found.elsewhere)


def test_a_code_that_factors_explain_to_some_hundredths_is_not_taken_for_noise():
    """It must carry as much information about its factor on the counterpart as on the observed data."""
    noise = np.random.default_rng(1).normal(size=FACTORS.shape)
    evidence = Evidence(FACTORS, np.sqrt(0.07) * FACTORS + np.sqrt(0.93) * noise)
    at_hand = r2(evidence).raw
    assert 0.05 < at_hand < 0.09
    drawn = Counterpart.of(evidence).sample(0)
    assert r2(drawn).raw == pytest.approx(at_hand, abs=0.03)
