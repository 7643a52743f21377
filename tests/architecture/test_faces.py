"""Tests use the faces of rooms, so that a merge within a room breaks few of them: this counts those that do not.

The face of a room is what its package exports. If it exports nothing, its face is what other rooms import from it. The
modules directly in the package are rooms of their own. Names with an underscore belong to no face.
"""

import ast
import functools
import importlib
from pathlib import Path

import pytest

import unweave

ROOT = Path(__file__).parents[2]
PACKAGE = Path(unweave.__file__).parent
MOST = 0.32  # share of test functions that use other names; the number may only fall


def dotted_imports(tree):
    """What a module imports from this package, with the name that it has there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "unweave":
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.asname, alias.name) for alias in node.names if alias.asname)


@functools.cache
def used_by_other_rooms():
    """Names in modules of rooms that other rooms, or the reproductions, import."""
    used = set()
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "papers" / "src").rglob("*.py")]:
        room = path.relative_to(PACKAGE).parts[0] if path.is_relative_to(PACKAGE) else ""
        names = [name for _, name in dotted_imports(ast.parse(path.read_text(encoding="utf-8")))]
        used |= {name for name in names if name.split(".")[1:2] != [room]}
    return used


@functools.cache
def is_on_a_face(name):
    """Whether a dotted name, such as unweave.trust.noise_floor, belongs to a face."""
    parts = name.split(".")
    if parts[0] != "unweave" or len(parts) < 3:
        return True
    if any(part.startswith("_") for part in parts):
        return False
    room = importlib.import_module(".".join(parts[:2]))
    if not hasattr(room, "__path__") or (len(parts) == 3 and not (PACKAGE / parts[1] / f"{parts[2]}.py").exists()):
        return True  # a module is a room of its own, and what a package has and does not define it exports
    home = importlib.import_module(".".join(parts[:3])) if parts[2] in getattr(room, "__all__", ()) else None
    if home is not None:  # a module that the room exports, such as unweave.synthetic.worlds
        return len(parts) == 3 or parts[3] in getattr(home, "__all__", vars(home))
    return not getattr(room, "__all__", None) and name in used_by_other_rooms()


def behind_faces(tree):
    """Test functions of a module, and the names that they use and that are on no face."""
    imported = {here: name for here, name in dotted_imports(tree) if not is_on_a_face(name)}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name.startswith("test_"):
            nodes = list(ast.walk(function))
            names = {imported[node.id] for node in nodes if isinstance(node, ast.Name) and node.id in imported}
            texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
            patched = {text for text in texts if text.startswith("unweave.") and " " not in text}
            yield function.name, names | {text for text in patched if not is_on_a_face(text)}


def test_tests_use_the_faces_of_rooms():
    paths = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "papers" / "tests").rglob("test_*.py")]
    found = [names for path in paths for _, names in behind_faces(ast.parse(path.read_text(encoding="utf-8")))]
    share = sum(map(bool, found)) / len(found)
    assert share <= MOST, f"{share:.1%} of {len(found)} test functions use names on no face: import the room's."
    assert share > MOST - 0.03, f"lower MOST to {share:.3f}"


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("from unweave.trust import noise_floor", set()),
        ("from unweave.trust.floors import noise_floor", {"unweave.trust.floors.noise_floor"}),
        ("from unweave.synthetic.worlds import Independent", set()),
        ("from unweave.score import Score", set()),
        ("from unweave.score import _text", {"unweave.score._text"}),
        ("from unweave.metrics import mcc", set()),
    ],
)
def test_a_name_on_no_face_is_seen(line, names):
    tree = ast.parse(f"{line}\ndef test_it():\n    {line.split()[-1]}()")
    assert list(behind_faces(tree)) == [("test_it", names)]
