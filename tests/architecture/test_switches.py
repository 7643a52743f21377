"""An estimator is asked through its protocol: nothing outside the estimators' room tests for the class of one."""

import ast
from pathlib import Path

import unweave

PACKAGE = Path(unweave.__file__).parent


def switches():
    """Places outside the estimators that ask for the class of an estimator."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}
    names = {
        node.name
        for path, tree in trees.items()
        if path.is_relative_to(PACKAGE / "estimators")
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = []
    for path, tree in trees.items():
        for node in ast.walk(tree):
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
            asked = {each.id for each in ast.walk(node.args[-1]) if isinstance(each, ast.Name)} if called else set()
            if asked & names and not path.is_relative_to(PACKAGE / "estimators"):
                found.append(f"{path.relative_to(PACKAGE)}:{node.lineno}: {', '.join(sorted(asked & names))}")
    return sorted(found)


def test_no_metric_asks_for_the_class_of_an_estimator():
    assert switches() == []
