"""What the papers' comparisons say of numbers that are made up: verdicts, values and the numbers in their words."""

import hashlib
import re
from functools import partial
from types import SimpleNamespace

import numpy as np

from unweave import Spectrum
from unweave_papers.paper000 import image_flows as core_flows
from unweave_papers.paper000 import image_flows as digit_flows
from unweave_papers.paper000 import image_flows as wavelet_flows
from unweave_papers.paper000 import images as vae_spectra
from unweave_papers.paper000 import pictures as torus_pictures
from unweave_papers.paper000.image_flows import MeasuredFlow
from unweave_papers.paper001 import experiments as of_001
from unweave_papers.paper001 import models as seed_studies
from unweave_papers.paper002 import experiments as of_002
from unweave_papers.paper002.encoders import Attacked, Decomposed
from unweave_papers.paper003.figures import FIGURES
from unweave_papers.paper003.settings import _DECLARED
from unweave_papers.paper004 import experiments as of_004
from unweave_papers.paper004 import experiments as toy_experiments
from unweave_papers.paper004.encoders import Correlations, ToyCurves
from unweave_papers.trained import SmallSetting

MODELS = ("FactorVAE", "beta-VAE", "VAE")
NUMBER = re.compile(r"-?\d+\.?\d*")
SEEDS = range(3)
STUDIED = (
    "mean I(x, z_i)", "I(x, z)", "mean I(z_i, z_rest)", "largest I(z_i, z_rest)", "WSEPIN", "SEPIN@3", "JEMMIG", "RMIG",
    "DCI D", "DCI C", "DCI I",
)  # fmt: skip


def said(checks):
    """What is said, without its words."""
    return [
        [check.holds, check.ledger, check.in_part, check.value, *map(float, NUMBER.findall(check.here))]
        for check in checks
        if check.is_claim or check.here
    ]


def by_model(make):
    """Rows of numbers of three models, drawn with each seed."""
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        yield {model: make(rng, model) for model in MODELS}


def factors(rng, _model):
    return dict(zip(of_001.FACTORS, rng.uniform(size=5), strict=True))


def codes(rng, _model):
    return sorted(rng.uniform(size=8) ** 6, reverse=True)


def per_bin(rng, model):
    base = MODELS.index(model) + rng.normal(size=6)
    return {"RMIG": base.tolist(), "JEMMIG": np.cumsum(rng.uniform(-0.1, 1.0, 6)).tolist()}


def per_draw(rng, _model):
    return {"RMIG": (0.5 + 0.03 * rng.uniform(size=4)).tolist(), "JEMMIG": rng.uniform(size=4).tolist()}


def matrix(rng, _model):
    means, draws = rng.uniform(-1, 1, size=(2, 4, 4))
    return {"means": means.tolist(), "draws": (0.8 * draws).tolist()}


def shared(rng, model):
    pairs = rng.normal(size=(4, 4))
    pairs[0, 1] = np.nan
    return {
        "I(x, z_i, z_j)": (np.full((4, 4), np.nan) if model == "VAE" else pairs).tolist(),
        "mean": float(rng.uniform()),
        "standard error": float(rng.uniform()),
    }


def noisy(rng, model):
    table = rng.uniform(size=(4, 3)) * (np.array([1.0, 1.0, 0.04, 0.02]) if model != "VAE" else np.ones(4))[:, None]
    return {"q(z | x)": table.tolist(), "means": (table + rng.uniform(0, 0.02, size=(4, 3))).tolist()}


def pairs(rng, _model):
    first = rng.uniform(size=2)
    return {
        "JEMMIG": [first[0], first[0] + 2.5 + 0.1 * rng.normal()],
        "RMIG": [first[1], first[1] + 0.03 * rng.normal()],
    }


def gaps(rng, _model):
    first = rng.uniform()
    return {"RMIG": first, "MIG (Chen)": first + 0.03 * rng.normal(), "MIG (Locatello)": rng.uniform()}


def versions(rng, _model):
    return {"of means": rng.uniform(), "of q(z | x)": rng.uniform()}


OF_001 = {
    "rmig": factors,
    "jemmig": factors,
    "modularity": versions,
    "informativeness": codes,
    "informative_codes": codes,
    "bins": per_bin,
    "draws": per_draw,
    "correlations": matrix,
    "shared": shared,
    "matrices": noisy,
    "estimates": pairs,
    "gaps": gaps,
}


def settings(seed):
    """Three weights of two kinds of model, with three seeds each."""
    rng = np.random.default_rng(seed)
    names = ("beta_vae-beta=1", "beta_vae-beta=4", "beta_vae-beta=64", "factor_vae-gamma=10", "factor_vae-gamma=40")
    means = rng.uniform(size=(len(names), len(STUDIED)))
    return [
        SmallSetting(
            name, tuple(dict(zip(STUDIED, mean + 0.1 * rng.normal(size=len(STUDIED)), strict=True)) for _ in SEEDS)
        )
        for name, mean in zip(names, means, strict=True)
    ]


def correlated(seed):
    """Correlations of three metrics at four levels."""
    values = np.random.default_rng(seed).uniform(-0.2, 1.0, size=(4, 3))
    values = values if seed else np.abs(values) ** 0.2
    return Correlations(tuple("abcd"), ("minimality", "sufficiency", "MIG"), 9, values, values - 0.2, values + 0.1)


def timed(seed):
    """Times of four metrics."""
    rng = np.random.default_rng(seed)
    names = ("minimality, sufficiency", "MIG", "modularity", "DCI")
    return ToyCurves("factors", (2.0, 8.0), {"": {name: rng.uniform(size=2).tolist() for name in names}})


def flows(seed):
    """Two flows of 30 latents on images of 16 pixels."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(2):
        entropies = np.sort(rng.normal(size=30))[::-1]
        found.append(
            SimpleNamespace(
                problem="",
                held_out=float(rng.uniform()),
                entropies=entropies,
                variances=np.exp(entropies + rng.normal(size=30)),
                order=np.argsort(-entropies),
                tangents=rng.normal(size=(10, 16, 30)),
                traversals=rng.normal(size=(10, 20, 5, 16)).cumsum(axis=2),
            )
        )
    return SimpleNamespace(gin=found[0], conditional=found[1])


def of_digits(compare):
    """What is said of made-up flows, with fewer draws for the interval of a correlation."""
    usual, digit_flows.N_DRAWS = digit_flows.N_DRAWS, 20
    try:
        return [said(compare(flows(seed), None)) for seed in SEEDS]
    finally:
        digit_flows.N_DRAWS = usual


def image_flow(rng, problem=""):
    """A flow of 32 latents."""
    information = rng.uniform(size=(32, 32))
    np.fill_diagonal(information, np.nan)
    entropies = rng.normal(size=32) - np.arange(32) / 8
    none = np.empty(0)
    return MeasuredFlow(problem, rng.uniform(), entropies, information, rng.uniform(1, 60), none, none, none, none)


def two_kinds(seed):
    """Three seeds of both kinds, one of which diverged where the seed is 2."""
    rng = np.random.default_rng(seed)
    first, second = (
        tuple(image_flow(rng, "It diverged." if seed == 2 and k == 1 else "") for k in range(3)) for _ in range(2)
    )
    return wavelet_flows.TwoKinds("one", "other", first, second, (slice(0, 2), slice(2, 8), slice(8, 32)))


def cores(seed):
    """Flows with three cores, some of which diverged."""
    rng = np.random.default_rng(seed)
    return [
        core_flows.CoreFlows(
            core, tuple(image_flow(rng, "It diverged." if core - 2 < k < seed else "") for k in range(3))
        )
        for core in (2, 4, 8)
    ]


def spectra(seed):
    """Spectra that fall with beta, and published ones."""
    rng = np.random.default_rng(seed)

    def one(shift):
        entropies = rng.normal(size=6) - np.arange(6) * (1 + seed) / 2 - shift
        return Spectrum(tuple("abcdef"), entropies, 0 * entropies, np.cumsum(entropies), rng.uniform(1, 2), entropies)

    trained = {beta: one(k * seed) for k, beta in enumerate((0.1, 1.0, 10.0, 20.0))}
    return vae_spectra.VAESpectra(trained, {"mnist": {"VAE": one(0.0), "FactorVAE": one(1.0)}})


def torus(seed):
    """Pictures of a flow that is nearly right."""
    rng = np.random.default_rng(seed)
    deviations = torus_pictures.Torus().deviations
    angles, radii = (rng.normal(size=(400, 10)) * part * (1 + 0.1 * seed) for part in np.split(deviations, 2))
    generated = np.stack([(5 + radii) * np.cos(angles), (5 + radii) * np.sin(angles)], axis=2)
    turn = np.linspace(-1, 1, 21)
    lines = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    grids = {
        0: (np.stack([lines, (1 + 0.03 * seed * turn)[:, None] * lines]), np.stack([lines * 0 + [1, 0.01 * seed]] * 2))
    }
    return torus_pictures.TorusPictures(np.eye(20) * 0.95 + 0.05 * rng.uniform(size=(20, 20)), generated, grids)


def of_torus(seed):
    """All that is said of them."""
    found = torus(seed)
    pearson = [torus_pictures.compare_pearson(letter, found, list(range(20))) for letter in "ab"]
    return said([*pearson, *torus_pictures.compare_generated(found, None), *torus_pictures.compare_grids(found, None)])


def decomposed(seed):
    """Scores and bounds of three models."""
    rng = np.random.default_rng(seed)
    names = ("FactorVAE", "beta-VAE", "beta-TCVAE")
    size = 0.02 if seed == 1 else 1.0
    return {
        name: Decomposed(
            {"MIG": rng.uniform(), "UniBound": size * rng.uniform()},
            {100: rng.uniform()},
            {part: tuple(np.sort(rng.uniform(size=2))) for part in ("unique", "redundant", "synergistic")},
            100,
            "random rows",
            {},
            {"UniBound": 0.1 * rng.uniform()},
        )
        for name in names
    }


def attacked(seed):
    """Scores under attack."""
    rng = np.random.default_rng(seed)
    names = ("MIG", "UniBound", "BetaVAE", "FactorVAE", "error of UniBound")

    def scores():
        return {name: (0.5 + (0.02 + 0.2 * (seed == 1)) * rng.normal(size=3)).tolist() for name in names}

    made = [scores() for _ in range(4)]
    made[0]["error of UniBound"] = [0.01 + 0.3 * (seed == 2)] * 3
    return {"beta-VAE": Attacked((0.0, 1.0, 2.0), *made)}


def digest(items):
    """The number of items, and a digest of them."""
    items = list(items)
    return [len(items), hashlib.blake2b(repr(items).encode(), digest_size=6).hexdigest()]


CASES = {
    f"001, {name}": partial(
        lambda name, make: [said(getattr(of_001, f"compare_{name}")(found, None)) for found in by_model(make)],
        name,
        make,
    )
    for name, make in OF_001.items()
}
CASES |= {
    f"001, {compare.__name__} over seeds": partial(lambda c: [said(c(settings(seed), None)) for seed in SEEDS], compare)
    for compare in (
        seed_studies.compare_information,
        seed_studies.compare_separation,
        seed_studies.compare_latents,
    )
}
CASES |= {
    "001, gaps over seeds": lambda: said(seed_studies.compare_gaps(settings(2), None)),
    "001, dci over seeds": lambda: said(seed_studies.compare_dci("JEMMIG", settings(1), None)),
    "004, accuracy": lambda: [said(of_004.compare_accuracy(correlated(seed), None)) for seed in SEEDS],
    "004, robustness": lambda: [said(of_004.compare_robustness(correlated(seed), None)) for seed in SEEDS],
    "004, settings": lambda: [said(of_004.compare_settings(130, correlated(seed), None)) for seed in SEEDS],
    "004, times": lambda: [said([toy_experiments.faster_than_rivals(timed(seed))]) for seed in SEEDS],
}
CASES |= {
    f"000, {compare.__name__}": partial(of_digits, compare)
    for compare in (
        digit_flows.compare_gin,
        digit_flows.compare_spectra,
        digit_flows.compare_tangents,
        digit_flows.compare_traversals,
    )
}
MADE_UP = {
    "000, wavelet": (wavelet_flows.compare_wavelet, two_kinds),
    "000, convolutional": (wavelet_flows.compare_convolutional, two_kinds),
    "000, cores": (core_flows.compare_core, cores),
    "000, information of cores": (core_flows.compare_information, cores),
    "000, spectra over beta": (vae_spectra.compare, spectra),
    "000, totals over beta": (vae_spectra.compare_totals, spectra),
    "002, scores": (of_002.compare_scores, decomposed),
    "002, parts": (of_002.compare_parts, decomposed),
    "002, attacks": (of_002.compare_attacks, attacked),
}
CASES |= {
    name: partial(lambda compare, make: [said(compare(make(seed), None)) for seed in SEEDS], compare, make)
    for name, (compare, make) in MADE_UP.items()
}
CASES |= {"000, torus": lambda: [of_torus(seed) for seed in SEEDS]}
CASES |= {
    "003, cells of sweeps": lambda: {
        name: digest(setting.key for setting in settings()) for name, (_, settings) in _DECLARED.items()
    },
    "003, cells of figures": lambda: {
        name: [digest(setting.key for setting in part.settings) for part in figure.parts]
        for name, figure in FIGURES.items()
    },
}
