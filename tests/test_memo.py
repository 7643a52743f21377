"""Results are cached once per evidence and arguments, and are read-only."""

from dataclasses import dataclass

import numpy as np
import pytest

from unweave import Evidence
from unweave.memo import drawn_together, for_all_drawn, memoised

# sharing with permuted evidence is tested in tests/evidence/test_permuted.py


@dataclass(frozen=True)
class Record:
    matrix: np.ndarray
    name: str = "record"


@pytest.fixture
def evidence():
    return Evidence([1.0, 2.0, 3.0], [[4.0, 1.0], [5.0, 2.0], [6.0, 4.0]])


@pytest.fixture
def counted():
    """A memoised function, and the arguments of its calls."""
    calls = []

    @memoised(on="both")
    def total(evidence, *args, **kwargs):
        """Sum of the codes."""
        calls.append((args, kwargs))
        return evidence.codes.sum(axis=0)

    return total, calls


def test_a_default_is_the_same_call_whether_it_is_given_or_not(evidence):
    calls = []

    @memoised(on="both")
    def scaled(evidence, factor=2, *, shift=0):
        """Codes times a factor."""
        calls.append((factor, shift))
        return evidence.codes * factor + shift

    for found in (scaled(evidence), scaled(evidence, 2), scaled(evidence, factor=2)):
        assert found is scaled(evidence)
    assert scaled(evidence, 3)[0, 0] == 12
    assert scaled(evidence, shift=1)[0, 0] == 9
    assert calls == [(2, 0), (3, 0), (2, 1)]


def test_computed_once_per_arguments(evidence, counted):
    total, calls = counted
    results = [
        total(evidence, 1, power=2),
        total(evidence, 1, power=2),
        total(evidence, 2, power=2),
        total(evidence, 1),
    ]
    assert results[0] is results[1]
    assert calls == [((1,), {"power": 2}), ((2,), {"power": 2}), ((1,), {})]


def test_other_evidence_remembers_nothing(evidence, counted):
    total, calls = counted
    for other in (evidence, evidence.rows([0, 1]), Evidence(evidence.factors, evidence.codes)):
        np.testing.assert_array_equal(total(other), other.codes.sum(axis=0))
    assert len(calls) == 3


def test_the_order_of_keywords_does_not_matter(evidence, counted):
    total, calls = counted
    total(evidence, a=1, b=2)
    total(evidence, b=2, a=1)
    assert len(calls) == 1


def test_functions_of_one_name_do_not_share(evidence):
    def make(factor):
        @memoised(on="both")
        def scaled(evidence):
            return evidence.codes * factor

        return scaled

    assert make(1)(evidence)[0, 0] == 4.0
    assert make(2)(evidence)[0, 0] == 8.0


def test_a_failure_is_not_remembered(evidence):
    answers = iter([ValueError("no"), 7.0])

    @memoised(on="both")
    def unsteady(evidence):
        answer = next(answers)
        if isinstance(answer, ValueError):
            raise answer
        return answer

    with pytest.raises(ValueError, match="no"):
        unsteady(evidence)
    assert unsteady(evidence) == 7.0


@pytest.mark.parametrize(
    "wrapped", [lambda array: array, lambda array: (array, 1), Record], ids=["array", "tuple", "record"]
)
def test_remembered_arrays_are_read_only(evidence, wrapped):
    @memoised(on="both")
    def remembered(evidence):
        return wrapped(evidence.codes * 2)

    result = remembered(evidence)
    array = result if isinstance(result, np.ndarray) else result[0] if isinstance(result, tuple) else result.matrix
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 0


def test_the_function_keeps_its_face(counted):
    assert counted[0].__doc__ == "Sum of the codes."


def test_draws_made_together_are_computed_together_and_as_if_alone():
    calls = []

    @for_all_drawn
    def totals(evidences, scale):
        calls.append(len(evidences))
        return [scale * evidence.codes.sum(axis=0) for evidence in evidences]

    def draw(index):
        return Evidence([1.0, 2.0], [index + 1.0, 2.0])

    together = drawn_together(draw, 12)
    assert [totals(together(k), 2.0).tolist() for k in range(12)] == [[2 * (k + 3.0)] for k in range(12)]
    assert totals(draw(4), 2.0).tolist() == [14.0]
    assert calls == [10, 2, 1]
    assert not totals(together(11), 2.0).flags.writeable
