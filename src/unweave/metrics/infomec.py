"""InfoMEC: modularity, explicitness and compactness from mutual information."""

from __future__ import annotations

import functools
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Labels, Rows
from unweave.card import Seed, Several, metric, seed_from
from unweave.estimators.information import Histogram, Information, JointInformation
from unweave.estimators.nearest_neighbour import NearestNeighbour, UsableInformation
from unweave.estimators.protocols import own_or_default
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import FACTORS_NOT_CORRELATED, NORMALISED_INFORMATION, varying
from unweave.metrics.mig import NO_CODE_VARIES, relative_information_matrix, telling_codes
from unweave.randomness import random_stream
from unweave.score import Score

NEIGHBOURS = NearestNeighbour(k=10, ranked=True)
Activity = Literal["varies", "range"]
RANGE_SHARE = 1 / 20

# fields of the card that the three metrics of InfoMEC have in common
infomec_metric = functools.partial(
    metric,
    equivalence="elementwise",
    min_rows=50,
    chance="by permutation",
    reference="Hsu et al. (2023), 'Disentanglement via latent quantization'",
    identity_tolerance=0.04,
    takes_code_groups=True,
    version=2,
)


def normalised_information_matrix(evidence: Evidence, estimator: Information) -> FloatArray:
    """NMI_ij = I(c_i; z_j) / H(z_j) (m x d); negative estimates, as for about half of independent pairs, become 0."""
    return np.maximum(relative_information_matrix(evidence, estimator, "factor_entropy"), 0.0)


def active_codes(evidence: Evidence, activity: Activity, nmi: FloatArray) -> NDArray[np.bool_]:
    """True for codes that vary or, as published, for codes whose range is above a twentieth of the largest range."""
    if activity == "varies":
        return telling_codes(evidence, nmi)
    if activity != "range":
        raise ValueError(f"activity={activity!r} is not known: use 'varies' or 'range'.")
    widths = np.array([np.ptp(evidence.codes[:, own], axis=0).max() for own in evidence.code_units.values()])
    return np.asarray(widths > RANGE_SHARE * widths.max())


def concentration(shares: FloatArray) -> FloatArray:
    """Largest entry of every row relative to its sum, rescaled so that a uniform row scores 0 and a single entry 1.

    >>> concentration(np.array([[1.0, 1.0], [0.0, 3.0]])).tolist()
    [0.0, 1.0]
    """
    n_shares = shares.shape[1]
    totals = shares.sum(axis=1)
    largest = np.divide(shares.max(axis=1), totals, out=np.full_like(totals, np.nan), where=totals > 0)
    return (largest - 1 / n_shares) / (1 - 1 / n_shares)


@infomec_metric(
    measures="compactness",
    cost="n log n per code and n k per pair of code and factor, shared with infomec_modularity",
    fails_when="factors are correlated, or there are very many codes, because their estimation errors add up",
    assumes=(FACTORS_NOT_CORRELATED,),
    factor_by_factor=True,
    undefined_with=("one code",),
    moves_at_200_rows=(0.0, 0.83, 0.0),
)
def infomec_compactness(
    evidence: Evidence, *, estimator: Information = NEIGHBOURS, activity: Activity = "varies"
) -> Score:
    """Share of the information about a factor, summed over codes, that its best code has, rescaled; mean over factors.

    1 means that only one code carries information about each factor, and 0 that all codes carry the same amount. Random
    codes score well above 0, because the score is then a ratio of estimation errors: compare it with the permutation
    null. With one code it is undefined (nan).

    Parameters
    ----------
    estimator : NearestNeighbour or Histogram
        Ten neighbours in the ranks of the codes by default, so that monotone maps of a code do not change the score.
        ``NearestNeighbour(10, factor_binning='equal_width')`` gives the published numbers.
    activity : {'varies', 'range'}
        Which codes are used: all that vary, or, as published, those whose range is above a twentieth of the largest
        range.

    Notes
    -----
    InfoC, the compactness of InfoMEC.

        InfoC = (1/d sum_j max_i NMI_ij / sum_i NMI_ij - 1/m) / (1 - 1/m),    NMI_ij = I(c_i; z_j) / H(z_j)

    over the m active codes, with d factors (Hsu et al. 2023, section 4).

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2_000, 3))
    >>> float(infomec_compactness(factors, np.exp(factors))) > 0.97
    True
    """
    nmi = normalised_information_matrix(evidence, estimator)
    active = active_codes(evidence, activity, nmi)
    if active.sum() < 2:
        why = Finding("one_code_active") if active.any() else NO_CODE_VARIES
        return Score(raw=np.nan, caveats=(why,))
    per_factor = np.where(varying(evidence), concentration(nmi[active].T), np.nan)
    silent = varying(evidence) & np.isnan(per_factor)
    return Score(
        raw=np.nan if np.isnan(per_factor).all() else float(np.nanmean(per_factor)),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        parts={"normalised_information_matrix": nmi},
        matrices=(NORMALISED_INFORMATION,),
        caveats=(Finding("unencoded_factors_left_out", n_factors=silent.sum()),) if silent.any() else (),
    )


@infomec_metric(
    measures="modularity",
    cost="n log n per code and n k per pair of code and factor, shared with infomec_compactness",
    fails_when=(
        "some codes are unused, because their scores are ratios of estimation errors with the same weight as all "
        "others, or factors are correlated"
    ),
    assumes=(FACTORS_NOT_CORRELATED,),
    undefined_with=("one factor",),
    moves_at_200_rows=(0.0, 0.8, 0.0),
)
def infomec_modularity(
    evidence: Evidence, *, estimator: Information = NEIGHBOURS, activity: Activity = "varies"
) -> Score:
    """Largest share of a code's information about all factors that concerns one factor, rescaled; mean over codes.

    1 means that every code carries information about one factor only, and 0 that codes carry the same amount about all
    factors. Random codes score about 0.3 to 0.7 for any n, because the score is then a ratio of estimation errors:
    compare it with the permutation null. With one factor it is undefined (nan).

    Parameters
    ----------
    estimator : NearestNeighbour or Histogram
        Ten neighbours in the ranks of the codes by default, so that monotone maps of a code do not change the score.
        ``NearestNeighbour(10, factor_binning='equal_width')`` gives the published numbers.
    activity : {'varies', 'range'}
        Which codes are used: all that vary, or, as published, those whose range is above a twentieth of the largest
        range, so that one heavy-tailed code can exclude all others.

    Notes
    -----
    InfoM, the modularity of InfoMEC.

        InfoM = (1/m sum_i max_j NMI_ij / sum_j NMI_ij - 1/d) / (1 - 1/d),    NMI_ij = I(c_i; z_j) / H(z_j)

    over the m active codes, with d factors (Hsu et al. 2023, section 4).

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2_000, 3))
    >>> float(infomec_modularity(factors, np.exp(factors))) > 0.97
    True
    """
    nmi = normalised_information_matrix(evidence, estimator)
    if varying(evidence).sum() < 2:
        return Score(raw=np.nan, caveats=(Finding("one_factor_varies"),))
    active = active_codes(evidence, activity, nmi)
    if not active.any():
        return Score(raw=np.nan, caveats=(NO_CODE_VARIES,))
    per_code = np.where(active, concentration(nmi[:, varying(evidence)]), np.nan)
    silent = active & np.isnan(per_code)
    return Score(
        raw=np.nan if np.isnan(per_code).all() else float(np.nanmean(per_code)),
        per_code=dict(zip(evidence.code_units, per_code.tolist(), strict=True)),
        parts={"normalised_information_matrix": nmi},
        matrices=(NORMALISED_INFORMATION,),
        caveats=(Finding("uninformative_codes_left_out", n_codes=silent.sum()),) if silent.any() else (),
    )


def split(evidence: Evidence, estimator: JointInformation, seed: int) -> tuple[Rows, Rows, tuple[Finding, ...]]:
    """Training and test rows for the estimator, and a caveat if it uses only a subset of all rows."""
    test_share, most_rows = own_or_default(JointInformation.row_plan, estimator)()
    if test_share:
        train, test = evidence.folds(max(2, round(1 / test_share)), seed)[0]
    else:
        train, test = np.arange(evidence.n_rows), np.arange(0)
    if most_rows is None or evidence.n_rows <= most_rows:
        return train, test, ()
    drawn = random_stream(seed, "classified rows").permutation
    n_test = round(most_rows * test_share)
    caveat = Finding("classifiers_sampled_rows", n_rows=most_rows, of=evidence.n_rows)
    return np.sort(drawn(train)[: most_rows - n_test]), np.sort(drawn(test)[:n_test]), (caveat,)


@memoised(on="both")
def held_out_shares(
    evidence: Evidence, estimator: JointInformation, labelling: Information, seed: int
) -> tuple[FloatArray, tuple[Finding, ...]]:
    """Share of every factor's entropy that all codes together explain on held-out rows; nan for constant factors."""
    train, test, caveats = split(evidence, estimator, seed)
    share = own_or_default(JointInformation.share, estimator)
    shares = np.full(evidence.n_factors, np.nan)
    for j in np.flatnonzero(varying(evidence)).tolist():
        labels = labels_from_training(evidence, j, labelling, train)
        shares[j] = share(evidence.codes, labels, train, test)
    return shares, caveats


def labels_from_training(evidence: Evidence, j: int, labelling: Information, train: Rows) -> Labels:
    """Labels of factor j: its levels if it is discrete, and otherwise bins with edges from the training rows."""
    labels = own_or_default(Information.labels_from_training, labelling)
    return labels(evidence.factors[:, j], evidence.kinds[j].has_classes, train)


@infomec_metric(
    measures="explicitness",
    equivalence="affine",
    chance=0.0,
    cost="one logistic fit per factor, shared with explicitness_ratio",
    fails_when="there are few rows for the number of codes and classes",
    identity_tolerance=0.05,
    order_tolerance=0.03,
    raw_range="below 0 without a limit, if held-out rows are predicted worse than by the class frequencies",
    factor_by_factor=True,
    moves_at_200_rows=(0.34, 0.26, 0.0),
)
def infomec_explicitness(
    evidence: Evidence,
    *,
    estimator: JointInformation = UsableInformation(),  # noqa: B008 - a frozen value
    bins: Several = 20,
    rng: Seed = 0,
) -> Score:
    """Share of a factor's entropy that a linear classifier on all codes saves on held-out rows, averaged over factors.

    1 means that a linear classifier predicts every factor from the codes, which it may also do from mixed codes. A
    classifier that always predicts the training frequencies scores exactly 0, and so do random codes (slightly below 0
    before clipping). A continuous or circular factor is cut into classes of equal mass, with bin edges from the
    training rows. Rows near these edges are misclassified even for a perfect code, which costs about 0.01 at 5,000
    rows.

    Parameters
    ----------
    estimator : UsableInformation or any JointInformation
        The classifier, its train and test split, and the number of rows used. If it has more than 400 weights (20 codes
        and 20 classes), its logits are restricted to ten linear combinations of the codes. The published score is
        computed on the training rows.
    bins : int
        Number of classes of a continuous or circular factor. Discrete factors keep their levels.
    rng : int or Generator
        Seed of the split.

    Notes
    -----
    InfoE, the explicitness of InfoMEC.

        InfoE = 1/d sum_j (1 - H_V(z_j | c) / H_V(z_j))

    with H_V the held-out cross-entropy of a multinomial logistic model of the classes of factor z_j, given all codes c
    or without codes (Hsu et al. 2023, section 4, after Xu et al. 2020).

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2_000, 2))
    >>> float(infomec_explicitness(factors, factors @ [[1.0, 2.0], [2.0, -1.0]])) > 0.95
    True
    """
    shares, caveats = held_out_shares(evidence, estimator, Histogram(bins), seed_from(rng))
    return Score(
        raw=float(np.nanmean(shares)),
        per_factor=dict(zip(evidence.factor_names, shares.tolist(), strict=True)),
        caveats=caveats,
    )
