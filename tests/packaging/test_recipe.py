"""The conda recipe has the version and the requirements of pyproject.toml."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_recipe_requires_what_the_wheel_requires():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    assert f'version: "{project["version"]}"' in recipe
    assert project["description"] in recipe
    required = re.findall(r"^    - (.*)$", recipe.partition("  run:\n")[2].partition("\ntests:")[0], re.MULTILINE)
    assert required == [
        f"python {project['requires-python']}",
        *(re.sub("(>=)", r" \1", each, count=1) for each in project["dependencies"]),
    ]
