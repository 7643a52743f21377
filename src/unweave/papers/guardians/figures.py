"""Declarations of 003's figures: the cells that each figure shows, and its axes.

Figures are named by their number in the paper. If title and caption of a figure differ, the title is followed. Figure 5
and similar figures use the grid of 50 codes. ``fig5-text`` uses the older grid of 10 factors, whose numbers are quoted
in the text, and ``fig5-collapse`` uses the runs on which the claim 'm/n governs' is based.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from unweave.papers.guardians.declared_sweeps import SWEEPS
from unweave.papers.guardians.run_protocols import ALL, MAIN, SUITE
from unweave.papers.guardians.settings import Setting


@dataclass(frozen=True)
class Part:
    """Panels of one experiment.

    ``x``, ``y``, ``columns``, ``rows``, ``colour`` and ``style`` name attributes of a setting, or "metric". ``x`` and
    ``y`` are on the axes, ``columns`` and ``rows`` have a panel for each value, and the others are shown by colour and
    line style. ``where`` selects settings by the allowed values of their attributes.
    """

    experiment: str
    kind: Literal["lines", "bars", "map"]
    x: str
    metrics: tuple[str, ...] = MAIN
    y: str = ""
    columns: str = ""
    rows: str = ""
    colour: str = "metric"
    style: str = ""
    log: bool = False
    title: str = ""
    where: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Settings that the part shows."""
        return tuple(
            setting
            for setting in SWEEPS[self.experiment].settings
            if all(value_of(setting, name) in allowed for name, allowed in self.where.items())
        )


@dataclass(frozen=True)
class Figure:
    """A figure with one part of several panels, or several parts of one panel each."""

    name: str
    title: str
    parts: tuple[Part, ...]


def value_of(setting: Setting, name: str) -> Any:
    """Return an attribute of a setting, a ratio of two, or the strength of the coupling.

    >>> value_of(Setting("exp09_ratio", encoder="E7", m=10), "m/d")
    2.0
    """
    match name:
        case "m/d":
            return setting.m / setting.d
        case "m/n":
            return setting.m / setting.n
        case "d/n":
            return setting.d / setting.n
        case "coupling":
            return setting.rho if setting.alpha is None else setting.alpha
        case _:
            return getattr(setting, name)


def _one(name: str, title: str, part: Part) -> Figure:
    return Figure(name, title, (part,))


def _null(name: str, title: str, encoder: str, metrics: tuple[str, ...], sweep: str = "phase_fixed_m50") -> Figure:
    where = {"sweep": (sweep,), "encoder": (encoder,)}
    return _one(name, title, Part("exp15", "map", "m/n", metrics, y="m/d", columns="metric", where=where))


def _mixing(name: str, d: int, metrics: tuple[str, ...]) -> Figure:
    title = f"Correlation against mixing, D2 and E3, d = {d}"
    return _one(name, title, Part("exp04", "map", "rho", metrics, y="kappa", columns="metric", where={"d": (d,)}))


RATIO = {"sweep": ("ratio",)}
OVERCOMPLETE = ("E5", "E6", "E7", "E8")
DROPPED = {"sweep": ("6a",)}
DECLARED = [
    Figure(
        "fig1",
        "The four properties",
        (
            Part(
                "exp03",
                "lines",
                "rho",
                ("MCC-P", "DCI-D", "R2"),
                style="encoder",
                title="P1 correlation (d = 10)",
                where={"d": (10,)},
            ),
            Part("exp06", "lines", "m", title="P2 dropped factors (d = 10)", where={**DROPPED, "dgp": ("D1",)}),
            Part(
                "exp09",
                "lines",
                "m/d",
                ("MCC-P", "DCI-D", "R2"),
                style="encoder",
                log=True,
                title="P3 more codes (d = 5)",
                where={**RATIO, "encoder": ("E7", "E8")},
            ),
            Part(
                "exp15",
                "lines",
                "m/n",
                log=True,
                title="P4 noise (m = d = 50)",
                where={"sweep": ("phase_fixed_m50",), "encoder": ("E10",), "d": (50,)},
            ),
        ),
    ),
    _one("fig2", "Correlated factors", Part("exp03", "lines", "rho", columns="d", style="encoder")),
    _one(
        "fig3",
        "Dropped factors, d = 10",
        Part("exp06", "lines", "m", columns="dgp", where={**DROPPED, "dgp": ("D1", "D3")}),
    ),
    _one(
        "fig4",
        "More codes than factors, d = 5",
        Part("exp09", "lines", "m/d", columns="encoder", log=True, where={**RATIO, "encoder": OVERCOMPLETE}),
    ),
    _null("fig5", "Uniform noise, m = 50: every score above 0 is a false positive", "E10", MAIN),
    _null("fig5-text", "Uniform noise, d = 10: the grid that the text quotes", "E10", MAIN, "phase_june_fixed_d"),
    _one(
        "fig5-collapse",
        "Noise, d = 10: MCC over m/n for three numbers of codes",
        Part(
            "exp15",
            "lines",
            "m/n",
            ("MCC-P", "MCC-S"),
            columns="metric",
            rows="encoder",
            colour="m",
            log=True,
            where={"sweep": ("collapse",)},
        ),
    ),
    _mixing("fig6", 5, MAIN),
    _one("fig7", "Perfect encoders (E1)", Part("exp01", "bars", "dgp", columns="d")),
    _one("fig8", "Perfect encoders (E1), all metrics", Part("exp01", "bars", "dgp", SUITE, columns="d")),
    _one("fig9", "Elementwise nonlinearity (E2)", Part("exp02", "lines", "alpha", columns="fn", rows="d")),
    _one(
        "fig10",
        "Elementwise nonlinearity (E2), all metrics",
        Part("exp02", "lines", "alpha", SUITE, columns="fn", rows="d"),
    ),
    _one("fig11", "Number of rows, d = 5", Part("exp10", "lines", "n", columns="encoder", rows="dgp", log=True)),
    _one(
        "fig12",
        "Number of rows, d = 5, all metrics",
        Part("exp10", "lines", "n", SUITE, columns="encoder", rows="dgp", log=True),
    ),
    _mixing("fig13", 10, MAIN),
    _one("fig14", "Correlated factors, all metrics", Part("exp03", "lines", "rho", SUITE, columns="d", rows="encoder")),
    _mixing("fig15", 10, SUITE),
    _mixing("fig16", 5, SUITE),
    _one("fig17", "Dropped factors, d = 10", Part("exp06", "lines", "m", columns="dgp", where=DROPPED)),
    _null("fig18", "Gaussian noise, m = 50", "E9", MAIN),
    _one(
        "fig19",
        "More codes than factors, d = 20, n = 1600",
        Part("exp09", "bars", "encoder", where={"run": ("exp09_d20",)}),
    ),
    _one(
        "fig20",
        "More codes than factors, d = 5",
        Part("exp09", "bars", "encoder", columns="dgp", where={"run": ("exp09",)}),
    ),
    *(
        _one(
            name,
            f"Factors that are predicted by others (E1), d = {d}",
            Part("exp05", "lines", "coupling", SUITE, columns="sweep", where={"d": (d,), "sweep": ("d2", "d3")}),
        )
        for name, d in (("fig21", 5), ("fig22", 10))
    ),
    _one(
        "fig23",
        "Dropped factors, d = 10, all metrics",
        Part("exp06", "lines", "m", SUITE, columns="dgp", where=DROPPED),
    ),
    _one(
        "fig24",
        "Three codes and an increasing number of correlated factors",
        Part("exp06", "lines", "d", where={"sweep": ("6b",), "dgp": ("D2",)}),
    ),
    _one(
        "fig25",
        "Redundancy r against codes m, D3 and E4, d = 10",
        Part("exp07", "map", "m", y="r", columns="metric", where={"dgp": ("D3",)}),
    ),
    _one(
        "fig26",
        "Kinds of codes, d = 5, all metrics",
        Part("exp08", "bars", "encoder", SUITE, columns="dgp", where={"run": ("exp08",)}),
    ),
    _one(
        "fig27",
        "More codes than factors, d = 5, all metrics",
        Part("exp09", "lines", "m/d", SUITE, columns="encoder", log=True, where={**RATIO, "encoder": OVERCOMPLETE}),
    ),
    _one(
        "fig28",
        "Mixed codes: as many as factors (E3) and more than factors (E7), d = 5",
        Part(
            "exp09",
            "lines",
            "m/d",
            SUITE,
            columns="metric",
            colour="encoder",
            log=True,
            where={**RATIO, "encoder": ("E3", "E7")},
        ),
    ),
    _one("fig29", "Null encoders, d = 5, all metrics", Part("exp11", "lines", "n", SUITE, columns="sweep", log=True)),
    _one(
        "fig30",
        "Do null encoders reach 0?",
        Part("exp11", "lines", "n", SUITE, columns="metric", colour="sweep", log=True),
    ),
    _one(
        "fig31",
        "Does m/d determine the scores? Codes (6a) and factors (6b) varied, D2",
        Part("exp12", "lines", "m/d", ALL, columns="metric", colour="sweep", where={"dgp": ("D2",)}),
    ),
    _one(
        "fig32",
        "Does d/n determine the scores? D1 and E1",
        Part("exp13", "lines", "d/n", ALL, columns="metric", colour="d", log=True),
    ),
    _one("fig33", "Metrics by d/n, D1 and E1", Part("exp13", "lines", "d/n", ALL, columns="d", log=True)),
    _one(
        "fig34",
        "Codes varied, d = 10, n = 1000",
        Part("exp14", "lines", "m/d", ALL, where={"sweep": ("sweep_a",)}),
    ),
    _one(
        "fig35",
        "Rows varied, d = 10, m = 5",
        Part("exp14", "lines", "n", ALL, log=True, where={"sweep": ("sweep_b",)}),
    ),
    _null("fig36", "Gaussian noise, m = 50, all metrics", "E9", SUITE),
    _null("fig37", "Uniform noise, m = 50, all metrics", "E10", SUITE),
]
FIGURES = {figure.name: figure for figure in DECLARED}


def figures_of(experiment: str) -> list[Figure]:
    """Return the figures that show only this experiment."""
    return [figure for figure in DECLARED if {part.experiment for part in figure.parts} == {experiment}]
