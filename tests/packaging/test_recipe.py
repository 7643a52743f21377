"""The conda recipe has the requirements of pyproject.toml, and addresses come from where a release is built."""

import re
import runpy
import sys
import tomllib
from pathlib import Path
from types import ModuleType

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


def test_no_address_is_invented_and_those_of_a_release_are_used(monkeypatch):
    for name in ("hatchling", "hatchling.metadata", "hatchling.metadata.plugin"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    stub = ModuleType("hatchling.metadata.plugin.interface")
    stub.MetadataHookInterface = object
    monkeypatch.setitem(sys.modules, stub.__name__, stub)
    hook = runpy.run_path(str(ROOT / "hatch_build.py"))["Addresses"]()

    def built(**addresses):
        for name in ("REPO_URL", "SITE_URL", "CONTACT"):
            monkeypatch.setenv(f"UNWEAVE_{name}", addresses.get(name, ""))
        metadata = {}
        hook.update(metadata)
        return metadata

    assert built() == {"authors": [{"name": "The unweave developers"}], "urls": {}}
    found = built(REPO_URL="https://example.org/u", CONTACT="u@example.org")
    assert found["authors"] == [{"name": "The unweave developers", "email": "u@example.org"}]
    assert found["urls"] == {
        "Source": "https://example.org/u",
        "Issues": "https://example.org/u/issues",
        "Changelog": "https://example.org/u/blob/main/CHANGELOG.md",
    }
