"""Factors as tables p(y | x) (001, section 3.3)."""

import numpy as np
import pytest

from unweave import Evidence, EvidenceError, FactorKind, MetricUndefined, Posterior
from unweave.estimators import MixtureSampling
from unweave.metrics import jemmig, mig, rmig

RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 3, 300)
POSTERIOR = Posterior(np.column_stack([LABELS - 1.0, RNG.normal(size=300)]), np.full((300, 2), 0.2))
CERTAIN = np.eye(3)[LABELS]


def test_a_table_is_a_categorical_factor():
    evidence = Evidence({"shape": 0.8 * CERTAIN + 0.2 / 3, "size": LABELS * 1.0}, POSTERIOR)
    assert evidence.kinds == (FactorKind.CATEGORICAL, FactorKind.ORDINAL)
    np.testing.assert_array_equal(evidence.factors[:, 0], LABELS)
    assert evidence.rows(np.arange(5)).factor_tables["shape"].shape == (5, 3)
    order = evidence.permuted(0)
    np.testing.assert_array_equal(order.factor_tables["shape"].argmax(axis=1), order.factors[:, 0])


@pytest.mark.parametrize("metric", [rmig, jemmig])
def test_certain_tables_are_labels(metric):
    assert metric({"shape": CERTAIN}, POSTERIOR).raw == pytest.approx(
        metric({"shape": LABELS}, POSTERIOR).raw, abs=1e-9
    )


def test_doubt_costs_information_as_a_noisy_channel_does():
    """y is uniform with probability e, and otherwise the label: a noisy channel with a closed form for a clear code."""
    e = 0.4
    noisy = (1 - e) * CERTAIN + e / 3
    counts = np.bincount(LABELS) / LABELS.size
    joint = ((1 - e) * np.eye(3) + e / 3) * counts[:, None]
    of_y = joint.sum(axis=0)
    expected = (joint * np.log(joint / (counts[:, None] * of_y))).sum()
    clear = Posterior(LABELS[:, None] - 1.04, np.full((300, 1), 0.001))
    assert rmig({"shape": noisy}, clear, normalise=False).raw == pytest.approx(expected, abs=1e-6)


def test_metrics_of_labels_refuse_a_table():
    with pytest.raises(MetricUndefined, match=r"mig needs a label for every sample, and factor 'shape' is a table"):
        mig({"shape": CERTAIN}, POSTERIOR)
    with pytest.raises(MetricUndefined, match="MixtureSampling needs a label"):
        rmig({"shape": CERTAIN}, POSTERIOR, estimator=MixtureSampling(100))


def test_a_table_that_never_varies_is_a_constant_factor():
    evidence = Evidence({"shape": np.full((300, 3), 1 / 3), "size": LABELS * 1.0}, POSTERIOR)
    assert evidence.constant_factors == ("shape",)
    assert np.isnan(rmig(evidence).per_factor["shape"])


@pytest.mark.parametrize(
    ("table", "sentence"),
    [(CERTAIN * 0.9, "does not sum to one"), (CERTAIN - 0.1, "negative"), (CERTAIN[:, :1], "two at least")],
)
def test_bad_tables_are_refused_with_one_sentence(table, sentence):
    with pytest.raises(EvidenceError, match=sentence):
        Evidence({"shape": table}, POSTERIOR)


def test_rows_that_sum_to_nearly_one_are_made_to():
    """Small deviations by single precision and rounding are accepted and normalised."""
    table = np.array([[0.9, 0.1], [0.25, 0.75]] * 30)
    nearly = table * np.where(np.arange(60) % 3 == 0, 1.0009, 0.9991)[:, None]
    kept = Evidence({"shape": nearly}, np.arange(60.0)).factor_tables["shape"]
    np.testing.assert_allclose(kept, table, rtol=1e-12)
    np.testing.assert_allclose(kept.sum(axis=1), 1.0, rtol=1e-15)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ([[0.5, 0.5], [0.2, 0.2], [0.1, 0.8]], r"does not sum to one in 2 rows \(row 1 sums to 0.4\)"),
        ([[0.5, 0.5], [0.2, 0.8], [0.9, 0.8]], r"does not sum to one in 1 rows \(row 2 sums to 1.7\)"),
        ([[1.5, -0.5], [0.0, 1.0], [-0.1, 1.1]], "is negative or missing in 2 rows"),
        ([[np.nan, 0.5], [0.0, 1.0], [0.5, 0.5]], "is negative or missing in 1 rows"),
        (np.ones((2, 1)), r"has shape \(2, 1\)"),
    ],
)
def test_bad_rows_are_counted(table, sentence):
    with pytest.raises(EvidenceError, match=sentence):
        Evidence({"shape": table})


def test_a_single_row_of_probabilities_is_a_table_that_cannot_be_changed():
    evidence = Evidence({"shape": [[0.2, 0.8]]})
    assert evidence.factor_tables["shape"].tolist() == [[0.2, 0.8]]
    assert evidence.constant_factors == ("shape",)
    with pytest.raises(ValueError, match="read-only"):
        evidence.factor_tables["shape"][0] = 0.5
