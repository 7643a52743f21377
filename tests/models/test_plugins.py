"""Data sets and objectives that another installed package declares as entry points."""

import os
import subprocess
import sys

PACKAGE = """
from dataclasses import dataclass
from typing import ClassVar
from unweave.datasets import small_sprites
from unweave.models import BetaVAE

def tiny_sprites(path=None, size=16):
    return small_sprites(size=size)

@dataclass(frozen=True)
class Doubled(BetaVAE):
    name: ClassVar[str] = "doubled"

    def loss(self, step):
        return 2 * super().loss(step)
"""
ENTRIES = """
[unweave.datasets]
tiny_sprites = another:tiny_sprites
small_sprites = another:tiny_sprites
missing = another:missing

[unweave.objectives]
doubled = another:Doubled
no_objective = another:tiny_sprites
"""
SCRIPT = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from unweave.models.training_file import declared_training
    from unweave.models import OBJECTIVES
    from unweave import OptionError
    from unweave.datasets import DATA_SETS, load
    assert "no_objective" not in OBJECTIVES and "tiny_sprites" in DATA_SETS
declared = declared_training({"dataset": "tiny_sprites", "objectives": [{"name": "doubled", "beta": [1, 2]}]})
assert [objective.beta for objective in declared.objectives] == [1, 2], declared
assert declared.dataset.loaded().n_images == 4608
assert DATA_SETS["small_sprites"].__module__ == "unweave.datasets.dsprites"
try:
    load("missing")
except OptionError as error:
    print(error)
print(*(warning.message for warning in caught if "left out" in str(warning.message)), sep="\\n")
"""


def test_another_package_adds_a_data_set_and_an_objective(tmp_path):
    (tmp_path / "another.py").write_text(PACKAGE)
    declared = tmp_path / "another-1.0.dist-info"
    declared.mkdir()
    (declared / "METADATA").write_text("Metadata-Version: 2.1\nName: another\nVersion: 1.0\n")
    (declared / "entry_points.txt").write_text(ENTRIES)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    ended = subprocess.run(
        [sys.executable, "-W", "always", "-c", SCRIPT],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == [
        "The data set 'missing' cannot be imported from another:missing: mend that package.",
        "'small_sprites' of another:tiny_sprites is left out, because unweave.datasets has this name already: "
        "rename it.",
        "'no_objective' of another:tiny_sprites is left out, because it is nothing that unweave.objectives can use: "
        "derive it from unweave.models.Objective, with 'no_objective' as its name.",
    ]
