import gc
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# modules that tests share: golden_cases.py, and the tools for mutation testing and recorded numbers
sys.path[:0] = [str(Path(__file__).parent / room) for room in ("reference", "mutants", "recorded")]

# the time of drawing inputs depends on the load of the machine and not on the code
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


gc.disable()  # until all tests are collected: collecting makes millions of objects that stay


def pytest_collection_finish():
    gc.freeze()  # the objects of imports and of collected tests are not searched again during the tests
    gc.enable()


@pytest.fixture(scope="session")
def small():
    """A grid with every series and the ends of every curve, small enough for a normal run."""
    from unweave.auditing import Grid

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
