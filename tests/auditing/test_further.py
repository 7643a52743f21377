"""The further questions of the audit, for metrics with known results."""

import itertools

import numpy as np
import pytest

from unweave.auditing import Audit, audit, audit_all
from unweave.auditing import run as everything
from unweave.auditing.measurement import FURTHER, Case, further_points
from unweave.metrics import mcc
from unweave.synthetic.worlds import Independent, Levelled, Reordered


@pytest.fixture
def remarks(small):
    def of(metric):
        return [remark.kind for remark in audit(metric, grid=small, n_seeds=2, adversary=False).remarks]

    return of


def test_metrics_that_measure_nothing_are_told(remarks):
    assert remarks(lambda factors, codes: 0.0) == ["metric_constant"]
    assert remarks(lambda factors, codes: 1 - 10 / len(codes)) == ["metric_of_rows_alone", "metric_blind"]
    assert remarks(lambda factors, codes: 1 / codes.shape[1]) == ["metric_of_sizes_alone", "metric_blind"]
    assert "metric_depends_on_order" in remarks(lambda factors, codes: float(codes[0, 0] > 0))
    assert "metric_blind" in remarks(lambda factors, codes: float(np.clip(codes.std(), 0, 1)) ** 0.01)


def test_a_random_number_moves_with_everything(small):
    numbers = np.random.default_rng(0)
    found = audit(lambda factors, codes: numbers.uniform(), grid=small, n_seeds=5, adversary=False)
    # because of the spread over seeds; the means hardly change
    assert found["P1"].verdict == found["P3"].verdict == "violated"
    assert max(row.spread for row in found["P3"].measured) > 0.15
    assert {"metric_depends_on_order", "metric_blind"} <= {remark.kind for remark in found.remarks}


def test_a_good_metric_has_no_remarks_and_answers(small):
    found, readout = audit_all(["mcc", "r2"], grid=small, n_seeds=2, adversary=False)
    assert not found.remarks
    assert [result.name for result in found.further] == list(FURTHER)
    assert not any(result.missing for result in found.further)
    assert found["many to one"].verdict == "satisfied"  # it only uses matched factors
    assert readout["many to one"].verdict == "violated"  # a linear readout cannot predict a square
    assert found["levels"].worst_case is not None
    names = {name: getattr(everything, name) for name in everything.__all__}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Case, "evidence", Case.evidence.__wrapped__)  # the data are drawn again
        again = eval(found["levels"].worst_case.expression, names)
    assert again == pytest.approx(found["levels"].worst_case.number)
    assert Audit.from_json(found.to_json()) == found
    assert "does not change with the number of rows" in str(found)
    from audited import table_data
    from generate import further_table

    assert "| `mcc` | " in further_table(table_data([found]))


def test_undefined_points_do_not_count(small):
    def shy(factors, codes):
        return float("nan") if factors.shape[1] == 2 else mcc(factors, codes).value

    found = audit(shy, grid=small, n_seeds=2, adversary=False)
    assert found["few factors"].n_undefined == sum(
        point.name == "few factors" and point.n_factors == 2 for point in further_points()
    )
    assert not found["few factors"].missing


def test_further_questions_may_be_left_out(small):
    found = audit("mcc", grid=small, n_seeds=2, adversary=False, further=False)
    assert found.further == ()


def test_levels_are_equally_likely_and_standard():
    factors = Levelled(4, n_continuous=1, levels=(2, 5)).sample(20_000, rng=0)
    assert [np.unique(column).size for column in factors.T[1:]] == [2, 5, 2]
    assert factors.mean(axis=0) == pytest.approx(np.zeros(4), abs=0.03)
    assert factors.std(axis=0) == pytest.approx(np.ones(4), abs=0.03)
    assert Levelled(4, n_continuous=1).kinds == ("continuous", "ordinal", "ordinal", "ordinal")
    for first, second in itertools.combinations(factors.T, 2):
        assert abs(np.corrcoef(first, second)[0, 1]) < 0.03


def test_reordered_rows_are_the_same_rows():
    world = Independent(3)
    rows, again = world.sample(50, rng=1), Reordered(world).sample(50, rng=1)
    assert not (rows == again).all()
    assert sorted(map(tuple, rows)) == sorted(map(tuple, again))
