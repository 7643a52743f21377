"""An estimator is asked through its protocol: nothing outside the estimators' room tests for the class of one."""

import ast
import re
from pathlib import Path

import unweave

PACKAGE = Path(unweave.__file__).parent


def switches():
    """Places outside the estimators that ask for the class of an estimator."""
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    names = {
        name
        for path, text in texts.items()
        if path.is_relative_to(PACKAGE / "estimators")
        for name in re.findall(r"^\s*class (\w+)[(:]", text, re.MULTILINE)
    }
    named = re.compile(rf"\b(?:{'|'.join(names)})\b")
    found = []
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)) if "isinstance(" in text and named.search(text) else ():
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
            asked = {each.id for each in ast.walk(node.args[-1]) if isinstance(each, ast.Name)} if called else set()
            if asked & names and not path.is_relative_to(PACKAGE / "estimators"):
                found.append(f"{path.relative_to(PACKAGE)}:{node.lineno}: {', '.join(sorted(asked & names))}")
    return sorted(found)


def test_no_metric_asks_for_the_class_of_an_estimator():
    assert switches() == []
