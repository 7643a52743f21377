"""Every metric on small data of several kinds: scores, their parts, and the sentences where it refuses."""

from functools import partial

import numpy as np

from unweave import Evidence, Posterior, UnweaveError
from unweave.estimators import GaussianInformation, Histogram, Lasso, LinearSvm, MixtureSampling, NearestNeighbour
from unweave.metrics import CATALOGUE
from unweave.synthetic.known_decoders import Torus

RNG = np.random.default_rng(7)
N = 120
FREE = RNG.normal(size=(N, 3))
NOISE = RNG.normal(size=(N, 4))
CODES = np.column_stack([FREE[:, 0] ** 3, FREE[:, 1] + 0.4 * FREE[:, 2], FREE[:, 2] - FREE[:, 1], np.ones(N)])
CODES[:, :3] += 0.3 * NOISE[:, :3]
CLASSES = (FREE[:, 0] > 0).astype(int) + (FREE[:, 0] > 1)
LEVELS = np.digitize(FREE[:, 1], [-1, -0.2, 0.4])
ANGLES = np.mod(FREE[:, 2], 2.0)
# rounded, because draws depend on the last bit of the data, and that depends on the processor
POSTERIOR = Posterior(CODES[:, :3].round(6), np.exp(-1 + NOISE[:, :3] / 3).round(6))
NUMBERS = Evidence(FREE, CODES[:, :3], nuisances=NOISE[:, 3:], target=CLASSES)
DATA = {
    "numbers": NUMBERS,
    "a dead code": Evidence(FREE, CODES),
    "classes, levels, angles": Evidence(
        {"class": CLASSES, "level": LEVELS, "angle": ANGLES},
        CODES[:, :3],
        kinds={"class": "categorical", "level": "ordinal", "angle": "circular:2"},
        nuisances=NOISE[:, 3:],
    ),
    "posterior": Evidence({"class": CLASSES, "level": LEVELS}, POSTERIOR, kinds="categorical"),
    "torus": Evidence(decoder=Torus(2), reference=Torus(2, 1)),
}
# these take seconds on other data
ON_NUMBERS_ALONE = {
    *("dci_disentanglement", "dci_completeness", "dci_informativeness", "dci_explicitness", "dci_size"),
    "identification",
}
OPTIONS = {
    "mcc": ({"correlation": "spearman"}, {"correlation": "rdc"}, {"normalise": "coverage"}, {"cross_fit": True}),
    "r2": ({"n_folds": 3},),
    "dci_disentanglement": ({"probe": Lasso(), "test_share": 0.3},),
    "dci_completeness": ({"probe": Lasso()},),
    "mig": ({"estimator": Histogram(bins=5)}, {"estimator": Histogram(8, "equal_width", "miller_madow")}),
    "mig_sup": ({"estimator": NearestNeighbour()},),
    "modularity": ({"estimator": NearestNeighbour(k=5)},),
    "minimality": ({"estimator": Histogram(bins=4)},),
    "sap": ({"classifier": LinearSvm()},),
    "irs": ({"quantile": 0.9},),
    "t_mex": ({"score": "alignment"}, {"score": "mismatches"}),
    "jemmig": ({"normalise": False},),
    "rmig": ({"normalise": False}, {"estimator": MixtureSampling()}),
    "informativeness": ({"estimator": MixtureSampling()},),
    "unibound": ({"estimator": GaussianInformation()},),
    "sepin_at_k": ({"k": 2},),
    "indin_at_k": ({"k": 2},),
}


def data_for(name):
    """The data that have what a metric needs."""
    needs = CATALOGUE[name].card.needs
    if "decoder" in needs:
        return ["torus"]
    if "posterior" in needs:
        return ["posterior"]
    return (
        ["numbers"] if name in ON_NUMBERS_ALONE else ["numbers", "a dead code", "classes, levels, angles", "posterior"]
    )


def scored(name, data, options):
    """What a metric gives, or why it refuses."""
    try:
        score = CATALOGUE[name](DATA[data], **options)
    except (UnweaveError, ValueError) as problem:
        return f"{type(problem).__name__}: {problem}"
    return {
        "raw": score.raw,
        "value": score.value,
        "per factor": score.per_factor,
        "per code": score.per_code,
        "parts": score.parts,
        "caveats": [str(caveat) for caveat in score.caveats],
    }


CASES = {
    f"{name} of {data}{options or ''}": partial(scored, name, data, options)
    for name in CATALOGUE
    if CATALOGUE[name].__module__.startswith("unweave.")
    for data in data_for(name)
    for options in ({}, *(OPTIONS.get(name, ()) if data in ("numbers", "posterior") else ()))
}
