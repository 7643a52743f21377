import json
from pathlib import Path

import numpy as np
import pytest

from unweave.estimators import LinearSvm, Neighbourhood
from unweave.findings import Finding
from unweave.metrics import sap

GOLDEN = Path(__file__).parents[2] / "reference" / "golden"
VALUES = json.loads((GOLDEN / "prediction.json").read_text())


def of(metric, peer):
    return {entry["case"]: entry["value"] for entry in VALUES if (entry["metric"], entry["peer"]) == (metric, peer)}


def arrays(case):
    with np.load(GOLDEN / f"{case}.npz") as stored:
        return stored["factors"].astype(float), stored["codes"]


def test_linear_gaussian_mixing_in_closed_form():
    """corr(z_j, c_i)^2 = A_ij^2 / sum_j A_ij^2 for independent factors of variance 1."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(6, 4))
    z = rng.normal(size=(200_000, 4))
    squared = np.sort(mixing**2 / np.square(mixing).sum(axis=1, keepdims=True), axis=0)
    score = sap(z, z @ mixing.T)
    assert score.raw == pytest.approx((squared[-1] - squared[-2]).mean(), abs=0.005)


@pytest.mark.parametrize(("case", "value"), of("SAP-regression", "ubisoft").items())
def test_numbers_of_ubisoft(case, value):
    assert sap(*arrays(case), kinds="continuous").raw == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(("case", "value"), of("SAP-continuous", "disentanglement_lib").items())
def test_numbers_of_disentanglement_lib_on_its_training_rows(case, value):
    factors, codes = arrays(case)
    part = slice(0, round(0.8 * len(factors)))
    assert sap(factors[part], codes[part], kinds="continuous").raw == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("case", ["c10a", "c10c", "c09s"])
def test_published_support_vector_machine(case):
    """disentanglement_lib uses one ordered split, so the two agree within the error of 400 to 1,000 test rows."""
    value = of("SAP-discrete", "disentanglement_lib")[case]
    score = sap(*arrays(case), kinds="ordinal", classify="discrete", classifier=LinearSvm(), rescale=False)
    assert score.raw == pytest.approx(value, abs=0.03)


def test_clean_categories_are_told_apart_where_thresholds_cannot():
    """In c10c the second best code agrees with a factor in 3 of 5 rows, so it scores (0.6 - 0.2) / 0.8."""
    factors, codes = arrays("c10c")
    ours = sap(factors, codes, kinds="categorical").raw
    assert ours == pytest.approx(0.5, abs=0.02)
    assert of("SAP-discrete", "disentanglement_lib")["c10c"] < 0.1


def test_perfect_code_of_categories():
    rng = np.random.default_rng(1)
    factors = rng.integers(0, 5, size=(2000, 3))
    codes = factors + 0.01 * rng.normal(size=factors.shape)
    assert sap(factors, codes, kinds="categorical").raw > 0.95
    assert sap(factors, codes, kinds="categorical", rescale=False).raw == pytest.approx(0.8, abs=0.04)
    assert sap(factors, codes, kinds="categorical", classifier=LinearSvm()).raw < 0.6


def test_neighbourhood_gives_rare_classes_their_due():
    rng = np.random.default_rng(2)
    labels = (np.arange(3000) % 30 == 0).astype(np.intp)
    codes = labels[:, None] + 0.01 * rng.normal(size=(3000, 1))
    right = Neighbourhood().predictions(codes[:2000], labels[:2000], codes[2000:], 0)[:, 0] == labels[2000:]
    assert right[labels[2000:] == 1].all()


def test_noise_categories_get_nothing():
    rng = np.random.default_rng(3)
    assert abs(sap(rng.integers(0, 4, (1000, 3)), rng.normal(size=(1000, 6)), kinds="categorical").raw) < 0.04


def test_one_code_and_unknown_options():
    z = np.random.default_rng(5).normal(size=(300, 2))
    alone = sap(z, z[:, :1])
    assert alone.per_factor["factor 0"] == pytest.approx(1.0)
    assert alone.caveats[0] == Finding("one_code")
    with pytest.raises(ValueError, match="classify"):
        sap(z, z, classify="all")


def test_guessing_the_commonest_class_predicts_nothing():
    """90 % of the rows have this class, so plain accuracy would be .9."""
    rng = np.random.default_rng(0)
    shape = np.where(np.arange(1000) % 10 == 0, "rare", "common")
    codes = np.column_stack([rng.normal(size=1000), shape == "rare"]).astype(float)
    matrix = sap({"shape": shape}, codes).parts["predictability_matrix"]
    assert matrix[0, 0] == pytest.approx(0.0, abs=0.1)
    assert matrix[1, 0] == pytest.approx(1.0)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("per_class", [8, 15, 30, 100])
def test_classes_that_a_code_separates_are_predicted_with_few_rows_too(n_classes, per_class):
    """Fifteen neighbours are more than a class of eight rows has: separable labels once scored 0."""
    labels = np.repeat(np.arange(n_classes), per_class)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        order = rng.permutation(labels.size)
        code = (10 * labels + rng.uniform(-1, 1, labels.size))[order]
        matrix = sap(labels[order], np.column_stack([code, -code]), kinds="categorical").parts["predictability_matrix"]
        assert matrix == pytest.approx(1.0)


@pytest.mark.parametrize("k", [1, 4, 15])
def test_neighbours_are_the_nearest_rows(k):
    """An independent search over all pairs; rows without ties, classes of equal size."""
    rng = np.random.default_rng(k)
    labels = rng.permutation(np.repeat([0, 1, 2], 50))
    train, test = rng.normal(size=(150, 2)) + labels[:, None], rng.normal(size=(40, 2)) + 1
    found = Neighbourhood(k).predictions(train, labels, test, 0)
    for i in range(2):
        nearest = np.argsort(np.abs(test[:, i, None] - train[:, i]), axis=1)[:, :k]
        votes = np.stack([(labels[nearest] == label).sum(axis=1) for label in range(3)], axis=1)
        clear = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) == 1  # no tie between labels
        assert found[clear, i].tolist() == votes[clear].argmax(axis=1).tolist()
