"""The generated documents are those that the cards of today would give."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)
DOCUMENTS = generate.documents(with_demo=False)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_up_to_date(path):
    assert path.read_text(encoding="utf-8") == DOCUMENTS[path], "run `make docs`"


def test_readme_example_runs(capsys):
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    exec(example, {})
    printed = capsys.readouterr().out
    assert "angle circular" in printed
    assert "mcc" in printed
