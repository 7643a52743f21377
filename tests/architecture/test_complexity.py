"""No function takes more than twenty decisions: one that does is several functions.

Ruff's own limit (C901 in pyproject.toml) counts statements alone. This count adds conditional expressions, boolean
operators and comprehensions, in which most decisions of this package are written.
"""

import ast
import re
from pathlib import Path

import unweave

PACKAGE = Path(unweave.__file__).parent
MOST_DECISIONS = 20
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# every decision is written with at least one of these words of its own
FORK = re.compile(r"\b(?:if|elif|for|while|except|assert|case|and|or)\b")
ONE = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.Assert, ast.match_case)


def decisions(function):
    """Cyclomatic complexity: one, and one more for every place where the way forks, functions inside not counted."""
    count, waiting = 1, list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, FUNCTIONS):
            continue
        if isinstance(node, ONE):
            count += 1
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            count += 1 + len(node.ifs)
        waiting.extend(ast.iter_child_nodes(node))
    return count


def complex_functions(text):
    """Name and count of every function past the limit."""
    if len(FORK.findall(text)) < MOST_DECISIONS:
        return {}
    words = [len(FORK.findall(line)) for line in text.splitlines()]
    return {
        node.name: decisions(node)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, FUNCTIONS)
        and sum(words[node.lineno - 1 : node.end_lineno]) >= MOST_DECISIONS
        and decisions(node) > MOST_DECISIONS
    }


def test_functions_are_simple():
    found = {path: complex_functions(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}
    assert {path: functions for path, functions in found.items() if functions} == {}


def test_every_kind_of_fork_counts():
    text = """
def f(x):
    if x and x > 1 or x == 0:
        for y in [z for z in x if z if z > 1]:
            assert y
    while x:
        try:
            x = 1 if x else 2
        except ValueError:
            pass
    def inner():
        return 1 if x else 2
"""
    assert decisions(ast.parse(text).body[0]) == 12
    assert complex_functions("def f(x):\n" + "    x = 1 if x else 2\n" * 20) == {"f": 21}
