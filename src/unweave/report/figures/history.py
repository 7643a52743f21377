"""A figure of the scores during a training run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from unweave.report.figures.drawing import blank_figure, colour_of, quiet

Ends = tuple[float, float]


def history_figure(
    steps: Sequence[int],
    curves: Mapping[str, Sequence[float]],
    floors: Mapping[str, float] | None = None,
    intervals: Mapping[str, Ends] | None = None,
) -> Figure:
    """Return one line per metric, a dotted line for its noise floor, and a bar for the interval at the last step.

    >>> figure = history_figure([1, 2, 3], {"mcc": [0.2, 0.6, 0.9]}, {"mcc": 0.1}, {"mcc": (0.85, 0.95)})
    >>> len(figure.axes[0].lines)
    3
    """
    figure, axes = blank_figure(6.4, 3.6)
    for place, (label, values) in enumerate(curves.items()):
        colour = colour_of(place)
        axes.plot(steps, values, color=colour, marker="o", markersize=3.5, linewidth=1.6, label=label)
        if floors and label in floors:
            axes.axhline(floors[label], color=colour, linestyle=":", linewidth=1)
        if intervals and label in intervals:
            axes.plot([steps[-1]] * 2, intervals[label], color=colour, linewidth=4, alpha=0.35, solid_capstyle="butt")
    quiet(axes)
    axes.set_xlabel("step")
    axes.set_ylabel("score")
    if curves:
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
