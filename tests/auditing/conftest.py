import pytest

from unweave.auditing import Grid


@pytest.fixture(scope="session")
def small():
    """A grid with every series and the ends of every curve, small enough for a normal run."""
    return Grid(
        n_factors=(10,),
        n_rows=300,
        rhos=(0.0, 0.97),
        dropped=(1, 2),
        ratios=(2.0, 5.0),
        splits=(2, 5),
        mixed_shares=(0.25,),
        times=(2,),
        null_ratios=(0.1, 1.0),
    )
