"""DCI with stub probes whose predictions are prescribed: skill and weights in closed form."""

from dataclasses import dataclass

import numpy as np
import pytest

from unweave.metrics import dci_disentanglement, dci_informativeness


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
