"""Table 1 of 001, the properties of metrics, derived from the cards of our metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from unweave.card import Card
from unweave.evidence import FactorKind
from unweave.metrics import CATALOGUE
from unweave.papers.experiment import ClaimCheck, Experiment, Options
from unweave.whole_files import write_whole

YES, NO = "✓", "✗"
COLUMNS = ("no classifier", "nonlinear", "uses q(z|x)", "continuous factors", "real data")
# our name of a metric, the paper's name, and the paper's marks; ~ means with forests but not with a lasso
TABLE_1 = {
    "beta_vae_score": ("Z-diff", "✗✗✗✗✗"),
    "sap": ("SAP", "✗✗✗✓✓"),
    "mig": ("MIG", "✓✓✓✗✗"),
    "dci_disentanglement": ("Disentanglement", "✗~✗✗✗"),
    "dci_completeness": ("Completeness", "✗~✗✗✗"),
    "dci_informativeness": ("Informativeness", "✗~✗✗✗"),
    "modularity": ("Modularity", "✓✓✗✓✗"),
    "explicitness": ("Explicitness", "✗✗✗✗✗"),
    "wsepin": ("WSEPIN", "✓✓✓✓✓"),
    "windin": ("WINDIN", "✓✓✓✓✓"),
    "rmig": ("RMIG", "✓✓✓✓✓"),
    "jemmig": ("JEMMIG", "✓✓✓✓✓"),
}
FITTED = ("probe", "classifier", "regression", "logistic")  # words in a card's cost that refer to a fitted model


@dataclass(frozen=True)
class MetricProperties:
    """A metric's marks, one for each of `COLUMNS`, and the text of its card on which each mark is based."""

    marks: tuple[str, ...]
    said: tuple[str, ...]


def properties_of(card: Card) -> MetricProperties:
    """Return the marks that follow from a metric's card.

    A metric captures nonlinear relations if, by its card, it scores 1 for elementwise nonlinear functions of the
    factors. It can be used on real data if it needs no samples from a simulator; every metric here only needs rows.
    """
    fits = any(word in card.cost for word in FITTED)
    bent = card.equivalence not in ("permutation and scale", "affine")
    tables = (
        "p(y | x) as a table" if card.takes_factor_tables else "labels" if "factors" in card.needs else "no factors"
    )
    answers = {
        card.cost: not fits,
        f"scores 1 up to {card.equivalence}": bent,
        f"needs {' and '.join(card.needs)}": "posterior" in card.needs,
        ", ".join(sorted(kind.value for kind in card.factor_kinds)): FactorKind.CONTINUOUS in card.factor_kinds,
        tables: "sampler" not in card.needs,
    }
    return MetricProperties(tuple(YES if answer else NO for answer in answers.values()), tuple(answers))


def compute(options: Options) -> dict[str, MetricProperties]:
    """Return the properties of every metric of the table."""
    return {name: properties_of(CATALOGUE[name].card) for name in TABLE_1}


def compare(found: Mapping[str, MetricProperties], options: Options) -> Iterator[ClaimCheck]:
    """Compare every mark with the paper's; there is no verdict if our metric can do more than the paper's code."""
    for name, properties in found.items():
        title, theirs = TABLE_1[name]
        for column, ours, said, of_paper in zip(COLUMNS, properties.marks, properties.said, theirs, strict=True):
            agree = None if (ours, of_paper) == (YES, NO) else ours == of_paper
            yield ClaimCheck(f"{title}: {column}", of_paper, f"{ours} {said}", agree, in_part=of_paper == "~")


def write(found: Mapping[str, MetricProperties], options: Options) -> Iterator[Path]:
    """Write the marks as a table."""
    lines = [f"metric,{','.join(COLUMNS)}"]
    lines += [f"{name},{','.join(properties.marks)}" for name, properties in found.items()]
    path = options.folder / "001-tab1.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(lines) + "\n"
    write_whole(path, lambda stream: stream.write(text.encode()))
    yield path


def draw(found: Mapping[str, MetricProperties], options: Options) -> Iterator[Path]:
    """Draw our marks beside the paper's."""
    from unweave.report.figures.curves import save
    from unweave.report.figures.mark_table import mark_table_figure

    rows = {TABLE_1[name][0]: list(zip(found[name].marks, TABLE_1[name][1], strict=True)) for name in found}
    drawn = mark_table_figure(rows, COLUMNS, title="by the cards (in the paper)")
    yield save(drawn, options.folder / "001-tab1.png")


TABLE = Experiment("tab1", "Properties of metrics, by our cards", compute, compare, write=write, draw=draw, options=())
