"""Numbers are those on record, to six digits (see records.py)."""

import pytest
from records import CASES, cases_of, condensed, differences, recorded, relative_of, versions

made_with = recorded("versions")
pytestmark = pytest.mark.skipif(versions() != made_with, reason=f"the numbers on record were made with {made_with}")


@pytest.mark.parametrize(("name", "case"), [(name, case) for name in CASES for case in cases_of(name)])
def test_numbers_are_those_on_record(name, case):
    if case not in recorded(name):
        pytest.skip(f"it is not on record yet: run python tests/recorded/records.py {name}")
    changed = list(differences(recorded(name)[case], condensed(cases_of(name)[case]()), relative_of(name)))
    assert not changed, f"{changed[:5]}: if that is meant, run python tests/recorded/records.py {name}."


@pytest.mark.parametrize("name", CASES)
def test_every_record_has_its_case(name):
    assert set(recorded(name)) <= set(cases_of(name))
