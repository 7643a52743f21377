"""Verdicts of metrics whose scores elsewhere are made up: thresholds, ranges, draws, and what the audit found."""

import dataclasses

import numpy as np
import pytest
from made_up_metrics import made_up

from unweave import Evidence
from unweave.metrics import identification, mcc, r2
from unweave.score import Score
from unweave.trust.diagnosis.diagnosis import diagnose
from unweave.trust.verdict import verdicts

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(1000, 2))  # enough rows, so that none are added
EVIDENCE = Evidence(FACTORS, FACTORS * [1.0, -2.0])


def verdict_of(metric, raw, evidence=EVIDENCE):
    """The verdict where the score is said to be this, and the metric gives what it gives elsewhere."""
    score = dataclasses.replace(metric(evidence), raw=raw)
    return verdicts({"it": metric}, {"it": score}, evidence, diagnose(evidence))["it"]


@made_up(bounds=(0.0, 1.0))
def half(evidence):
    """Half, whatever the data."""
    return Score(0.5)


@made_up(bounds=(-1.0, 1.0))
def half_of_two(evidence):
    """Half, on a range of two."""
    return Score(0.5)


@pytest.mark.parametrize(
    ("moved", "level"), [(0.09, "trust"), (0.11, "caution"), (0.19, "caution"), (0.21, "do not use")]
)
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_tenth_of_the_range_is_caution_and_a_fifth_is_too_much(moved, level, sign):
    assert verdict_of(half, 0.5 + sign * moved).level == level
    assert verdict_of(half_of_two, 0.5 + sign * 2 * moved).level == level


def test_elsewhere_is_a_mean_over_five_draws():
    drawn = {}

    @made_up(bounds=(0.0, 1.0))
    def scattered(evidence):
        """Another number for every draw."""
        drawn[evidence.fingerprint] = float(np.abs(evidence.codes[0, 0]) % 1)
        return Score(drawn[evidence.fingerprint])

    elsewhere = verdict_of(scattered, 0.5).elsewhere
    assert elsewhere == pytest.approx(np.mean(list(drawn.values())[-5:]))
    assert len(drawn) >= 1 + 5


@pytest.fixture
def _audited(monkeypatch):
    """An audit that found every property of identification satisfied, and every one of mcc violated."""
    found = {"identification": "satisfied", "mcc": "violated"}
    table = {name: {key: {"verdict": verdict} for key in ("P1", "P2", "P3", "P4")} for name, verdict in found.items()}
    monkeypatch.setattr("unweave.trust.audit_table.table", lambda: table)


@pytest.mark.usefixtures("_audited")
@pytest.mark.parametrize(("metric", "level"), [(identification, "trust"), (mcc, "do not use")])
def test_a_move_does_not_count_where_the_audit_found_the_property_satisfied(metric, level):
    """Both are 1 on the counterpart; a score of .5 at hand would have moved by half of the range."""
    found = verdict_of(metric, 0.5)
    assert (found.level, found.elsewhere) == (level, pytest.approx(0.5 if level == "trust" else 1.0, abs=0.01))


@pytest.mark.usefixtures("_audited")
@pytest.mark.parametrize(("metric", "level"), [(identification, "trust"), (mcc, "caution")])
def test_what_the_audit_found_decides_where_nothing_can_be_tried(metric, level):
    """A constant factor cannot be drawn anew; the others correlate."""
    first = FACTORS[:200, 0]
    correlated = np.column_stack([first, first + 0.5 * FACTORS[:200, 1], np.ones(200)])
    found = verdict_of(metric, 1.0, Evidence(correlated, correlated[:, :2]))
    assert found.level == level
    assert np.isnan(found.elsewhere)


def test_a_code_that_factors_explain_to_some_hundredths_is_not_taken_for_noise():
    """What it tells of its factor at hand it has to tell on the counterpart."""
    noise = np.random.default_rng(1).normal(size=FACTORS.shape)
    evidence = Evidence(FACTORS, np.sqrt(0.07) * FACTORS + np.sqrt(0.93) * noise)
    at_hand = r2(evidence).raw
    assert 0.05 < at_hand < 0.09
    assert verdict_of(r2, at_hand, evidence).elsewhere == pytest.approx(at_hand, abs=0.03)
