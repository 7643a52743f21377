import functools
import sys
from pathlib import Path

import pytest

from unweave.auditing.measurement import Case

sys.path.append(str(Path(__file__).parents[2] / "docs"))  # the tables of the documents


@pytest.fixture(autouse=True, scope="session")
def _data_of_a_case_are_drawn_once():
    """Most audits of these tests are of functions that take less time than the data of their cases."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Case, "evidence", functools.cache(Case.evidence))
        yield
