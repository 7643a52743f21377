"""Pictures of docs/real-encoders.md, from the stored tables."""

from __future__ import annotations

import csv

import matplotlib
import numpy as np

from studies.real_encoders import cells, scoring
from studies.real_encoders.encoders import ENCODERS
from studies.real_encoders.sources import SOURCES

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {
    "one code": "#08519c",
    "own codes": "#3182bd",
    "own direction": "#74add1",
    "readable": "#fdcc8a",
    "joint": "#c7b3d9",
    "folded": "#e3d4ec",
    "absent": "#eeeeee",
    "implied": "#d9d9d9",
}
FOLDER = cells.HERE.parents[1] / "docs" / "images"


def read(name):
    """A table of the results, numbers as numbers."""

    def number(text):
        try:
            return float(text)
        except ValueError:
            return text

    with (cells.RESULTS / f"{name}.csv").open(encoding="utf-8") as file:
        return [{key: number(value) for key, value in row.items()} for row in csv.DictReader(file)]


def overview():
    """Factor x encoder x rung, with independent factors; a cross where setting the factors contradicts the rung."""
    ladders = {(r["encoder"], r["layer"], r["factor"]): r for r in read("ladders") if plain(r)}
    truths = {(r["encoder"], r["layer"], r["factor"]): r for r in read("truths") if r["derived"] == ""}
    names = sorted(ENCODERS, key=lambda name: list(SOURCES).index(ENCODERS[name].source))
    figure, axes = plt.subplots(figsize=(11, 12.5))
    top, labels = 0.0, []
    previous = ""
    for name in names:
        source = ENCODERS[name].source
        top += 0.7 if source != previous and previous else 0.15
        previous = source
        for layer in ENCODERS[name].layers:
            labels.append((top, f"{name}, {layer}"))
            for j, factor in enumerate(SOURCES[source].factors):
                row = ladders.get((name, layer, factor.name))
                if row is None:
                    continue
                axes.add_patch(plt.Rectangle((j, top), 0.96, 0.9, color=COLOURS[row["rung"]], lw=0))
                dark = row["rung"] in ("one code", "own codes")
                found = row["rung"] in ("one code", "own codes", "own direction", "readable")
                text = f"{factor.name} {row['readable']:.2f}" if found else factor.name
                axes.text(j + 0.04, top + 0.45, text, va="center", fontsize=7.5, color="white" if dark else "black")
                if row["rung"] not in scoring.acceptable_rungs(truths[name, layer, factor.name]):
                    axes.text(
                        j + 0.93, top + 0.45, "x", va="center", ha="right", fontsize=9, color="#b2182b", weight="bold"
                    )
            top += 0.95
    axes.set_xlim(0, 7)
    axes.set_ylim(top + 0.1, -0.2)
    axes.set_yticks([at + 0.45 for at, _ in labels], [label for _, label in labels], fontsize=8)
    axes.set_xticks([])
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    used = [rung for rung in COLOURS if any(r["rung"] == rung for r in ladders.values())]
    handles = [plt.Rectangle((0, 0), 1, 1, color=COLOURS[rung]) for rung in used]
    axes.legend(
        handles, used, ncols=len(used), loc="upper center", bbox_to_anchor=(0.45, 1.035), frameon=False, fontsize=8
    )
    figure.savefig(FOLDER / "real-encoders.png", dpi=130, bbox_inches="tight")
    plt.close(figure)


def plain(row):
    """Whether a row is of the codes as they are, with independent factors."""
    return row["derived"] == "" and row["dependence"] == "independent"


def agreement():
    """The ladder's numbers against what setting the factors gives."""
    ladders = read("ladders")
    truths = {(r["encoder"], r["layer"], r["derived"], r["factor"]): r for r in read("truths")}
    found = ("one code", "own codes", "own direction", "readable")
    figure, panels = plt.subplots(1, 4, figsize=(13, 3.5))
    views = (
        ("direction, independent rows", lambda r: r["dependence"] == "independent", "direction", "ridge"),
        ("direction, dependent rows", lambda r: r["dependence"] != "independent", "direction", "ridge"),
        ("plain ridge, dependent rows", lambda r: r["dependence"] != "independent", "plain", "ridge"),
        ("leakage, all rows", lambda r: r["rung"] in found, "leakage", "leakage_set"),
    )
    for axes, (title, wanted, ours, theirs) in zip(panels, views, strict=True):
        rows = [r for r in ladders if wanted(r) and r[ours] != ""]
        true = [
            max(r[theirs] if theirs in r else truths[r["encoder"], r["layer"], r["derived"], r["factor"]][theirs], 0)
            for r in rows
        ]
        stated = np.clip([r[ours] for r in rows], 0, 1)
        axes.plot([0, 1], [0, 1], color="#999999", lw=0.8)
        axes.scatter(true, stated, s=9, alpha=0.5, lw=0, color="#08519c")
        axes.set(title=title, xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal", xlabel="factors set by hand")
        axes.title.set_fontsize(9)
    panels[0].set_ylabel("stated")
    figure.tight_layout()
    figure.savefig(FOLDER / "real-encoders-agreement.png", dpi=130)
    plt.close(figure)


def draw():
    """All pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    overview()
    agreement()
