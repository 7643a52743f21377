"""Verdicts: the counterpart of known encoders, and reasons for scores that change on it."""

import dataclasses
import functools
import math

import numpy as np
import pytest

from unweave import Evidence, Posterior
from unweave.estimators import BoostedTrees
from unweave.metrics import dci_disentanglement, identification, jemmig, mcc, mig, r2, rmig, sufficiency, wsepin
from unweave.synthetic.encoders import (
    Copied,
    Distributed,
    Dropped,
    Kept,
    Mixed,
    Noise,
    PartlyMixed,
    PermutedAndScaled,
    WithMixedExtras,
    WithNoiseCodes,
)
from unweave.synthetic.theory import NullMcc, mcc_of_linear_map
from unweave.synthetic.worlds import Circuit, Correlated, Independent, OneFactorConstraint, TwoFactorConstraint
from unweave.trust import NoiseFloor, diagnose, verdicts
from unweave.trust.code_models import code_models
from unweave.trust.counterpart import Counterpart, with_factors
from unweave.trust.effects import Effects, steps_of
from unweave.trust.verdict import advice, fails


def evidence_of(world, encoder, n_rows=1000, seed=0):
    factors = world.sample(n_rows, seed)
    return Evidence(factors, encoder.encode(factors, seed + 1))


def judged(evidence, metrics, **options):
    scores = {name: metric(evidence) for name, metric in metrics.items()}
    return verdicts(metrics, scores, evidence, diagnose(evidence), **options)


def noisy(n_rows, n_classes, noise, seed):
    """Evidence with four numeric or categorical factors, and a noisy code for each."""
    rng = np.random.default_rng([seed, 9])
    factors = rng.integers(0, n_classes, (n_rows, 4)) if n_classes else rng.normal(size=(n_rows, 4))
    return Evidence(factors, factors + noise * rng.normal(size=factors.shape))


class TestResponses:
    @pytest.mark.parametrize("rho", [0.0, 0.9])
    def test_codes_of_one_factor_have_it_as_owner(self, rho):
        world = Correlated(4, rho=rho, marginal="truncated")
        for encoder in (PermutedAndScaled(), Copied(2.0), Distributed(4)):
            found = code_models(evidence_of(world, encoder))
            assert found.owner.tolist() == encoder.purity(4, rng=1).argmax(axis=1).tolist()
            assert not found.silent.any()

    @pytest.mark.parametrize("rho", [0.0, 0.9])
    def test_mixed_codes_have_none_and_noise_is_silent(self, rho):
        found = code_models(evidence_of(Correlated(4, rho=rho), WithNoiseCodes(Mixed(), added=3)))
        assert (found.owner == -1).all()
        assert found.silent.tolist() == [False] * 4 + [True] * 3

    @pytest.mark.parametrize("n_rows", [100, 1000])
    def test_of_factors_that_are_nearly_one_a_mixed_code_belongs_to_none(self, n_rows):
        """At a correlation of .97, any factor explains .98 of the variance of a code with a sixth of other factors."""
        found = code_models(evidence_of(Correlated(5, rho=0.97), PartlyMixed(0.25), n_rows=n_rows))
        assert (found.owner == -1).all()

    @pytest.mark.parametrize(("rho", "n_rows"), [(0.6, 100), (0.97, 1000)])
    def test_noise_does_not_take_a_code_from_its_factor(self, rho, n_rows):
        factors = Correlated(5, rho=rho).sample(n_rows, 0)
        noise = np.random.default_rng(1).normal(size=factors.shape)
        assert code_models(Evidence(factors, factors + 0.05 * noise)).owner.tolist() == [0, 1, 2, 3, 4]

    def test_a_model_that_fails_on_a_few_rows_owns_nothing(self):
        """The standard error of its mean error is so large that it is not significantly worse than other models."""
        factors = np.random.default_rng(0).normal(size=(100, 5))
        factors[0, 0] = 40.0
        codes = factors[:, 1:] @ np.random.default_rng(1).normal(size=(4, 8))
        assert (code_models(Evidence(factors, codes)).owner == -1).all()

    def test_factors_that_determine_each_other_get_a_code_each(self):
        found = code_models(evidence_of(OneFactorConstraint(4), PermutedAndScaled()))
        assert sorted(found.owner.tolist()) == [0, 1, 2, 3]


class TestCounterpart:
    def test_correlation_goes_and_the_map_stays(self):
        evidence = evidence_of(Correlated(4, rho=0.9), Mixed())
        matrix = Mixed().matrix(4, rng=1)
        drawn = Counterpart.of(evidence).sample(0)
        assert np.abs(np.corrcoef(drawn.factors, rowvar=False) - np.eye(4)).max() < 0.12
        assert float(mcc(drawn)) == pytest.approx(mcc_of_linear_map(matrix, np.eye(4)), abs=0.05)
        assert float(mcc(evidence)) > float(mcc(drawn)) + 0.1
        assert drawn.codes == pytest.approx(drawn.factors @ matrix.T, abs=1e-6)

    @pytest.mark.parametrize("encoder", [Copied(3.0), WithMixedExtras(3.0), Distributed(3)], ids=repr)
    def test_one_code_for_each_factor_is_left(self, encoder):
        evidence = evidence_of(Independent(4, marginal="truncated"), encoder)
        drawn = Counterpart.of(evidence).sample(0)
        assert drawn.n_codes == 4
        assert float(mcc(drawn, correlation="spearman")) > 0.95

    @pytest.mark.parametrize(
        ("world", "ratio"),
        [(OneFactorConstraint(5), 3.0), (TwoFactorConstraint(5), 1.0), (TwoFactorConstraint(5), 3.0)],
    )
    def test_sums_of_mixed_codes_still_tell_every_free_factor(self, world, ratio):
        """Cubes and products have most of the variance of the codes, but need not be kept."""
        evidence = evidence_of(world, Mixed(ratio=ratio), n_rows=300)
        (constraint,) = world.constraints
        free = [name for j, name in enumerate(evidence.factor_names) if j != constraint.determined]
        drawn = Counterpart.of(with_factors(evidence, free), n_removed=1).sample(0)
        assert drawn.n_codes == 4
        assert float(r2(drawn)) > 0.95

    def test_many_mixtures_of_two_factors_are_not_taken_for_pure_by_chance(self):
        """Of eight random directions in a plane, some are near both axes (.96), although all codes are mixed."""
        angles = np.pi * (np.arange(8) + 0.5) / 8
        factors = Independent(2).sample(1000, 0)
        evidence = Evidence(factors, factors @ [np.cos(angles), np.sin(angles)])
        counterpart = Counterpart.of(evidence)
        scores = [float(mcc(counterpart.sample(k))) for k in range(50)]
        # a random rotation by t has the larger of |cos t| and |sin t|, whose mean is 4 sin(pi / 4) / pi
        assert np.mean(scores) == pytest.approx(2 * np.sqrt(2) / np.pi, abs=3 * np.std(scores) / np.sqrt(50))
        assert np.std(scores) > 0.05

    def test_the_code_of_a_factor_that_was_taken_away_is_a_copy(self):
        evidence = evidence_of(OneFactorConstraint(5), Dropped((2, 3, 4)))
        free = with_factors(evidence, [name for j, name in enumerate(evidence.factor_names) if j != 1])
        assert Counterpart.of(free, n_removed=1).sample(0).n_codes == 1

    def test_silent_codes_stay_where_there_are_no_others(self):
        evidence = evidence_of(Independent(4), WithNoiseCodes(Dropped((2, 3)), added=30))
        drawn = Counterpart.of(evidence).sample(0)
        assert drawn.n_codes == 4
        # two of four factors, within the sampling error of 1,000 rows
        assert float(mcc(drawn)) == pytest.approx(0.5, abs=0.06)

    def test_rows_in_order_change_little(self):
        """The choice of 300 rows must not depend on the order of the rows."""
        factors = Independent(3).sample(2000, 0)
        factors = factors[factors[:, 0].argsort()]
        codes = np.column_stack([np.sin(factors[:, 0]), np.cos(factors[:, 0]), factors[:, 1:]])
        drawn = Counterpart.of(Evidence(factors, codes)).sample(0)
        assert drawn.n_codes == 3
        assert float(mcc(drawn)) > 0.9

    def test_codes_with_information_of_their_own_stay(self):
        """Ten codes of a trained encoder are not ten copies of its five factors."""
        rng = np.random.default_rng(0)
        factors = rng.normal(size=(1000, 3))
        codes = np.tanh(factors @ rng.normal(size=(3, 8))) + 0.4 * rng.normal(size=(1000, 8))
        counterpart = Counterpart.of(Evidence(factors, codes))
        assert counterpart.redundant_codes() == 0
        as_it_is = counterpart.sample(0, where="as it is")
        assert np.array_equal(as_it_is.codes, codes)
        assert float(mcc(counterpart.sample(0, where="here", same_codes=True))) == pytest.approx(
            float(mcc(as_it_is)), abs=0.05
        )

    def test_collapsed_codes_stay_as_they_are(self):
        rng = np.random.default_rng(0)
        factors = rng.normal(size=(1000, 2))
        codes = np.column_stack([factors, 0.01 * rng.normal(size=(1000, 3))])
        names = ["code 2", "code 3", "code 4"]
        assert Counterpart.of(Evidence(factors, codes), collapsed=names).redundant_codes() == 0
        assert Counterpart.of(Evidence(factors, codes)).redundant_codes() == 3

    def test_noise_stays_noise_on_more_rows(self):
        evidence = evidence_of(Independent(4), Noise(40), n_rows=100)
        drawn = Counterpart.of(evidence).sample(0)
        assert (drawn.n_rows, drawn.n_codes) == (1000, 4)
        assert float(mcc(drawn)) < NullMcc(1000, 4, 4).quantile(0.999)

    @pytest.mark.parametrize(
        ("n_classes", "noise", "n_draws"),
        [
            (3, 0.3, 1),
            (0, 1.0, 1),
            *(pytest.param(*case, 3, marks=pytest.mark.slow) for case in [(0, 0.05), (3, 0.05), (0, 0.3), (3, 1.0)]),
        ],
    )
    def test_noise_of_few_rows_is_not_repeated_on_more(self, n_classes, noise, n_draws):
        """The estimated score on 1,000 rows from 100 rows is that of 1,000 new rows; repeated rows would raise it."""
        few, many, again = (noisy(n_rows, n_classes, noise, seed) for seed, n_rows in enumerate((100, 1000, 1000)))
        counterpart = Counterpart.of(few)
        draws = [counterpart.sample(k) for k in range(n_draws)]
        # identification depends so strongly on noise that the score of the 100 rows may have an error of .12
        for metric, tolerance in {mcc: 0.1, mig: 0.1, sufficiency: 0.1, identification: 0.15}.items():
            truth = np.mean([float(metric(many)), float(metric(again))])
            drawn = np.mean([float(metric(each)) for each in draws])
            assert drawn == pytest.approx(truth, abs=tolerance)

    def test_a_circle_keeps_two_codes_and_classes_all_but_one_indicator(self):
        rng = np.random.default_rng(0)
        shape, angle, size = rng.integers(0, 3, 500), rng.uniform(0, 360, 500), rng.normal(size=500)
        turn = np.deg2rad(angle)
        codes = np.column_stack([shape == 0, shape == 1, np.cos(turn), np.sin(turn), size, rng.normal(size=(500, 3))])
        factors = {"shape": np.array(["a", "b", "c"])[shape], "angle": angle, "size": size}
        evidence = Evidence(factors, codes, kinds={"angle": "circular:360"})
        found = judged(evidence, {"r2": r2})["r2"]
        assert (found.level, round(found.elsewhere, 1)) == ("trust", 1.0)

    def test_sizes_at_hand_where_asked_for(self):
        evidence = evidence_of(Correlated(4), Copied(2.0), n_rows=120)
        drawn = Counterpart.of(evidence).sample(0, same_codes=True, same_rows=True)
        assert (drawn.n_rows, drawn.n_codes) == (120, 8)

    def test_kinds_and_names_stay(self):
        rng = np.random.default_rng(0)
        factors = {"shape": rng.choice(["a", "b", "c"], 300), "angle": rng.uniform(0, 360, 300)}
        codes = np.column_stack([factors["shape"] == "a", np.sin(np.deg2rad(factors["angle"]))]).astype(float)
        evidence = Evidence(factors, codes, kinds={"angle": "circular:360"})
        drawn = Counterpart.of(evidence).sample(0)
        assert drawn.factor_names == ("shape", "angle")
        assert drawn.declared_kinds == evidence.declared_kinds
        assert code_models(evidence).owner.tolist() == [0, 1]


class TestControl:
    def test_models_that_miss_the_codes_are_not_believed(self):
        """No model fits codes that depend jointly on three factors."""
        rng = np.random.default_rng(0)
        first = rng.normal(size=3000)
        factors = np.column_stack([first, 0.9 * first + 0.4 * rng.normal(size=3000), rng.normal(size=3000)])
        codes = np.sign(factors).prod(axis=1)[:, None] * np.abs(factors) ** 3
        evidence = Evidence(factors, codes)
        steps = steps_of(evidence, diagnose(evidence))
        found = steps.on(r2, dataclasses.replace(r2(evidence), raw=0.9))
        assert [change.effect for change in found.changes] == ["dependence"]
        off = Effects(found.changes, misfit=0.3)
        assert off.believed == ()
        assert Effects(found.changes, misfit=0.0).believed == found.changes

    def test_no_step_where_nothing_calls_for_it(self):
        evidence = evidence_of(Independent(4), Mixed())
        assert steps_of(evidence, diagnose(evidence)).steps == ()
        found = judged(evidence, {"mcc": mcc})["mcc"]
        assert (found.level, found.elsewhere) == ("trust", float(mcc(evidence)))
        assert "would be" not in found.reasons[0].sentence

    def test_a_sampler_replaces_the_models(self):
        def drawn(factors, rng):
            return factors @ Mixed().matrix(3, rng=1).T

        def sampler(fixed, n_rows, rng):
            factors = rng.normal(size=(n_rows, 3))
            for name, value in fixed.items():
                factors[:, int(name[-1])] = value
            return factors, drawn(factors, rng)

        factors = Correlated(3, rho=0.95).sample(1000, 0)
        evidence = Evidence(factors, drawn(factors, None), sampler=sampler)
        (step,) = steps_of(evidence, diagnose(evidence)).steps
        assert (step.effect, step.modelled) == ("dependence", False)
        truth = mcc_of_linear_map(Mixed().matrix(3, rng=1), np.eye(3))
        assert np.mean([float(mcc(each)) for each in step.after]) == pytest.approx(truth, abs=0.03)

    def test_environments_replace_the_models(self):
        """An intervention on the effect makes it independent of its cause: mcc of rows (1, .6) is 1 / sqrt(1.36)."""

        def evidence(spread=1.0, n_rows=1500, labelled=True):
            cause, noise = np.random.default_rng(0).normal(size=(2, 2 * n_rows))
            labels = np.repeat(["observational", "effect"], n_rows)
            effect = np.where(labels == "effect", spread * noise, 0.95 * cause + 0.05 * noise)
            factors = np.column_stack([cause, effect])
            codes = factors @ [[1.0, 0.6], [0.6, 1.0]]
            return Evidence(factors, codes, environments=labels if labelled else None)

        found = evidence()
        (step,) = steps_of(found, diagnose(found)).steps
        assert (step.effect, step.modelled) == ("dependence", False)
        (after,), (before,) = step.after, step.before
        np.testing.assert_array_equal(after.codes, found.codes[1500:])
        assert before.n_rows == after.n_rows  # the change is not that of the number of rows
        assert judged(found, {"mcc": mcc})["mcc"].elsewhere == pytest.approx(1.36**-0.5, abs=0.02)
        # no labels, a factor that is nearly fixed, and too few rows to see dependence: models, as without environments
        for other in (evidence(labelled=False), evidence(spread=0.1), evidence(n_rows=290)):
            steps = {step.effect: step.modelled for step in steps_of(other, diagnose(other)).steps}
            assert steps["dependence"]

    def test_categories_and_circles_have_an_association(self):
        rng = np.random.default_rng(0)
        angle = rng.uniform(0, 2 * np.pi, 1000)
        factors = {"angle": angle, "side": np.array(["a", "b", "c"])[(3 * angle / (2 * np.pi)).astype(int)]}
        codes = np.column_stack([np.cos(angle), np.sin(angle)])
        evidence = Evidence(factors, codes, kinds={"angle": "circular"})
        diagnosis = diagnose(evidence)
        sentences = [
            reason.sentence for each in judged(evidence, {"mig": mig, "r2": r2}).values() for reason in each.reasons
        ]
        assert not any("nan" in sentence for sentence in sentences)
        assert diagnosis.redundant_factors or diagnosis.free_pairs[0].association > 0.5


class TestVerdicts:
    def test_correlation_is_named_where_it_moves_the_score(self):
        found = judged(evidence_of(Correlated(5, rho=0.97), Mixed()), {"mcc": mcc, "r2": r2})
        assert found["mcc"].level != "trust"
        reason = found["mcc"].reasons[0]
        assert reason.quantity == "largest correlation of factors"
        assert reason.measured == pytest.approx(0.97, abs=0.01)
        assert reason.section == "003, section 3.1"
        assert reason.instead
        assert found["r2"].level == "trust"

    def test_correlation_is_no_reason_where_it_does_not(self):
        found = judged(evidence_of(Correlated(5, rho=0.97), PermutedAndScaled()), {"mcc": mcc})
        assert found["mcc"].level == "trust"
        assert found["mcc"].elsewhere == pytest.approx(1.0, abs=0.01)

    def test_copies_are_named(self):
        found = judged(evidence_of(Independent(5), Copied(3.0)), {"mig": mig, "mcc": mcc})
        assert (found["mig"].level, found["mcc"].level) == ("do not use", "trust")
        assert found["mig"].reasons[0].quantity == "codes per free factor"
        assert found["mig"].reasons[0].measured == 3

    def test_constraints_are_named(self):
        evidence = evidence_of(OneFactorConstraint(5), PermutedAndScaled(), n_rows=200)
        few_trees = functools.partial(dci_disentanglement, probe=BoostedTrees(n_trees=10))
        found = judged(evidence, {"mig": mig, "dci": few_trees})
        # two codes determine z1, and codes respond to z1 and to the factor that it determines
        assert found["mig"].level == "do not use"
        assert found["mig"].reasons[0].finding.kind == "depends_on_constraint"
        assert found["dci"].reasons[0].quantity == "effective dimension"
        assert found["dci"].reasons[0].measured == 4

    def test_a_lossless_drop_is_trusted_by_what_recovers_the_rest(self):
        """Temperature and current determine resistance and voltage."""
        evidence = evidence_of(Circuit(), Kept((0, 2)), n_rows=200)
        found = judged(evidence, {"r2": r2, "identification": identification})
        assert [verdict.level for verdict in found.values()] == ["trust", "trust"]

    def test_few_rows_are_named(self):
        found = judged(evidence_of(Independent(5), Noise(50), n_rows=60), {"mcc": mcc})
        assert found["mcc"].level == "do not use"
        assert "rows per code" in {reason.quantity for reason in found["mcc"].reasons}

    def test_noise_on_enough_rows_is_a_low_score_to_trust(self):
        assert judged(evidence_of(Independent(5), Noise(5)), {"mcc": mcc, "r2": r2})["mcc"].level == "trust"

    def test_too_few_rows_to_try(self):
        found = judged(evidence_of(Independent(3), PermutedAndScaled(), n_rows=40), {"mcc": mcc})
        assert found["mcc"].level == "caution"
        assert math.isnan(found["mcc"].elsewhere)

    def test_too_few_row_groups_to_try(self):
        evidence = evidence_of(Independent(3), PermutedAndScaled(), n_rows=200)
        grouped = Evidence(evidence.factors, evidence.codes, row_groups=np.arange(200) % 3)
        assert math.isnan(judged(grouped, {"mcc": mcc})["mcc"].elsewhere)

    def test_very_many_factors_have_a_ratio_too(self, monkeypatch):
        """With more than the largest number of factors, here four, there is no effective dimension."""
        monkeypatch.setattr("unweave.trust.diagnosis.MOST_FACTORS", 4)
        rng = np.random.default_rng(0)
        factors = rng.normal(size=(100, 5))
        evidence = Evidence(factors, np.column_stack([factors, rng.normal(size=(100, 40))]))
        assert math.isnan(diagnose(evidence).effective_dimension)
        reasons = judged(evidence, {"mig": mig})["mig"].reasons
        assert not any("nan" in reason.sentence for reason in reasons)
        assert all(reason.measured == 9 for reason in reasons if reason.quantity == "codes per free factor")

    def test_advice_names_no_metric_that_is_flagged_itself(self):
        found = judged(evidence_of(Independent(5), Noise(50), n_rows=60), {"mcc": mcc, "mig": mig, "r2": r2})
        flagged = {name for name, verdict in found.items() if verdict.level != "trust"}
        assert "mcc" in flagged
        for verdict in found.values():
            named = {word.strip(".") for reason in verdict.reasons for word in reason.instead.split()}
            assert not named & flagged

    def test_a_floor_next_to_the_best_is_the_end(self):
        evidence = evidence_of(Independent(3), PermutedAndScaled(), n_rows=100)
        high = NoiseFloor("mcc", "permutation", raw=1.0, draws=(0.995,), floor=0.995)
        found = judged(evidence, {"mcc": mcc}, floors={"mcc": high})
        assert found["mcc"].level == "do not use"
        assert found["mcc"].reasons[0].quantity == "noise floor"

    def test_metrics_of_posteriors_are_looked_up(self):
        factors = Correlated(3, rho=0.9).sample(300, 0)
        evidence = Evidence(factors, Posterior(factors, np.full(factors.shape, 0.1)))
        found = judged(evidence, {"rmig": rmig, "jemmig": jemmig, "wsepin": wsepin})
        assert {name: verdict.level for name, verdict in found.items()} == {
            "rmig": "caution",
            "jemmig": "caution",
            "wsepin": "no verdict",
        }
        assert "does not use factors" in found["wsepin"].reasons[0].sentence
        assert found["rmig"].reasons[0].section == "003, section 3.1"

    def test_the_same_seed_gives_the_same_verdict(self):
        evidence = evidence_of(Correlated(4, rho=0.8), Mixed(ratio=2), n_rows=200)
        assert judged(evidence, {"mcc": mcc}, seed=3) == judged(evidence, {"mcc": mcc}, seed=3)


def test_what_the_audit_found_is_in_the_package():
    assert fails("mcc", "P1")
    assert not fails("r2", "P4")
    assert fails("no such metric", "P1")
    assert "Read " in str(advice("P4"))


@pytest.mark.parametrize("n_rows", [200, 2000])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_codes_of_a_conditional_factor(n_rows, noise):
    """Whether there is an object is a function of its size. Codes that mix both are mixed wherever the two differ."""
    rng = np.random.default_rng(6)
    present = rng.integers(0, 2, size=n_rows).astype(float)
    size = present * rng.normal(2.0, 0.5, size=n_rows)
    both = np.column_stack([present / present.std(), size / size.std()])
    metrics = {"mcc": mcc, "r2": r2}
    for expected in (1.0, 0.8):  # the correlation with independent factors
        other = math.sqrt(1 - expected**2)
        codes = both @ [[expected, other], [other, expected]] + noise * rng.normal(size=(n_rows, 2))
        found = judged(Evidence({"present": present, "size": size}, codes), metrics)
        assert found["r2"].level == "trust"
        assert (found["mcc"].level == "trust") == (expected == 1)
        assert found["mcc"].elsewhere == pytest.approx(expected, abs=0.07)


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("d", [2, 5])
def test_a_score_that_subjects_lower_is_not_trusted(d, told):
    """Every factor tells which of 40 subjects a row is from, and thereby all codes: mig is near 0 for perfect codes."""
    subject = np.arange(200) % 40
    rng = np.random.default_rng(7)
    factors = rng.normal(size=(40, d))[subject]
    codes = factors + 0.1 * rng.normal(size=factors.shape)
    evidence = Evidence(factors, codes, row_groups=subject if told else None)
    found = judged(evidence, {"mig": mig, "r2": r2})
    assert float(mig(evidence)) < 0.1
    assert (found["mig"].level in ("caution", "do not use"), found["r2"].level) == (True, "trust")
    assert "depends_on_samples" in [reason.finding.kind for reason in found["mig"].reasons]
