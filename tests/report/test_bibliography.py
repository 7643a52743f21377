"""Every work that a card cites has an entry, and no entry says more than is known."""

import re

import pytest

from unweave.metrics import CATALOGUE
from unweave.report.bibliography import BIBLIOGRAPHY, bibtex_of, cited

CITING = {
    name: entry.card.reference for name, entry in CATALOGUE.items() if re.search(r"'|\(00\d\)", entry.card.reference)
}


@pytest.mark.parametrize("name", CITING)
def test_every_work_a_card_cites_has_an_entry(name):
    works = [part for part in CITING[name].split(";") if part.strip()]
    assert len(cited(CITING[name])) == len(works)


def test_years_are_those_of_the_cards():
    for reference in CITING.values():
        for part in reference.split(";"):
            stated = re.search(r"\((\d{4})\)", part)
            for entry in cited(part):
                assert dict(entry.fields).get("year") == (stated and stated[1])


def test_keys_are_unique_and_braces_close():
    assert len({entry.key for entry in BIBLIOGRAPHY}) == len(BIBLIOGRAPHY)
    for entry in BIBLIOGRAPHY:
        assert entry.bibtex.count("{") == entry.bibtex.count("}")
        assert entry.bibtex.isascii()
        assert "doi" not in entry.bibtex.lower()


def test_a_work_cited_twice_is_listed_once():
    text = bibtex_of([CATALOGUE["dci_completeness"].card.reference] * 2, "0.1.0")
    assert text.count("@inproceedings{eastwood2018framework,") == 1
    assert "@software{unweave,\n  title = {unweave},\n  version = {0.1.0},\n}" in text
