"""Defaults, the figures on the cards and the constants of all modules: where one changes, numbers change.

Most constants are thresholds, tolerances and sizes that were chosen by studies, which no quick test repeats.
"""

import ast
import dataclasses
import importlib
import inspect
from functools import partial
from pathlib import Path

import unweave
from unweave.metrics import CATALOGUE

PACKAGE = Path(unweave.__file__).parent
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

FIELDS = ("min_rows", "bounds", "best", "identity_tolerance", "order_tolerance", "needs", "takes_sparse_codes")
ROOMS = (
    "unweave",
    "unweave.metrics",
    "unweave.estimators",
    "unweave.trust",
    "unweave.auditing",
    "unweave.sweeps",
    "unweave.datasets",
    "unweave.models",
    "unweave.synthetic.worlds",
    "unweave.synthetic.encoders",
    "unweave.synthetic.attacks",
    "unweave.synthetic.known_decoders",
    "unweave.synthetic.toys",
    "unweave.synthetic.theory",
)


def defaults_of(room):
    """Parameters with plain defaults of the public names of a room, and of their methods."""
    module = importlib.import_module(room)
    found = {}
    for label in getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]:
        value = getattr(module, label)
        callables = {label: value} if callable(value) else {}
        if inspect.isclass(value):
            members = [entry for entry in vars(value).items() if inspect.isfunction(entry[1])]
            callables |= {f"{label}.{key}": member for key, member in members if not key.startswith("_")}
        for key, each in callables.items():
            found |= {f"{key}({option}=": default for option, default in _plain(each)}
    return found


def _plain(value):
    """Names and values of defaults that are numbers, words, or made of them."""
    if dataclasses.is_dataclass(value):
        pairs = [(field.name, field.default) for field in dataclasses.fields(value)]
    else:
        try:
            pairs = [(name, entry.default) for name, entry in inspect.signature(value).parameters.items()]
        except (TypeError, ValueError):
            return []
    return [(name, default) for name, default in pairs if _is_plain(default)]


def _is_plain(value):
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return isinstance(value, (bool, int, float, str))


def constants_of(room):
    """Numbers that the modules of a room state outside of functions: constants, fields, decorators and defaults.

    They are listed by name, so that a file may get another name or be divided.
    """
    found = {}
    for path in (PACKAGE / f"{room}.py", *sorted((PACKAGE / room).rglob("*.py"))):
        for name, numbers in _stated(ast.parse(path.read_text(encoding="utf-8")).body) if path.exists() else ():
            if numbers:
                found.setdefault(name, []).append(numbers)
    return {name: sorted(found[name])[0] if len(found[name]) == 1 else sorted(found[name]) for name in sorted(found)}


def _stated(body, prefix=""):
    """Names of statements and the numbers in them, in their order."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _stated(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, FUNCTIONS):
            yield f"@{prefix}{node.name}", [number for each in node.decorator_list for number in _numbers(each)]
            given = [*node.args.posonlyargs, *node.args.args][::-1]
            for argument, default in zip(given, node.args.defaults[::-1], strict=False):
                yield f"{prefix}{node.name}({argument.arg}=", _numbers(default)
            for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
                yield f"{prefix}{node.name}({argument.arg}=", _numbers(default)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            yield prefix + ast.unparse(target), _numbers(node.value)


def _numbers(node):
    found = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)] if node else []
    return [value for value in found if type(value) in (int, float)]


CASES = {f"defaults of {name}": partial(defaults_of, name) for name in ROOMS}
CASES |= {
    f"constants of {name}": partial(constants_of, name)
    for name in sorted({path.stem for path in PACKAGE.iterdir() if path.suffix in ("", ".py")} - {"__pycache__"})
    if name != "words"
}
CASES |= {
    f"card of {name}": partial(lambda card: {field: getattr(card, field) for field in FIELDS}, metric.card)
    for name, metric in CATALOGUE.items()
    if name != "identification"
}
