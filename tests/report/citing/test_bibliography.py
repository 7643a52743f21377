"""Every work that a card cites has an entry, and entries have only verified fields."""

import re
from importlib.resources import files

import numpy as np
import pytest

from unweave import evaluate
from unweave.metrics import CATALOGUE
from unweave.report import cite as methods_text
from unweave.report.cite import BIBLIOGRAPHY, bibtex_of, cited_works

FACTORS = np.random.default_rng(0).normal(size=(100, 2))
CITING = {
    name: entry.card.reference for name, entry in CATALOGUE.items() if re.search(r"'|\(00\d\)", entry.card.reference)
}


@pytest.mark.parametrize("name", CITING)
def test_every_work_a_card_cites_has_an_entry(name):
    works = [part for part in CITING[name].split(";") if part.strip()]
    assert len(cited_works(CITING[name])) == len(works)


def test_years_are_those_of_the_cards():
    for reference in CITING.values():
        for part in reference.split(";"):
            stated = re.search(r"\((\d{4})\)", part)
            for entry in cited_works(part):
                assert dict(entry.fields).get("year") == (stated and stated[1])


KNOWN_FOR_SURE = {"author", "title", "booktitle", "journal", "eprint", "archiveprefix", "year"}


def test_keys_are_unique_and_braces_close():
    text = (files("unweave.report") / "references.bib").read_text(encoding="utf-8")
    assert len({entry.key for entry in BIBLIOGRAPHY}) == len(BIBLIOGRAPHY) == text.count("@")
    assert {name for entry in BIBLIOGRAPHY for name, _ in entry.fields} <= KNOWN_FOR_SURE
    for entry in BIBLIOGRAPHY:
        assert entry.bibtex.count("{") == entry.bibtex.count("}")
        assert entry.bibtex.isascii()
        assert "doi" not in entry.bibtex.lower()


def test_a_work_cited_twice_is_listed_once():
    text = bibtex_of(dict.fromkeys(["one", "two"], CATALOGUE["dci_completeness"].card.reference), "0.1.0")
    assert text.count("@inproceedings{eastwood2018framework,") == 1
    assert "@software{unweave,\n  title = {unweave},\n  version = {0.1.0},\n}" in text


def test_a_metric_of_the_library_is_not_credited_to_whom_it_comes_after():
    evaluation = evaluate(FACTORS, FACTORS, metrics=["identification", "mig"], quick=True)
    writing = evaluation.to_summary()["writing"]
    assert "unweave's own, after Joshi et al." in writing["methods"]
    assert writing["methods"].count("unweave's own") == 1
    assert "note = {identification is unweave's own, after Joshi et al.}" in writing["bibtex"]
    assert "@software{unweave" in writing["bibtex"]


def test_numbers_of_the_methods_paragraph():
    say = methods_text
    assert say._floor_sentences([]) == []
    floors = [{"kind": "permutation", "n_draws": n} for n in (1999, 19, 1999)] + [{"kind": "odd", "n_draws": 99}]
    assert say._floor_sentences(floors) == [
        "Noise floors are mean scores of 19 to 1,999 permutations of the codes' rows and 99 draws of kind 'odd'."
    ]
    intervals = [{"level": 0.95, "kind": "subsampling"}] * 2 + [{"level": None, "kind": "other"}]
    assert say._interval_sentences(intervals) == [
        "Intervals are 95 % subsampling intervals over samples.",
        "Intervals are other intervals over samples.",
    ]


@pytest.mark.parametrize(
    ("kinds", "n_codes", "said"),
    [
        (["continuous"], [1], "a representation of m = 1 code against d = 1 factor (1 continuous) on n = 1,200"),
        (["continuous", "ordinal", "continuous"], [10],
         "a representation of m = 10 codes against d = 3 factors (2 continuous and 1 ordinal) on n = 1,200 samples"),
        ([], [2], "a representation of m = 2 codes on n = 1,200 samples"),
        ([], [2] * 9, "9 representations of m = 2 codes on n = 1,200 samples"),
    ],
)  # fmt: skip
def test_what_was_scored(kinds, n_codes, said):
    names = ["codes"] if len(n_codes) == 1 else [f"r{k}" for k in range(len(n_codes))]
    data = {
        "n_rows": 1200,
        "factors": [{"kind": kind} for kind in kinds],
        "representations": [{"name": name, "n_codes": n} for name, n in zip(names, n_codes, strict=True)],
    }
    assert said in methods_text._what(data)
    assert methods_text._what(data | {"n_rows": 0}) == "a decoder"
