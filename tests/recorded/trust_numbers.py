"""Diagnoses, noise floors, intervals, comparisons and counterparts of small data."""

from functools import partial

import numpy as np

from unweave import Evidence
from unweave.metrics import mcc, mig, r2
from unweave.responses.factor_bases import factor_view
from unweave.synthetic import encoders, worlds
from unweave.trust import compared, diagnose, interval, noise_floor, samples_needed, verdicts
from unweave.trust.budget import Work, draw_plan
from unweave.trust.code_models import JOINT_MODELS, alike_pairs, code_models, factor_design
from unweave.trust.counterpart import Counterpart
from unweave.trust.data_health import _models, unexplained_shares
from unweave.trust.row_order import block_length, notes_on_order, row_order

RNG = np.random.default_rng(11)
FACTORS = RNG.normal(size=(150, 3))
NOISE = RNG.normal(size=(150, 3))
SERIES = np.cumsum(RNG.normal(size=(150, 2)), axis=0)
CLASSES = {"shape": np.digitize(FACTORS[:, 0], [-0.5, 1.2]), "size": FACTORS[:, 1], "rare": FACTORS[:, 2] > 1.9}
DATA = {
    "clean": Evidence(FACTORS, FACTORS + 0.2 * NOISE),
    "mixed": Evidence(FACTORS, FACTORS @ RNG.normal(size=(3, 5)) + 0.1 * RNG.normal(size=(150, 5))),
    "correlated": Evidence(FACTORS @ [[1, 0.8, 0], [0, 0.6, 0], [0, 0, 1]], FACTORS),
    "bent": Evidence(np.column_stack([FACTORS, FACTORS[:, 0] ** 2 + 0.5 * NOISE[:, 0]]), FACTORS + 0.1 * NOISE),
    "constrained": Evidence(np.column_stack([FACTORS[:, :2], FACTORS[:, 0] * FACTORS[:, 1]]), FACTORS),
    "copied": Evidence(FACTORS, np.column_stack([FACTORS, -2 * FACTORS[:, :2], np.ones(150), 5 * NOISE[:, 0]])),
    "classes": Evidence(CLASSES, FACTORS + 0.3 * NOISE, kinds={"shape": "categorical", "rare": "categorical"}),
    "noise": Evidence(FACTORS, NOISE, nuisances=NOISE[:, :1]),
    "groups": Evidence(np.repeat(FACTORS[:50], 3, axis=0), FACTORS, row_groups=np.repeat(np.arange(50), 3)),
    "heavy tails": Evidence(FACTORS, np.sinh(3 * FACTORS)),
    "series": Evidence(SERIES, SERIES + NOISE[:, :2]),
    "circuit": Evidence((rows := worlds.Circuit().sample(150, rng=3)), encoders.Mixed().encode(rows, rng=1)),
}
TURN = np.random.default_rng(12).uniform(0, 360, 150)
DEAL = np.random.default_rng(13).integers(0, 3, 150)
SPLIT = np.random.default_rng(14).normal(size=150)
THREE = FACTORS[:, :1] + np.random.default_rng(15).normal(size=(150, 3)) * [0.0, 0.1, 0.2]
ONE, APART, REST = np.random.default_rng(3).normal(size=(3, 500))
MIXTURES = FACTORS[:, :2] @ [np.cos(np.arange(0.2, 3.2, 0.4)), np.sin(np.arange(0.2, 3.2, 0.4))]
# data of which only the models of the codes are of interest
MODELLED = DATA | {
    "angles": Evidence(
        {"turn": TURN, "shape": DEAL, "size": FACTORS[:, 0]},
        np.column_stack(
            [np.cos(np.radians(TURN)), np.sin(np.radians(TURN)), DEAL == 1, DEAL == 2, FACTORS[:, 0], NOISE]
        ),
        kinds={"turn": "circular:360", "shape": "categorical"},
    ),
    "angles with noise": Evidence(
        {"turn": TURN, "shape": DEAL, "size": FACTORS[:, 0]},
        np.column_stack([np.cos(np.radians(TURN)), DEAL, FACTORS[:, 0] ** 2, FACTORS[:, 0]]) + 0.3 * SPLIT[:, None],
        kinds={"turn": "circular:360", "shape": "categorical"},
    ),
    "alike": Evidence(
        {"x": ONE, "y": ONE + 0.03 * APART}, np.column_stack([2 * ONE + 0.03 * APART + 0.5 * REST, REST])
    ),
    "three alike": Evidence(
        THREE, np.column_stack([THREE, THREE[:, :2] @ [1, 1], THREE @ [1, 1, 1] + 0.3 * SPLIT, SPLIT])
    ),
    "mixtures": Evidence(FACTORS[:, :2], MIXTURES),
    "halves of factors": Evidence(
        FACTORS[:, :2], np.column_stack([np.maximum(FACTORS, 0), np.minimum(FACTORS, 0)])[:, [0, 1, 3, 4]]
    ),
    "half known": Evidence(FACTORS, np.column_stack([FACTORS[:, :1] + 0.2 * NOISE, FACTORS[:, 1:] @ NOISE[:2, :5]])),
}


def diagnosed(name):
    """The whole record, its sentences, and what follows from it."""
    found = diagnose(DATA[name])
    derived = (
        found.codes_per_row,
        found.codes_per_factor,
        found.chance_correlation,
        found.redundant_factors,
        found.n_live_codes,
        found.n_distinct_codes,
        found.duplicated_share,
        found.nuisance_share,
    )
    return {"record": found.to_dict(), "derived": derived, "sentences": found.sentences()}


def floored(metric, name, **options):
    """A noise floor without its finding."""
    found = noise_floor(metric, DATA[name], n_draws=9, **options)
    return [found.floor, found.p_value, found.resolution, found.draws]


def between(metric, name, level=0.95):
    """Ends and error of an interval."""
    found = interval(metric, DATA[name], n_parts=8, level=level)
    return [found.lower, found.upper, found.standard_error, found.clipped]


def ranked(metric):
    """Letters, differences and samples needed."""
    found = compared(metric, {name: DATA[name] for name in ("clean", "mixed", "noise")}, n_parts=8)
    plans = [samples_needed(found), samples_needed(found, difference=0.01), samples_needed(found, power=0.9)]
    return [found.letters, found.scores, found.ties, [vars(each) for each in found.differences], plans]


def elsewhere(name, same_rows=True, **options):
    """A drawn counterpart."""
    found = Counterpart.of(MODELLED[name])
    drawn = found.sample(0, same_rows=same_rows, **options)
    told = {code: vars(teller) for code, teller in found.tellers.items()}
    return {"factors": drawn.factors, "codes": drawn.codes, "told": found.each_factor_told, "tellers": told}


def modelled(name):
    """The models of the codes, and which factors are followed."""
    evidence = MODELLED[name]
    found = code_models(evidence)
    arrays = (found.owner, found.silent, found.model, found.of_codes, found.fitted, found.left, found.residuals)
    followed = [found.followed(j) for j in range(evidence.n_factors)]
    return [arrays, found.weights, followed]


def shared():
    """The models in which factors that are nearly equivalent share their codes, and a draw."""
    counterpart = Counterpart.of(MODELLED["alike"], seed=1)  # with some seeds no model of both is as good
    found, drawn = counterpart.shared.responses, counterpart.shared.sample(0, same_codes=True)
    arrays = (found.owner, found.model, found.of_codes, found.residuals)
    return [arrays, found.weights, alike_pairs(found.designs), drawn.codes, counterpart.redundant_codes()]


def functions(n_rows):
    """Functions of factors of all kinds."""
    rows = MODELLED["angles"].rows(np.arange(n_rows) % 150)
    designs = [factor_design(rows, j) for j in range(3)]
    return [[vars(design) for design in designs], [model.columns(designs) for model in JOINT_MODELS]]


def judged(metric, name):
    """A verdict and the quantities of its reasons."""
    floor = noise_floor(metric, DATA[name], n_draws=5)
    found = verdicts({"it": metric}, {"it": metric(DATA[name])}, DATA[name], diagnose(DATA[name]), {"it": floor})["it"]
    reasons = [(each.finding.kind, dict(each.finding.quantities), each.measured) for each in found.reasons]
    return [found.level, found.elsewhere, reasons]


def explained(name, n_factors):
    """Kernels and ridges of the models of codes, and what these leave open."""
    views = [factor_view(MODELLED[name], j) for j in range(n_factors)]
    kernels = list(_models([view.inputs for view in views]))
    return [kernels, unexplained_shares(views, np.column_stack([MODELLED[name].codes, REST[:150]]))]


def planned(n_rows, budget):
    """What metrics of three prices get."""
    prices = (("cheap", 1e-7), ("middling", 1e-4), ("dear", 1e-3))
    works = {name: Work(name, {"n": seconds}) for name, seconds in prices}
    return vars(draw_plan(works, Evidence(np.ones((n_rows, 5)), np.ones((n_rows, 10)), kinds="continuous"), budget))


def ordered(name):
    """How rows follow each other."""
    found = row_order(DATA[name])
    return [vars(found), found.untestable, block_length(DATA[name]), [str(note) for note in notes_on_order(DATA[name])]]


CASES = {f"diagnosis of {name}": partial(diagnosed, name) for name in DATA}
CASES |= {
    f"noise floor of {metric.__name__}, {name}": partial(floored, metric, name)
    for metric in (mcc, mig, r2)
    for name in ("clean", "noise", "groups", "series")
}
CASES |= {f"interval of {m.__name__}, {name}": partial(between, m, name) for m in (mcc, r2) for name in DATA}
CASES |= {"interval of mcc at 80 %": partial(between, mcc, "mixed", 0.8), "comparison by mcc": partial(ranked, mcc)}
CASES |= {f"counterpart of {name}": partial(elsewhere, name) for name in ("clean", "mixed", "classes", "copied")}
CASES |= {
    f"counterpart of {name}, all codes": partial(elsewhere, name, same_codes=True) for name in ("mixed", "classes")
}
CASES |= {
    f"counterpart of {name}, more rows": partial(elsewhere, name, False)
    for name in ("clean", "classes", "copied", "bent", "heavy tails", *list(MODELLED)[len(DATA) :])
}
CASES |= {f"counterpart of {name}, here": partial(elsewhere, name, where="here") for name in ("mixed", "half known")}
CASES |= {"counterpart of alike, shared": shared}
CASES |= {
    f"explained codes of {name}, {n} factors": partial(explained, name, n)
    for name, n in (("clean", 1), ("mixed", 2), ("mixed", 3), ("angles with noise", 3), ("classes", 3))
}
CASES |= {f"functions of factors, {n} rows": partial(functions, n) for n in (59, 60, 200, 450)}
CASES |= {f"plan of {n} rows, {s} s": partial(planned, n, s) for n in (100, 20_000) for s in (0.5, 5, 30, 300)}
CASES |= {
    f"models of {name}": partial(modelled, name)
    for name in ("mixed", "classes", "bent", "copied", "angles", "alike", "three alike")
}
CASES |= {
    f"verdict on {m.__name__}, {name}": partial(judged, m, name)
    for m, name in (
        (mcc, "correlated"),
        (mig, "copied"),
        (mig, "bent"),
        (r2, "constrained"),
        (mcc, "noise"),
        (r2, "series"),
    )
}
CASES |= {f"order of {name}": partial(ordered, name) for name in ("clean", "groups", "series")}
