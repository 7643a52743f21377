"""DCI with stub probes whose predictions are prescribed: skill and weights in closed form."""

from dataclasses import dataclass

import numpy as np
import pytest

from unweave import Evidence
from unweave.metrics import (
    dci_completeness,
    dci_disentanglement,
    dci_explicitness,
    dci_informativeness,
    explicitness,
    t_mex,
)
from unweave.metrics.matrices import importance


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


def test_dead_codes_are_named_only_beside_two_codes_that_vary():
    dead = np.ones((60, 1))
    for n_live, n_said in ((1, 0), (2, 1)):
        score = dci_completeness(FACTORS, np.hstack([FACTORS[:, :n_live], dead]), probe=MeanPlus())
        assert sum(caveat.kind == "dead_codes_not_counted" for caveat in score.caveats) == n_said
    plain = dci_completeness(FACTORS, FACTORS, probe=MeanPlus())
    assert not any(caveat.kind == "dead_codes_not_counted" for caveat in plain.caveats)
