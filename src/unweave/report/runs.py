"""Figures of a folder of trained models, and the table that compares the models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.words.phrases import counted

if TYPE_CHECKING:
    from unweave.datasets import DataSet
    from unweave.models import TrainedModel
    from unweave.models.runs.comparison import RunComparison

N_IMAGES = 12
MOST_MODELS = 16  # largest number of models in the figure of reconstructions
HEADINGS = {"active_codes": "active", "reconstruction": "recon.", "kl": "KL"}


def draw_runs(folder: Path, models: Sequence[TrainedModel], dataset: DataSet) -> Iterator[Path]:
    """Write figures of loss curves, reconstructions and the traversals of each model, and yield their paths."""
    from unweave.models.runs.pictures import loss_curves, reconstructions, traversals
    from unweave.report.figures.geometry import save
    from unweave.report.figures.training import loss_figure, reconstruction_figure, traversal_figure

    trained = [model for model in models if model.network is not None]
    curves = loss_curves(models)
    if curves:
        yield save(loss_figure(curves), folder / "losses.png")
    images = dataset.sample(500, 0).images
    made = reconstructions(trained[:MOST_MODELS], images[:N_IMAGES])
    if made:
        yield save(reconstruction_figure(images[:N_IMAGES], made), folder / "reconstructions.png")
    for model in trained:
        rows = traversals(model, images)
        yield save(traversal_figure(rows, model.name), folder / model.name / "traversals.png")


def runs_table(found: RunComparison) -> Any:
    """Return a table with one row per model, grouped by setting, with mean and standard deviation over seeds.

    Settings that share a letter do not differ significantly.
    """
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("model", no_wrap=True)
    for column in found.columns:
        table.add_column(HEADINGS.get(column, column.replace("_", " ")), justify="right")
    for setting in found.settings:
        table.add_section()
        for row in found.of_setting(setting):
            cells = [_number(row.column(column), column) for column in found.columns]
            table.add_row(f"{setting} seed {row.seed}" + (f"  {row.problem}" if row.problem else ""), *cells)
        cells = [_spread(found, setting, column) for column in found.columns]
        table.add_row(f"  {counted(len(found.of_setting(setting)), 'seed')}", *cells, style="bold")
    return table


def _spread(found: RunComparison, setting: str, column: str) -> str:
    spread, letters = found.spread(setting, column), found.letters.get(column, {}).get(setting, "")
    if spread.n_seeds < 2:
        return _number(spread.mean, column)
    return f"{_number(spread.mean, column)} ± {_number(spread.std, column)} {letters}".rstrip()


def _number(value: float, column: str) -> str:
    if value != value:
        return "-"
    text = f"{value:.1f}" if column in HEADINGS else f"{value:.3f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) and column not in HEADINGS else text
