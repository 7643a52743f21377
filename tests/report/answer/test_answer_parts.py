"""Parts of the answer at the limits of their conditions, from numbers that are made up."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest
from fake_evaluations import fake_evaluation

from unweave.evaluation import Evaluation, evaluate
from unweave.evaluation.choose import QUESTIONS
from unweave.evaluation.results import ScreenedCode, Screening
from unweave.findings import Finding
from unweave.report import answer as compared_answer
from unweave.report import answer as question_lines
from unweave.report import answer as screening
from unweave.report import answer as steps
from unweave.report.answer import ComparedQuestion, LadderParts, Ranked
from unweave.sentences import MINUS
from unweave.trust import Diagnosis, NoiseFloor, Verdict
from unweave.trust.verdict_record import Level, Reason

RECOVERY, _, _, COMPACTNESS, OTHER_CONTENT, *_ = QUESTIONS


def row(value=0.5, best=1.0, bounds=(0.0, 1.0), **other):
    """A row, as far as the answer depends on it."""
    card = SimpleNamespace(best=best, bounds=bounds, lower_is_better=best == bounds[0])
    plain = {"noise_floor": None, "interval": None, "verdict": None, "chance": None} | other
    level = Level(plain["verdict"].level) if plain["verdict"] else Level.NOT_CHECKED
    return SimpleNamespace(score=SimpleNamespace(value=value, raw=value), card=card, level=level, **plain)


def floor(p_value, resolution=0.005, defined=True):
    return SimpleNamespace(p_value=p_value, resolution=resolution, defined=defined, floor=0.2, notes=())


@pytest.mark.parametrize(
    ("nulls", "at_noise"),
    [
        (None, False),
        (floor(0.05), False),
        (floor(0.051), True),
        (floor(0.1, resolution=0.1), False),
        (floor(0.11, resolution=0.1), True),
        (floor(0.5, defined=False), False),
    ],
)
def test_a_score_is_at_noise_level_above_one_in_twenty_and_above_the_resolution(nulls, at_noise):
    for level in ("trust", "caution", "do not use"):
        given = dataclasses.replace(fake_evaluation().rows[0], noise_floor=nulls, verdict=Verdict(level))
        assert given.at_noise_level is at_noise
        assert given.level == ("noise level" if at_noise else level)


@pytest.mark.parametrize(
    ("level", "kinds", "shown"),
    [
        ("trust", ["trial_not_in_budget"], "not checked"),
        ("caution", ["floor_not_in_budget"], "not checked"),
        ("caution", ["undefined_here", "floor_not_in_budget"], "caution"),
        ("do not use", ["floor_not_in_budget"], "do not use"),
    ],
)
def test_what_was_not_checked_is_neither_trusted_nor_doubted(level, kinds, shown):
    verdict = Verdict(level, tuple(Reason(Finding(kind), "", 0.0) for kind in kinds))
    given = dataclasses.replace(fake_evaluation().rows[0], noise_floor=None, verdict=verdict)
    assert given.level == shown


def test_levels_are_ordered_from_trust_to_do_not_use_and_hold_the_words_of_files():
    assert [level.gravity for level in Level] == [0, 1, 2, 3, 4, 5]
    assert [str(level) for level in sorted(Level, key=lambda level: level.gravity)] == [
        *("trust", "noise level", "caution", "no verdict", "not checked", "do not use")
    ]


@pytest.mark.parametrize(
    ("value", "best", "bounds", "noise", "word"),
    [
        (0.8, 1.0, (0.0, 1.0), None, "yes"),
        (0.79, 1.0, (0.0, 1.0), None, "partly"),
        (0.1, 1.0, (0.0, 1.0), None, "no"),
        (0.11, 1.0, (0.0, 1.0), None, "partly"),
        (0.6, 1.0, (0.0, 1.0), 0.5, "partly"),
        (0.25, 0.0, (0.0, 1.25), None, "yes"),  # lower is better
        (0.5, 0.0, (0.0, 1.25), None, "partly"),
        (0.5, 0.0, (0.0, 1.25), 0.5, "no"),
        (0.5, 1.0, (0.0, 1.0), 1.0, "not known"),
        (0.5, math.inf, (0.0, math.inf), 0.1, "not known"),
        (0.5, 1.0, (-math.inf, 1.0), None, "not known"),
        (0.5, 1.0, (-math.inf, 1.0), 0.0, "partly"),
    ],
)
def test_the_answer_is_the_share_of_the_way_from_noise_to_the_best(value, best, bounds, noise, word):
    for level in Level:
        given = row(value, best, bounds, verdict=Verdict(level))
        known = level not in (Level.DO_NOT_USE, Level.NO_VERDICT)
        expected = word if known else "not known"
        if math.isfinite(best) and level in (Level.NOISE, Level.NOT_CHECKED):
            expected = {Level.NOISE: "no", Level.NOT_CHECKED: "not checked"}[level]
        assert question_lines._in_a_word(given, value, noise) == expected


@pytest.mark.parametrize(
    ("share", "word"), [(0.1, "no"), (0.11, "a little"), (0.19, "a little"), (0.2, "yes"), (0.9, "yes"), (None, None)]
)
def test_a_fifth_of_unexplained_variance_is_other_content(share, word):
    diagnosis = SimpleNamespace(nuisance_share=math.nan if share is None else share, nuisance_of_variance=math.nan)
    data = SimpleNamespace(diagnosis={"codes": diagnosis}, screening={})
    found = question_lines._other_content(OTHER_CONTENT, SimpleNamespace(data=data), "codes")
    assert (found and (found.answer, found.value)) == (word and (word, share))


def changed(evaluation, change, **more):
    rows = tuple(new for old in evaluation.rows if (new := change(old)))
    return Evaluation(rows, dataclasses.replace(evaluation.data, **more))


def test_the_noise_of_a_comparison_is_a_range():
    both = fake_evaluation(["a", "b"])
    floors = {"a": 0.25, "b": 0.125}
    moved = changed(
        both,
        lambda row: dataclasses.replace(
            row, noise_floor=dataclasses.replace(row.noise_floor, floor=floors[row.representation])
        ),
    )
    assert compared_answer.compared_by("mcc", RECOVERY, moved).noise == (0.125, 0.25)
    quick = fake_evaluation(["a", "b"], trusted=False)
    bare = changed(quick, lambda row: dataclasses.replace(row, chance=None))
    assert compared_answer.compared_by("mcc", RECOVERY, bare).noise is None


@pytest.mark.parametrize(("label", "order"), [("mcc", ["a", "b", "c"]), ("jemmig", ["c", "b", "a"])])
def test_representations_are_ranked_in_the_direction_of_the_metric(label, order):
    three = fake_evaluation(["a", "b", "c"])
    ranked = compared_answer.compared_by(label, RECOVERY, three).ranked
    assert [entry.representation for entry in ranked] == order
    assert {entry.representation: entry.best for entry in ranked} == {"a": True, "b": True, "c": False}
    failed = changed(three, lambda row: dataclasses.replace(row, score=None) if row.representation == order[0] else row)
    last = compared_answer.compared_by(label, RECOVERY, failed).ranked[-1]
    assert (last.representation, last.value, last.verdict, last.best) == (order[0], None, "undefined", False)


def test_what_is_not_to_be_used_is_not_best():
    three = fake_evaluation(["a", "b", "c"])
    assert not any(entry.best for entry in compared_answer.compared_by("mig", COMPACTNESS, three).ranked)


def question(*entries):
    ranked = [Ranked(name, 0.5, None, None, Level(level), level, best) for name, level, best in entries]
    return ComparedQuestion("q", "", "", "mcc", None, tuple(ranked))


@pytest.mark.parametrize(
    ("diagnosis", "depend"),
    [
        (None, False),
        ({"max_correlation": 0.1}, True),
        ({"max_correlation": 0.099}, False),
        ({"max_correlation": 0.5, "max_free_correlation": 0.05}, False),
        ({"max_free_correlation": 0.1}, True),
        ({"constraints": ("one",)}, True),
        ({"dependent_pairs": ("one",)}, True),
        ({"max_correlation": math.nan}, False),
    ],
)
def test_factors_depend_on_each_other_from_a_correlation_of_a_tenth(diagnosis, depend):
    known = diagnosis and Diagnosis(n_rows=9, n_factors=2, n_codes=1, rows_looked_at=9, **diagnosis)
    assert steps._factors_depend(known) is depend


def screened(n_codes, *names):
    codes = tuple(ScreenedCode(f"c{k}", "x", 0.5, 0.0, 10.0 ** -(k % 9)) for k in range(n_codes))
    found = {names[0]: Screening(4000, n_codes, 3, 300, 0.05, codes)}
    return SimpleNamespace(representations=names, data=SimpleNamespace(screening=found))


@pytest.mark.parametrize(("n_codes", "n_shown"), [(49, 49), (50, 50), (51, 50)])
def test_fifty_screened_codes_are_listed(n_codes, n_shown):
    (found,) = screening.code_lists(screened(n_codes, "vae"))
    assert (len(found["codes"]), found["n_hidden"]) == (n_shown, 4000 - n_shown)
    assert [entry["q"] for entry in found["codes"][5:9]] == ["1e\N{MINUS SIGN}05", "1e\N{MINUS SIGN}06"] + [
        "< 1e\N{MINUS SIGN}06"
    ] * 2


def test_screened_codes_of_several_representations_are_told_apart():
    (alone,), (named,) = (screening.screening_sentences(screened(3, *names)) for names in (["vae"], ["vae", "b"]))
    assert named == f"vae: {alone}"


@pytest.mark.parametrize(
    ("n_found", "share", "value", "answer"),
    [(4, 0.0, 0.99, "yes"), (400, 0.0, 0.0, "no"), (380, 0.0, 0.05, "no"), (340, 0.05, 0.1925, "a little")],
)
def test_codes_that_screening_left_out_are_other_content(n_found, share, value, answer):
    """Of 400 codes, those that depend on no factor count as unexplained."""
    diagnosis = Diagnosis(100, 2, 4, 100, nuisance_per_code={"a": share})
    known = Screening(400, n_found, 4, 100, 0.05, ())
    data = SimpleNamespace(diagnosis={"codes": diagnosis}, screening={"codes": known})
    line = question_lines._other_content(OTHER_CONTENT, SimpleNamespace(data=data), "codes")
    assert (line.value, line.answer) == (pytest.approx(value), answer)
    assert f"{400 - n_found} of 400 codes" in line.sentence


@pytest.mark.parametrize("chance", [None, 0.0, 0.1])
def test_no_noise_is_shown_where_a_floor_was_asked_for_and_not_computed(chance):
    row = dataclasses.replace(fake_evaluation().rows[0], chance=chance, noise_floor=None)
    assert row.noise == chance
    missing = NoiseFloor("mcc", "permutation", reason=Finding("no_nulls_in_budget", seconds=1.0))
    assert dataclasses.replace(row, noise_floor=missing).noise is None


def test_a_trusted_metric_that_answers_no_question_is_reported():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(400, 2))
    found = evaluate(columns, columns + 0.3 * rng.normal(size=columns.shape), metrics=["mcc"])
    assert found.rows[0].level == "trust"
    assert f"mcc is {found['mcc'].value:.2f}" in found.answer["report"]


@pytest.mark.parametrize(
    ("own", "ends", "said"),
    [
        (0.01, (-0.01, 0.03), "0.01 (-0.01 to 0.03), not significantly better than a random mixing"),
        (0.9, (0.8, 0.95), "0.90 (0.80 to 0.95), beyond those of a random mixing"),
        (-0.1, (-0.2, 0.0), "-0.10 (-0.20 to 0.00), on average no better than a random mixing"),
        (0.4, None, "0.40, beyond those of a random mixing"),
    ],
)
def test_own_codes_are_beyond_a_random_mixing_only_if_their_interval_is_above_0(own, ends, said):
    parts = LadderParts(0.5, own, 0.9, 0.9, {} if ends is None else {"own_codes": ends})
    assert said in str(parts).replace(MINUS, "-")


@pytest.mark.parametrize(("low", "high", "level"), [(-0.01, 0.03, "noise level"), (0.001, 0.03, "trust")])
def test_an_identification_whose_interval_holds_0_is_at_noise_level(low, high, level):
    """These codes beat permuted rows (p = .03) in both cases, and in the first no random mixing of the factors."""
    z = np.random.default_rng([101, 4]).normal(size=(100, 2))
    found = evaluate(z, z, metrics="identification", budget=3).rows[0]
    interval = dataclasses.replace(found.interval, lower=low, upper=high)
    floor = dataclasses.replace(found.noise_floor, p_value=0.03, draws=(0.0,) * 29)
    made = dataclasses.replace(
        found, score=dataclasses.replace(found.score, raw=0.01), interval=interval, noise_floor=floor
    )
    assert made.level == level
    assert "not significantly better than a random mixing" in question_lines.noise_sentence(made)
