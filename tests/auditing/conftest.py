import functools

import pytest

from unweave.auditing.measurement import Case


@pytest.fixture(autouse=True, scope="session")
def _data_of_a_case_are_drawn_once():
    """Most audits of these tests are of functions that take less time than the data of their cases."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Case, "evidence", functools.cache(Case.evidence))
        yield
