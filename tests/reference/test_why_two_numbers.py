"""Every line of code in docs/why-two-numbers.md returns the number in its comment."""

import ast
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "why-two-numbers.md"
COMMENT = re.compile(r"  # (about )?(\d+\.\d+)")


def sections():
    """Dictionary from the title of every section to its code; the code of the first is run before all others."""
    parts = PAGE.read_text(encoding="utf-8").split("\n## ")
    codes = {part.split("\n")[0]: "\n".join(re.findall(r"```python\n(.*?)```", part, re.DOTALL)) for part in parts}
    return {title: code for title, code in codes.items() if code}


START, *TITLES = sections()
SLOW = {"DCI"}  # boosting without bins; test_foundation.py has faster cases


@pytest.mark.parametrize(
    "title", [pytest.param(title, marks=pytest.mark.slow if title in SLOW else ()) for title in TITLES]
)
def test_numbers_of_the_page(title):
    names, code = {}, sections()[title]
    exec(sections()[START], names)
    lines, n_checked = code.split("\n"), 0
    for statement in ast.parse(code).body:
        promised = COMMENT.search(lines[statement.end_lineno - 1])
        if promised is None or not isinstance(statement, ast.Expr):
            exec(compile(ast.Module([statement], []), title, "exec"), names)
            continue
        found = float(eval(compile(ast.Expression(statement.value), title, "eval"), names))
        roughly, number = promised.groups()
        assert found == pytest.approx(float(number), abs=0.015 if roughly else 0.0005001), ast.unparse(statement)
        n_checked += 1
    assert n_checked == len(COMMENT.findall(code)) > 0
