import json
from pathlib import Path

import numpy as np
import pytest

from unweave import Evidence
from unweave.metrics import irs
from unweave.metrics.irs import far

GOLDEN = Path(__file__).parents[2] / "reference" / "golden"
VALUES = [entry for entry in json.loads((GOLDEN / "prediction.json").read_text()) if entry["metric"] == "IRS"]
PEERS = {"binning": "equal_width", "overall": "largest", "values": "alike"}
DISCRETE = ("c10a", "c10c", "c09s")


def arrays(case):
    with np.load(GOLDEN / f"{case}.npz") as stored:
        return stored["factors"].astype(float), stored["codes"]


@pytest.mark.parametrize("entry", VALUES, ids=lambda entry: f"{entry['case']}-{entry['peer']}")
def test_numbers_of_peers(entry):
    """All cases but one: disentanglement_lib bins the 40 levels of c09s into 20 bins, while we keep the levels."""
    settings = entry["settings"]
    bins = settings.get("num_bins") or settings["nb_bins"]
    kinds = "ordinal" if entry["case"] in DISCRETE else "continuous"
    found = irs(*arrays(entry["case"]), kinds=kinds, bins=bins, quantile=settings["diff_quantile"], **PEERS).raw
    if (entry["case"], entry["peer"]) == ("c09s", "disentanglement_lib"):
        assert found - entry["value"] > 0.01
    else:
        assert found == pytest.approx(entry["value"], abs=1e-9)


@pytest.mark.parametrize("small", [0.0, 0.2, 0.5, 0.9])
def test_mixture_of_two_coins_in_closed_form(small):
    """c = z1 + b z2 with z equal to -1 or 1: if z1 is fixed, the largest distance is b instead of 1 + b."""
    z = np.random.default_rng(0).integers(0, 2, size=(4000, 2)) * 2.0 - 1
    codes = z @ np.array([[1.0, small], [small, 1.0]])
    assert irs(z, codes, quantile=1.0).raw == pytest.approx(1 / (1 + small), abs=0.03)


def test_interventions_leave_a_perfect_code_at_rest():
    def sampler(fixed, n_rows, rng):
        factors = rng.normal(size=(n_rows, 3))
        for name, value in fixed.items():
            factors[:, int(name.removeprefix("factor "))] = value
        return factors, np.exp(factors)

    z = np.random.default_rng(1).normal(size=(1000, 3))
    assert irs(Evidence(z, np.exp(z), sampler=sampler)).raw == pytest.approx(1.0, abs=1e-9)


def test_uniform_identity_moves_by_one_bin():
    """A uniform code is at most 1/2b from its mean within one of b bins, and 1/2 overall."""
    z = np.random.default_rng(2).uniform(size=(20_000, 3))
    assert irs(z, z, bins=10).raw == pytest.approx(0.9, abs=0.005)


@pytest.mark.parametrize(("bend", "score"), [(np.positive, 0.924), (np.exp, 0.934), (lambda z: z**3, 0.888)])
def test_tails_cost_marks_as_the_card_says(bend, score):
    z = np.random.default_rng(0).normal(size=(2000, 5))
    assert float(irs(z, bend(z))) == pytest.approx(score, abs=0.01)


def test_noise_with_heavy_tails_scores_less_than_by_the_published_formula():
    rng = np.random.default_rng(3)
    factors, codes = rng.normal(size=(2000, 4)), rng.standard_t(2, size=(2000, 4))
    assert irs(factors, codes, overall="largest").raw > 0.7
    assert irs(factors, codes).raw < 0.35
    assert irs(factors, codes, scale="ranks").raw < 0.05


def test_small_null_case():
    factors, codes = arrays("c08")
    score = irs(factors, codes)
    published = next(e["value"] for e in VALUES if e["case"] == "c08" and e["settings"]["diff_quantile"] == 0.99)
    assert score.raw < 0.15 < 0.3 < published
    assert any(caveat.quantities.get("effect") == "noise scores" for caveat in score.caveats)


def test_ranks_do_not_mind_a_monotone_map():
    z = np.random.default_rng(4).normal(size=(1000, 2))
    mixed = z @ [[1.0, 0.3], [0.2, 1.0]]
    assert irs(z, np.exp(mixed), scale="ranks").raw == pytest.approx(irs(z, mixed, scale="ranks").raw, abs=1e-12)


def test_dead_codes_and_unknown_options():
    z = np.random.default_rng(5).normal(size=(300, 2))
    assert np.isnan(irs(z, np.ones((300, 2))).raw)
    assert np.isnan(irs(z, np.column_stack([z, np.ones(300)])).per_code["code 2"])
    for option in ({"overall": "mean"}, {"values": "some"}, {"scale": "logs"}):
        with pytest.raises(ValueError, match=next(iter(option))):
            irs(z, z, **option)


@pytest.mark.parametrize("n_rows", [1, 2, 5, 40])
@pytest.mark.parametrize("quantile", [0.0, 0.5, 0.9, 0.99, 1.0])
def test_the_quantile_of_distances_is_that_of_numpy(n_rows, quantile):
    group = np.random.default_rng(0).normal(size=(n_rows, 3))
    known = np.quantile(np.abs(group - group.mean(axis=0)), quantile, axis=0)
    np.testing.assert_allclose(far(group, quantile), known, atol=1e-12)


@pytest.mark.parametrize(("n_rows", "few"), [(400, None), (380, 19.0)])
def test_twenty_rows_for_a_value_are_enough(n_rows, few):
    z = np.random.default_rng(0).normal(size=(n_rows, 2))
    assert [caveat.quantities["n_rows"] for caveat in irs(z, z, bins=20).caveats] == ([] if few is None else [few])
