"""The noise floor in verdicts: a high score that random codes reach as well is not trusted."""

import math

import numpy as np
import pytest
from test_noise_study import of_noise

from unweave import Evidence, evaluate
from unweave.findings import Finding
from unweave.metrics import dci_size, infomec_modularity, mcc, mig, minimality, modularity, r2, sap, t_mex
from unweave.score import Score
from unweave.trust import NoiseFloor, Verdict, diagnose, verdicts
from unweave.trust.floors import noise_floors
from unweave.trust.reasons import with_floor
from unweave.trust.verdict_record import Reason


def judged(value, floor, p_value, level="trust", best=1.0):
    """The verdict of a score between 0 and 1, which had this level before its floor was taken into account."""
    calibrated = (value - floor) / (best - floor) if abs(best - floor) >= 0.01 else math.nan
    known = NoiseFloor("it", "permutation", value, floor=floor, p_value=p_value, calibrated=calibrated)
    return with_floor(Verdict(level), Score(value, bounds=(0.0, 1.0), best=best), known)


@pytest.mark.parametrize(
    ("value", "floor", "p_value", "level", "kind"),
    [
        (0.980, 0.980, 0.4, "do not use", "not_above_noise"),
        (0.681, 0.691, 0.77, "do not use", "not_above_noise"),
        (0.20, 0.60, 1.0, "do not use", "below_noise"),
        (0.995, 0.995, 0.6, "do not use", "noise_scores_high"),
        (0.03, 0.03, 0.4, "trust", "scores_like_noise"),
        (0.30, 0.05, 0.2, "do not use", "not_above_noise"),  # few draws: the floor is low, but the score is not
        (0.70, 0.69, 0.005, "caution", "hardly_above_noise"),
        (0.90, 0.69, 0.005, "caution", "floor_far_from_zero"),
        (0.90, 0.30, 0.005, "trust", "floor_far_from_zero"),
    ],
)
def test_what_a_floor_says(value, floor, p_value, level, kind):
    found = judged(value, floor, p_value)
    assert (found.level, found.reasons[0].finding.kind) == (level, kind)
    assert found.reasons[0].instead
    assert "noise_floor(metric, evidence" in found.reasons[0].how


@pytest.mark.parametrize(("spread", "level"), [(0.14, "caution"), (0.12, "trust")])
def test_four_standard_deviations_above_noise_are_asked_for(spread, level):
    known = NoiseFloor("it", "permutation", 0.95, floor=0.45, p_value=0.005, calibrated=0.91, spread=spread)
    found = with_floor(Verdict("trust"), Score(0.95, bounds=(0.0, 1.0), best=1.0), known)
    assert found.level == level
    if level == "caution":
        assert "0.45 on average with a standard deviation of 0.14" in found.reasons[0].sentence


def test_a_low_floor_beside_a_high_score_says_nothing():
    assert judged(0.9, 0.05, 0.005).reasons == ()


def test_where_lower_is_better_the_worst_is_the_upper_end():
    assert judged(0.95, 0.96, 0.4, best=0.0).reasons[0].finding.kind == "scores_like_noise"
    assert judged(0.5, 0.5, 0.4, best=0.0).level == "do not use"


def test_a_floor_never_makes_a_verdict_milder():
    assert judged(0.9, 0.3, 0.005, level="do not use").level == "do not use"


def test_negative_calibrated_scores_are_explained():
    sentence = judged(0.20, 0.60, 1.0).reasons[0].sentence
    assert "negative" in sentence
    assert "-1.00" in sentence


@pytest.mark.parametrize("kind", ["normal", "many", "levels"])
def test_noise_is_not_trusted_where_the_floor_is_high(kind):
    chosen = {"mcc": mcc, "modularity": modularity, "infomec_modularity": infomec_modularity, "minimality": minimality}
    evidence = of_noise(kind, 100, 0)
    scores = {name: metric(evidence) for name, metric in chosen.items()}
    floors = noise_floors(chosen, evidence, n_draws=19)
    found = verdicts(chosen, scores, evidence, diagnose(evidence), floors)
    high = [name for name, floor in floors.items() if (floor.floor if scores[name].best else 1 - floor.floor) > 0.1]
    assert len(high) >= 3
    assert all(found[name].level != "trust" for name in high)


def test_metrics_of_sizes_and_without_a_range_get_no_verdict():
    factors = np.random.default_rng(0).normal(size=(100, 2))
    evidence = Evidence(factors, factors[:, ::-1])
    chosen = {"dci_size": dci_size, "t_mex": t_mex, "r2": r2, "sap": sap, "mig": mig}
    scores = {name: metric(evidence) for name, metric in chosen.items()}
    found = verdicts(chosen, scores, evidence, diagnose(evidence))
    for name, kind in {"dci_size": "size_of_codes", "t_mex": "without_range"}.items():
        assert found[name].level == "no verdict"
        assert found[name].reasons[0].finding.kind == kind
        assert found[name].reasons[0].instead
    assert found["r2"].level == "trust"


@pytest.mark.parametrize("level", ["trust", "caution", "do not use"])
def test_a_score_whose_floor_did_not_fit_is_not_checked(level):
    score, cut = Score(0.6, bounds=(0.0, 1.0), best=1.0), Finding("fewer_nulls", n_draws=9, of=99, seconds=1.0)
    for floor in (
        NoiseFloor("mine", "permutation", reason=Finding("no_nulls_in_budget", seconds=1.0)),
        NoiseFloor("mine", "permutation", 0.6, floor=0.1, p_value=0.1, resolution=0.1, notes=(cut,)),
    ):
        found = with_floor(Verdict(level), score, floor)
        assert found.level == "not checked"
        assert "larger budget" in found.reasons[0].sentence
    assert with_floor(Verdict("no verdict"), score, floor) == Verdict("no verdict")


def test_three_row_groups_leave_no_score_above_noise_and_none_below():
    """Six orders give no p-value below a sixth: the best score is neither trusted nor rejected."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(90, 2))
    for codes in (factors, rng.normal(size=(90, 2))):
        found = evaluate(factors, codes, metrics=["mcc", "mig"], row_groups=np.arange(90) // 30, progress=False)
        assert [row.level for row in found.rows] == ["caution"] * 2
        assert "3 row groups can be ordered in 6 ways" in found.rows[0].verdict.reasons[0].sentence
    four = evaluate(factors, factors, metrics="mcc", row_groups=np.arange(90) * 4 // 90, progress=False)
    assert four.rows[0].noise_floor.p_value == 1 / 24


def test_very_few_draws_do_not_make_a_score_noise():
    """With 17 draws, all of them below the score, p is 1 / 18."""
    score = Score(0.6, bounds=(0.0, 1.0), best=1.0)
    floor = NoiseFloor("it", "permutation", 0.6, floor=0.03, p_value=1 / 18, resolution=1 / 18, calibrated=0.59)
    assert with_floor(Verdict("trust"), score, floor).level == "trust"
    reached = NoiseFloor("it", "permutation", 0.6, floor=0.03, p_value=2 / 18, resolution=1 / 18, calibrated=0.59)
    assert with_floor(Verdict("trust"), score, reached).level == "do not use"


@pytest.mark.parametrize(
    ("known", "level", "kind"),
    [
        # value, floor, p-value, calibrated score
        ((0.5, 0.5, 0.05, 0.0), "caution", "hardly_above_noise"),
        ((0.5, 0.5, 0.051, 0.0), "do not use", "not_above_noise"),
        ((0.1, 0.1, 0.5, 0.0), "trust", "scores_like_noise"),
        ((0.1, 0.101, 0.5, 0.0), "do not use", "not_above_noise"),
        ((0.101, 0.1, 0.5, 0.0), "do not use", "not_above_noise"),
        ((0.5, 0.5, 0.5, -0.1), "do not use", "not_above_noise"),
        ((0.5, 0.5, 0.5, -0.101), "do not use", "below_noise"),
        ((0.5, 0.5, 0.01, 0.1), "caution", "hardly_above_noise"),
        ((0.9, 0.5, 0.01, 0.101), "trust", "floor_far_from_zero"),
        ((0.9, 0.501, 0.01, 0.101), "caution", "floor_far_from_zero"),
        ((0.9, 0.101, 0.01, 0.05), "caution", "hardly_above_noise"),
        ((0.9, 0.1, 0.01, 0.05), None, None),
        ((1.0, 0.991, 0.01, 0.5), "do not use", "noise_scores_high"),
        ((1.0, 0.985, 0.01, 0.5), "caution", "floor_far_from_zero"),
    ],
)
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.0, 2.0), (1.0, 3.0)])
def test_where_the_limits_of_floors_lie(known, level, kind, low, high):
    """Values are shares of the range; a floor next to the best score is that near on any range."""
    value, floor, p_value, calibrated = known
    if low:  # limits are met exactly from 0 on only
        value, floor = (0.0999 if number == 0.1 else number for number in (value, floor))
    floor = high - 1 + floor if value == 1.0 else low + (high - low) * floor
    value = low + (high - low) * value
    found = with_floor(
        Verdict("trust"),
        Score(value, bounds=(low, high), best=high),
        NoiseFloor("it", "permutation", value, floor=floor, p_value=p_value, calibrated=calibrated),
    )
    assert found.level == (level or "trust")
    assert [reason.finding.kind for reason in found.reasons] == ([kind] if kind else [])


@pytest.mark.parametrize(("spread", "kind"), [(0.125, "floor_far_from_zero"), (0.126, "noise_varies_widely")])
def test_exactly_four_standard_deviations_are_enough(spread, kind):
    known = NoiseFloor("it", "permutation", 0.75, floor=0.25, p_value=0.01, calibrated=0.9, spread=spread)
    assert with_floor(Verdict("trust"), Score(0.75, bounds=(0.0, 1.0), best=1.0), known).reasons[0].finding.kind == kind


@pytest.mark.parametrize(
    ("level", "kinds"), [("trust", ["floor_far_from_zero"]), ("do not use", ["floor_far_from_zero", "one_code"])]
)
def test_reasons_for_trust_are_dropped_if_the_floor_speaks_against_it(level, kinds):
    before = Verdict(level, (Reason(Finding("one_code"), "", 0.0),), elsewhere=0.25)
    known = NoiseFloor("it", "permutation", 0.9, floor=0.69, p_value=0.005, calibrated=0.68)
    found = with_floor(before, Score(0.9, bounds=(0.0, 1.0), best=1.0), known)
    assert [reason.finding.kind for reason in found.reasons] == kinds
    assert found.elsewhere == 0.25
    mild = NoiseFloor("it", "permutation", 0.9, floor=0.3, p_value=0.005, calibrated=0.86)
    found = with_floor(before, Score(0.9, bounds=(0.0, 1.0), best=1.0), mild)
    assert [reason.finding.kind for reason in found.reasons] == ["floor_far_from_zero", "one_code"]


def test_a_floor_does_not_change_what_has_no_verdict_and_no_score():
    known = NoiseFloor("it", "permutation", 0.9, floor=0.69, p_value=0.005, calibrated=0.68)
    score = Score(0.9, bounds=(0.0, 1.0), best=1.0)
    for verdict in (Verdict("no verdict"), Verdict("trust")):
        assert with_floor(verdict, Score(math.nan, bounds=(0.0, 1.0), best=1.0), known) is verdict
        assert with_floor(verdict, score, None) is verdict
    assert with_floor(Verdict("no verdict"), score, known) == Verdict("no verdict")
    other = NoiseFloor("it", "permutation", reason=Finding("no_pairing", metric="it", looks_at="codes"))
    assert with_floor(Verdict("trust"), score, other) == Verdict("trust")


def test_scores_without_a_range_have_no_reason_from_their_floor():
    known = NoiseFloor("it", "permutation", 5.0, floor=2.0, p_value=0.5, calibrated=0.1)
    assert with_floor(Verdict("trust"), Score(5.0, bounds=(0.0, math.inf), best=math.inf), known).reasons == ()


def test_the_line_of_a_reason_has_the_draws_and_the_rows():
    known = NoiseFloor("it", "permutation", 0.9, (0.1, 0.2), floor=0.69, p_value=0.005, calibrated=0.68, n_rows=300)
    found = with_floor(Verdict("trust"), Score(0.9, bounds=(0.0, 1.0), best=1.0), known)
    assert found.reasons[0].how.endswith("noise_floor(metric, evidence, n_draws=2, n_rows=300)")


def test_a_floor_of_0_gives_no_reason_where_scores_can_be_negative():
    """The floor of identification is 0 and its bounds begin at -.5: random codes do not score high."""
    floor = NoiseFloor(
        "it", "permutation", 1.0, floor=0.0, p_value=1 / 30, resolution=1 / 30, calibrated=1.0, spread=0.0
    )
    sound = Verdict("trust", ())
    assert with_floor(sound, Score(1.0, "it", bounds=(-0.5, 1.0), best=1.0), floor) == sound
