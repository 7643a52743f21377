"""A factor with labels in half of the rows does not reduce the rows of others in metrics that work factor by factor."""

from types import SimpleNamespace

import numpy as np
import pytest

from unweave import Evidence, InputError, MetricUndefined, Posterior, evaluate
from unweave.evidence.inputs import rows_of_part
from unweave.metrics import CATALOGUE, mcc, mig, r2, rmig

RNG = np.random.default_rng(0)
N = 300
KINDS = ["categorical", "continuous", "ordinal"]
FACTORS = np.column_stack([RNG.integers(0, 4, N), RNG.normal(size=N), RNG.integers(0, 3, N)]).astype(float)
CODES = FACTORS @ RNG.normal(size=(3, 4)) + 0.3 * RNG.normal(size=(N, 4))
HALF = FACTORS.copy()
HALF[::2, 2] = np.nan
LABELLED = np.arange(1, N, 2)
BY_FACTOR = [name for name, entry in CATALOGUE.items() if entry.card.factor_by_factor]
COSTLY = {"redundancy_lower_bound", "redundancy_upper_bound", "synergy_lower_bound", "synergy_upper_bound"}


def evidence(factors, columns=(0, 1, 2), rows=slice(None)):
    codes = CODES[rows]
    return Evidence(
        factors[rows][:, list(columns)],
        Posterior(codes, np.full_like(codes, 0.3)),
        kinds=[KINDS[j] for j in columns],
        factor_names=[f"f{j}" for j in columns],
        missing="drop",
    )


def test_most_scores_of_factors_work_factor_by_factor():
    assert {"r2", "mig", "sap", "explicitness", "dci_informativeness", "sufficiency", "rmig"} <= set(BY_FACTOR)
    assert not {"mcc", "dci_disentanglement", "minimality", "dcimig"} & set(BY_FACTOR)


@pytest.mark.parametrize("name", [name for name in BY_FACTOR if name not in COSTLY])
def test_every_factor_has_the_score_of_its_own_rows(name, monkeypatch):
    """Scores per factor equal those of each factor alone, with complete and with partial labels, on the same folds.

    The tolerance allows for grids in single precision.
    """
    monkeypatch.setattr(Evidence, "class_columns", ())  # folds depend on all factors that have classes
    score = CATALOGUE[name]
    alone = [score(evidence(FACTORS, [j])).raw for j in range(3)]
    whole = score(evidence(FACTORS))
    assert list(whole.per_factor.values()) == pytest.approx(alone, abs=1e-7)
    assert whole.raw == pytest.approx(np.mean(alone), abs=1e-7)
    alone[2] = score(evidence(FACTORS, [2], LABELLED)).raw
    half = score(evidence(HALF))
    assert list(half.per_factor.values()) == pytest.approx(alone, abs=1e-7)
    assert half.raw == pytest.approx(np.mean(alone), abs=1e-7)
    assert "f2 on fewer than the others, down to 150 of 300" in " ".join(map(str, half.caveats))
    assert not any(caveat.kind == "rows_dropped" for caveat in half.caveats)


def test_matrices_have_a_column_for_every_factor():
    matrix = mig(evidence(HALF)).parts["mutual_information_matrix"]
    assert matrix.shape == (4, 3)
    np.testing.assert_allclose(matrix[:, :2], mig(evidence(FACTORS)).parts["mutual_information_matrix"][:, :2])


def test_other_metrics_use_the_rows_in_which_all_are_labelled():
    half = mcc(evidence(HALF))
    assert half.raw == mcc(evidence(FACTORS, rows=LABELLED)).raw
    assert "150 rows with missing values were dropped" in " ".join(map(str, half.caveats))


def test_missing_codes_cost_all_factors_their_rows():
    codes = CODES.copy()
    codes[:50, 0] = np.nan
    expected = r2(FACTORS[50:, 1:2], CODES[50:]).raw
    assert r2(FACTORS[:, 1:2], codes, missing="drop").raw == expected
    both = r2(HALF[:, 1:], codes, missing="drop", kinds=KINDS[1:])
    assert both.per_factor["factor 0"] == pytest.approx(expected)


def test_permutations_and_parts_keep_their_shares():
    half = evidence(HALF)
    assert [part.n_rows for part in half.labelled_parts] == [300, 150]
    permuted = half.permuted(0)
    assert [part.n_rows for part in permuted.labelled_parts] == [300, 150]
    assert r2(permuted).raw < 0.1
    fewer = half.rows(np.arange(75))
    assert [part.n_rows for part in fewer.labelled_parts] == [150, 75]
    assert set(fewer.kept_rows) <= set(fewer.labelled_parts[0].kept_rows)
    assert half.fingerprint != evidence(FACTORS, rows=LABELLED).fingerprint
    assert evidence(FACTORS).labelled_parts == ()


def test_whole_evaluations():
    found = evaluate(HALF, CODES, kinds=KINDS, missing="drop", metrics=["mig", "mcc"], quick=True)
    assert found["mig"].raw == mig(HALF, CODES, kinds=KINDS, missing="drop").raw
    assert found["mcc"].raw == mcc(FACTORS[LABELLED], CODES[LABELLED], kinds=KINDS).raw


def test_too_few_labels_are_nan_for_that_factor_and_refused_for_all():
    few = HALF.copy()
    few[20:, 2] = np.nan  # leaves 10 labels
    score = mig(few, CODES, kinds=KINDS, missing="drop")
    assert list(np.isnan(list(score.per_factor.values()))) == [False, False, True]
    assert score.raw == pytest.approx(np.mean(list(score.per_factor.values())[:2]))
    with pytest.raises(MetricUndefined, match="at least"):
        rmig(few[:15], Posterior(CODES[:15], np.ones((15, 4))), kinds=KINDS, missing="drop")
    with pytest.raises(InputError, match="Every row has a missing value"):
        r2(np.where(np.arange(N)[:, None] % 2 == [0, 1, 0], np.nan, FACTORS), CODES, missing="drop")


@pytest.mark.parametrize(
    ("before", "after", "n_own"),
    [
        ([0, 1, 2, 3], [1, 3], 3),  # half of the six others
        ([0, 1, 2, 3], [0, 1, 2, 3], 6),
        ([5], [5], 9),
        ([0, 1, 2], [2], 2),  # a third of seven
        ([0, 1, 2, 3], [], 0),
    ],
)
def test_a_part_keeps_the_same_share_of_the_rows_that_it_alone_has(before, after, n_own):
    part = SimpleNamespace(kept_rows=np.arange(10))
    kept = rows_of_part(part, np.array(before), np.array(after, dtype=int)).tolist()
    assert kept == sorted(set(kept))
    assert [row for row in kept if row in before] == after
    assert len(kept) == len(after) + n_own
