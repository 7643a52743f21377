"""Verdicts of artificial metrics with given scores on the counterpart: thresholds, ranges, draws, and the audit."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from made_up_metrics import made_up

from unweave import Evidence
from unweave.findings import Finding
from unweave.metrics import identification, mcc, r2
from unweave.score import Score
from unweave.trust import Verdict, diagnose, noise_floor, verdicts
from unweave.trust.counterpart import Counterpart
from unweave.trust.effects import Change, Effects
from unweave.trust.verdict import _looked_up, _possible, _range, _verdict_by_trials, _with_fitting_advice
from unweave.trust.verdict_record import SECTIONS, Reason

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(1000, 2))  # enough rows, so that the counterpart has no more
CORRELATED = FACTORS @ [[1.0, 0.95], [0.0, 0.3]]
EVIDENCE = Evidence(CORRELATED, CORRELATED @ [[1.0, 1.0], [1.0, -1.0]])


def verdict_of(metric, evidence=EVIDENCE):
    return verdicts({"it": metric}, {"it": metric(evidence)}, evidence, diagnose(evidence))["it"]


def correlated(evidence):
    return abs(np.corrcoef(evidence.factors, rowvar=False)[0, 1]) > 0.5


def moving_by(change, width):
    @made_up(bounds=(1.0 - width, 1.0))
    def moving(evidence):
        """0.5 for independent factors, and another value for correlated factors."""
        return Score(0.5 + width * change * correlated(evidence))

    return moving


MOVED = {0.09: "trust", 0.11: "caution", 0.19: "caution", 0.21: "do not use"}


@pytest.fixture(scope="module")
def verdicts_of_moves():
    """The verdict for every change as a share of the range and every width of the range, on the same draws."""
    moves = itertools.product([sign * moved for moved in MOVED for sign in (-1, 1)], (1, 2))
    metrics = {move: moving_by(*move) for move in moves}
    return verdicts(metrics, {move: metric(EVIDENCE) for move, metric in metrics.items()}, EVIDENCE, diagnose(EVIDENCE))


@pytest.mark.parametrize(("moved", "level"), MOVED.items())
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("width", [1, 2])
def test_a_tenth_of_the_range_is_caution_and_a_fifth_is_too_much(verdicts_of_moves, moved, level, sign, width):
    found = verdicts_of_moves[sign * moved, width]
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


@pytest.mark.parametrize(("spread", "n_draws"), [(0.0, 2), (0.1, 5)])
def test_the_last_step_has_five_draws_unless_two_agree(spread, n_draws):
    drawn = []

    @made_up(bounds=(0.0, 1.0))
    def counting(evidence):
        """About 0.5 for all data."""
        if correlated(evidence):
            return Score(0.5)
        drawn.extend({evidence.fingerprint} - set(drawn))
        return Score(0.5 + spread * (-1) ** drawn.index(evidence.fingerprint) / (1 + drawn.index(evidence.fingerprint)))

    verdict_of(counting)
    assert len(drawn) == n_draws


@pytest.fixture
def _audited(monkeypatch):
    """An audit in which identification satisfies every property, and mcc violates every property."""
    found = {"identification": "satisfied", "mcc": "violated"}
    table = {name: {key: {"verdict": verdict} for key in ("P1", "P2", "P3", "P4")} for name, verdict in found.items()}
    monkeypatch.setattr("unweave.trust.verdict.table", lambda: table)


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


class Tried:
    """Steps with given changes of a score."""

    set_free = left_out = ()

    def __init__(self, *changes, misfit=0.0, live=math.nan):
        self.effects, self.live = Effects(changes, misfit), live

    def on(self, metric, score):
        return self.effects

    def of_live_codes(self, metric, score):
        return self.live


def tried(*changes, value=0.0, bounds=(0.0, 1.0), diagnosis=None, **options):
    """The verdict on a score that changes like this."""
    found = diagnosis or SimpleNamespace(
        n_codes=4,
        effective_dimension=2.0,
        rows_per_code=25.0,
        n_rows=100,
        dead_codes=("code 3",),
        codes_per_factor=1.0,
        codes_per_row=0.0,
        dependent_pairs=(),
        constraints=(),
    )
    return _verdict_by_trials(mcc, Score(value, bounds=bounds, best=1.0), Tried(*changes, **options), found, None)


def by(moved, modelled=False, effect="number of codes", before=0.0):
    return Change(effect, before, before + moved, modelled)


@pytest.mark.parametrize(
    ("moved", "level"), [(0.1, "trust"), (0.101, "caution"), (0.2, "caution"), (0.201, "do not use")]
)
def test_exactly_a_tenth_is_trusted_and_exactly_a_fifth_is_caution(moved, level):
    assert tried(by(moved)).level == level
    assert tried(by(2 * moved), bounds=(0.0, 2.0)).level == level


@pytest.mark.parametrize(
    ("changes", "misfit", "level"),
    [
        ((by(0.125, True),), 0.0, "caution"),
        ((by(0.125, True),), 0.1, "trust"),
        ((by(0.125, True),), -0.1, "trust"),
        ((by(0.125),), 0.1, "caution"),
        ((by(0.125), by(0.0, True)), 0.1, "trust"),
        ((by(0.125), by(0.0, True)), 0.0, "caution"),
        ((), 0.1, "trust"),
    ],
)
def test_a_quarter_of_the_error_of_the_models_is_to_spare_if_any_step_uses_them(changes, misfit, level):
    """Of a change of .125, the error of .1 leaves .1, which is trusted."""
    assert tried(*changes, misfit=misfit).level == level


def test_reasons_are_the_changes_of_a_twentieth_of_the_range_with_the_largest_first():
    found = tried(
        by(0.05), by(0.0499, effect="number of rows"), by(-0.3, effect="number of rows", before=0.4), value=0.5
    )
    assert [reason.finding.kind for reason in found.reasons] == [
        "depends_on_number_of_rows",
        "depends_on_redundant_codes",
    ]
    assert [(reason.quantity, reason.measured) for reason in found.reasons] == [
        ("rows per code", 25.0),
        ("codes per free factor", 2.0),
    ]
    assert found.level == "do not use"
    wide = tried(by(0.1), by(0.099, effect="number of rows"), by(0.3), value=0.0, bounds=(0.0, 2.0))
    assert [reason.finding.kind for reason in wide.reasons] == ["depends_on_redundant_codes"] * 2


def test_doubted_changes_of_a_score_that_is_trusted_otherwise_give_no_verdict():
    """Scores between -1 and 1 whose models have an error of .15 of the range, .3."""
    found = tried(by(0.1, True), by(-0.125, True, "number of rows"), value=0.25, bounds=(-1.0, 1.0), misfit=0.15)
    assert found.level == "no verdict"
    (reason,) = found.reasons
    assert reason.finding.quantities["modelled"] == reason.measured == pytest.approx(0.25 + 0.3)
    assert reason.finding.quantities["effects"] == "number of codes and number of rows"
    assert tried(by(0.1, True), by(0.3), misfit=0.15).level == "do not use"


@pytest.mark.parametrize(
    ("moved", "misfit", "kind"),
    [(0.1, 0.0, "score_stable"), (0.12, 0.09, "within_model_error"), (0.12, -0.09, "within_model_error")],
)
def test_a_stable_score_is_said_to_be_so_and_one_within_the_error_of_the_models_too(moved, misfit, kind):
    for width in (1.0, 2.0):
        found = tried(by(moved * width, True), bounds=(0.0, width), misfit=misfit)
        assert found.level == "trust"
        assert found.elsewhere == found.reasons[0].measured == moved * width
        assert found.reasons[0].finding.kind == kind
        if misfit:
            assert found.reasons[0].finding.quantities["modelled"] == pytest.approx(misfit * width)
    assert tried().reasons[0].finding.kind == "nothing_moves_score"


@pytest.mark.parametrize(
    ("live", "said"), [(math.nan, False), (0.05, True), (0.0499, False), (-0.05, True), (0.0, False)]
)
def test_collapsed_codes_are_named_if_they_change_the_score_by_a_twentieth(live, said):
    for width in (1.0, 2.0):
        found = tried(live=live * width, bounds=(0.0, width))
        kinds = [reason.finding.kind for reason in found.reasons]
        assert kinds == ["nothing_moves_score"] + ["collapsed_codes_count"] * said
        if said:
            assert found.reasons[1].measured == live * width
            assert "['code 3']" in found.reasons[1].how


@pytest.mark.parametrize(
    ("changes", "misfit"),
    [((by(math.nan),), 0.0), ((by(0.0), by(math.nan)), 0.0), ((by(0.3),), math.nan)],
)
def test_changes_that_are_not_known_leave_the_verdict_to_the_audit(changes, misfit):
    found = tried(*changes, misfit=misfit)
    assert (found.level, found.reasons) == ("trust", ())
    assert math.isnan(found.elsewhere)


@pytest.mark.usefixtures("_audited")
@pytest.mark.parametrize("metric", [mcc, identification])
@pytest.mark.parametrize(
    ("known", "kind"),
    [
        ({}, None),
        ({"dependent_pairs": (SimpleNamespace(association=0.3),)}, None),
        ({"dependent_pairs": (SimpleNamespace(association=0.1), SimpleNamespace(association=0.31))}, "correlated"),
        ({"constraints": ("one",), "redundant_factors": ("a",), "effective_dimension": 3.0}, "redundant"),
        ({"codes_per_factor": 1.01}, "many_codes"),
        ({"codes_per_row": 0.1}, None),
        ({"codes_per_row": 0.11}, "crowded"),
    ],
)
def test_what_the_audit_found_counts_where_the_data_call_for_it(metric, known, kind):
    plain = {"dependent_pairs": (), "constraints": (), "codes_per_factor": 1.0, "codes_per_row": 0.0, "n_rows": 50}
    found = _looked_up(metric, Score(0.5, bounds=(0.0, 1.0)), SimpleNamespace(**plain | known), None)
    expected = [f"{kind}_by_audit"] if kind and metric is mcc else []
    assert [reason.finding.kind for reason in found.reasons] == expected
    assert found.level == ("caution" if expected else "trust")
    if expected:
        assert (
            found.reasons[0].measured
            == {"correlated": 0.31, "redundant": 3.0, "many_codes": 1.01, "crowded": 0.11}[kind]
        )


def test_fewer_than_fifty_rows_are_too_few():
    plain = {"dependent_pairs": (), "constraints": (), "codes_per_factor": 1.0, "codes_per_row": 0.0, "n_rows": 49}
    (reason,) = _looked_up(identification, Score(0.5, bounds=(0.0, 1.0)), SimpleNamespace(**plain), None).reasons
    assert (reason.finding.kind, reason.measured) == ("too_few_rows_to_test", 49)


@pytest.mark.parametrize(
    ("n_rows", "n_factors", "n_codes", "n_groups", "possible"),
    [
        (50, 1, 1, None, True),
        (49, 1, 1, None, False),
        (50, 0, 1, None, False),
        (50, 1, 0, None, False),
        (50, 1, 1, 5, True),
        (50, 1, 1, 4, False),
        (50, 1, 2000, None, True),
        (50, 1, 2001, None, False),
    ],
)
def test_sizes_with_which_a_score_is_computed_again(n_rows, n_factors, n_codes, n_groups, possible):
    evidence = SimpleNamespace(
        n_rows=n_rows,
        n_factors=n_factors,
        n_codes=n_codes,
        constant_factors=(),
        factor_tables={},
        row_groups=None if n_groups is None else np.arange(n_rows) % n_groups,
    )
    assert _possible(evidence) is possible
    evidence.factor_tables = {"table": 0}
    assert not _possible(evidence)
    evidence.factor_tables, evidence.constant_factors = {}, ("one",)
    assert not _possible(evidence)


@pytest.mark.parametrize(
    ("bounds", "best", "width"),
    [((-1.0, 1.0), 1.0, 2.0), ((1.0, 3.0), 1.0, 2.0), ((0.0, math.inf), 0.0, 0.0), ((0.0, 1.0), math.nan, 0.0)],
)
def test_the_range_is_that_between_finite_bounds_with_a_best_score(bounds, best, width):
    assert _range(Score(0.5, bounds=bounds, best=best)) == width


def test_without_a_budget_for_trials_a_score_is_not_checked():
    evidence = Evidence(FACTORS[:60], FACTORS[:60])
    floor, scores = noise_floor(mcc, evidence, n_draws=3), {"it": mcc(evidence), "other": mcc(evidence)}
    found = verdicts(
        {"it": mcc, "other": mcc}, scores, evidence, diagnose(evidence), {"it": floor}, untried=("it", "other")
    )
    assert {label: verdict.level for label, verdict in found.items()} == dict.fromkeys(found, "not checked")
    assert [reason.finding.kind for reason in found["it"].reasons] == ["trial_not_in_budget"]
    assert math.isnan(found["it"].elsewhere)


def test_metrics_that_are_flagged_are_not_advised():
    table = {label: Verdict(level, (Reason(Finding("one_code"), "", 0.0, SECTIONS["P4"]),)) for label, level in (
        ("r2", "trust"), ("mcc", "caution"), ("mig", "do not use"), ("sap", "no verdict"))}  # fmt: skip
    found = _with_fitting_advice(table, {label: label for label in table})
    named = {label: verdict.reasons[0].advice.quantities["metrics"] for label, verdict in found.items()}
    assert len(set(named.values())) == 1
    assert "r2" in named["r2"]
    assert "mig" not in named["r2"].split(" or ")


@pytest.mark.parametrize(("n_rows", "enough"), [(300, 1000), (500, 1500), (1200, 3000)])
def test_an_extrapolated_score_says_for_how_many_rows_it_is(n_rows, enough):
    """A score of 1 - 12 / sqrt(n) is extrapolated to three times the rows, from 1,000 to 3,000, without error."""

    @made_up(bounds=(0.0, 1.0))
    def slow(evidence):
        return Score(1 - 12 / math.sqrt(evidence.n_rows))

    z = np.random.default_rng(7).normal(size=(n_rows, 2))
    rows = Evidence(z, z)
    (said,) = verdicts({"slow": slow}, {"slow": slow(rows)}, rows, diagnose(rows), None)["slow"].reasons
    assert said.finding.kind == "depends_on_number_of_rows"
    assert said.finding.quantities["enough"] == enough
    assert said.finding.quantities["after"] == pytest.approx(1 - 12 / math.sqrt(enough), abs=0.005)
    assert f"with {enough:,} rows it rises" in said.sentence
