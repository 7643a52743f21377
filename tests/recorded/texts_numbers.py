"""What LaTeX, summaries, sweeps and commands show of fixed numbers."""

import sys
from functools import partial
from io import StringIO
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console

import unweave
from unweave.card.explain import explained
from unweave.cli import main
from unweave.sweeps import grid, summary
from unweave.sweeps.sweep import content_of, printed
from unweave.synthetic.encoders import Kept, Mixed
from unweave.synthetic.worlds import Correlated

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from fake_evaluations import fake_evaluation

FAKES = {
    "one": partial(fake_evaluation),
    "doubted": partial(fake_evaluation, trusted=False),
    "three": partial(fake_evaluation, ["a", "b", "c"]),
    "large": partial(fake_evaluation, n_factors=30, n_codes=60),
}
TABLE = pl.DataFrame(
    {
        "world.rho": [0.0, 0.0, 0.0, 0.5, 0.5, 0.5],
        "seed": [0, 1, 2, 0, 1, 2],
        "metric": ["mcc"] * 6,
        "value": [0.4, 0.6, 0.9, float("nan"), float("nan"), 0.5],
        "raw": [0.4, 0.6, 0.9, 0.0, 0.0, 0.5],
        "problem": [None, None, None, "It failed.", "It failed.", None],
    }
)
RNG = np.random.default_rng(9)
FACTORS = RNG.normal(size=(80, 3))


@unweave.metric(
    measures="nearness", equivalence="affine", min_rows=12, chance=0.1, cost="little", reference="ours",
    fails_when="it is asked too often, which a long sentence says in so many words that they fill two lines",
    order_tolerance=0.02, identity_tolerance=0.1,
)  # fmt: skip
def nearness(evidence, *, power: float = 2.0):
    """How near it is."""
    return unweave.Score(0.5**power)


@unweave.metric(
    measures="distance", equivalence="any", min_rows=3, chance="by permutation", cost="none", reference="ours",
    fails_when="never", bounds=(0.0, float("inf")), best=0.0, needs=("factors", "codes", "nuisances"),
)  # fmt: skip
def distance(evidence):
    """How far it is."""
    return unweave.Score(1.0)


def without_sentences(value):
    """Data without the longer texts, which may be put into other words."""
    if isinstance(value, dict):
        return {key: without_sentences(each) for key, each in value.items() if key != "versions"}
    if isinstance(value, (list, tuple)):
        return [without_sentences(each) for each in value]
    return None if isinstance(value, str) and len(value) > 30 else value


def tables_of(page):
    """The tables of a page in Markdown, without the sentences in their cells."""
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("|")]
    return [[cell if len(cell) <= 30 else "..." for cell in row] for row in rows]


def on_terminal(thing, width=100):
    """Lines as they are printed."""
    buffer = StringIO()
    Console(file=buffer, width=width).print(thing, crop=False)
    return [line.rstrip() for line in buffer.getvalue().splitlines()]


def commands():
    """Options of every command and their defaults."""
    return {
        name: {
            option.name: (
                option.opts,
                option.default if isinstance(option.default, (int, float, str)) else None,
                option.required,
                option.nargs,
            )
            for option in command.params
        }
        for name, command in main.commands.items()
    }


def cells():
    """A grid of a sweep."""
    found = grid(
        "small",
        worlds=[Correlated(3, 0.5)],
        encoders=[Mixed(), Kept((0,))],
        metrics=["mcc", "r2:n_folds=3"],
        n_rows=[50, 90],
        seeds=2,
    )
    return [(cell.columns, list(cell.metric_by_label)) for cell in found.cells]


def quickly(codes, **options):
    """Rows of an evaluation without its checks."""
    found = unweave.evaluate(FACTORS, codes, metrics=["mcc", "r2", "mig", "modularity"], quick=True, **options)
    return [(row.label, row.representation, row.seed, row.score.raw, row.measures) for row in found.rows]


CASES = {f"{name}, LaTeX": partial(lambda m: m().to_latex().splitlines(), make) for name, make in FAKES.items()}
CASES |= {
    f"{name}, summary": partial(lambda make: without_sentences(make().to_summary()), FAKES[name])
    for name in ("one", "three")
}
CASES |= {
    f"{name}, tables in Markdown": partial(lambda make: tables_of(make().to_markdown()), FAKES[name])
    for name in ("one", "doubted", "three", "large")
}
CASES |= {
    "options of commands": commands,
    "means of a sweep": lambda: summary(TABLE).rows(),
    "a sweep on the terminal": lambda: on_terminal(printed(TABLE)),
    "cells of a sweep": cells,
    "content of a world": lambda: content_of(Correlated(3, 0.5)),
    "explained": lambda: [explained(metric).splitlines() for metric in (nearness, distance)],
    "an evaluation": partial(quickly, FACTORS + 0.2),
    "an evaluation of two seeds": partial(quickly, FACTORS**3, seeds=[0, 1]),
}
