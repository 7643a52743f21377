"""DCI and its explicitness: closed forms, probes by hand, and curves."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from unweave import Evidence
from unweave.estimators import BoostedTrees, Lasso, RandomForest
from unweave.findings import Finding
from unweave.memo import drawn_together
from unweave.metrics import (
    dci_completeness,
    dci_disentanglement,
    dci_explicitness,
    dci_informativeness,
    dci_size,
    explicitness,
    t_mex,
)
from unweave.metrics.dci import area_above_curve, concentration, weighted_mean
from unweave.metrics.matrices import importance
from unweave.randomness import random_stream
from unweave.synthetic.encoders import Mixed


def independent(n_rows=2000, d=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n_rows, d))


@pytest.mark.parametrize("kept", [2, 3, 4, 5])
def test_closed_form_when_factors_are_dropped(kept):
    """The importance for a dropped factor is spread evenly over the m codes: D = (m/d) log m / log d."""
    z = independent()
    expected = kept / 5 * np.log(kept) / np.log(5)
    assert dci_disentanglement(z, z[:, :kept]).raw == pytest.approx(expected, abs=0.025)


@pytest.mark.parametrize(
    ("d", "copy"),
    [(3, lambda x: x**3), (5, lambda x: -np.tanh(x)), (10, lambda x: x**3)],
    ids=["3 increasing", "5 decreasing", "10 increasing"],
)
def test_closed_form_when_one_factor_copies_another(d, copy):
    """Trees cannot distinguish monotone copies: D = 1 - (2/d) log 2 / log d although the codes are disentangled."""
    z = independent(d=d)
    z[:, 1] = copy(z[:, 0])
    score = dci_disentanglement(z, z)
    assert score.raw == pytest.approx(1 - 2 / d * np.log(2) / np.log(d), abs=0.025)
    assert score.per_code["code 0"] == pytest.approx(score.per_code["code 1"], abs=1e-12)


def test_skill_normalisation_gives_dropped_factors_no_weight():
    z = independent()
    assert dci_disentanglement(z, z[:, :3], normalise="skill").raw > 0.95


@pytest.fixture(scope="module")
def copied():
    """Every factor is in two of ten codes."""
    z = independent(1000)
    return Evidence(z, np.hstack([z, -3 * z]))


def test_completeness_of_copied_codes(copied):
    """Every factor is in two codes: C = 1 - log 2 / log m."""
    assert dci_completeness(copied).raw == pytest.approx(1 - np.log(2) / np.log(10), abs=0.01)
    assert dci_disentanglement(copied).raw > 0.98


def test_dead_codes_do_not_count_and_a_note_gives_the_published_value(copied):
    """Every factor is in two of ten codes, and six codes are dead: C = 1 - log 2 / log 16 as published."""
    padded = np.hstack([copied.codes, np.ones((copied.n_rows, 6))])
    plain, found = dci_completeness(copied), dci_completeness(copied.factors, padded)
    assert found.raw == pytest.approx(plain.raw, abs=1e-12)
    published = dci_completeness(copied.factors, padded, dead_codes="counted")
    assert published.raw == pytest.approx(1 - (1 - plain.raw) * np.log(10) / np.log(16), abs=1e-12)
    said = [caveat.quantities["published"] for caveat in found.caveats if caveat.kind == "dead_codes_not_counted"]
    assert said == pytest.approx([published.raw])
    for score in (plain, published):
        assert not any(caveat.kind == "dead_codes_not_counted" for caveat in score.caveats)


def test_factors_with_rows_of_their_own_have_one_note_of_constant_codes():
    rng = np.random.default_rng(7)
    factors, codes = rng.normal(size=(2, 300, 3))
    codes = np.column_stack([factors + 0.5 * codes, np.ones(300)])
    factors[:20, 0], factors[15:60, 1] = np.nan, np.nan
    given, published = (
        dci_completeness(factors, codes, missing="drop", dead_codes=each) for each in ("left out", "counted")
    )
    notes = [caveat for caveat in given.caveats if caveat.kind == "dead_codes_not_counted"]
    assert [note.quantities["published"] for note in notes] == [pytest.approx(published.value)]


def test_concentration_closed_forms():
    rows = np.array([[1.0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]])
    assert concentration(rows)[:3] == pytest.approx([1.0, 0.0, 0.5])
    assert np.isnan(concentration(rows)[3])


def test_weights_decide_the_mean():
    scores, totals = np.array([1.0, 0.0, np.nan]), np.array([3.0, 1.0, 0.0])
    assert weighted_mean(scores, totals, "importance") == pytest.approx(0.75)
    assert weighted_mean(scores, totals, "uniform") == pytest.approx(0.5)
    assert np.isnan(weighted_mean(scores, np.zeros(3), "importance"))


def test_monotone_maps_of_the_codes_do_not_matter():
    z = independent()
    codes = z @ np.random.default_rng(1).normal(size=(5, 5))
    plain, bent = Evidence(z, codes), Evidence(z, np.sinh(codes))
    for metric in (dci_disentanglement, dci_completeness):
        assert metric(bent).raw == pytest.approx(metric(plain).raw, abs=0.01)


def test_informativeness_of_known_noise():
    """The population R2 of z + e with Var e = 1/4 is .8; boosted trees score slightly less."""
    rng = np.random.default_rng(2)
    z = rng.normal(size=(10_000, 2))
    assert dci_informativeness(z, z + 0.5 * rng.normal(size=z.shape)).raw == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(("d", "n_mixings", "score", "scatter"), [(5, 4, 0.86, 0.05), (10, 1, 0.82, 0.02)])
def test_trees_read_a_lossless_mixing_less_well_as_the_card_says(d, n_mixings, score, scatter):
    z = independent(d=d)
    found = [dci_informativeness(z, Mixed().encode(z, rng=k)).raw for k in range(1, 1 + n_mixings)]
    assert np.mean(found) == pytest.approx(score, abs=scatter)


def test_informativeness_of_categories_is_skill_or_accuracy():
    """Labels correct with probability .8 and otherwise uniform over four: accuracy .85, chance .25, skill .8."""
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 4, 20_000)
    seen = np.where(rng.random(20_000) < 0.8, labels, rng.integers(0, 4, 20_000))
    evidence = Evidence(labels, seen, kinds="categorical")
    assert dci_informativeness(evidence, measure="accuracy").raw == pytest.approx(0.85, abs=0.02)
    assert dci_informativeness(evidence).raw == pytest.approx(0.8, abs=0.025)


def test_mixed_kinds_share_one_importance_matrix():
    rng = np.random.default_rng(4)
    factors = {
        "size": rng.normal(size=1500),
        "shape": rng.choice(["square", "heart", "ellipse"], 1500),
        "angle": rng.uniform(0, 2 * np.pi, 1500),
        "count": rng.integers(0, 6, 1500),
    }
    shape = np.unique(factors["shape"], return_inverse=True)[1]
    angle = factors["angle"]
    codes = np.column_stack([factors["size"], shape, np.cos(angle), np.sin(angle), factors["count"]])
    evidence = Evidence(factors, codes, kinds={"angle": "circular"})
    disentanglement, completeness = dci_disentanglement(evidence), dci_completeness(evidence)
    assert disentanglement.raw > 0.97
    assert completeness.per_factor["angle"] == pytest.approx(1 - np.log(2) / np.log(5), abs=0.05)
    assert dci_informativeness(evidence).raw > 0.97


def test_a_probe_that_uses_nothing_gives_nan_and_says_so():
    rng = np.random.default_rng(5)
    score = dci_disentanglement(rng.normal(size=(300, 3)), rng.normal(size=(300, 3)), probe=Lasso(10.0))
    assert np.isnan(score.value)
    assert Finding("probe_used_no_code") in score.caveats


@pytest.mark.parametrize("probe", [Lasso(), RandomForest(n_trees=30)])
def test_other_probes_find_a_clean_code(probe):
    z = independent(600, 3)
    assert dci_disentanglement(z, z[:, ::-1], probe=probe).raw > 0.95


def test_settings_name_the_library_of_a_probe():
    settings = dci_disentanglement(independent(100, 2), independent(100, 2), probe=RandomForest(5)).settings
    assert settings["probe"]["name"] == "RandomForest"
    assert settings["probe"]["library"].startswith("scikit-learn ")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-70, 1e70])
@pytest.mark.parametrize("metric", [dci_informativeness, dci_explicitness])
def test_the_unit_of_the_factors_does_not_matter(metric, scale):
    """Trees compute gradients in single precision, which ends at 1e38; the importances are of the same fits."""
    z = independent(100, 2)
    codes = np.sinh(z @ [[1.0, 0.3], [0.0, 1.0]])
    assert metric(z * [scale, 1.0], codes * scale).raw == pytest.approx(metric(z, codes).raw, abs=1e-3)


@pytest.mark.parametrize("scale", [1e-70, 1e-12, 1e15, 1e70])
def test_trees_predict_and_rank_codes_in_any_unit(scale):
    z = independent(100, 2)
    targets, probe = z**3, BoostedTrees(n_trees=5)
    fitted, scaled = probe.regress(z, targets, 0), probe.regress(z, targets * scale, 0)
    np.testing.assert_allclose(scaled.predict(z), fitted.predict(z) * scale, rtol=1e-3, atol=1e-3 * scale)
    np.testing.assert_allclose(scaled.importance, fitted.importance * scale**2, rtol=1e-2)


@pytest.mark.parametrize("kinds", ["continuous", ["continuous", "categorical"]])
def test_permutations_fitted_together_score_as_if_alone(kinds):
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(120, 3))
    evidence = Evidence(np.column_stack([codes[:, 0], np.round(codes[:, 1] > 0)]), codes, kinds=kinds)

    def draw(index):
        return evidence.permuted(np.random.default_rng(index))

    together = drawn_together(draw, 3)
    for k in range(3):
        assert dci_disentanglement(together(k)).raw == pytest.approx(dci_disentanglement(draw(k)).raw, rel=1e-12)
        assert dci_informativeness(together(k)).raw == pytest.approx(dci_informativeness(draw(k)).raw, rel=1e-12)


GOLDEN = Path(__file__).parents[2] / "reference" / "golden"
VALUES = json.loads((GOLDEN / "prediction.json").read_text())
CURVES = {e["case"]: e["value"] for e in VALUES if e["metric"] == "Explicitness-E (loss-capacity curve)"}
SYNTHETIC = next(e["value"] for e in VALUES if e["metric"] == "Explicitness-E (synthetic curves)")


@pytest.mark.parametrize("case", sorted(set(CURVES) - {"c08"}))
def test_published_area_of_published_curves(case):
    curve = CURVES[case]
    found = area_above_curve(np.array(curve["depths"], float), np.array(curve["loss"]), "best")
    assert found == pytest.approx(curve["E"], abs=1e-9)


def test_published_synthetic_curves():
    capacities = np.array([1.0, 2.0, 4.0, 8.0])
    assert area_above_curve(capacities, np.array([0.8, 0.5, 0.3, 0.1]), "best") == pytest.approx(SYNTHETIC["a"])
    assert area_above_curve(capacities, np.array([0.4, 0.45, 0.2, 0.2]), "best") == pytest.approx(SYNTHETIC["b"])


def test_a_curve_that_never_falls_is_not_explicit():
    """The published value of the null case is 1."""
    curve = CURVES["c08"]
    assert curve["E"] == 1.0
    depths, losses = np.array(curve["depths"], float), np.array(curve["loss"])
    assert area_above_curve(depths, losses, "zero") == 0
    assert np.isnan(area_above_curve(depths, losses, "best"))


def test_noise_gets_nothing():
    with np.load(GOLDEN / "c08.npz") as stored:
        factors, codes = stored["factors"], stored["codes"]
    assert dci_explicitness(factors, codes).raw < 0.05
    rng = np.random.default_rng(0)
    undefined = dci_explicitness(rng.normal(size=(2000, 2)), rng.normal(size=(2000, 2)), floor="best")
    assert np.isnan(undefined.raw)
    assert "No probe predicts" in str(undefined.caveats[0])


def test_linear_codes_are_explicit_and_bent_ones_less():
    z = np.random.default_rng(1).normal(size=(1000, 3))
    linear = dci_explicitness(z, z @ np.random.default_rng(2).normal(size=(3, 3)))
    bent = dci_explicitness(z, z**3)
    wound = dci_explicitness(z, np.column_stack([z * np.cos(2 * z), z * np.sin(2 * z)]))
    assert linear.raw > 0.98
    assert linear.raw > bent.raw > wound.raw > 0.3


def test_never_more_than_the_best_probe_reads():
    rng = np.random.default_rng(3)
    z = rng.normal(size=(600, 3))
    score = dci_explicitness(z, np.tanh(z @ rng.normal(size=(3, 3))) + 0.2 * rng.normal(size=z.shape))
    assert score.raw <= 1 - score.parts["loss_by_capacity"].min(axis=0).mean() + 1e-12


def test_half_the_variance_at_once():
    """The code is the factor plus noise of the same variance: R2 = 1/2 for every probe."""
    rng = np.random.default_rng(4)
    z = rng.normal(size=(4000, 2))
    assert dci_explicitness(z, z + rng.normal(size=z.shape)).raw == pytest.approx(0.5, abs=0.04)


def test_all_kinds_together():
    rng = np.random.default_rng(5)
    angle, label = rng.uniform(0, 360, 600), rng.integers(0, 3, 600)
    factors = {"angle": angle, "label": np.array(list("abc"))[label]}
    codes = np.column_stack([np.cos(np.radians(angle)), np.sin(np.radians(angle)), np.eye(3)[label]])
    assert dci_explicitness(factors, codes, kinds={"angle": "circular:360"}).raw > 0.99


def test_size_counts_what_varies():
    z = np.random.default_rng(6).normal(size=(50, 4))
    assert dci_size(z, np.column_stack([z, z])).raw == 0.5
    assert dci_size(z[:, :2], np.column_stack([z, np.ones(50)])).raw == 0.5
    fewer = dci_size(z, z[:, :2])
    assert (fewer.raw, float(fewer)) == (2.0, 1.0)
    assert np.isnan(dci_size(z, np.ones((50, 2))).raw)


@dataclass(frozen=True)
class _Told:
    importance: np.ndarray
    prediction: np.ndarray

    def predict(self, codes):
        return np.broadcast_to(self.prediction, (len(codes), *np.shape(self.prediction)))


@dataclass(frozen=True)
class MeanPlus:
    """Stub probe that predicts the training mean plus a constant, and has equal importances."""

    added: float = 0.0

    def regress(self, codes, targets, seed):
        return _Told(np.ones(codes.shape[1]), targets.mean(axis=0) + self.added)

    def classify(self, codes, labels, seed):
        return _Told(np.ones(codes.shape[1]), np.bincount(labels).argmax())


FACTORS = np.random.default_rng(0).gamma(0.3, size=(60, 3))  # skewed, so that training and test means differ


def test_skill_is_measured_against_the_mean_of_the_training_rows():
    """The mean of the test rows is unknown to a probe; compared with it, the skill of this probe would be negative."""
    assert dci_informativeness(FACTORS, FACTORS, probe=MeanPlus()).raw == pytest.approx(0.0, abs=1e-12)


def test_categories_are_measured_against_the_commonest_of_the_training_rows():
    labels = np.random.default_rng(1).integers(0, 3, size=(60, 2))
    assert dci_informativeness(labels, FACTORS, kinds="categorical", probe=MeanPlus()).raw == 0.0


def test_a_factor_predicted_worse_than_by_its_mean_has_no_weight():
    """A negative weight would give shares below 0 and concentrations above 1."""
    score = dci_disentanglement(FACTORS, FACTORS, probe=MeanPlus(100.0), normalise="skill")
    assert dci_informativeness(FACTORS, FACTORS, probe=MeanPlus(100.0)).raw < -1
    assert score.parts["importance_matrix"].tolist() == np.zeros((3, 3)).tolist()
    assert np.isnan(score.raw)


def test_skill_is_undefined_if_all_test_rows_have_the_commonest_label():
    """Of 60 rows one has another label; it is a training row for some seeds, and then nothing can be better."""
    labels = (np.arange(60) == 0).astype(int)[:, None]
    for seed in range(3):
        evidence = Evidence(labels, FACTORS, kinds="categorical")
        is_in_training = 0 in evidence.split(0.2, seed)[0]
        found = importance(evidence, MeanPlus(), 0.2, seed)
        assert np.isnan(found.skill[0]) == is_in_training
        assert found.accuracy[0] == (1.0 if is_in_training else 11 / 12)


@pytest.mark.parametrize(("max_rows", "sampled"), [(60, []), (59, [(59, 60)])])
@pytest.mark.parametrize("metric", [dci_explicitness, explicitness, t_mex])
def test_rows_are_sampled_if_there_are_more_than_asked_for(metric, max_rows, sampled):
    caveats = metric(FACTORS[:, :1], FACTORS[:, :1], max_rows=max_rows).caveats
    said = [each.quantities for each in caveats if each.kind == "rows_sampled"]
    assert [(quantities["n_rows"], quantities["of"]) for quantities in said] == sampled


@pytest.mark.parametrize("metric", [dci_disentanglement, dci_completeness, dci_informativeness])
def test_trees_are_fitted_to_a_sample_of_many_rows(metric, monkeypatch):
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(3_000, 2))
    codes = factors @ [[1.0, 0.3], [0.2, 1.0]] + 0.1 * rng.normal(size=factors.shape)
    evidence, every = Evidence(factors, codes), metric(factors, codes)
    monkeypatch.setattr("unweave.estimators.probes.MOST_TREE_ROWS", 3_000)
    assert metric(factors, codes) == every
    monkeypatch.setattr("unweave.estimators.probes.MOST_TREE_ROWS", 1_500)
    some = metric(evidence)
    assert [each.quantities for each in some.caveats if each.kind == "rows_sampled"] == [{"n_rows": 1_500, "of": 3_000}]
    assert some.raw != every.raw == pytest.approx(some.raw, abs=0.05)
    train = evidence.split(0.2, 0)[0]
    chosen = np.zeros(3_000, dtype=bool)
    chosen[random_stream(0, "rows of trees").choice(3_000, 1_500, replace=False, shuffle=False)] = True
    fitted = BoostedTrees().regress(codes[train[chosen[train]]], factors[train[chosen[train]], :1], 0)
    shares = importance(evidence, BoostedTrees(), 0.2, 0).matrix[:, 0]
    np.testing.assert_allclose(shares / shares.sum(), fitted.importance / fitted.importance.sum(), atol=1e-12)
    assert np.isfinite(metric(evidence, test_share=0.0).raw)
    assert metric(evidence.permuted(0)).raw == metric(Evidence(evidence.permuted(0).factors, codes)).raw


def test_dead_codes_are_named_only_beside_two_codes_that_vary():
    dead = np.ones((60, 1))
    for n_live, n_said in ((1, 0), (2, 1)):
        score = dci_completeness(FACTORS, np.hstack([FACTORS[:, :n_live], dead]), probe=MeanPlus())
        assert sum(caveat.kind == "dead_codes_not_counted" for caveat in score.caveats) == n_said
    plain = dci_completeness(FACTORS, FACTORS, probe=MeanPlus())
    assert not any(caveat.kind == "dead_codes_not_counted" for caveat in plain.caveats)
