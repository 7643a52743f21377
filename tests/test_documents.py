"""The generated documents are those that the cards of today would give."""

import functools
import importlib.util
import re
from pathlib import Path

import pytest

import unweave

ROOT = Path(__file__).parent.parent
spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)
DOCUMENTS = generate.documents(with_demo=False)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_up_to_date(path):
    assert path.read_text(encoding="utf-8") == DOCUMENTS[path], "run `make docs`"


def test_readme_example_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    monkeypatch.setattr("unweave.evaluate", functools.partial(unweave.evaluate, budget=0.1))
    exec(example.replace("2000", "300"), {})
    printed = capsys.readouterr().out
    assert "angle circular" in printed
    assert "mcc" in printed


@pytest.mark.parametrize("name", generate.CATALOGUE)
def test_pages_read_well(name):
    """A page says what the numbers mean, has a formula, and names a numbered paper only where it is meant."""
    page = DOCUMENTS[ROOT / "docs" / "metrics" / f"{name}.md"]
    assert re.search(r"^    \S.* (=|<=|>=) ", page, re.MULTILINE), "no formula"
    if set(generate.CATALOGUE[name].card.needs) <= {
        "factors",
        "codes",
        "nuisances",
    }:  # of others the parts say what is good
        assert re.search(r"\b(1|0) (means|is best)", page), "what the best means is not said"
        assert re.search(r"[Nn]oise", page.replace("Noise gets:", "")), "what noise gets is not said in words"
    for empty in ("any any", " inf;", "and codes and"):
        assert empty not in page
    for number in re.findall(r"^(00\d): ", page, re.MULTILINE):
        assert len(re.findall(rf"(?<![\d,.]){number}\b", page)) > 1, f"{number} is named and not used"
