"""Declared properties of every world, checked on its samples."""

import numpy as np
import pytest
from scipy.linalg import sqrtm
from scipy.stats import kstest, spearmanr
from sklearn.neighbors import KNeighborsRegressor

from unweave import OptionError, UnweaveError
from unweave.synthetic.encoders import ONE_FACTOR, TWO_FACTORS
from unweave.synthetic.known_decoders import Torus, TwoMoons
from unweave.synthetic.toys import ClassesWithNuisance, DependentClasses
from unweave.synthetic.worlds import (
    Causal,
    Circuit,
    Confounded,
    Correlated,
    Independent,
    Levelled,
    OneFactorConstraint,
    TwoFactorConstraint,
    WithCovariance,
    with_marginal,
)

WORLDS = [
    Independent(4),
    Independent(4, marginal="uniform"),
    Independent(4, marginal="truncated"),
    Independent(4, marginal="discrete"),
    Correlated(4, rho=0.6),
    Correlated(4, rho=0.6, marginal="discrete"),
    WithCovariance(((4.0, 1.0), (1.0, 1.0))),
    Confounded((0.9, -0.9, 0.0)),
    Causal(3),
    Causal(3, link="square"),
    *(OneFactorConstraint(4, functions=(name,)) for name in ONE_FACTOR),
    *(TwoFactorConstraint(4, functions=(name,)) for name in TWO_FACTORS),
    OneFactorConstraint(5, functions=("cube", "tanh")),
    TwoFactorConstraint(6, functions=("product", "sum")),
    Circuit(),
]


@pytest.mark.parametrize("world", WORLDS, ids=repr)
def test_shape_names_and_seeds(world):
    factors = world.sample(50, rng=3)
    assert factors.shape == (50, world.n_factors)
    assert len(world.factor_names) == world.n_factors
    assert np.array_equal(factors, world.sample(50, rng=3))
    assert not np.array_equal(factors, world.sample(50, rng=4))
    assert np.isfinite(factors).all()


@pytest.mark.parametrize("world", WORLDS, ids=repr)
def test_constraints_and_effective_dimension(world):
    factors = world.sample(4000, rng=0)
    standardised = (factors - factors.mean(axis=0)) / factors.std(axis=0)
    assert world.effective_dimension == world.n_factors - len(world.constraints)
    for constraint in world.constraints:
        # neighbours in the determining factors are neighbours in the determined factor, but not for any of them alone
        determined = standardised[:, constraint.determined]
        together = explained(standardised[:, list(constraint.by)], determined)
        assert together > 0.97
        if len(constraint.by) > 1:
            assert all(explained(standardised[:, [j]], determined) < together - 0.02 for j in constraint.by)
        else:
            back = explained(standardised[:, [constraint.determined]], standardised[:, constraint.by[0]])
            assert (back > 0.97) == constraint.invertible
    bound = {constraint.determined for constraint in world.constraints}
    for j in set(range(world.n_factors)) - bound:
        others = sorted(set(range(world.n_factors)) - bound - {j})
        assert explained(standardised[:, others], standardised[:, j]) < 0.95  # free factors are not determined


def explained(inputs, target):
    dense = (np.abs(inputs[2000:]) < 2).all(axis=1)  # there are no near neighbours in the tails
    model = KNeighborsRegressor(5).fit(inputs[:2000], target[:2000])
    return model.score(inputs[2000:][dense], target[2000:][dense])


def test_correlated_rows_do_not_depend_on_the_eigenvectors_that_a_processor_chooses():
    # equal eigenvalues have arbitrary eigenvectors, but every correlation matrix has one symmetric root
    correlation = np.array([[1.0, 0.7, 0.7], [0.7, 1.0, 0.7], [0.7, 0.7, 1.0]])
    independent = Correlated(3, rho=0.0).sample(50, rng=4)
    assert np.allclose(Correlated(3, rho=0.7).sample(50, rng=4), independent @ sqrtm(correlation).real)


def test_marginals():
    for marginal, distribution in {"gaussian": "norm", "uniform": "uniform"}.items():
        factors = Correlated(3, rho=0.5, marginal=marginal).sample(2000, rng=0)
        assert all(kstest(column, distribution).pvalue > 0.001 for column in factors.T)
    truncated = Independent(2, marginal="truncated").sample(100_000, rng=0)
    assert 3 < np.abs(truncated).max() < np.pi
    classes, counts = np.unique(Independent(1, marginal="discrete").sample(10_000, rng=0), return_counts=True)
    assert classes.tolist() == list(range(10))
    assert counts.min() > 900


def test_dependence_is_as_declared():
    rank_correlation = spearmanr(Correlated(2, rho=0.7).sample(20_000, rng=0)).statistic
    same = spearmanr(Correlated(2, rho=0.7, marginal="uniform").sample(20_000, rng=0)).statistic
    assert rank_correlation == pytest.approx(same, abs=1e-12)  # marginals do not change the rank correlation
    assert rank_correlation == pytest.approx(6 / np.pi * np.arcsin(0.35), abs=0.02)
    covariance = np.cov(WithCovariance(((4.0, 1.0), (1.0, 1.0))).sample(50_000, rng=0), rowvar=False)
    assert covariance == pytest.approx(np.array([[4.0, 1.0], [1.0, 1.0]]), abs=0.06)
    confounded = np.corrcoef(Confounded((0.9, -0.9, 0.0)).sample(50_000, rng=0), rowvar=False)
    assert confounded[0] == pytest.approx([1.0, -0.81, 0.0], abs=0.02)
    chain = np.corrcoef(Causal(3, weight=0.8).sample(50_000, rng=0), rowvar=False)
    assert chain[0] == pytest.approx([1.0, 0.8, 0.64], abs=0.02)
    square = Causal(2, weight=0.9, link="square").sample(50_000, rng=0)
    assert abs(np.corrcoef(square, rowvar=False)[0, 1]) < 0.02
    assert np.corrcoef(square[:, 0] ** 2, square[:, 1])[0, 1] == pytest.approx(0.9, abs=0.02)
    extreme = Correlated(5, rho=-0.25).sample(1000, rng=0)  # a singular covariance
    assert np.abs(extreme.sum(axis=1)).max() < 1e-6


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Correlated(5, rho=-0.5), "-0.250 to 1"),
        (lambda: Correlated(3, rho=1.5), "3 factors cannot all have correlation 1.5: use -0.500 to 1"),
        (lambda: Correlated(1, rho=-1.5), "-1.000 to 1"),
        (lambda: WithCovariance(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))), "covariance is not valid"),
        (lambda: WithCovariance(((1.0, 0.5), (0.0, 1.0))), "covariance is not valid"),
        (lambda: WithCovariance(((1.0, 0.0), (0.0, -1e-10))), "covariance is not valid"),
        (lambda: WithCovariance((1.0, 1.0)), "covariance=.* is not allowed: use a tuple"),
        (lambda: OneFactorConstraint(2, functions=("cube", "tanh")), "2 functions .*: use 1 to 1"),
        (lambda: OneFactorConstraint(2, functions=()), "0 functions .*: use 1 to 1"),
        (lambda: Confounded((0.5, -2.0)), "from -1 to 1"),
        (lambda: Confounded(()), "from -1 to 1"),
        (lambda: Levelled(3, levels=(1, 5)), r"levels=\(1, 5\) is not valid: use numbers of levels from 2"),
        (lambda: Levelled(3, levels=()), r"levels=\(\) is not valid"),
        (lambda: WithCovariance(((1.0, 2.0), (2.0, 1.0))), "covariance is not valid"),
        (lambda: OneFactorConstraint(4, functions=("cosine",)), "no constraint 'cosine'"),
        (lambda: TwoFactorConstraint(3, functions=("sum", "product")), "1 to 1"),
        (lambda: Confounded((2.0,)), "from -1 to 1"),
        (lambda: Causal(weight=1.0), "between -1 and 1"),
        (lambda: Independent(2, marginal="cauchy").sample(3), "marginal='cauchy' is not known"),
    ],
)
def test_bad_worlds_say_so(build, sentence):
    with pytest.raises(UnweaveError, match=sentence):
        build()


def test_worlds_at_the_limits():
    assert Correlated(1, rho=-1.0).sample(3).shape == (3, 1)
    same = Correlated(3, rho=1.0).sample(9)
    assert same == pytest.approx(np.repeat(same[:, :1], 3, axis=1), abs=1e-7)
    singular = WithCovariance(((1.0, 1.0), (1.0, 1.0))).sample(9)
    assert singular[:, 0] == pytest.approx(singular[:, 1], abs=1e-7)
    assert OneFactorConstraint(2).effective_dimension == 1
    assert TwoFactorConstraint(3).effective_dimension == 2
    caused = Confounded((1.0, -1.0)).sample(9)
    assert np.array_equal(caused[:, 0], -caused[:, 1])
    assert Levelled(2, n_continuous=2).kinds == Levelled(2, n_continuous=5).kinds == ("continuous",) * 2
    assert Levelled(3, n_continuous=2).kinds == ("continuous", "continuous", "ordinal")
    assert with_marginal(np.array([[-9.0, 9.0]]), "discrete").tolist() == [[0.0, 9.0]]


@pytest.mark.parametrize("number", [0, -1, 2.5, True, "3", None])
def test_worlds_without_rows_or_factors_are_refused(number):
    worlds = [Independent(3), Correlated(3), Confounded(), Causal(), Circuit(), Levelled(), TwoFactorConstraint()]
    for world in (*worlds, OneFactorConstraint(), DependentClasses(), ClassesWithNuisance(), TwoMoons(), Torus()):
        with pytest.raises(OptionError, match="is not a number of rows: use a whole number from 1"):
            world.sample(number)
        with pytest.raises(OptionError, match="is not a seed"):
            world.sample(10, rng=-1)
    for kind in (Independent, Causal, Levelled, OneFactorConstraint, TwoFactorConstraint):
        with pytest.raises(OptionError, match="is not allowed: use a whole number from 1"):
            kind(number)
