"""The notebooks in examples: executed from top to bottom, and their cells still run."""

import json
import re
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "examples").glob("*.ipynb"))


def code_cells(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_executed_without_an_error(path):
    cells = code_cells(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert any("image/png" in output.get("data", {}) for output in outputs), "a notebook shows a figure"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_run(path, monkeypatch, capsys):
    if path.stem == "training":
        pytest.importorskip("torch", reason="torch is not installed")
    space: dict = {}
    for cell in code_cells(path):
        source = re.sub(r"\b(600|800|1000)\b", "300", "".join(cell["source"])).replace(
            "choice(300, 300", "choice(300, 150"
        )
        exec(compile(re.sub(r"budget=\d", "budget=1", source), path.name, "exec"), space)
