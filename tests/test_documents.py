"""The generated documents are up to date with the cards."""

import functools
import importlib.util
import re
from pathlib import Path

import pytest

import unweave
from unweave.cli.demos import circuit_encoders, introduction
from unweave.evaluation import compare

ROOT = Path(__file__).parent.parent
spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)
DOCUMENTS = generate.documents(with_demo=False)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_up_to_date(path):
    assert path.read_text(encoding="utf-8") == DOCUMENTS[path], "run `make docs`"


def test_the_readme_shows_what_its_example_prints(tmp_path, monkeypatch):
    """Headline, factors and scores are those of the example, which is run without floors and intervals here."""
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- answer -->\n(.*?)\n<!-- /answer -->", readme, re.DOTALL)[1]
    found = {}
    monkeypatch.setattr("unweave.evaluate", functools.partial(unweave.evaluate, quick=True))
    exec(re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1], found)
    evaluation = found["evaluation"]
    assert (tmp_path / "report.html").exists()
    assert evaluation.answer["headline"] in shown
    for row in evaluation.answer["factors"]:
        line = next(line for line in shown.splitlines() if line.startswith(f" {row['factor']} "))
        assert all(part in line for part in (row["words"], row["where"], f"{row['direction']:.2f}"))
    for line in (
        line for line in shown.splitlines() if line.endswith(("trust", "caution", "do not use", "noise level"))
    ):
        metric = next(label for label in evaluation.labels if f" {label} " in line)
        assert f"{evaluation[metric].value:.2f}" in line


def test_the_page_on_reports_shows_the_demo():
    report = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- demo -->\n(.*?)\n<!-- /demo -->", report, re.DOTALL)[1]
    quick = str(compare(*circuit_encoders(1000), metrics=["mcc", "r2"], budget=0))
    for line in (*introduction().splitlines(), quick.splitlines()[0], "   rescaled   1.000  1.000 to 1.000  trust"):
        assert line in shown


@pytest.mark.parametrize("name", generate.CATALOGUE)
def test_pages_read_well(name):
    """A page states what the numbers mean, has a formula, and names a numbered paper only where it is cited."""
    page = DOCUMENTS[ROOT / "docs" / "metrics" / f"{name}.md"]
    assert re.search(r"^    \S.* (=|<=|>=) ", page, re.MULTILINE), "no formula"
    if set(generate.CATALOGUE[name].card.needs) <= {
        "factors",
        "codes",
        "nuisances",
    }:  # of others the parts say what is good
        assert re.search(r"\b(1|0) (means|is best)", page), "what the best means is not said"
        assert re.search(r"[Nn]oise|[Rr]andom\s+codes", page), "the score of random codes is not stated in words"
    for empty in ("any any", " inf;", "and codes and"):
        assert empty not in page
    for number in re.findall(r"^(00\d): ", page, re.MULTILINE):
        assert len(re.findall(rf"(?<![\d,.]){number}\b", page)) > 1, f"{number} is named and not used"
