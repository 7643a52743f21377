"""User-defined estimators: each protocol is tried with a class that is not part of the package."""

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import log_softmax

import unweave.estimators
from unweave import Evidence, Posterior
from unweave import metrics as m
from unweave.estimators import (
    DecompositionInformation,
    GaussianInformation,
    Histogram,
    Information,
    JointInformation,
    Linear,
    Logistic,
    NearestNeighbour,
    PosteriorInformation,
    Probe,
    QuantisedPosterior,
)
from unweave.estimators.posteriors import FactorInformation, PartialInformation, SampleInformation
from unweave.metrics.matrices import factor_labels

FACTORS = np.random.default_rng(0).normal(size=(600, 3))
CODES = FACTORS[:, ::-1] ** 3  # determine the factors, but permuted and nonlinearly


@dataclass(frozen=True)
class SignAgreement:
    """Correlation of the signs of columns minus their medians; not derived from the protocol."""

    def column(self, column):
        return np.sign(column - np.median(column))


@dataclass(frozen=True)
class Cubes:
    """Two functions of a column, so that the correlation is canonical."""

    def column(self, column):
        return np.column_stack([column, np.cbrt(column)])


def test_a_correlation_takes_codes_and_factors_alike():
    assert m.mcc(FACTORS, CODES, correlation=SignAgreement()).raw == pytest.approx(1.0, abs=1e-12)
    assert m.mcc(FACTORS, CODES, correlation="pearson").raw < 0.9  # cubes are not linear


def test_a_correlation_is_cross_fitted_and_permuted_like_any_other():
    assert m.mcc(FACTORS, CODES, correlation=SignAgreement(), cross_fit=True).raw == pytest.approx(1.0, abs=1e-12)
    evidence = Evidence(FACTORS, CODES)
    assert m.mcc(evidence.permuted(np.random.default_rng(1)), correlation=SignAgreement()).raw < 0.2


def test_a_correlation_of_several_functions_is_canonical():
    assert m.mcc(FACTORS, CODES, correlation=Cubes()).raw == pytest.approx(1.0, abs=1e-9)
    assert m.mcc(FACTORS, np.random.default_rng(1).normal(size=(600, 3)), correlation=Cubes()).raw < 0.2


def binary_information(codes, factor_labels):
    agreement = np.array([[((code > 0) == labels).mean() for labels in factor_labels] for code in codes.T])
    p = np.clip(agreement, 1e-12, 1 - 1e-12)
    return np.log(2) + p * np.log(p) + (1 - p) * np.log(1 - p)


@dataclass(frozen=True)
class SignInformation:
    """Mutual information of signs, with the two required methods; not derived from the protocol."""

    def factor_labels(self, column, discrete):
        return (column > 0).astype(np.uint16)

    def code_information(self, codes, factor_labels):
        return binary_information(codes, factor_labels)


@dataclass(frozen=True)
class BinnedSignInformation(SignInformation, Information):
    """`SignInformation` derived from the protocol, with labels of codes."""

    def code_labels(self, codes):
        return tuple((code > 0).astype(np.uint16) for code in codes.T)


@pytest.mark.parametrize(
    "metric", [m.mig, m.mig_sup, m.dcimig, m.modularity, m.infomec_modularity, m.infomec_compactness, m.sufficiency]
)
@pytest.mark.parametrize("estimator", [SignInformation(), BinnedSignInformation()])
def test_information_in_every_metric_of_pairs(metric, estimator):
    assert metric(FACTORS, CODES, estimator=estimator).raw == pytest.approx(1.0, abs=0.03)
    assert metric(FACTORS, CODES @ np.ones((3, 3)), estimator=estimator).raw < 0.5


def test_an_information_with_labels_of_codes_gives_their_entropies():
    assert m.minimality(FACTORS, CODES, estimator=BinnedSignInformation()).raw == pytest.approx(1.0, abs=0.01)
    halved = m.mig(FACTORS, CODES, estimator=BinnedSignInformation(), normalise="code_entropy")
    assert halved.raw == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("estimator", [SignInformation(), NearestNeighbour()])
def test_an_information_without_them_is_refused_in_a_sentence(estimator):
    name = type(estimator).__name__
    with pytest.raises(ValueError, match=f"{name} does not cut codes into bins.*use a Histogram"):
        m.mig(FACTORS, CODES, estimator=estimator, normalise="code_entropy")
    with pytest.raises(ValueError, match=f"{name} does not cut codes"):
        m.minimality(FACTORS, CODES, estimator=estimator)


@dataclass(frozen=True)
class Nearest:
    """Information of labels from the label of the nearest training row; not derived from the protocol."""

    def joint_information(self, columns, labels, train, test):
        assert test.size == 0  # rows are held out only if `row_plan` requests it
        distances = np.square(columns[:, None] - columns[None]).sum(axis=2)
        np.fill_diagonal(distances, np.inf)
        right = (labels[distances.argmin(axis=1)] == labels).mean()
        return float(right * np.log(labels.max() + 1))


@dataclass(frozen=True)
class HeldOutNearest(JointInformation):
    """`Nearest` on held-out rows: a third of at most 300 rows."""

    def row_plan(self):
        return 1 / 3, 300

    def joint_information(self, columns, labels, train, test):
        assert (train.size, test.size) == (200, 100)
        distances = np.square(columns[test][:, None] - columns[train][None]).sum(axis=2)
        return float((labels[train][distances.argmin(axis=1)] == labels[test]).mean() * np.log(labels.max() + 1))


@pytest.mark.parametrize("joint", [Nearest(), HeldOutNearest()])
def test_joint_information(joint):
    mixed = FACTORS[:, :2] @ [[1.0, 1.0], [1.0, -1.0]]
    options = {"estimator": Histogram(3), "joint": joint}
    assert m.explicitness_ratio(FACTORS[:, :2], mixed, **options).raw > 0.85
    assert m.explicitness_ratio(FACTORS[:, :2], FACTORS[:, 2:], **options).raw < 0.5
    assert m.representations_invariance(FACTORS[:, :2], mixed, **options).raw < 0.8
    assert m.infomec_explicitness(FACTORS[:, :2], mixed, estimator=joint, bins=3).raw > 0.85
    groups = {"both": ["code 0", "code 1"]}
    assert m.sufficiency(FACTORS[:, :2], mixed, code_groups=groups, **options).raw > 0.85


@dataclass(frozen=True)
class FittedTable:
    seen: np.ndarray
    targets: np.ndarray
    importance: np.ndarray

    def predict(self, codes):
        return self.targets[np.square(codes[:, None] - self.seen[None]).sum(axis=2).argmin(axis=1)]


@dataclass(frozen=True)
class NearestRow:
    """Predicts the target of the nearest training row; not derived from the protocol."""

    def regress(self, codes, targets, seed):
        of_codes, of_targets = codes - codes.mean(axis=0), targets - targets.mean(axis=0)
        return FittedTable(codes, targets, np.abs(of_codes.T @ of_targets).sum(axis=1))

    def classify(self, codes, labels, seed):
        return FittedTable(codes, labels, np.ones(codes.shape[1]))


@dataclass(frozen=True)
class SharedRow(NearestRow, Probe):
    """`NearestRow` derived from the protocol, with a part that is prepared from the codes alone."""

    calls = []  # noqa: RUF012 - shared on purpose, because the test counts calls

    def prepared(self, codes):
        self.calls.append(len(codes))
        return super().prepared(codes)


@pytest.mark.parametrize("probe", [NearestRow(), SharedRow()])
def test_a_probe_in_r2_and_dci(probe):
    codes = FACTORS[:, ::-1]
    assert m.r2(FACTORS, codes, probe=probe).raw > 0.9
    assert m.dci_disentanglement(FACTORS, codes, probe=probe).raw > 0.8
    assert m.dci_informativeness(FACTORS, codes, probe=probe).raw > 0.9
    kinds = FACTORS[:, :1] > 0
    assert m.dci_informativeness(kinds, codes, probe=probe, kinds=["categorical"]).raw > 0.6


def test_what_a_probe_prepares_is_shared_by_permutations():
    SharedRow.calls.clear()
    evidence = Evidence(FACTORS, CODES)
    for subject in (evidence, *(evidence.permuted(np.random.default_rng(seed)) for seed in range(3))):
        m.r2(subject, probe=SharedRow(), n_folds=4)
    assert SharedRow.calls == [450] * 4


def test_a_linear_probe_shares_its_design_and_no_number_changes():
    evidence = Evidence(FACTORS, CODES)
    permuted = evidence.permuted(np.random.default_rng(0))
    fresh = Evidence(permuted.factors, permuted.codes)
    assert m.r2(permuted, probe=Linear()).raw == m.r2(fresh, probe=Linear()).raw


@dataclass(frozen=True)
class GridOfPoints(PosteriorInformation):
    """Information from the posterior means alone, each in one of four bins."""

    def factor_labels(self, column, discrete):
        return Histogram(4).factor_labels(column, discrete)

    def sample_information(self, observed):
        return SampleInformation(np.full(observed.codes.shape[1], np.log(4)))

    def factor_information(self, observed):
        labels = observed.factor_labels(self)
        information = Histogram(4).code_information(observed.codes, labels)
        entropies = observed.factor_entropies(self)
        return FactorInformation(information, np.full_like(information, 2 * np.log(4)) - information, entropies)


def test_posterior_information():
    posterior = Posterior(FACTORS, np.full_like(FACTORS, 0.1))
    found = m.rmig(FACTORS, posterior, estimator=GridOfPoints())
    assert found.raw == pytest.approx(m.mig(FACTORS, FACTORS, estimator=Histogram(4)).raw, abs=1e-12)
    assert "standard_error" not in found.parts  # the estimator has no draws
    told = m.informativeness(FACTORS, posterior, estimator=GridOfPoints(), normalise=False)
    assert told.raw == pytest.approx(np.log(4))
    assert m.jemmig(FACTORS, posterior, estimator=GridOfPoints(), normalise=False).raw < np.log(4)


@dataclass(frozen=True)
class KnownInformation(DecompositionInformation):
    """Each code has one nat about every factor, the other codes half a nat, and all codes together 1.25 nats."""

    def partial_information(self, observed):
        d = observed.codes.shape[1]
        return PartialInformation(np.ones((d, 3)), np.full((d, 3), 0.5), np.full(3, 1.25), entropies=np.full(3, 2.0))


def test_decomposition_information():
    posterior = Posterior(FACTORS, np.full_like(FACTORS, 0.1))
    known = {"estimator": KnownInformation()}
    found = {name: m.CATALOGUE[name](FACTORS, posterior, **known).raw for name in m.CATALOGUE if "_bound" in name}
    assert m.unibound(FACTORS, posterior, **known).raw == 0.25  # (1 - .5) / 2
    assert found["unique_upper_bound"] == pytest.approx(0.375)  # (1 - (1 + .5 - 1.25)) / 2
    assert found["redundancy_lower_bound"] == pytest.approx(0.125)
    assert found["redundancy_upper_bound"] == pytest.approx(0.25)
    assert found["synergy_lower_bound"] == 0.0
    assert found["synergy_upper_bound"] == pytest.approx(0.125)
    in_nats = m.unibound(FACTORS, posterior, estimator=GaussianInformation(), normalise=False)
    assert "standard_error" not in in_nats.parts


@dataclass(frozen=True)
class FarFromMean:
    """A nearest-mean classifier; not derived from the protocol."""

    def fit(self, codes, labels):
        distinct = np.unique(labels)
        return FittedMeans(distinct, np.stack([codes[labels == label].mean(axis=0) for label in distinct]))


@dataclass(frozen=True)
class FittedMeans:
    labels: np.ndarray
    means: np.ndarray

    def log_probabilities(self, codes):
        return log_softmax(-np.square(codes[None] - self.means[:, None]).sum(axis=2), axis=0)

    def predict(self, codes):
        return self.labels[self.log_probabilities(codes).argmax(axis=0)]


def test_a_classifier_in_explicitness():
    labels = (FACTORS > 0).astype(float)
    unknown = m.explicitness(labels, FACTORS, probe=FarFromMean()).raw
    assert unknown == pytest.approx(m.explicitness(labels, FACTORS, probe=Logistic()).raw, abs=0.05)
    assert unknown > 0.9


def test_every_estimator_is_found_in_the_room_and_has_a_docstring():
    assert set(dir(unweave.estimators)) == set(unweave.estimators.__all__)
    for name in unweave.estimators.__all__:
        entry = getattr(unweave.estimators, name)
        assert entry.__name__ == name
        assert len(entry.__doc__) > 30, name
        assert f"`{name}`" in unweave.estimators.__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'Histogramm'"):
        unweave.estimators.Histogramm  # noqa: B018


def test_importing_the_room_imports_nothing_heavy():
    script = "import unweave.estimators, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "sklearn"} & set(loaded)


def test_a_grid_reads_points_as_posteriors_without_width():
    evidence = Evidence(FACTORS, Posterior(FACTORS, np.full_like(FACTORS, 1e-6)))
    grid = QuantisedPosterior()
    of_points = grid.code_information(FACTORS, factor_labels(evidence, grid))
    assert np.allclose(
        of_points,
        grid.quantised(FACTORS, np.full_like(FACTORS, 1e-6), factor_labels(evidence, grid)).factor_information,
    )


def test_protocols_that_are_derived_from_need_their_methods():
    for protocol in (Information, JointInformation, Probe, PosteriorInformation, DecompositionInformation):
        with pytest.raises(TypeError, match="abstract"):
            type("Empty", (protocol,), {})()
