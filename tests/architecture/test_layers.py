"""Imports point down: a room imports only rooms of lower layers (ARCHITECTURE.md)."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import unweave

PACKAGE = Path(unweave.__file__).parent
LINES = [
    {"sentences"},
    {"findings"},
    {"arrays", "codec", "on_demand", "progress", "real_numbers", "names"}
    | {"randomness", "threads", "whole_files", "plugins"},
    {"estimators"},
    {"evidence", "score"},
    {"memo", "card", "own_modules", "store", "synthetic"},
    {"neural", "datasets", "responses"},
    {"models"},
    {"metrics"},
    {"trust"},
    {"evaluation"},
    {"sweeps", "files"},
    {"auditing", "encoding"},
    {"report"},
    {"papers", "integrations"},
    {"cli"},
    {"__main__"},  # python -m unweave
]
LINE_OF = {room: line for line, rooms in enumerate(LINES) for room in rooms}
ONLY_IN = {
    "torch": {"neural", "models", "integrations"},
    "safetensors": {"models"},
    "zuko": {"neural"},
    "matplotlib": {"report", "papers", "integrations", "evaluation"},
    "jinja2": {"report"},
    "pandas": {"report"},
    "polars": {"report", "files", "sweeps"},
    "pyarrow": {"report", "files"},
    "narwhals": {"report", "files", "evidence", "evaluation", "integrations"},
    "h5py": {"datasets", "files"},
    "zarr": {"files"},
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


def imported(path):
    """Dotted names of everything a module imports, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the room"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def wrong_imports(path):
    room = room_of(path)
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "unweave" and len(parts) > 1 and parts[1] in LINE_OF and parts[1] != room:
            if LINE_OF[parts[1]] >= LINE_OF[room]:
                yield f"{path.relative_to(PACKAGE)}: {room} may not look into {parts[1]}"
        elif parts[0] in ONLY_IN and room not in ONLY_IN[parts[0]]:
            yield f"{path.relative_to(PACKAGE)}: {parts[0]} does not belong in {room}"


def test_imports_point_down():
    rooms = {room_of(path) for path in MODULES}
    assert rooms <= set(LINE_OF), "give each a line here and in ARCHITECTURE.md"
    assert [said for path in MODULES for said in wrong_imports(path)] == []


def test_an_import_that_points_up_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    module = tmp_path / "trust" / "verdict.py"
    module.parent.mkdir()
    module.write_text("import torch\nfrom unweave.trust import nulls\ndef f():\n    from unweave.report import page\n")
    assert list(wrong_imports(module)) == [
        "trust/verdict.py: torch does not belong in trust",
        "trust/verdict.py: trust may not look into report",
    ]


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
        "unweave.evaluate(z, z, metrics=['mcc', 'r2', 'mig'])"
    )
    assert not {"torch", "matplotlib", "jinja2", "lightgbm"} & loaded  # scikit-learn itself imports pandas if there


@pytest.mark.parametrize(
    "statement",
    [
        "import unweave.models, unweave.models.training_file, unweave.neural.decoders, unweave.datasets",
        "from unweave.cli import main; main(['train', '--help'], standalone_mode=False)",
        "import tempfile; from unweave.cli import main; arguments = 'train vae small_sprites --steps 1 --no-pictures'; "
        "main([*arguments.split(), '--out', tempfile.mkdtemp()], standalone_mode=False)",
    ],
)
def test_training_imports_no_metric(statement):
    rooms = {name.split(".")[1] for name in modules_after(statement) if name.startswith("unweave.")}
    assert "evidence" in rooms or "--help" in statement
    assert not {"metrics", "trust", "evaluation", "report", "sweeps", "auditing"} & rooms
