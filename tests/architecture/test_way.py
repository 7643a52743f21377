"""Files whose code runs for a score, and for an evaluation with its page: at most as many as ARCHITECTURE.md states."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

# a process of its own: caches of earlier tests would shorten the way
COUNT = """
import sys
from pathlib import Path
import numpy as np
import unweave
from unweave.metrics import mcc

package = str(Path(unweave.__file__).parent)
rng = np.random.default_rng(0)
factors = rng.normal(size=(100, 2))
codes = factors @ rng.normal(size=(2, 3))

def count(call):
    files = set()
    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_name != "<module>":
            files.add(frame.f_code.co_filename)
    sys.setprofile(note)
    call()
    sys.setprofile(None)
    print(sum(file.startswith(package) and file.endswith(".py") for file in files))

count(lambda: mcc(factors, codes))
count(lambda: unweave.evaluate(factors, codes, metrics=["mcc"], budget=0.5).to_html())
"""


@pytest.fixture(scope="module")
def counts():
    run = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)
    return [int(number) for number in run.stdout.split()]


@pytest.mark.parametrize(("place", "call"), [(0, "a score"), (1, "an evaluation with its page")])
def test_the_way_is_as_short_as_stated(counts, place, call):
    text = (Path(__file__).parents[2] / "ARCHITECTURE.md").read_text(encoding="utf-8")
    stated = int(re.search(rf"{call} runs code in at most (\d+) Python files", " ".join(text.split()))[1])
    assert counts[place] <= stated
