"""Sparse codes have the same scores as dense ones, for every metric that supports them; others raise an error."""

import numpy as np
import pytest
from scipy import sparse

from unweave import Evidence, InputError, evaluate
from unweave.card import MetricUndefined
from unweave.estimators import Linear
from unweave.metrics import CATALOGUE, irs, mcc, r2

RNG = np.random.default_rng(0)
CONCEPTS = (RNG.random((400, 3)) < 0.3).astype(float)
DENSE = np.where(RNG.random((400, 9)) < 0.2, RNG.normal(size=(400, 9)).round(1), 0.0)
DENSE[:, :3] += CONCEPTS * RNG.random((400, 3))
DENSE[:, 7] = 0.0
TAKING = [name for name, entry in CATALOGUE.items() if entry.card.takes_sparse_codes]
PROBED = ["dci_disentanglement", "dci_completeness", "dci_informativeness"]  # with trees by default


@pytest.mark.parametrize("name", [name for name in TAKING if name not in PROBED])
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_equals_dense(name, container):
    dense, found = CATALOGUE[name](CONCEPTS, DENSE), CATALOGUE[name](CONCEPTS, container(DENSE))
    assert found.raw == pytest.approx(dense.raw, abs=1e-10)
    for part, numbers in dense.parts.items():
        np.testing.assert_allclose(found.parts[part], numbers, atol=1e-10)


def test_assumptions_about_factors_of_many_rows_need_no_dense_codes():
    concepts = (RNG.random((2_500, 3)) < 0.3).astype(float)
    codes = concepts * RNG.random((2_500, 3))
    assert mcc(concepts, sparse.csr_array(codes)).raw == pytest.approx(mcc(concepts, codes).raw, abs=1e-12)


@pytest.mark.parametrize("name", PROBED)
@pytest.mark.parametrize("kinds", [None, "categorical"])
def test_linear_probes_of_sparse_codes_equal_dense_ones(name, kinds):
    given = {"probe": Linear(), "kinds": kinds}
    dense = CATALOGUE[name](CONCEPTS, DENSE, **given)
    found = CATALOGUE[name](CONCEPTS, sparse.csr_array(DENSE), **given)
    assert found.raw == pytest.approx(dense.raw, abs=1e-10)
    with pytest.raises(MetricUndefined, match=r"BoostedTrees needs dense codes.*or probe=Linear\(\)"):
        CATALOGUE[name](CONCEPTS, sparse.csr_array(DENSE))


def test_more_sparse_codes_than_rows_are_probed_too():
    rng = np.random.default_rng(5)
    wide = np.where(rng.random((60, 150)) < 0.1, rng.normal(size=(60, 150)), 0.0)
    wide[:, :3] += CONCEPTS[:60]
    assert r2(CONCEPTS[:60], sparse.csr_array(wide)).raw == pytest.approx(r2(CONCEPTS[:60], wide).raw, abs=1e-10)


def test_a_linear_probe_of_too_many_sparse_codes_is_refused(monkeypatch):
    monkeypatch.setattr("unweave.estimators.linear_probes.LARGEST_SPARSE_FIT", 5)
    with pytest.raises(MetricUndefined, match="Linear with 9 sparse codes and 400 rows takes too long"):
        r2(CONCEPTS, sparse.csr_array(DENSE))


def test_ranks_with_ties_at_zero_are_exact():
    dense = mcc(CONCEPTS, DENSE, correlation="spearman").parts["correlation_matrix"]
    found = mcc(CONCEPTS, sparse.csr_array(DENSE), correlation="spearman").parts["correlation_matrix"]
    np.testing.assert_allclose(found, dense, atol=1e-12)


def test_torch_tensors_stay_sparse():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(DENSE)
    for given in (tensor.to_sparse(), tensor.to_sparse_csr()):
        assert Evidence(CONCEPTS, given).sparse_codes is not None
        assert mcc(CONCEPTS, given).raw == pytest.approx(mcc(CONCEPTS, DENSE).raw, abs=1e-12)


def test_duplicates_are_summed_and_wide_indices_and_stored_zeros_are_read():
    entries = sparse.coo_array(DENSE)
    rows, columns = (np.r_[place, place, [5]].astype(np.int64) for place in entries.coords)
    values = np.r_[entries.data / 2, entries.data / 2, [0.0]]
    doubled = sparse.coo_array((values, (rows, columns)), shape=DENSE.shape)
    evidence = Evidence(CONCEPTS, doubled)
    assert evidence.dead_codes == ("code 7",)
    np.testing.assert_allclose(evidence.sparse_codes.dense(slice(0, 9)), DENSE)


def test_rows_follow_splits_parts_and_missing_factors():
    missing = CONCEPTS.copy()
    missing[4, 0] = np.nan
    evidence = Evidence(missing, sparse.csr_array(DENSE), missing="drop")
    np.testing.assert_array_equal(evidence.sparse_codes.dense(slice(0, 9)), np.delete(DENSE, 4, axis=0))
    part = evidence.leaving_out(np.arange(100))
    assert mcc(part).raw == pytest.approx(mcc(np.delete(CONCEPTS, 4, 0)[100:], np.delete(DENSE, 4, 0)[100:]).raw)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (sparse.csr_array(np.where(DENSE > 1.5, np.nan, DENSE)), r"Code \d of the sparse codes is nan in row \d+"),
        (sparse.csr_array(DENSE[:300]), "factors have 400 rows, sparse codes have 300 rows"),
        (sparse.csr_array(DENSE * 1j), "complex numbers"),
        (sparse.csr_array((400, 0)), r"shape \(400, 0\)"),
    ],
)
def test_bad_input_says_what_and_where(given, said):
    with pytest.raises(InputError, match=said):
        Evidence(CONCEPTS, given)


def test_other_metrics_refuse_and_name_those_that_take_it():
    with pytest.raises(MetricUndefined, match=r"irs needs dense codes.*pass codes.toarray\(\).*or use mcc, sap, mig"):
        irs(CONCEPTS, sparse.csr_array(DENSE))


def test_an_evaluation_of_sparse_codes_has_floors_and_intervals():
    found = evaluate(CONCEPTS, sparse.csr_array(DENSE), metrics=["mcc", "mig"], budget=5)
    for row in found.rows:
        assert row.interval.defined
        assert row.noise_floor.floor < row.score.raw
    assert len(set(evaluate(CONCEPTS, sparse.csr_array(DENSE), quick=True).labels) & set(TAKING)) > 0


def test_a_verdict_on_sparse_codes_says_why_nothing_was_simulated():
    found = evaluate(CONCEPTS, sparse.csr_array(DENSE), metrics=["mcc"], budget=5)
    reasons = [str(reason.finding) for reason in found.rows[0].verdict.reasons]
    assert any(reason.startswith("The codes are sparse, and simulated codes are not") for reason in reasons)
    assert not any("time budget" in reason for reason in reasons)


def test_the_first_bad_entry_and_their_number_are_stated():
    entries = np.zeros((5, 4))
    entries[:, 0], entries[3, 1], entries[2, 2], entries[4, 3] = 1.0, 1e150, np.inf, -2e150
    with pytest.raises(InputError, match=r"Code 2 of the sparse codes is inf in row 2 \(2 such entries in all\)"):
        Evidence(np.arange(5.0), sparse.csc_array(entries))


def test_full_columns_of_one_value_are_constant():
    dense = np.array([[2.0, 2.0, 0.0, 0.0], [2.0, 3.0, 0.0, 2.0], [2.0, 2.0, 0.0, 2.0]])
    assert Evidence(np.arange(3.0), sparse.csr_array(dense)).dead_codes == ("code 0", "code 2")


def test_sparse_codes_are_a_matrix_with_a_name_for_each_column():
    with pytest.raises(InputError, match="have 1 axes: pass one row per sample"):
        Evidence(np.arange(3.0), sparse.coo_array(np.ones(3)))
    with pytest.raises(InputError, match="There are 2 code names for 9 codes"):
        Evidence(CONCEPTS, sparse.csr_array(DENSE), code_names=["a", "b"])


def test_sparse_input_is_copied_and_left_as_it_is():
    given = sparse.csc_array((np.array([1.0, 2.0, 0.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    held = Evidence([1.0, 2.0], given).sparse_codes
    assert given.data.tolist() == [1.0, 2.0, 0.0]  # a duplicate and a stored zero
    given.data[:] = 7.0
    assert held.values.tolist() == [3.0]


@pytest.mark.parametrize("n_sparse_axes", [2, 3])
def test_sparse_tensors_that_are_no_matrix_are_refused(n_sparse_axes):
    torch = pytest.importorskip("torch")
    with pytest.raises(InputError, match="The sparse codes are not a matrix: pass one row per sample"):
        Evidence(np.arange(2.0), torch.ones(2, 2, 2).to_sparse(n_sparse_axes))


@pytest.mark.parametrize("seed", range(5))
def test_sparse_entries_are_columns_as_dense_ones_are(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 3, (12, 6)) * (rng.random((12, 6)) < 0.5) * [1.0, 0.0, 1.0, 0.0, 1.0, 1.0]
    table[:, 2] = 7.0
    dense, entries = (Evidence(np.arange(12.0), codes).code_columns for codes in (table, sparse.csr_array(table)))
    rows, chosen = np.flatnonzero(rng.random(12) < 0.7), rng.permutation(6)[:3]
    for one, other in ((dense, entries), (dense.rows(rows), entries.rows(rows))):
        assert one.shape == other.shape
        np.testing.assert_array_equal(one.constant, other.constant)
        np.testing.assert_array_equal(one.chosen(chosen), other.chosen(chosen))
