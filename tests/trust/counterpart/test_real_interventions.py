"""Draws with independent factors from a sampler: as it draws them, or by fixing the factors row by row."""

import numpy as np
import pytest

from unweave import Evidence, Posterior
from unweave.trust import counterpart as real_interventions
from unweave.trust.counterpart import _uncorrelated, independent_draws

NAMES = ["a", "b", "c"]


def evidence_with(sampler, n_rows=300):
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n_rows, 1)) + 0.1 * rng.normal(size=(n_rows, 3))
    return Evidence(factors, 2 * factors, sampler=sampler, factor_names=NAMES, kinds="continuous")


def dependent(calls=None, posterior=False):
    """A sampler whose own factors are nearly one, unless they are fixed."""

    def sampler(fixed, n_rows, rng):
        if calls is not None:
            calls.append((dict(fixed), n_rows))
        factors = rng.normal(size=(n_rows, 1)) + 0.1 * rng.normal(size=(n_rows, 3))
        for name, value in fixed.items():
            factors[:, NAMES.index(name)] = value
        codes = 2 * factors
        return factors, Posterior(codes, np.ones_like(codes)) if posterior else codes

    return sampler


@pytest.mark.parametrize("posterior", [False, True])
def test_dependent_factors_are_fixed_row_by_row(posterior):
    calls = []
    evidence = evidence_with(dependent(calls, posterior))
    (drawn,) = independent_draws(evidence, ["c", "a"], 1, seed=0)
    assert drawn.factor_names == ("c", "a")
    assert drawn.declared_kinds == evidence.declared_kinds[:2]
    assert drawn.n_rows == 300
    assert abs(np.corrcoef(drawn.factors, rowvar=False)[0, 1]) < 4 / np.sqrt(300)
    assert sorted(drawn.factors[:, 0]) == pytest.approx(sorted(evidence.factors[:, 2]))
    assert drawn.codes[:, [2, 0]] == pytest.approx(2 * drawn.factors)
    assert [set(fixed) for fixed, _ in calls[1:]] == [{"a", "c"}] * 300
    assert {n_rows for _, n_rows in calls[1:]} == {1}


def test_at_most_so_many_rows_are_fixed_one_by_one(monkeypatch):
    monkeypatch.setattr(real_interventions, "MOST_CALLS", 20)
    drawn = independent_draws(evidence_with(dependent()), ["a", "b"], 2, seed=0)
    assert [each.n_rows for each in drawn] == [20, 20]
    assert not np.array_equal(drawn[0].factors, drawn[1].factors)


def test_a_sampler_that_fails_gives_nothing():
    def failing(fixed, n_rows, rng):
        raise RuntimeError("no")

    assert independent_draws(evidence_with(failing), ["a", "b"], 2, seed=0) == ()
    assert independent_draws(evidence_with(None), ["a", "b"], 2, seed=0) == ()


def test_one_factor_has_nothing_to_correlate_with_and_small_correlations_are_chance():
    first, second = np.random.default_rng(0).normal(size=(2, 400))
    second -= first * (first @ second) / (first @ first)
    assert _uncorrelated(first[:, None])
    assert _uncorrelated(np.column_stack([first, second + 0.1 * first]))
    assert not _uncorrelated(np.column_stack([first, second + 0.3 * first]))
    assert not _uncorrelated(np.column_stack([first, second - 0.3 * first]))
