"""Limits on the size of a page, above which matrices and charts are aggregated."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Detail:
    """Limits above which a matrix is drawn as an image of blocks and a chart shows only some of the factors.

    Attributes
    ----------
    table_cells, table_columns : int
        A matrix up to this size is shown as a table of numbers.
    picture_rows, picture_columns : int
        A larger matrix is shown as an image with at most this number of blocks.
    bars : int
        Largest number of bars in a chart.
    charts, matrices, links : int
        Largest number of charts and matrices per representation, and of strongest pairs listed with an image.
    """

    table_cells: int = 600
    table_columns: int = 24
    picture_rows: int = 120
    picture_columns: int = 100
    bars: int = 24
    charts: int = 40
    matrices: int = 24
    links: int = 12


FULL = Detail()
COMPACT = Detail(table_cells=200, picture_rows=60, picture_columns=50, bars=10, links=6)
COARSE = Detail(table_cells=60, picture_rows=40, picture_columns=30, bars=6, charts=6, matrices=4, links=3)
EVER_LESS = (FULL, COMPACT, COARSE)
