"""How much a page shows before it aggregates."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Detail:
    """Limits above which matrices become pictures of blocks and bars are a choice of factors.

    Attributes
    ----------
    table_cells, table_columns : int
        A matrix up to this size is a table with numbers.
    picture_rows, picture_columns : int
        A larger one is a picture of at most so many blocks.
    bars : int
        Factors with a bar of their own, in each chart.
    charts, matrices, links : int
        Charts and matrices of each representation, and strongest pairs named beside a picture.
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
