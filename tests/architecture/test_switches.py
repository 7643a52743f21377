"""Estimators and kinds of factors are asked through their methods: other modules do not test which one they have."""

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


def members_of_kinds(tree):
    """Lines that name a member of FactorKind, except in the kinds that a card declares."""
    declared = {
        id(each)
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "factor_kinds"
        for each in ast.walk(node)
    }
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "FactorKind"
        if node.attr.isupper() and id(node) not in declared
    ]


def test_no_module_but_their_own_tells_kinds_of_factors_apart():
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    named = {path: members_of_kinds(ast.parse(text)) for path, text in texts.items() if "FactorKind" in text}
    assert [path for path, lines in named.items() if lines] == ["evidence/kinds.py"]


def test_a_comparison_is_seen_and_a_declaration_is_not():
    assert members_of_kinds(ast.parse("if kind is FactorKind.ORDINAL:\n    pass")) == [1]
    assert members_of_kinds(ast.parse("metric(factor_kinds=frozenset({FactorKind.ORDINAL}))")) == []
