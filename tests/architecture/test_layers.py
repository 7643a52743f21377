"""Imports point down: a room imports only rooms of lower layers, except for the uses that ARCHITECTURE.md lists."""

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import unweave

ROOT = Path(__file__).parents[2]
PACKAGE = Path(unweave.__file__).parent
LAYERS = [
    {"sentences"},
    {"errors"},
    {"findings"},
    {"arrays", "codec", "names", "on_demand", "options", "plugins", "randomness", "threads", "whole_files"},
    {"progress"},
    {"estimators"},
    {"evidence", "score"},
    {"memo", "card", "own_modules", "store", "synthetic"},
    {"neural", "datasets", "responses"},
    {"models", "files", "identifiability"},
    {"metrics", "encoding"},
    {"trust"},
    {"evaluation", "compat"},
    {"sweeps"},
    {"auditing"},
    {"report"},
    {"integrations"},
    {"cli"},
    {"__main__"},  # python -m unweave
]
LAYER_OF = {room: layer for layer, rooms in enumerate(LAYERS) for room in rooms}
ONLY_IN = {
    "unweave_papers": set(),  # a distribution of its own, above all rooms
    "torch": {"neural", "models", "integrations"},
    "safetensors": {"models"},
    "zuko": {"neural"},
    "matplotlib": {"report", "integrations", "evaluation", "identifiability"},
    "jinja2": {"report"},
    "pandas": {"report"},
    "polars": {"report", "files", "sweeps"},
    "pyarrow": {"report", "files"},
    "narwhals": {"report", "files", "evidence", "identifiability", "evaluation", "integrations"},
    "h5py": {"evidence"},
    "zarr": {"evidence"},
    "PIL": {"datasets"},
    "click": {"cli"},
    "distributed": {"sweeps", "evidence"},
    "torchmetrics": {"integrations"},
    "lightning": {"integrations"},
    "wandb": {"integrations"},
    "aim": {"integrations"},
    "huggingface_hub": {"integrations"},
}
VAGUE = {"utils", "util", "common", "helpers", "helper", "misc", "base", "core", "tools"}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def room_of(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def _is_for_types(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


@functools.cache
def imported(path):
    """Dotted names of what a module imports, and whether it does so when it is itself imported.

    Names of modules in texts count as imports inside functions, because `import_module` takes them.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    later = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) or _is_for_types(node)]
    late = {id(node) for each in later for node in ast.walk(each)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the room"
            found += [(f"{node.module}.{alias.name}", id(node) not in late) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(alias.name, id(node) not in late) for alias in node.names]
        elif isinstance(node, ast.Constant) and re.fullmatch(r"unweave(\.\w+)+", str(node.value)):
            found.append((node.value, False))
    return found


def upward_uses(path):
    """Rooms of the same or a higher layer that a module imports, and whether it does so when it is itself imported."""
    room = room_of(path)
    for name, early in imported(path):
        other = name.split(".")[1] if name.startswith("unweave.") else room
        if other != room and LAYER_OF.get(other, -1) >= LAYER_OF[room]:
            yield other, early


def listed_uses():
    """Files and the higher rooms that they use, as ARCHITECTURE.md lists them."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    part = re.search(r"<!-- upward uses -->\n(.*?)<!-- /upward uses -->", text, re.DOTALL)[1]
    sides = [[re.findall(r"`([\w./]+?)/?`", side) for side in line.split("→")] for line in part.splitlines()]
    return {(file, room) for files, rooms in sides for file in files for room in rooms}


def test_every_room_has_a_layer():
    assert {room_of(path) for path in MODULES} <= set(LAYER_OF), "give the room a layer here and in ARCHITECTURE.md"


def test_imports_point_down_except_for_those_on_the_list():
    uses = {(path.relative_to(PACKAGE).as_posix(), room) for path in MODULES for room, _ in upward_uses(path)}
    assert uses - listed_uses() == set(), "import a lower room, or list the use in ARCHITECTURE.md"
    assert listed_uses() - uses == set(), "ARCHITECTURE.md lists a use that is gone"


def test_uses_of_higher_rooms_are_imported_late():
    assert [path for path in MODULES if any(early for _, early in upward_uses(path))] == []


def test_libraries_are_imported_where_they_belong():
    wrong = [
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in MODULES
        for name, _ in imported(path)
        if room_of(path) not in ONLY_IN.get(name.split(".")[0], {room_of(path)})
    ]
    assert wrong == []


def test_an_import_that_points_up_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    module = tmp_path / "trust" / "verdict.py"
    module.parent.mkdir()
    module.write_text(
        "from unweave.trust import floors\nfrom unweave.sweeps import run\nfrom unweave.score import Score\n"
        "HOME = 'unweave.report.html'\ndef f():\n    from unweave.cli import main\n"
    )
    assert sorted(upward_uses(module)) == [("cli", False), ("report", False), ("sweeps", True)]


def test_names_say_something():
    assert [path for path in MODULES if set(path.relative_to(PACKAGE).with_suffix("").parts) & VAGUE] == []


def modules_after(statement):
    script = f"{statement}\nimport sys; print(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_importing_the_package_imports_nothing_heavy():
    assert not {"numpy", "sklearn", "polars", "rich", "torch"} & modules_after("import unweave")


def test_scoring_imports_no_optional_package():
    loaded = modules_after(
        "import unweave; z = [[float(i % 7), float(i % 5)] for i in range(60)]; "
        "unweave.evaluate(z, z, metrics=['mcc', 'r2', 'mig'], budget=0.1)"
    )
    assert not {"torch", "matplotlib", "jinja2", "lightgbm"} & loaded  # scikit-learn itself imports pandas if there


TRAINING = """
import sys, unweave.models, unweave.models.training_file, unweave.neural.decoders, unweave.datasets
from unweave.cli import main
main(['train', '--help'], standalone_mode=False)
for options in (['--no-pictures'], []):
    folder = sys.argv[1] + '/pictures' * (not options)
    main(['train', 'vae', 'small_sprites', '--steps', '1', '--out', folder, *options], standalone_mode=False)
    print(*{name.split('.')[1] for name in sys.modules if name.startswith('unweave.')})
"""


def test_training_imports_no_metric(tmp_path):
    """Models are leaves: a training needs nothing that is above them, and with pictures the report alone."""
    command = [sys.executable, "-c", TRAINING, str(tmp_path / "runs")]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    plain, with_pictures = (rooms for rooms in map(set, map(str.split, lines)) if "evidence" in rooms)
    assert not {"metrics", "trust", "evaluation", "report", "sweeps", "auditing", "card"} & plain
    assert {"models", "report"} <= with_pictures
    assert not {"metrics", "trust", "evaluation", "sweeps", "card"} & with_pictures
    assert list(tmp_path.rglob("losses.png")) == [tmp_path / "runs" / "pictures" / "losses.png"]
