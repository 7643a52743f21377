"""Answers that were wrong once, each with the sentence or the number that is right."""

import math
import re

import numpy as np
import pytest

import unweave
from unweave.evaluation.choose import PANEL, QUESTIONS
from unweave.report.answer import answer_of, compared_answer

RNG_SEED, N = 3130, 400


def normal(d, n=N, seed=0):
    rng = np.random.default_rng([RNG_SEED, seed])
    return rng.normal(size=(n, d)), rng


def turned(z, degrees):
    """The first two columns, turned."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.column_stack([z[:, :2] @ [[c, s], [-s, c]], z[:, 2:]])


def haar(rng, d):
    return np.linalg.qr(rng.normal(size=(d, d)))[0]


def test_noise_private_noise_and_rotations_have_numbers_and_rungs_of_their_own():
    z, rng = normal(4)
    noisy = math.sqrt(0.7) * z + math.sqrt(0.3) * rng.normal(size=z.shape)
    found = {
        name: unweave.ladder(z, codes)
        for name, codes in {"noise": rng.normal(size=z.shape), "private": noisy, "turned": z @ haar(rng, 4)}.items()
    }
    assert [{row.rung for row in one.rows} for one in found.values()] == [{"absent"}, {"one code"}, {"own direction"}]
    assert found["noise"].value == 0
    assert found["private"].own_codes == pytest.approx(0.7, abs=0.05)
    assert abs(found["turned"].own_codes) < 0.35
    assert found["turned"].direction > 0.99
    turns = [haar(rng, 4) for _ in range(6)]
    rotations = [unweave.metrics.identification(z, z @ turn).value for turn in turns]
    shares = [
        (turn**4).max(axis=1).mean() for turn in turns
    ]  # 0 on average over all rotations is tested for the ladder
    assert min(rotations) < 0
    assert np.corrcoef(rotations, shares)[0, 1] > 0.98


def test_one_metric_answers_own_codes_and_does_not_call_a_rotation_partly_identified():
    z, rng = normal(4, seed=1)
    found = unweave.evaluate(z, z @ haar(rng, 4), metrics=["identification", "mcc"], budget=5)
    line = answer_of(found).questions[0]
    assert (line.question, line.metric, line.answer) == ("recovery", "identification", "no")
    assert "none has a code of its own" in answer_of(found).headline
    assert QUESTIONS[0].panel[0] == "identification"
    assert "minimality" not in PANEL


def test_noise_is_noise_for_every_metric_and_in_every_output():
    z, rng = normal(3, seed=2)
    found = unweave.evaluate(z, rng.normal(size=z.shape), metrics=["identification", "r2", "mcc", "sap"])
    frame = found.to_frame("polars").to_dicts()
    assert {line["verdict"] for line in frame} == {"noise level"}
    assert all(line["lower"] <= line["value"] <= line["upper"] for line in frame)
    assert "trust" not in re.sub(
        r"reported|trusted|can be trusted", "", found.to_markdown().split("## Verdicts")[1][:900]
    )


@pytest.mark.slow
def test_a_metric_has_one_verdict_alone_and_compared():
    z, rng = normal(3, n=200, seed=3)
    codes = {"A": z + 0.7 * rng.normal(size=z.shape), "B": z @ haar(rng, 3)}
    options = {"metrics": ["dci_disentanglement", "mcc"], "budget": 20}
    both = unweave.compare(z, codes, **options)
    for name, one in codes.items():
        alone = unweave.evaluate(z, one, **options)
        for row in alone.rows:
            assert (row.level, row.score.value) == (
                both.row(row.label, name).level,
                both.row(row.label, name).score.value,
            )


def test_without_a_budget_nothing_is_checked_and_nothing_is_caution():
    z, rng = normal(3, n=200, seed=4)
    found = unweave.evaluate(z, z @ haar(rng, 3), metrics=["dci_disentanglement", "identification"], budget=0)
    assert {row.level.value for row in found.rows} <= {"not checked", "do not use", "no verdict"}
    assert "caution" not in str(found)


FORBIDDEN = ("Train for longer", "weaker penalty", "posterior means", "circular")


def speed(rng):
    v = rng.normal(size=N)
    return {"speed": np.abs(v)}, {"v": v}


def xor(rng):
    a, b = rng.integers(2, size=(2, N))
    return {"a": a, "either": a ^ b}, {"a": a + 0.01 * rng.normal(size=N), "b": b + 0.01 * rng.normal(size=N)}


def tilt(rng):
    z = rng.normal(size=(N, 2))
    return {"pitch": z[:, 0], "tilt": z[:, 1]}, np.column_stack([z[:, 0], 0.43 * z[:, 1] + rng.normal(size=N)])


def loudness(rng):
    z = rng.normal(size=(N, 2))
    return {"pitch": z[:, 0], "loudness": z[:, 1]}, np.column_stack([z[:, 0], np.tanh(z[:, 0] + 0.3)])


def text(rng):
    names = np.array(["past", "present", "future"])[rng.integers(3, size=N)]
    return {"tense": names}, {"c": np.where(names == "past", 0.0, 1.0) + 0.1 * rng.normal(size=N)}


@pytest.mark.parametrize(
    ("make", "factor", "rungs", "sentence"),
    [
        (speed, "speed", {"one code"}, "The only factor has a code of its own."),
        (xor, "either", {"readable"}, "1 can be read but is not separated: either"),
        (tilt, "tilt", {"one code", "own direction"}, "tilt"),
        (loudness, "loudness", {"absent"}, "1 is absent: loudness"),
        (text, "tense", {"one code", "readable"}, "tense"),
    ],
)
def test_advice_is_given_where_something_is_known(make, factor, rungs, sentence):
    factors, codes = make(np.random.default_rng([RNG_SEED, 5]))
    found = unweave.evaluate(factors, codes, metrics=["identification", "r2"], budget=1)
    assert found.ladder[factor].rung in rungs
    text = " ".join(str(found).split())
    assert sentence in text
    assert not any(each in text for each in FORBIDDEN)


def test_many_tuned_codes_are_not_a_code():
    rng = np.random.default_rng([RNG_SEED, 6])
    pitch, other = rng.uniform(-1, 1, size=(2, 600))
    tuned = np.exp(-np.square(pitch[:, None] - np.linspace(-1, 1, 20)) / 0.02) + 0.01 * rng.normal(size=(600, 20))
    found = unweave.evaluate({"pitch": pitch, "other": other}, tuned, metrics="identification", budget=1)
    row = answer_of(found).factors[0]
    assert row.rung == "own codes"
    assert re.fullmatch(r"\d+ own codes", row.words)
    assert "a code of its own: pitch" not in answer_of(found).headline


def test_a_rung_does_not_depend_on_unrelated_columns():
    z, _ = normal(8, n=600, seed=7)
    rows = [unweave.ladder(z[:, :d], turned(z, 10)[:, :d], quick=True).rows[:2] for d in (2, 4, 8)]
    for j in range(2):
        assert len({each[j].rung for each in rows}) == 1
        for name in ("one_code", "own_codes", "direction", "leakage"):
            assert np.ptp([getattr(each[j], name) for each in rows]) < 0.02


def test_a_score_of_some_codes_says_so_in_its_own_line():
    rng = np.random.default_rng([RNG_SEED, 8])
    z = rng.normal(size=(400, 2))
    codes = z @ rng.normal(size=(2, 1200)) + 3 * rng.normal(size=(400, 1200))
    found = unweave.evaluate(z, codes, quick=True)
    screening = found.data.screening["codes"]
    assert answer_of(found).factors[0].where == "all 1,200 codes"  # directions are held out, so they use all codes
    line = next(line for line in answer_of(found).questions if line.metric == "r2")
    assert line.part == f"{screening.n_scored} of 1,200 codes, 200 of 400 rows"
    for text in (str(found), found.to_markdown(), found.to_html()):
        assert f"{screening.n_scored} of 1,200 codes" in " ".join(text.split())


def test_a_score_of_some_rows_says_so_in_its_own_line(monkeypatch):
    monkeypatch.setattr("unweave.identifiability.analysis.ROWS_ANALYSED", 300)
    z, _ = normal(2, n=400, seed=10)
    found = unweave.evaluate(z, z @ [[0.8, 0.6], [-0.6, 0.8]], metrics=["identification", "r2"], budget=5)
    parts = {line.metric: line.part for line in answer_of(found).questions}
    assert parts["identification"] == "300 of 400 rows"
    assert parts["r2"] == ""
    assert "On 300 of 400 samples with 2 codes, with 95 % intervals: " in (answer_of(found).report)
    assert "300 of 400 rows" in str(unweave.metrics.identification(z, z).caveats[0])


def test_a_quick_comparison_tests_nothing_and_says_so():
    z, rng = normal(2, n=200, seed=9)
    found = compared_answer(unweave.compare(z, {"A": z, "B": z @ haar(rng, 2)}, metrics="r2", quick=True))
    assert "not tested" in found.report
    assert "significant" not in found.report


def folded_values(kind, rng):
    """A factor of some kind, and numbers that give the same code for different values of it."""
    if kind == "continuous":
        values = rng.normal(size=N)
        return values, values**2
    if kind == "circular":
        angle = rng.uniform(0, 2 * np.pi, size=N)
        return angle, np.cos(2 * angle)
    levels = rng.integers(4, size=N)
    names = np.array(["a", "b", "c", "d"])[levels] if kind == "categorical" else levels
    return names, (levels - 1.5) ** 2


@pytest.mark.parametrize("kind", ["continuous", "circular", "ordinal", "categorical"])
def test_an_angle_is_suggested_for_numbers_alone(kind):
    rng = np.random.default_rng([RNG_SEED, 10])
    values, code = folded_values(kind, rng)
    codes = {"c": code + 0.05 * rng.normal(size=N)}
    found = unweave.evaluate({"f": values}, codes, kinds={"f": kind}, metrics="identification", budget=1)
    advised = "as circular" in " ".join(answer_of(found).next_steps)
    assert advised == (kind == "continuous" and found.ladder["f"].rung == "folded")


@pytest.mark.parametrize("given", ["posterior", "point codes"])
def test_a_weaker_penalty_is_suggested_for_a_collapsed_posterior_alone(given):
    rng = np.random.default_rng([RNG_SEED, 11])
    z = rng.normal(size=(N, 2))
    mean, std = np.column_stack([z[:, 0], np.zeros(N)]), np.column_stack([np.full(N, 0.1), np.ones(N)])
    codes = unweave.Posterior(mean, std) if given == "posterior" else mean
    found = unweave.evaluate({"size": z[:, 0], "hue": z[:, 1]}, codes, metrics="identification", budget=1)
    assert found.ladder["hue"].rung == "absent"
    assert ("weaker penalty" in " ".join(answer_of(found).next_steps)) == (given == "posterior")


@pytest.mark.parametrize("trained_with", ["", "beta_vae-beta=16"])
def test_training_is_advised_only_for_encoders_that_were_trained_here(trained_with):
    z, rng = normal(2, n=300, seed=11)
    codes = unweave.Posterior(np.column_stack([z[:, 0], rng.normal(size=300)]), np.full((300, 2), 0.1))
    codes.trained_with = trained_with
    found = unweave.evaluate({"size": z[:, 0], "hue": z[:, 1]}, codes, metrics=["identification"], budget=1)
    said = "hue is absent from the codes of beta_vae-beta=16: train for longer, or with a weaker penalty."
    assert (said in answer_of(found).next_steps) == bool(trained_with)
    assert unweave.Evaluation.from_json(found.to_json()) == found
