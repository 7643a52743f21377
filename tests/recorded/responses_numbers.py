"""What codes respond to, and which factors follow from others, on small worlds."""

from functools import partial

import numpy as np

from unweave import Evidence
from unweave.responses.constraints import factor_constraints
from unweave.responses.factor_bases import (
    any_lumps,
    code_scores,
    collapsed_codes,
    factor_bases,
    factor_view,
    live_codes,
    narrow_codes,
)
from unweave.responses.responses import distinct_factors, responses_to_factors
from unweave.synthetic import worlds

RNG = np.random.default_rng(4)
N = 120
FREE = RNG.normal(size=(N, 3))
NOISE = RNG.normal(size=(N, 3))
KINDS = {"shape": "categorical", "level": "ordinal", "turn": "circular:2"}
DATA = {
    "alone": Evidence(FREE, FREE**3 + 0.1 * NOISE),
    "mixed": Evidence(FREE, np.column_stack([FREE @ [1, 1, 0], FREE[:, 1] * FREE[:, 2], FREE[:, 0] + NOISE[:, 0]])),
    "kinds": Evidence(
        {"shape": np.digitize(FREE[:, 0], [-0.5, 0.5]), "level": np.round(FREE[:, 1]), "turn": np.mod(FREE[:, 2], 2)},
        np.column_stack([FREE[:, 0] > 0, FREE[:, 1], np.sin(np.pi * FREE[:, 2]), np.zeros(N)]) + 0.0,
        kinds=KINDS,
    ),
    "lumps": Evidence(np.maximum(FREE, 0), np.maximum(FREE, 0) + 0.01 * NOISE),
    "few levels": Evidence(np.column_stack([FREE[:, 0] > 0, np.clip(np.round(FREE[:, 1]), -1, 1), FREE[:, 2]]), FREE),
    "narrow": Evidence(FREE, FREE * [1.0, 1e-3, 1e-5]),
    "product": Evidence(worlds.TwoFactorConstraint(4).sample(N, rng=2), FREE),
    "cube": Evidence(worlds.OneFactorConstraint(4).sample(N, rng=2), FREE),
    "sines": Evidence(worlds.OneFactorConstraint(4, ("sine", "absolute")).sample(N, rng=2), FREE),
    "circuit": Evidence(worlds.Circuit().sample(N, rng=2), FREE),
    "levels": Evidence(worlds.Levelled(3, 1).sample(N, rng=2), FREE),
}


def responded(name):
    """Models and factors of every code."""
    return {"responses": vars(responses_to_factors(DATA[name], 5, 0))}


def constrained(name):
    """Constraints, and the factors that are free."""
    found = factor_constraints(DATA[name])
    names = DATA[name].factor_names
    return [
        found.constraints,
        found.determined,
        found.free(names),
        found.alike(names),
        vars(distinct_factors(DATA[name])),
    ]


def viewed(name):
    """Bases, views and what codes look like."""
    evidence = DATA[name]
    views = [factor_view(evidence, j) for j in range(evidence.n_factors)]
    return {
        "bases": [vars(each) for each in factor_bases(evidence)],
        "views": [vars(view) | {"n_values": view.n_values} for view in views],
        "codes": (code_scores(evidence), live_codes(evidence), any_lumps(evidence)),
        "collapsed": (collapsed_codes(evidence), narrow_codes(evidence)),
    }


CASES = {f"responses, {name}": partial(responded, name) for name in ("alone", "mixed", "kinds", "lumps")}
CASES |= {f"constraints, {name}": partial(constrained, name) for name in DATA}
CASES |= {
    f"views, {name}": partial(viewed, name) for name in ("alone", "kinds", "lumps", "narrow", "levels", "few levels")
}
