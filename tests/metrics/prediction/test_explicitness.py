import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from unweave import Evidence
from unweave.estimators import Logistic
from unweave.estimators.logistic import area_under_curve
from unweave.findings import Finding
from unweave.metrics import explicitness
from unweave.metrics.prediction import class_areas

GOLDEN = Path(__file__).parents[2] / "reference" / "golden"
VALUES = json.loads((GOLDEN / "prediction.json").read_text())
RNG = np.random.default_rng(0)
PEERS_PROBE = Logistic(strength=1.0, whiten=False)


def of(metric, peer):
    return {entry["case"]: entry["value"] for entry in VALUES if (entry["metric"], entry["peer"]) == (metric, peer)}


def arrays(case):
    with np.load(GOLDEN / f"{case}.npz") as stored:
        return stored["factors"].astype(float), stored["codes"]


@pytest.mark.parametrize("shift", [0.5, 1.0, 2.0])
def test_two_gaussian_classes_in_closed_form(shift):
    """Classes N(0, 1) and N(shift, 1): AUC = Phi(shift / sqrt 2), with a standard error of 0.02 (ten draws: 0.007)."""
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, 2, size=(20_000, 1))
        found.append(explicitness(labels, shift * labels + rng.normal(size=labels.shape), rng=seed).raw)
    assert np.mean(found) == pytest.approx(2 * norm.cdf(shift / np.sqrt(2)) - 1, abs=0.02)


def test_area_against_scikit_learn():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(1)
    scores, positive = np.round(rng.normal(size=300), 1), rng.random(300) < 0.3
    assert area_under_curve(scores, positive) == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)


@pytest.mark.parametrize(("case", "value"), of("Explicitness", "disentanglement_lib").items())
def test_area_of_disentanglement_lib(case, value):
    """disentanglement_lib uses the same probe on another split, and reports the area itself."""
    found = explicitness(*arrays(case), kinds="ordinal", probe=PEERS_PROBE).raw
    assert found == pytest.approx(2 * value - 1, abs=0.02)


def test_noise_gets_nothing_where_an_in_sample_score_gets_most():
    factors, codes = arrays("c08")
    assert abs(explicitness(factors, codes).raw) < 0.1
    assert explicitness(factors, codes, test_share=0.0, probe=PEERS_PROBE).raw > 0.5
    assert of("Explicitness", "ubisoft")["c08"] > 0.6


def test_linear_mixing_changes_nothing():
    plain, mixed = (explicitness(*arrays(case)).raw for case in ("c01", "c02"))
    assert plain > 0.99
    assert mixed == pytest.approx(plain, abs=0.01)


def test_class_between_two_others():
    rng = np.random.default_rng(2)
    factors = rng.integers(0, 3, size=(600, 1))
    assert explicitness(factors, factors + 0.05 * rng.normal(size=factors.shape)).raw > 0.99


def test_rare_values_dead_codes_and_subsampling_are_said():
    rng = np.random.default_rng(3)
    labels = np.array(["common", "other"])[rng.integers(0, 2, 400)]
    labels[0] = "once"
    assert any("too rare" in str(caveat) for caveat in explicitness({"f": labels}, rng.normal(size=(400, 2))).caveats)
    assert explicitness({"f": labels}, np.ones((400, 2))).raw == 0
    part = explicitness(rng.normal(size=(400, 2)), rng.normal(size=(400, 2)), max_rows=200)
    assert Finding("rows_sampled", n_rows=200, of=400) in part.caveats


def test_more_codes_than_rows_need_products_of_rows_alone():
    """Whitening by rows and by codes span the same directions; for 20,000 codes the latter takes 3.2 GB and hours."""
    codes = RNG.normal(size=(60, 90)) @ np.diag(np.geomspace(1, 1e-3, 90))
    labels = (codes[:, 0] > 0).astype(np.intp)
    scaled = (codes - codes.mean(axis=0)) / codes.std(axis=0)
    variances, axes = np.linalg.eigh(scaled.T @ scaled / 60)
    kept = variances > 1e-9 * variances[-1]
    whitened = scaled @ axes[:, kept] / np.sqrt(variances[kept])
    wide, narrow = Logistic().fit(codes, labels), Logistic(whiten=False).fit(whitened, labels)
    np.testing.assert_allclose(wide.log_probabilities(codes), narrow.log_probabilities(whitened), atol=1e-6)


def test_ten_times_as_many_codes_as_rows():
    codes = RNG.normal(size=(300, 3000))
    tracemalloc.start()
    score = explicitness(codes[:, :2], codes, bins=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0 < score.raw < 1
    assert peak < 3000**2 * 8  # the size of one codes x codes matrix


class Counting:
    """A logistic regression that notes how many rows it is fitted to and applied to."""

    def __init__(self):
        self.seen = []

    def fit(self, codes, labels):
        self.seen.append(len(codes))
        self.fitted, self.labels = Logistic().fit(codes, labels), np.unique(labels)
        return self

    def log_probabilities(self, codes):
        self.seen.append(len(codes))
        return self.fitted.log_probabilities(codes)


@pytest.mark.parametrize(
    ("test_share", "max_rows", "seen"),
    [(0.25, 40, [30, 10]), (0.25, 100, [75, 25]), (0.5, 20, [10, 10]), (0.0, 60, [30, 30]), (0.0, 100, [100, 100])],
)
def test_sampled_rows_are_shared_out_as_all_rows_are(test_share, max_rows, seen):
    rng = np.random.default_rng(0)
    evidence, probe = Evidence({"side": np.arange(100) % 2}, rng.normal(size=(100, 3))), Counting()
    class_areas(evidence, probe, 10, test_share, max_rows, 0)
    assert probe.seen == seen
