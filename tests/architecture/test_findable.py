"""No class name stands for two things."""

import re
from collections import defaultdict
from pathlib import Path

import unweave

PACKAGE = Path(unweave.__file__).parent


def test_no_class_name_stands_for_two_things():
    homes = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for name in re.findall(r"^class ([^_]\w*)[(:]", path.read_text(encoding="utf-8"), re.MULTILINE):
            homes[name].append(path.relative_to(PACKAGE).as_posix())
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}
