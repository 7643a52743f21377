import json
from pathlib import Path

import numpy as np
import pytest

from unweave.metrics import dci_explicitness, dci_size
from unweave.metrics.dci import area_above_curve

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
